"""The search backend of the chess engine.

Search code is compiled and loaded in the background. Until then, alpha-beta replaces Monte Carlo
tree search (MCTS), and a slower search in plain Python replaces alpha-beta.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from agent.agent import AgentError, describe
from agent.chess.engine.board_adapter import ChessSearcher
from agent.chess.engine.limited_strength import LimitedStrengthSearch
from agent.chess.engine.settings import DEFAULT_MEGABYTES, Settings
from agent.chess.evaluation.loading import DEFAULT, UNLOADED_DEFAULT, load, load_with_timeout
from agent.chess.parts import ALPHABETA, MCTS, variant_part
from agent.chess.variants import variant_module
from agent.clock import SearchClock
from agent.evaluation_types import (
    HANDCRAFTED,
    Evaluation,
    EvaluationError,
    require_integer,
    with_error_reporting,
)
from agent.games.variants import STANDARD, board_class
from agent.kernel.kernel_loader import KernelLoader
from agent.limits import Limits
from agent.machine import usable_cores
from agent.memory_budget import MemoryBudget
from agent.threads.abandoned_threads import GRACE_PERIOD_S, MAX_ABANDONED, AbandonedThreads
from agent.threads.background_call import MonitoredFunction
from agent.threads.one_shot_event import OneShotEvent, wait_for_any
from agent.threads.serial_executor import Job

if TYPE_CHECKING:
    import chess

    from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
    from agent.chess.endgames.external_tablebases import GaviotaTablebase, SyzygyTablebase
    from agent.chess.endgames.root_probe import Tablebases
    from agent.chess.search.chess_search import ChessSearch
    from agent.chess.search.mcts_search import FinalMoveRule, MctsSearch

# Table size of unused searches.
_MIN_MEGABYTES = 1

Opened = TypeVar("Opened")

# Maximum time that commands such as `isready` wait for compiled code.
READY_TIMEOUT_S = 10.0

# A stopped search with a compiled user evaluation is abandoned if its node count does not change
# for this time.
COMPILED_GRACE_S = 0.15


class ChessBackend:
    """Loads, configures and selects the searches of the chess engine.

    Only `start`, `close` and `ready` are thread-safe.

    `report` is called with one-line messages for the user. `open_tables` opens the built-in endgame
    tablebase, and is called after the alpha-beta code is loaded. `megabytes` is the initial size of
    the hash table. The first search reserves that memory from `budget`, which all engines of the
    process share.
    """

    def __init__(
        self,
        report: Callable[[str], None],
        open_tables: Callable[[Callable[[str], None]], BuiltinTablebase] | None = None,
        megabytes: int = DEFAULT_MEGABYTES,
        budget: MemoryBudget | None = None,
    ) -> None:
        self._report = report
        self._budget = budget
        self._reserved_megabytes = 0  # from the budget
        self._open_tables = open_tables
        self._builtin_tablebase: BuiltinTablebase | None = None
        self._settings = Settings(megabytes=megabytes)
        self._default: Evaluation | None = None  # None until it is loaded
        # The evaluation of the settings, or the default evaluation after too many hung calls.
        self._evaluation = UNLOADED_DEFAULT
        self._warned_evaluation: Evaluation | None = None  # last evaluation reported as slow
        self._current_searcher: ChessSearcher | None = None
        self._abandoned = AbandonedThreads()  # threads stuck in the evaluation of the settings
        self._variant = STANDARD
        kernel = KernelLoader(
            ALPHABETA,
            "kernel",
            "using the Python search",
            report,
            on_loaded=self._open_builtin_tablebase,
        )
        tree = KernelLoader(MCTS, "mcts search", "using alphabeta", report, requires=kernel)
        self._kernels = {STANDARD: kernel}
        self._loaders = {ALPHABETA: kernel, MCTS: tree}
        self._searchers: dict[str, ChessSearch] = {}
        self._fallback: ChessSearcher | None = None
        self._seed = 0  # random seed for limited strength

    @property
    def runs_user_code(self) -> bool:
        return self._settings.evaluation.is_function and self._variant == STANDARD

    @property
    def variant(self) -> str:
        """The variant of chess that is played."""
        return self._variant

    @property
    def _search(self) -> str:
        return self._settings.search if self._variant == STANDARD else ALPHABETA

    @property
    def ready(self) -> OneShotEvent:
        """Event that is set when the alpha-beta code is loaded or has failed to load."""
        return self._loaders[ALPHABETA].ready

    @property
    def compiling(self) -> bool:
        """Whether the alpha-beta code is being compiled, so that a slower search replaces it."""
        loader = self._loaders[ALPHABETA]
        return loader.compiling.is_set() and not loader.ready.is_set()

    def start(self) -> None:
        """Start loading the alpha-beta code in the background. Later calls have no effect."""
        self._loaders[ALPHABETA].start()

    def close(self, timeout: float) -> bool:
        """Stop compilation and release the memory. No search may be running.

        Return whether loading ended within `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        loading_ended = [
            loader.close(max(deadline - time.monotonic(), 0.0))
            for loader in (*self._kernels.values(), self._loaders[MCTS])
        ]
        self._searchers, self._fallback, self._current_searcher = {}, None, None
        if self._budget is not None:
            self._budget.release(self._reserved_megabytes)
            self._reserved_megabytes = 0
        return all(loading_ended)

    def get_searcher(self, clock: SearchClock[chess.Move], stop: OneShotEvent) -> ChessSearcher:
        """Return the selected searcher, or a fallback if its code is not loaded in time.

        Limited strength always uses alpha-beta, because its Elo levels were measured with
        alpha-beta.
        """
        self._current_searcher = None
        self._abandoned.start_search()
        self._choose_evaluation()
        level = self._settings.level
        if level is None:
            self._current_searcher = self._best_available((self._search, ALPHABETA), clock, stop)
            self._warn_about_batches()
            return self._current_searcher
        self._current_searcher = self._best_available((ALPHABETA,), clock, stop)
        self._warn_about_batches()
        return LimitedStrengthSearch(self._current_searcher, level, self._seed)

    def abandon(self, thread: threading.Thread) -> str | None:
        evaluation, searcher = self._settings.evaluation, self._current_searcher
        if searcher is None or not self._is_stuck(searcher):
            return None
        if isinstance(evaluation.python, MonitoredFunction):
            evaluation.python.abandon()
        self._abandoned.add(thread)
        self._current_searcher = None
        self._searchers = {
            name: existing for name, existing in self._searchers.items() if existing is not searcher
        }
        self._fallback = None
        return f"evaluation {evaluation.name} did not return in time; search abandoned"

    def _warn_about_batches(self) -> None:
        evaluation = self._evaluation
        settings = self._settings
        if not evaluation.batch or (self._search == MCTS and settings.level is None):
            return
        if self._warned_evaluation is not evaluation:
            self._warned_evaluation = evaluation
            self._report(
                f"evaluation {evaluation.name} takes batches of {evaluation.batch} positions, but "
                f"this search evaluates one at a time, which is slow: set Search to {MCTS}"
                + (" and play at full strength" if settings.level else "")
            )

    def _is_stuck(self, searcher: ChessSearcher) -> bool:
        evaluation = self._evaluation
        if isinstance(evaluation.python, MonitoredFunction):
            return evaluation.python.is_stuck(GRACE_PERIOD_S)
        if evaluation.jitted is None:
            return False
        return self._abandoned.is_stalled(searcher.progress().nodes, COMPILED_GRACE_S)

    def _choose_evaluation(self) -> None:
        evaluation = self._settings.evaluation
        if self._abandoned.count_exceeds(MAX_ABANDONED if evaluation.jitted is None else 0):
            evaluation = self._default_evaluation()
        if self._variant != STANDARD and evaluation is not UNLOADED_DEFAULT:
            evaluation = self._default_evaluation()
        if evaluation is self._evaluation:
            return
        self._evaluation = evaluation
        self._fallback = None
        for searcher in self._searchers.values():
            searcher.set_evaluation(evaluation)
        if evaluation is not self._settings.evaluation and self._variant == STANDARD:
            name = self._settings.evaluation.name
            self._report(f"evaluation {name} still does not return; using {evaluation.name}")

    def _default_evaluation(self) -> Evaluation:
        if self._default is None:
            try:
                self._default = load(DEFAULT)
            except EvaluationError as error:
                self._report(f"{error}; using {HANDCRAFTED.name}")
                self._default = HANDCRAFTED
        return self._default

    def _load_default_evaluation(self) -> None:
        if self._settings.evaluation is UNLOADED_DEFAULT:
            self._settings = replace(self._settings, evaluation=self._default_evaluation())
        if self._evaluation is UNLOADED_DEFAULT:
            self._evaluation = self._default_evaluation()

    def _create_searcher(self, name: str) -> ChessSearch:
        """Create a searcher. The first one of each kind also runs a warm-up search."""
        self._load_default_evaluation()
        is_users = self._evaluation.is_function
        evaluation = self._default_evaluation() if is_users else self._evaluation
        searcher = _make_search(name, evaluation, self._variant)
        if (name, self._variant) not in _warmed_up:
            searcher.clear_stop()
            for _ in searcher.search(board_class(self._variant)(), Limits(depth=1)):
                pass
            searcher.new_game()
            _warmed_up.add((name, self._variant))
        return searcher

    def _best_available(
        self, names: tuple[str, ...], clock: SearchClock[chess.Move], stop: OneShotEvent
    ) -> ChessSearcher:
        self.start()
        for name in dict.fromkeys(names):
            self._loaders[name].wait(clock, stop)
            if searcher := self._searcher_if_loaded(name):
                return searcher
        return self._python_search()

    def wait_for_kernel(self, stop: OneShotEvent) -> ChessSearch:
        """Wait for the compiled alpha-beta searcher, and return it.

        If `stop` is set, stop waiting for compilation, but still wait for compiled code to load.
        Raise `AgentError` if the searcher is not available.
        """
        self.start()
        wait_for_any(self.ready, stop)
        if not self.ready.is_set():
            self._loaders[ALPHABETA].wait_unless_compiling(READY_TIMEOUT_S)
        self._abandoned.start_search()
        self._choose_evaluation()
        self._current_searcher = kernel = self._searcher_if_loaded()
        if kernel is None:
            reason = "is not available" if self.ready.is_set() else "is still being compiled"
            raise AgentError(f"this needs the compiled kernel, which {reason}")
        return kernel

    def wait_until_loaded(self, job: Job, *, unless_compiling: bool = False) -> None:
        """Wait until the code of the selected search is loaded.

        The wait ends READY_TIMEOUT_S after the start of loading, or if `job` is stopped or
        superseded. With `unless_compiling`, it also ends if the code must be compiled.
        """
        self.start()
        for name in dict.fromkeys((ALPHABETA, self._search)):
            loader = self._loaders[name]
            if loader.started is not None:
                remaining = loader.started + READY_TIMEOUT_S - time.monotonic()
                events = [loader.ready, job.stop, job.superseded]
                if unless_compiling:
                    events.append(loader.compiling)
                wait_for_any(*events, timeout=max(remaining, 0.0))
            if (
                self._searcher_unless_budgeted(name) is None
                and loader.is_loaded
                and (name, self._variant) not in _warmed_up
            ):
                try:
                    self._create_searcher(name)
                except Exception as error:  # noqa: BLE001 - the fallback is used
                    loader.fail(error)

    def set_variant(self, variant: str) -> None:
        """Play one of VARIANTS, with its own evaluation. Other settings are kept.

        A variant other than chess uses alpha-beta without endgame tablebases.
        """
        if variant == self._variant:
            return
        if variant not in self._kernels:
            self._kernels[variant] = KernelLoader(
                variant_part(variant), f"{variant} kernel", "using the Python search", self._report
            )
        self._variant = variant
        self._loaders[ALPHABETA] = self._kernels[variant]
        self._searchers, self._fallback, self._current_searcher = {}, None, None
        if variant == STANDARD:
            return
        settings = self._settings
        if settings.search != ALPHABETA:
            self._report(f"search {settings.search}: not available in {variant}; using {ALPHABETA}")
        if settings.evaluation.name != DEFAULT:
            self._report(f"evaluation {settings.evaluation.name}: not used in {variant}")

    def set_megabytes(self, megabytes: int) -> None:
        """Resize the hash table. On failure, raise `MemoryError` and keep the old size."""
        before, reserved = self._settings, self._reserved_megabytes
        if self._budget is not None:
            self._budget.resize(reserved, megabytes)
            self._reserved_megabytes = megabytes
        self._settings = replace(before, megabytes=megabytes)
        try:
            self._distribute_memory()
        except MemoryError:
            # Keep other settings that have changed meanwhile, such as the default evaluation.
            self._settings = replace(self._settings, megabytes=before.megabytes)
            if self._budget is not None:
                self._budget.resize(megabytes, reserved)
                self._reserved_megabytes = reserved
            raise

    def set_threads(self, threads: int) -> None:
        self._settings = replace(self._settings, threads=threads)
        self._report_thread_limit()
        self._searcher_unless_budgeted(self._search)
        self._apply_threads()

    def set_evaluation(self, spec: str) -> None:
        """Load and use an evaluation. On failure, raise `EvaluationError` and keep the old one."""
        evaluation = load_with_timeout(spec)
        if self._variant == STANDARD:
            for searcher in self._created_searchers():
                searcher.set_evaluation(evaluation)
            self._evaluation = evaluation
        self._settings = replace(self._settings, evaluation=evaluation)
        self._abandoned.clear()
        if evaluation.python is not None:
            self._report_thread_limit()
        self._apply_threads()
        self._fallback = None

    def set_search(self, name: str) -> None:
        """Select a search algorithm from SEARCHES, and start to load its code."""
        self._settings = replace(self._settings, search=name)
        if name != ALPHABETA and self._variant == STANDARD:
            self.start()
            self._loaders[name].start()
        self._distribute_memory()

    def set_final_choice(self, choice: str) -> None:
        """Set the rule by which MCTS selects its final move, one of FINAL_CHOICES."""
        self._settings = replace(self._settings, final_choice=choice)
        if MCTS in self._searchers:
            self._set_final_choice(self._searchers[MCTS])

    def set_level(
        self, *, skill: int | None = None, limit: bool | None = None, elo: int | None = None
    ) -> None:
        """Set the playing strength. Arguments that are None keep their previous values.

        `skill` is from 0 to 20 (full strength). `elo` replaces `skill` if `limit` is true.
        """
        settings = self._settings
        self._settings = replace(
            settings,
            skill=settings.skill if skill is None else skill,
            limit_strength=settings.limit_strength if limit is None else limit,
            elo=settings.elo if elo is None else elo,
        )
        if (settings.level is None) != (self._settings.level is None):
            self._apply_threads()
            if self._has_tablebases():
                self._update_tablebases()

    def use_builtin_tablebase(self, enabled: bool) -> None:
        self._settings = replace(self._settings, builtin_tablebase=enabled)
        self._update_tablebases()

    def use_gaviota(self, paths: str) -> None:
        """Use the Gaviota tables in the folders `paths`, which are separated by `os.pathsep`.

        An empty string disables them. On failure, raise `AgentError` and keep the old tables.
        """
        from agent.chess.endgames.external_tablebases import open_gaviota

        old, tables = self._settings.gaviota, _open(open_gaviota, paths, self._report)
        self._settings = replace(self._settings, gaviota=tables)
        self._exchange_tables("Gaviota", old, tables)

    def use_syzygy(self, paths: str) -> None:
        """Use the Syzygy tables in the folders `paths`, which are separated by `os.pathsep`.

        An empty string disables them. On failure, raise `AgentError` and keep the old tables.
        """
        from agent.chess.endgames.external_tablebases import open_syzygy

        old, tables = self._settings.syzygy, _open(open_syzygy, paths, self._report)
        self._settings = replace(self._settings, syzygy=tables)
        self._exchange_tables("Syzygy", old, tables)

    def _exchange_tables(
        self,
        kind: str,
        old: GaviotaTablebase | SyzygyTablebase | None,
        new: GaviotaTablebase | SyzygyTablebase | None,
    ) -> None:
        """Update the searchers after the table setting has changed, and close the old tables."""
        self._update_tablebases()
        if old is not None:
            old.close()
        if new is not None:
            self._report(f"{kind} tables: up to {new.max_pieces} pieces")

    def _update_tablebases(self) -> None:
        for searcher in self._created_searchers():
            searcher.set_tablebases(self._tablebases())

    def _has_tablebases(self) -> bool:
        return bool(self._builtin_tablebase or self._settings.gaviota or self._settings.syzygy)

    def _tablebases(self) -> Tablebases:
        from agent.chess.endgames.root_probe import Tablebases

        settings = self._settings
        if self._variant != STANDARD:
            return Tablebases()
        if settings.level is not None:  # the strength of a level must not depend on tables
            return Tablebases()
        own = self._builtin_tablebase if settings.builtin_tablebase else None
        return Tablebases(own, settings.gaviota, settings.syzygy)

    def clear(self) -> None:
        for searcher in self._created_searchers():
            searcher.clear()

    def new_game(self) -> None:
        """Clear all search data, and choose a new random seed for limited strength."""
        self._seed = int.from_bytes(os.urandom(4), "little")
        for searcher in (*self._created_searchers(), self._fallback):
            if searcher is not None:
                searcher.new_game()

    def _created_searchers(self) -> list[ChessSearch]:
        """Create searchers for newly loaded code, and return all compiled searchers."""
        for name in (ALPHABETA, self._search):
            self._searcher_unless_budgeted(name)
        return list(self._searchers.values())

    def _open_builtin_tablebase(self) -> None:
        if self._open_tables is None:
            return
        try:
            self._builtin_tablebase = self._open_tables(self._report)
        except Exception as error:  # noqa: BLE001 - a damaged file must not stop the engine
            self._report(f"endgame tables not loaded: {describe(error)}")

    def _searcher_if_loaded(self, name: str = ALPHABETA) -> ChessSearch | None:
        loader = self._loaders[name]
        if name not in self._searchers and loader.is_loaded:
            try:
                searcher = self._create_searcher(name)
            except Exception as error:  # noqa: BLE001 - the fallback is used
                loader.fail(error)
            else:
                self._searchers[name] = searcher
                self._apply_settings(searcher)
        return self._searchers.get(name)

    def _searcher_unless_budgeted(self, name: str) -> ChessSearch | None:
        return self._searcher_if_loaded(name) if self._budget is None else self._searchers.get(name)

    def _reserve_memory(self) -> None:
        if self._budget is None or self._reserved_megabytes:
            return
        requested = self._settings.megabytes
        self._reserved_megabytes = self._budget.reserve(requested, _MIN_MEGABYTES)
        if self._reserved_megabytes < requested:
            self._settings = replace(self._settings, megabytes=self._reserved_megabytes)
            self._report(
                f"hash table: {self._reserved_megabytes} MB available (other sessions use the rest)"
            )

    def _apply_settings(self, searcher: ChessSearch) -> None:
        self._reserve_memory()
        settings = self._settings
        changes: tuple[Callable[[], None], ...] = (
            self._distribute_memory,
            lambda: searcher.set_threads(settings.effective_threads),
            lambda: (
                searcher.set_evaluation(self._evaluation)
                if self._evaluation is not searcher.evaluation
                else None
            ),
            lambda: self._set_final_choice(searcher),
            lambda: searcher.set_tablebases(self._tablebases()) if self._has_tablebases() else None,
        )
        for change in changes:
            try:
                change()
            except (MemoryError, EvaluationError) as error:
                self._report(describe(error))

    def _set_final_choice(self, searcher: ChessSearch) -> None:
        if searcher is self._searchers.get(MCTS):
            tree = cast("MctsSearch", searcher)
            tree.final_choice = cast("FinalMoveRule", self._settings.final_choice)

    def _report_thread_limit(self) -> None:
        threads, cores = self._settings.threads, usable_cores()
        if threads > 1 and self._settings.evaluation.python is not None:
            self._report("threads: using 1, because the evaluation is in Python")
        elif threads > cores:
            self._report(f"threads: using {cores} instead of {threads} (number of cores)")

    def _apply_threads(self) -> None:
        for searcher in self._searchers.values():
            searcher.set_threads(self._settings.effective_threads)

    def _distribute_memory(self) -> None:
        """Give the selected searcher its configured memory, and all others the minimum."""
        in_use = self._searcher_unless_budgeted(self._search) or self._searcher_unless_budgeted(
            ALPHABETA
        )
        for searcher in self._searchers.values():
            if searcher is not in_use:
                searcher.resize(_MIN_MEGABYTES)
        if in_use is not None:
            in_use.resize(self._settings.megabytes)

    def _python_search(self) -> ChessSearcher:
        if self._fallback is None:
            from agent.chess.search.python_search import PythonSearch

            self._fallback = PythonSearch(_board_function(self._evaluation))
        return self._fallback


def _board_function(evaluation: Evaluation) -> Callable[[chess.Board], int] | None:
    """Return a Python evaluation as a function of a board, or None if it is compiled."""
    if evaluation.batch:
        from agent.games.chess_batch import as_board_evaluation

        return as_board_evaluation(evaluation)
    function = evaluation.python
    return (
        None
        if function is None
        else with_error_reporting(evaluation.name, function, require_integer)
    )


def _open(
    open_tables: Callable[[str, Callable[[str], None]], Opened],
    paths: str,
    report: Callable[[str], None],
) -> Opened | None:
    try:
        return open_tables(paths, report) if paths else None
    except (OSError, ValueError) as error:
        raise AgentError(f"{error}; endgame tables unchanged") from None


# The searches that have been warmed up in this process, by algorithm and variant.
_warmed_up: set[tuple[str, str]] = set()


def _make_search(name: str, evaluation: Evaluation, variant: str) -> ChessSearch:
    if name == MCTS:
        from agent.chess.search.mcts_search import MctsSearch

        return MctsSearch(_MIN_MEGABYTES, evaluation=evaluation)
    module = variant_module(variant, "search.alphabeta_search")
    search: ChessSearch = module.AlphaBetaSearch(_MIN_MEGABYTES, evaluation=evaluation)
    return search
