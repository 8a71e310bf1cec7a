"""Games that have ended and wait for their ledger: locked by another program, on a full disk."""

import time
from collections import deque
from contextlib import suppress

from kempelen.match.records.game_record import GameRecord
from kempelen.match.records.ledger import Ledger, LedgerError


class PendingRecords:
    """The games that wait, in their order, each with its board; True while there are any.

    While they wait they are kept in a file beside the ledger too, or among the temporary files.
    problem: what is wrong, and what becomes of them.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._games: deque[tuple[int, GameRecord]] = deque()
        self._since: float | None = None
        self._last_error = ""
        self.problem = ""

    def __bool__(self) -> bool:
        return bool(self._games)

    @property
    def wait_time(self) -> float:
        """Seconds since the ledger could not be written."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    def add(self, board: int, game: GameRecord) -> None:
        """Take a game."""
        self._games.append((board, game))

    def write_next(self) -> tuple[int, GameRecord, bool]:
        """Write the first game; return it, and whether it had not been written before.

        Raises LedgerError if it cannot be written.
        """
        board, game = self._games[0]
        new = self._ledger.record(game)
        self._games.popleft()
        return board, game, new

    def save_backup(self, error: LedgerError) -> str:
        """Keep the games that wait; return what is to be told of it, if that is news."""
        if self._since is None:
            self._since = time.monotonic()
        try:
            place = self._ledger.save_pending([game for _, game in self._games])
            fate = f"they are in {place}, and --resume takes them in"
            if place != self._ledger.pending_path:
                fate = (
                    f"they are in {place}: move it to {self._ledger.pending_path} before --resume"
                )
        except OSError as failure:
            fate = f"they cannot be kept elsewhere ({failure.strerror}), and are played again"
        count = len(self._games)
        ended = "a game has" if count == 1 else f"{count} games have"
        self.problem = f"{error}; {ended} ended that could not be written: {fate}"
        if self._last_error == str(error):
            return ""
        self._last_error = str(error)
        return f"{error}; trying again, and no game begins till then"

    def clear(self) -> str:
        """Forget the games, since all are written or none is of use; return what is to be told."""
        self._games.clear()
        if self._since is None:
            return ""
        self._since, self._last_error = None, ""
        with suppress(OSError):  # they are taken in once, however often they come
            self._ledger.save_pending(())
        return f"ledger {self._ledger.path} is written again"

    def flush(self) -> str:
        """Try the ledger for the last time; return what is to be told of games that still wait."""
        try:
            while self._games:
                self.write_next()
        except LedgerError as error:
            self.save_backup(error)
            return self.problem
        return self.clear()
