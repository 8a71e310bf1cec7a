"""Storage and generation of the user's endgame tables.

Each endgame has one file in the user's data folder. The shipped tables are compressed, and are
unpacked on first use. Other tables are generated in order of dependency. Files are written
atomically, so that an interrupted build can be resumed.
"""

import contextlib
import lzma
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np

from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
from agent.chess.endgames.dtm_tables import (
    SUFFIX,
    Bytes,
    DtmTables,
    TablebaseError,
    has_valid_checksum,
    map_file,
    pack_header,
    parse_table,
)
from agent.chess.endgames.table_index import EndgameType, all_endgames, endgame_from_name
from agent.io.files import write_atomically
from agent.io.user_folders import NoHomeFolderError
from openings.data_folders import table_folder

_SHIPPED = Path(__file__).parent / "data"
_COMPRESSED = SUFFIX + ".xz"

_STALE_AFTER_SECONDS = 600.0  # Older temporary files belong to a killed process.

ProgressCallback = Callable[[str, float], None]

# The folder, and the name, modification time (ns), size and inode of each table.
_FolderState = tuple[Path | None, tuple[tuple[str, int, int, int], ...]]
_opened: WeakValueDictionary[_FolderState, BuiltinTablebase] = WeakValueDictionary()
_open_lock = threading.Lock()


def table_path(folder: Path, ending: EndgameType) -> Path:
    return folder / (ending.name + SUFFIX)


def open_tables(folder: Path | None = None) -> tuple[DtmTables, list[str]]:
    """Map all tables in a folder into memory, after unpacking the shipped tables.

    Return the tables, and messages about unusable files. The default is the user's tablebase
    folder. If there is no such folder or it is not writable, the shipped tables are unpacked into
    memory.
    """
    folder = _user_tables() if folder is None else folder
    tables = DtmTables()
    problems = tables.map_folder(folder) if folder else []
    for packed in sorted(_SHIPPED.glob(f"*{_COMPRESSED}")):
        name = packed.name.removesuffix(_COMPRESSED)
        if name in tables:
            continue
        content = lzma.decompress(packed.read_bytes())
        if folder:
            path = folder / (name + SUFFIX)
            with contextlib.suppress(OSError):
                if not path.exists():
                    write_atomically(path, content)
        tables.add(*parse_table(np.frombuffer(content, dtype=np.uint8), str(packed)))
    return tables, problems


def open_builtin_tablebase(report: Callable[[str], None]) -> BuiltinTablebase:
    """Open the user's endgame tables. `report` receives messages about unusable files.

    Checksums are verified in a background thread. All engines in this process share one set of
    tables, which is reopened after a file changes.
    """
    with _open_lock:
        key = _folder_state(_user_tables())
        tablebase = _opened.get(key)
        if tablebase is not None:
            return tablebase
        tables, problems = open_tables()
        tablebase = BuiltinTablebase(tables)
        # The files may have changed: shipped tables are unpacked on first use.
        _opened[_folder_state(_user_tables())] = tablebase
    for problem in problems:
        report(problem)

    def verify() -> None:
        for problem in tables.drop_damaged():
            report(problem)

    threading.Thread(target=verify, name="checksums", daemon=True).start()
    return tablebase


def _user_tables() -> Path | None:
    try:
        return table_folder()
    except NoHomeFolderError:
        return None


def _folder_state(folder: Path | None) -> _FolderState:
    """Return a value that changes whenever the files in a folder change."""
    if folder is None:
        return None, ()
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        states = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(SUFFIX)]
        return folder, tuple(sorted((n, s.st_mtime_ns, s.st_size, s.st_ino) for n, s in states))
    return folder, ()


def write_compressed(ending: EndgameType, folder: Path, target: Path) -> Path:
    """Write a compressed copy of a table to the folder `target`, and return its path."""
    content = map_file(table_path(folder, ending)).tobytes()
    path = target / (ending.name + _COMPRESSED)
    write_atomically(path, lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    return path


def build_order(names: Iterable[str]) -> list[EndgameType]:
    """Return the named endgames and their dependencies, in the order in which to build them.

    If `names` is empty, all endgames are returned. Raise ValueError if a name is invalid.
    """
    wanted = {ending.name for ending in map(endgame_from_name, names)}
    endings = all_endgames()
    if not wanted:
        return endings
    for ending in reversed(endings):
        if ending.name in wanted:
            wanted |= {successor.name for successor in ending.successors()}
    return [ending for ending in endings if ending.name in wanted]


def load_intact(path: Path) -> tuple[EndgameType, Bytes]:
    """Map a table into memory and verify its checksum. Raise TablebaseError if it is invalid."""
    content = map_file(path)
    ending, data = parse_table(content, str(path))
    if not has_valid_checksum(content):
        raise TablebaseError(f"{path}: checksum mismatch (delete the file and build it again)")
    return ending, data


@dataclass(frozen=True, slots=True)
class BuiltTable:
    """A table that was built or kept. `problem` says why an existing table was rebuilt."""

    ending: EndgameType
    path: Path
    kept: bool
    problem: str = ""


class TableBuilder:
    """Builds tables in threads, which call `on_progress` with a name and progress (0 to 1)."""

    def __init__(
        self,
        endings: list[EndgameType],
        folder: Path,
        threads: int,
        on_progress: ProgressCallback | None = None,
    ) -> None:
        self._pending = {ending.name: ending for ending in endings}
        self._folder = folder
        self._threads = threads
        self._on_progress = on_progress
        self._tables = DtmTables()
        self._stop = threading.Event()

    def run(self) -> Iterator[BuiltTable]:
        """Yield each finished table. Closing the generator cancels the build."""
        _prepare_folder(self._folder)
        problems = {}
        for ending in list(self._pending.values()):
            path = table_path(self._folder, ending)
            if not path.exists():
                continue
            try:
                self._add(ending, path)
            except TablebaseError as error:
                problems[ending.name] = str(error)
                continue
            yield BuiltTable(ending, path, kept=True)
        with ThreadPoolExecutor(self._threads, "tables") as pool:
            try:
                for ending in self._build(pool):
                    path = table_path(self._folder, ending)
                    yield BuiltTable(
                        ending, path, kept=False, problem=problems.get(ending.name, "")
                    )
            finally:
                self._stop.set()

    def _build(self, pool: ThreadPoolExecutor) -> Iterator[EndgameType]:
        running: dict[Future[Path], EndgameType] = {}
        while self._pending or running:
            for ending in self._ready(len(running)):
                running[pool.submit(self._build_table, ending)] = self._pending.pop(ending.name)
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                ending = running.pop(future)
                self._add(ending, future.result())
                yield ending

    def _ready(self, running: int) -> list[EndgameType]:
        ready = [
            ending
            for ending in self._pending.values()
            if all(
                successor.is_drawn or successor.name in self._tables
                for successor in ending.successors()
            )
        ]
        return ready[: self._threads - running]

    def _add(self, ending: EndgameType, path: Path) -> None:
        actual, data = load_intact(path)
        if actual.name != ending.name:
            raise TablebaseError(f"{path}: wrong ending {actual.name} (delete the file)")
        self._tables.add(actual, data)
        self._pending.pop(ending.name, None)

    def _build_table(self, ending: EndgameType) -> Path:
        # Lazy import: compiles the kernels.
        from agent.chess.endgames.retrograde import RetrogradeAnalysis

        analysis = RetrogradeAnalysis(ending, self._tables)
        for share in analysis.steps():
            if self._stop.is_set():
                raise InterruptedError("cancelled")
            if self._on_progress is not None:
                self._on_progress(ending.name, share)
        path = table_path(self._folder, ending)
        values = analysis.values
        write_atomically(path, pack_header(ending.name, values) + values.tobytes())
        return path


def _prepare_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"{folder}: could not create the folder ({error.strerror}); choose another folder"
        raise OSError(reason) from None
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder}: not writable; choose another folder")
    for temporary in folder.glob(f"*{SUFFIX}.*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - temporary.stat().st_mtime > _STALE_AFTER_SECONDS:
                temporary.unlink()


@dataclass(frozen=True, slots=True)
class TableStatistics:
    """Position counts and longest mates of a table, for one side to move.

    `side` contains the pieces of the side to move. `longest_win` and `longest_loss` are numbers
    of moves to mate, or None if no position is won or lost.
    """

    ending: str
    side: str
    wins: int
    draws: int
    losses: int
    longest_win: int | None
    longest_loss: int | None


def statistics(ending: EndgameType, data: Bytes) -> Iterator[TableStatistics]:
    """Yield the statistics for the stronger side to move, then those for the weaker side."""
    split = ending.name.index("K", 1)
    strong, weak = ending.name[:split], ending.name[split:]
    for turn, side in enumerate((strong, weak)):
        counts = np.bincount(data[turn * ending.size : (turn + 1) * ending.size], minlength=256)
        counts[255] = 0  # An illegal position.
        win_lengths, loss_lengths = np.flatnonzero(counts[2::2]), np.flatnonzero(counts[1::2])
        yield TableStatistics(
            ending=ending.name,
            side=side,
            wins=int(counts[2::2].sum()),
            draws=int(counts[0]),
            losses=int(counts[1::2].sum()),
            longest_win=int(win_lengths[-1]) + 1 if len(win_lengths) else None,
            longest_loss=int(loss_lengths[-1]) if len(loss_lengths) else None,
        )
