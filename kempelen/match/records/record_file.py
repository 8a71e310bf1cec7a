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
    """A file of all games in a ledger, in a format such as PGN.

    The file is rewritten when a run starts, and new games are appended. After a write error, it is
    rewritten by the next call of `add` or `close`, and `problem` contains the error until then.
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
        """Write all games in the ledger to the file.

        `write` formats a game. `sources` are input files that must not be overwritten. Raise
        SettingsError if the file is not writable, or if it contains games and either `resume` is
        false or the ledger is empty.
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
                f"file of games {path}: already exists (use another name, or move it away)"
            )
        if self._holds_games() and next(ledger.records(), None) is None:
            raise SettingsError(
                f"file of games {path}: has games, but the ledger has none (restore the ledger, "
                "or use another file of games)"
            )
        self._rewrite()
        if self.problem:
            raise SettingsError(self.problem)

    def add(self, record: GameRecord) -> None:
        """Append a game that has been written to the ledger."""
        if self._file is None:
            self._rewrite()
            return
        try:
            self._file.write(self._write(record))
            self._file.flush()
        except OSError as error:
            self._fail(error)

    def close(self) -> None:
        """Close the file. The file is complete unless `problem` is set."""
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
            with suppress(OSError):  # the file will be rewritten later
                file.close()
