"""The chess engine behind a player: the compiled kernel, and who searches until it is there.

Nothing heavy is imported before `start`. From then on a thread loads the kernel; if it has never
been compiled here, a child process compiles it, so that this one keeps answering.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from agent.clock import Clock
from agent.evaluation import HANDCRAFTED, Evaluation, EvaluationError, load
from agent.latch import Latch, wait_for_any
from agent.limits import Limits
from agent.player import Job, PlayerError, Searcher, describe

if TYPE_CHECKING:
    import subprocess

    import chess

    from agent.chess.endgame import Endgame, GaviotaTables, SyzygyTables
    from agent.chess.own_tables import OwnTables
    from agent.chess.search import KernelSearch

Opened = TypeVar("Opened")

# How long a front end is kept waiting for the kernel before it is told to go ahead, in seconds.
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user sets; megabytes: the table's size; own_tables: whether they are used."""

    megabytes: int = 16
    threads: int = 1
    evaluation: Evaluation = HANDCRAFTED
    own_tables: bool = True
    gaviota: GaviotaTables | None = None
    syzygy: SyzygyTables | None = None


class Engine:
    """The source of a player's searchers.

    Settings may be changed before the kernel is there; it takes them over. All methods but
    `start`, `close` and the latches belong to the player's thread. report: gets one line of text
    for each thing the user should know. open_tables: opens the engine's own endgame tables, when
    the kernel has been loaded; gets the same report.
    """

    def __init__(
        self,
        report: Callable[[str], None],
        open_tables: Callable[[Callable[[str], None]], OwnTables] | None = None,
    ) -> None:
        self.ready = Latch()  # the kernel is loaded, or will not come
        self._looked = Latch()  # it is known whether the kernel must be compiled
        self._cold = False
        self._failed = False
        self._report = report
        self._open_tables = open_tables
        self._own_tables: OwnTables | None = None
        self._settings = Settings()
        self._kernel: KernelSearch | None = None
        self._fallback: Searcher | None = None
        self._started = 0.0
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = Latch()

    def start(self) -> None:
        """Begin to load the kernel, unless that has begun."""
        with self._starting:
            if self._thread is None:
                self._started = time.monotonic()
                self._thread = threading.Thread(target=self._load, name="kernel", daemon=True)
                self._thread.start()

    def close(self, timeout: float) -> bool:
        """End the compiling child; return whether the loading ended within `timeout` seconds."""
        self._closed.set()
        if self._child is not None:
            self._child.kill()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def searcher(self, clock: Clock[chess.Move], stop: Latch) -> Searcher:
        """Return the kernel; where a clock runs and the kernel is not there yet, the fallback."""
        self.start()
        wait_for_any(self._looked, stop)
        patience = None
        if clock.limited:
            patience = 0.0 if self._cold else clock.budget.soft / 2
            patience = min(patience, clock.budget.hard / 2)
        wait_for_any(self.ready, stop, timeout=patience)
        return self._adopt() or self._plain()

    def kernel(self, stop: Latch) -> KernelSearch:
        """Wait for the kernel and return it; raise PlayerError if it does not come."""
        self.start()
        wait_for_any(self.ready, stop)
        kernel = self._adopt()
        if kernel is None:
            raise PlayerError("this needs the compiled kernel, which is not there")
        return kernel

    def settle(self, job: Job) -> None:
        """Wait for the kernel as long as a front end should: until PATIENCE, or something else."""
        self.start()
        left = self._started + PATIENCE - time.monotonic()
        wait_for_any(self.ready, job.stop, job.overtaken, timeout=max(left, 0.0))
        self._adopt()

    def set_megabytes(self, megabytes: int) -> None:
        """Resize the table; raises MemoryError and keeps the old one if there is no room."""
        if kernel := self._adopt():
            kernel.resize(megabytes)
        self._settings = replace(self._settings, megabytes=megabytes)

    def set_threads(self, threads: int) -> None:
        """Search with so many threads."""
        if kernel := self._adopt():
            kernel.set_threads(threads)
        self._settings = replace(self._settings, threads=threads)

    def set_evaluation(self, spec: str) -> None:
        """Load and use an evaluation; raises EvaluationError and keeps the old one on failure."""
        try:
            evaluation = load(spec)
        except OSError as error:  # a name that the system does not take
            raise PlayerError(f"cannot load an evaluation from {spec}: {error.strerror}") from None
        if kernel := self._adopt():
            kernel.set_evaluation(evaluation)
        self._settings = replace(self._settings, evaluation=evaluation)
        self._fallback = None

    def use_own_tables(self, wanted: bool) -> None:
        """Use the engine's own endgame tables, or do not."""
        self._settings = replace(self._settings, own_tables=wanted)
        self._renew_endgame()

    def use_gaviota(self, paths: str) -> None:
        """Use the Gaviota tables in these folders, which are written like PATH; "" for none.

        Raises PlayerError and keeps the old ones if there are none.
        """
        from agent.chess.endgame import open_gaviota

        old, tables = self._settings.gaviota, _open(open_gaviota, paths)
        self._settings = replace(self._settings, gaviota=tables)
        self._renew_endgame()
        if old is not None:
            old.close()
        if tables is not None:
            self._report(f"Gaviota tables of up to {tables.size} pieces")

    def use_syzygy(self, paths: str) -> None:
        """Use the Syzygy tables in these folders, which are written like PATH; "" for none.

        Raises PlayerError and keeps the old ones if there are none.
        """
        from agent.chess.endgame import open_syzygy

        old, tables = self._settings.syzygy, _open(open_syzygy, paths)
        self._settings = replace(self._settings, syzygy=tables)
        self._renew_endgame()
        if old is not None:
            old.close()
        if tables is not None:
            self._report(f"Syzygy tables of up to {tables.size} pieces")

    def _renew_endgame(self) -> None:
        if kernel := self._adopt():
            kernel.set_endgame(self._endgame())

    def _has_tables(self) -> bool:
        return bool(self._own_tables or self._settings.gaviota or self._settings.syzygy)

    def _endgame(self) -> Endgame:
        from agent.chess.endgame import Endgame

        settings = self._settings
        own = self._own_tables if settings.own_tables else None
        return Endgame(own, settings.gaviota, settings.syzygy)

    def clear(self) -> None:
        """Empty the table."""
        if kernel := self._adopt():
            kernel.clear()

    def new_game(self) -> None:
        """Forget everything that can change a search."""
        for searcher in (self._adopt(), self._fallback):
            if searcher is not None:
                searcher.new_game()

    def _load(self) -> None:
        """Load the kernel; compile it first, in a child process, where that was never done."""
        try:
            from agent import kernel

            self._cold = not kernel.is_warm()
            if self._cold and not self._closed.is_set():
                self._report("compiling the kernel, once: a minute or so; playing without it")
            self._looked.set()
            if self._cold and not self._closed.is_set():
                self._child = kernel.compile_in_child()
                if self._closed.is_set():
                    self._child.kill()
                self._child.wait()
            if self._closed.is_set():
                return
            kernel.load()
            if self._cold:
                self._report("the kernel is compiled")
            self._map_tables()
        except BaseException as error:  # noqa: BLE001 - without a kernel the fallback plays
            self._failed = True
            self._report(f"no kernel, playing without it: {describe(error)}")
        finally:
            self._looked.set()
            self.ready.set()

    def _map_tables(self) -> None:
        """Open the engine's own endgame tables; without them it plays all the same."""
        if self._open_tables is None:
            return
        try:
            self._own_tables = self._open_tables(self._report)
        except Exception as error:  # noqa: BLE001 - whatever a file does, the search goes on
            self._report(f"no endgame tables: {describe(error)}")

    def _adopt(self) -> KernelSearch | None:
        """Return the kernel's searcher with the user's settings, once the kernel is loaded."""
        usable = self.ready.is_set() and not self._failed and not self._closed.is_set()
        if self._kernel is None and usable:
            try:
                self._kernel = _try_out()
            except Exception as error:  # noqa: BLE001 - without a kernel the fallback plays
                self._failed = True
                self._report(f"no kernel, playing without it: {describe(error)}")
            else:
                self._settle_in(self._kernel)
        return self._kernel

    def _settle_in(self, kernel: KernelSearch) -> None:
        """Set what the user has set before the kernel was there."""
        settings = self._settings
        changes: tuple[Callable[[], None], ...] = (
            lambda: kernel.resize(settings.megabytes),
            lambda: kernel.set_threads(settings.threads),
            lambda: kernel.set_evaluation(settings.evaluation),
            lambda: kernel.set_endgame(self._endgame()) if self._has_tables() else None,
        )
        for change in changes:
            try:
                change()
            except (MemoryError, EvaluationError) as error:
                self._report(describe(error))

    def _plain(self) -> Searcher:
        """Return the search in plain Python, with the user's evaluation if it is plain too."""
        if self._fallback is None:
            from agent.search.deepening import PlainSearch

            self._fallback = PlainSearch(self._settings.evaluation.python)
        return self._fallback


def _open(open_tables: Callable[[str], Opened], paths: str) -> Opened | None:
    try:
        return open_tables(paths) if paths else None
    except (OSError, ValueError) as error:
        raise PlayerError(f"{error}; the tables stay as they were") from None


def _try_out() -> KernelSearch:
    """Make a searcher and search: a first call takes longer than a fast game allows."""
    import chess

    from agent.chess.search import KernelSearch

    kernel = KernelSearch()
    kernel.arm()
    for _ in kernel.deepen(chess.Board(), Limits(depth=1)):
        pass
    kernel.new_game()
    return kernel
