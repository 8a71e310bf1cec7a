import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TextIO

from agent.io.append_file import is_in_place, unused_path
from agent.io.file_lock import lock_or_raise
from agent.io.files import atomic_writer
from agent.io.write_checks import require_writable
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import print_error, with_progress
from kempelen.match.records.game_record import GameRecord
from kempelen.match.records.ledger import DECODE_ERRORS, Ledger, LedgerError

IN_USE = "in use by another run (use another name)"
CHUNK_SIZE = 1 << 16


class RecordFile:
    """A file of all games in a ledger, in a format such as PGN.

    The file is locked and rewritten when a run starts, and new games are appended. After a write
    error, or if another program removes the file, it is rewritten by the next call of `add` or
    `close`. `problem` contains an error of the file or the ledger until then. Games of other runs
    are kept in a file with another name.
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
        SettingsError if the file is not writable, if another run writes it, or if it contains games
        and either `resume` is false or the ledger is empty.
        """
        self._path = path
        self._ledger = ledger
        self._write = write
        self._target = Path(path).resolve()
        self._file: TextIO | None = None
        self._size = 0
        self.problem = ""
        require_writable(
            [path], sources, lambda why: SettingsError(f"file of games {why}"), regular=True
        )
        with contextlib.ExitStack() as stack:
            stack.enter_context(
                lock_or_raise(path, lambda why: SettingsError(f"file of games {why}"), IN_USE)
            )
            self._check_games(resume=resume)
            label = f"writing {self._target.name}"
            self._rewrite(with_progress(ledger.records(), None, label))
            if self.problem:
                raise SettingsError(self.problem)
            self._stack = stack.pop_all()

    def add(self, record: GameRecord) -> None:
        """Append a game that has been written to the ledger."""
        self._close_unless_intact()
        if self._file is None:
            self._try_to_rewrite()
            return
        try:
            self._file.write(self._write(record))
            self._flush()
        except OSError as error:
            self._fail(error)

    def close(self) -> None:
        """Close the file. The file is complete unless `problem` is set."""
        with self._stack:
            self._close_unless_intact()
            if self._file is None:
                self._try_to_rewrite()
            if self._file is not None:
                self._file.close()

    def _check_games(self, *, resume: bool) -> None:
        if self._holds_games() and not resume:
            raise SettingsError(
                f"file of games {self._path}: already exists (use another name, or move it away)"
            )
        if self._holds_games() and next(self._ledger.records(), None) is None:
            raise SettingsError(
                f"file of games {self._path}: has games, but the ledger has none (restore the "
                "ledger, or use another file of games)"
            )

    def _holds_games(self) -> bool:
        return self._target.exists() and self._target.stat().st_size > 0

    def _close_unless_intact(self) -> None:
        """Close the file if another program has removed, replaced or truncated it."""
        if self._file is None or (
            is_in_place(self._file, self._target)
            and os.fstat(self._file.fileno()).st_size >= self._size
        ):
            return
        self._file.close()
        self._file = None
        print_error(f"file of games {self._path}: changed by another program; writing it again")

    def _rewrite(self, records: Iterable[GameRecord]) -> None:
        try:
            with atomic_writer(self._target) as file:
                for record in records:
                    file.write(self._text(record).encode())
                file.flush()
                if self._holds_games() and not _begins_with(Path(file.name), self._target):
                    kept = unused_path(self._target)
                    os.replace(self._target, kept)
                    print_error(f"file of games {self._path}: its earlier content is now in {kept}")
            self._file = self._target.open("a", encoding="utf-8", newline="\n")
            self._flush()
            self.problem = ""
        except OSError as error:
            self._fail(error)

    def _try_to_rewrite(self) -> None:
        try:
            self._rewrite(self._ledger.records())
        except LedgerError as error:
            self.problem = f"file of games {self._path}: {error}"

    def _flush(self) -> None:
        assert self._file is not None
        self._file.flush()
        self._size = os.fstat(self._file.fileno()).st_size

    def _text(self, record: GameRecord) -> str:
        try:
            return self._write(record)
        except DECODE_ERRORS as error:
            raise self._ledger.damaged_record_error(record.pair, record.game, error) from None

    def _fail(self, error: OSError) -> None:
        self.problem = f"file of games {self._path}: {error.strerror}"
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):  # the file will be rewritten later
                file.close()


def _begins_with(path: Path, start: Path) -> bool:
    """Return whether the file `path` begins with the contents of the file `start`."""
    with path.open("rb") as file, start.open("rb") as other:
        chunks = iter(lambda: other.read(CHUNK_SIZE), b"")
        return all(chunk == file.read(len(chunk)) for chunk in chunks)
