"""The endgame tables that a user has: where they are kept, and how they are built.

Tables lie in the user's data folder, one file an ending. Those that the package ships, compressed,
are unpacked there on first use; the others are built, each after the endings it leads to. A table
is written whole or not at all, so whatever is there is kept when a build is taken up again.
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
from openings.data_folders import table_folder

_SHIPPED = Path(__file__).parent / "data"
_COMPRESSED = SUFFIX + ".xz"

_STALE_AFTER_SECONDS = 600.0  # seconds after which nobody writes a temporary file any more

ProgressCallback = Callable[[str, float], None]

# A folder, and name, time of change, size and number of each of its tables.
_FolderState = tuple[Path, tuple[tuple[str, int, int, int], ...]]
_opened: WeakValueDictionary[_FolderState, BuiltinTablebase] = WeakValueDictionary()
_open_lock = threading.Lock()


def table_path(folder: Path, ending: EndgameType) -> Path:
    """Return where the table of an ending is kept."""
    return folder / (ending.name + SUFFIX)


def open_tables(folder: Path | None = None) -> tuple[DtmTables, list[str]]:
    """Map all tables of a folder, the user's by default; unpack what the package ships.

    Returns what is wrong with files that cannot be used, too. Where the folder cannot be written
    the shipped tables are held in memory.
    """
    folder = table_folder() if folder is None else folder
    tables = DtmTables()
    problems = tables.map_folder(folder)
    for packed in sorted(_SHIPPED.glob(f"*{_COMPRESSED}")):
        name = packed.name.removesuffix(_COMPRESSED)
        if name in tables:
            continue
        content = lzma.decompress(packed.read_bytes())
        path = folder / (name + SUFFIX)
        try:
            if not path.exists():
                write_atomically(path, content)
        except OSError:
            pass
        tables.add(*parse_table(np.frombuffer(content, dtype=np.uint8), str(packed)))
    return tables, problems


def open_builtin_tablebase(report: Callable[[str], None]) -> BuiltinTablebase:
    """Open the user's tables for an engine; report what is wrong with any of them.

    Checksums are compared in a thread of its own, so that the engine need not wait for that. All
    engines of this process share them, as long as one has them and the files stay the same.
    """
    with _open_lock:
        key = _folder_state(table_folder())
        own = _opened.get(key)
        if own is not None:
            return own
        tables, problems = open_tables()
        own = BuiltinTablebase(tables)
        _opened[_folder_state(table_folder())] = own  # what is unpacked at first is there by now
    for problem in problems:
        report(problem)

    def compare() -> None:
        for problem in tables.drop_damaged():
            report(problem)

    threading.Thread(target=compare, name="checksums", daemon=True).start()
    return own


def _folder_state(folder: Path) -> _FolderState:
    """Return what tells whether a folder still holds the same files."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        states = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(SUFFIX)]
        return folder, tuple(sorted((n, s.st_mtime_ns, s.st_size, s.st_ino) for n, s in states))
    return folder, ()


def write_compressed(ending: EndgameType, folder: Path, target: Path) -> Path:
    """Write a compressed copy of a table, as the package ships it, into the folder `target`."""
    content = map_file(table_path(folder, ending)).tobytes()
    path = target / (ending.name + _COMPRESSED)
    write_atomically(path, lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    return path


def build_order(names: Iterable[str]) -> list[EndgameType]:
    """Return the named endings, or all, and all that they lead to, those first.

    Raises ValueError for what is not the name of a table.
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
    """Map a table and compare it with its checksum; raise TablebaseError if anything is wrong."""
    content = map_file(path)
    ending, data = parse_table(content, str(path))
    if not has_valid_checksum(content):
        raise TablebaseError(f"{path} is damaged; delete it and build it anew")
    return ending, data


@dataclass(frozen=True, slots=True)
class BuiltTable:
    """One table that is whole now. kept: it was there before. problem: why it was built anew."""

    ending: EndgameType
    path: Path
    kept: bool
    problem: str = ""


class TableBuilder:
    """The building of tables in several threads at once.

    watch: told, from these threads, what share of an ending is done, 0 to 1.
    """

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
        """Yield each table as soon as it is whole; closing the generator gives the rest up.

        Raises OSError if a table cannot be written.
        """
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
        """Return endings whose successors are all there, as many as there are idle threads."""
        ready = [
            ending
            for ending in self._pending.values()
            if all(
                next_one.is_drawn or next_one.name in self._tables
                for next_one in ending.successors()
            )
        ]
        return ready[: self._threads - running]

    def _add(self, ending: EndgameType, path: Path) -> None:
        found, data = load_intact(path)
        if found.name != ending.name:
            raise TablebaseError(f"{path} holds {found.name}; delete it")
        self._tables.add(found, data)
        self._pending.pop(ending.name, None)

    def _build_table(self, ending: EndgameType) -> Path:
        from agent.chess.endgames.retrograde import (
            RetrogradeAnalysis,  # compiles when it is imported
        )

        analysis = RetrogradeAnalysis(ending, self._tables)
        for share in analysis.steps():
            if self._stop.is_set():
                raise InterruptedError("given up")
            if self._on_progress is not None:
                self._on_progress(ending.name, share)
        path = table_path(self._folder, ending)
        values = analysis.values
        write_atomically(path, pack_header(ending.name, values) + values.tobytes())
        return path


def _prepare_folder(folder: Path) -> None:
    """Make the folder; raise OSError if it cannot be written; delete what killed builds left."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"{folder} cannot be made ({error.strerror}); choose another folder"
        raise OSError(reason) from None
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} cannot be written; choose another folder")
    for left in folder.glob(f"*{SUFFIX}.*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_AFTER_SECONDS:
                left.unlink()


@dataclass(frozen=True, slots=True)
class TableStatistics:
    """What a table holds for one side to move: numbers of positions, and the longest mates.

    side: the pieces of the side to move first, as in KQKR for the stronger side of that ending.
    longest_win, longest_loss: moves to mate, None if there is no such position.
    """

    ending: str
    side: str
    wins: int
    draws: int
    losses: int
    longest_win: int | None
    longest_loss: int | None


def statistics(ending: EndgameType, data: Bytes) -> Iterator[TableStatistics]:
    """Count what is in a table, for the stronger and for the weaker side to move."""
    split = ending.name.index("K", 1)
    strong, weak = ending.name[:split], ending.name[split:]
    for turn, side in enumerate((strong, weak)):
        counts = np.bincount(data[turn * ending.size : (turn + 1) * ending.size], minlength=256)
        counts[255] = 0  # not a position
        won, lost = np.flatnonzero(counts[2::2]), np.flatnonzero(counts[1::2])
        yield TableStatistics(
            ending=ending.name,
            side=side,
            wins=int(counts[2::2].sum()),
            draws=int(counts[0]),
            losses=int(counts[1::2].sum()),
            longest_win=int(won[-1]) + 1 if len(won) else None,
            longest_loss=int(lost[-1]) if len(lost) else None,
        )
