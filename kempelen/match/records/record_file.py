"""The file of games that a run leaves beside its ledger."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from agent.io.files import replace_file
from agent.io.write_checks import require_writable
from kempelen.console.settings_codec import SettingsError
from kempelen.match.records.game_record import GameRecord
from kempelen.match.records.ledger import DECODE_ERRORS, Ledger


class RecordFile:
    """A file of games that follows a ledger: written anew at the start, then game by game.

    Where it cannot be written, as on a full disk, it is written anew with the next game, and at
    the end; till then `problem` says what is wrong.
    """

    def __init__(
        self,
        path: str,
        ledger: Ledger,
        write: Callable[[GameRecord], str],
        sources: Sequence[str] = (),
        *,
        resume: bool = False,
    ) -> None:
        """Write all the ledger's games so far.

        write: gives a game as the file holds it. sources: files that the run reads.

        Raises SettingsError where there can be no such file; where there is one that holds
        anything, but for `resume`; and where the ledger holds no games then.
        """
        self._path = path
        self._ledger = ledger
        self._write = write
        self._target = Path(path).resolve()
        self._file: TextIO | None = None
        self.problem = ""
        require_writable(
            [path], sources, lambda why: SettingsError(f"file of games {why}"), regular=True
        )
        if self._holds_games() and not resume:
            raise SettingsError(
                f"file of games {path}: it holds something already; name another, or move it away"
            )
        if self._holds_games() and next(ledger.records(), None) is None:
            raise SettingsError(
                f"file of games {path} holds games, and the ledger none to go on with: restore "
                "the ledger, or name another file of games"
            )
        self._rewrite()
        if self.problem:
            raise SettingsError(self.problem)

    def add(self, record: GameRecord) -> None:
        """Add a game that the ledger has taken."""
        if self._file is None:
            self._rewrite()
            return
        try:
            self._file.write(self._write(record))
            self._file.flush()
        except OSError as error:
            self._fail(error)

    def close(self) -> None:
        """Close the file; it is whole, or `problem` says why not."""
        if self._file is None:
            self._rewrite()
        if self._file is not None:
            self._file.close()

    def _holds_games(self) -> bool:
        return self._target.exists() and self._target.stat().st_size > 0

    def _rewrite(self) -> None:
        temporary = self._target.with_name(self._target.name + ".part")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                for record in self._ledger.records():
                    file.write(self._text(record))
            replace_file(temporary, self._target)
            self._file = self._target.open("a", encoding="utf-8")
            self.problem = ""
        except OSError as error:
            self._fail(error)

    def _text(self, record: GameRecord) -> str:
        try:
            return self._write(record)
        except DECODE_ERRORS as error:
            raise self._ledger.damaged_record_error(record.pair, record.game, error) from None

    def _fail(self, error: OSError) -> None:
        self.problem = f"file of games {self._path}: {error.strerror}"
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # what could not be written is written anew
                file.close()
