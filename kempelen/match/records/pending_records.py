import time
from collections import deque
from contextlib import suppress

from kempelen.match.records.game_record import GameRecord
from kempelen.match.records.ledger import Ledger, LedgerError


class PendingRecords:
    """A queue of finished games for a ledger that is locked, replaced or on a full disk.

    An empty queue is falsy. Each game is stored with its board number. `problem` contains the
    current error and the path of a backup of the queue.
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
        """The number of seconds since the first failed write, or 0."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    def add(self, board: int, game: GameRecord) -> None:
        self._games.append((board, game))

    def write_next(self) -> tuple[int, GameRecord, bool]:
        """Move the first game from the queue to the ledger. Raise LedgerError on failure.

        Return the board number, the game, and whether the game was new to the ledger.
        """
        board, game = self._games[0]
        new = self._ledger.record(game)
        self._games.popleft()
        return board, game, new

    def save_backup(self, error: LedgerError) -> str:
        """Save the queue to a backup file.

        Return a message about `error` and the file, or "" if the error is the same as before.

        If the ledger has been removed or replaced, all its games are saved.
        """
        if self._since is None:
            self._since = time.monotonic()
        games = [game for _, game in self._games]
        if not self._ledger.is_in_place:
            games = [*self._ledger.records(), *games]
        if not games:
            self.problem = self._last_error = str(error)
            return self.problem
        try:
            path = self._ledger.save_pending(games)
            note = f"saved in {path}, which --resume imports"
            if path != self._ledger.pending_path:
                note = f"saved in {path}; move it to {self._ledger.pending_path} before --resume"
        except OSError as failure:
            note = f"they could not be saved ({failure.strerror}) and will be replayed"
        count = "1 finished game" if len(games) == 1 else f"{len(games)} finished games"
        self.problem = f"{error}; {count} could not be written: {note}"
        if self._last_error == str(error):
            return ""
        self._last_error = str(error)
        return f"{error}; retrying, no new games until it can be written"

    def clear(self) -> str:
        """Discard the queue and its backup. Return a message if an error is over, otherwise ""."""
        self._games.clear()
        if self._since is None:
            return ""
        self._since, self._last_error = None, ""
        with suppress(OSError):  # importing a game twice does no harm
            self._ledger.save_pending(())
        return f"ledger {self._ledger.path}: can be written again"

    def flush(self) -> str:
        """Try once more to write all games. Return a message if an error occurs or is over."""
        try:
            while self._games:
                self.write_next()
            self._ledger.restore()
        except LedgerError as error:
            self.save_backup(error)
            return self.problem
        return self.clear()
