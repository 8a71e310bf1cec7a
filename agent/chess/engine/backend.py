"""The chess engine behind a player: the compiled kernel, and who searches until it is there.

Nothing heavy is imported before `start`. What only one search needs is loaded when that search is
chosen; until it is there, alpha-beta plays, and until that is there, a search in plain Python.
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
from agent.chess.parts import ALPHABETA, MCTS
from agent.clock import SearchClock
from agent.evaluation_types import (
    HANDCRAFTED,
    Evaluation,
    EvaluationError,
    require_integer,
    with_error_reporting,
)
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
    from agent.chess.endgames.root_probe import Tablebases
    from agent.chess.search.chess_search import ChessSearch
    from agent.chess.search.mcts_search import FinalMoveRule, MctsSearch

# The table of a search that is not in use.
_MIN_MEGABYTES = 1

Opened = TypeVar("Opened")

# How long a front end is kept waiting for the kernel before it is told to go ahead, in seconds.
READY_TIMEOUT_S = 10.0

# How long a kernel with a compiled evaluation may show no sign of life when the search should end.
# Compiled code that did not return once is not tried again; Python may come back from a sleep.
COMPILED_GRACE_S = 0.15


class ChessBackend:
    """The source of a player's searchers.

    Settings may be changed before the kernel is there; it takes them over. All methods but
    `start`, `close` and the latches belong to the player's thread. report: gets one line of text
    for each thing the user should know. open_tables: opens the engine's own endgame tables, when
    the kernel has been loaded; gets the same report. megabytes: of the table, until others are
    set. budget: what all engines of this process have together; with one, an engine takes its
    memory when it first searches.
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
        self._reserved_megabytes = 0  # of the budget
        self._open_tables = open_tables
        self._builtin_tablebase: BuiltinTablebase | None = None
        self._settings = Settings(megabytes=megabytes)
        self._default: Evaluation | None = None  # once it is loaded
        self._evaluation = UNLOADED_DEFAULT  # in use: the one that is set, unless it rests
        self._warned_evaluation: Evaluation | None = (
            None  # the batched one that was said to be slow
        )
        self._current_searcher: ChessSearcher | None = None  # to whoever searches now
        self._abandoned = AbandonedThreads()  # in the evaluation that is set
        kernel = KernelLoader(
            ALPHABETA,
            "kernel",
            "playing without it",
            report,
            on_loaded=self._open_builtin_tablebase,
        )
        tree = KernelLoader(MCTS, "mcts search", "playing alphabeta", report, requires=kernel)
        self._loaders = {ALPHABETA: kernel, MCTS: tree}
        self._searchers: dict[str, ChessSearch] = {}
        self._fallback: ChessSearcher | None = None
        self._seed = 0  # of the choices that levels make in this game

    @property
    def ready(self) -> OneShotEvent:
        """Set when the kernel is loaded, or will not come."""
        return self._loaders[ALPHABETA].ready

    def start(self) -> None:
        """Begin to load the kernel, unless that has begun."""
        self._loaders[ALPHABETA].start()

    def close(self, timeout: float) -> bool:
        """End what compiles; return whether the loading ended within about `timeout` seconds.

        The searches must have ended: their memory is given back.
        """
        deadline = time.monotonic() + timeout
        ended = [
            loading.close(max(deadline - time.monotonic(), 0.0))
            for loading in self._loaders.values()
        ]
        self._searchers, self._fallback, self._current_searcher = {}, None, None
        if self._budget is not None:
            self._budget.release(self._reserved_megabytes)
            self._reserved_megabytes = 0
        return all(ended)

    def get_searcher(self, clock: SearchClock[chess.Move], stop: OneShotEvent) -> ChessSearcher:
        """Return the search that was chosen; where a clock runs and it is not there, a fallback.

        Levels are played by alpha-beta, with which they were measured.
        """
        self._current_searcher = None
        self._abandoned.start_search()
        self._choose_evaluation()
        level = self._settings.level
        if level is None:
            self._current_searcher = self._best_available(
                (self._settings.search, ALPHABETA), clock, stop
            )
            self._warn_about_batches()
            return self._current_searcher
        self._current_searcher = self._best_available((ALPHABETA,), clock, stop)
        self._warn_about_batches()
        return LimitedStrengthSearch(self._current_searcher, level, self._seed)

    def abandon(self, thread: threading.Thread) -> str | None:
        """Give up what that thread does with the searcher, if the user's evaluation keeps it.

        Return what to tell the user then. The searcher is left to the thread for good: the next
        one is made anew, with the user's settings.
        """
        evaluation, searcher = self._settings.evaluation, self._current_searcher
        if searcher is None or not self._is_stuck(searcher):
            return None
        if isinstance(evaluation.python, MonitoredFunction):
            evaluation.python.abandon()
        self._abandoned.add(thread)
        self._current_searcher = None
        self._searchers = {
            name: made for name, made in self._searchers.items() if made is not searcher
        }
        self._fallback = None
        return f"evaluation {evaluation.name} did not return in time; it is given up for this move"

    def _warn_about_batches(self) -> None:
        """Tell, once, that a batched evaluation is asked about one position after the other."""
        evaluation = self._evaluation
        settings = self._settings
        if not evaluation.batch or (settings.search == MCTS and settings.level is None):
            return
        if self._warned_evaluation is not evaluation:
            self._warned_evaluation = evaluation
            self._report(
                f"evaluation {evaluation.name} judges {evaluation.batch} positions at once, but "
                f"this search asks for one at a time, which is slow: set Search to {MCTS}"
                + (", and no level" if settings.level else "")
            )

    def _is_stuck(self, searcher: ChessSearcher) -> bool:
        """Tell whether a search that was stopped goes on because of the user's evaluation."""
        evaluation = self._evaluation
        if isinstance(evaluation.python, MonitoredFunction):
            return evaluation.python.is_stuck(GRACE_PERIOD_S)
        if evaluation.jitted is None:
            return False
        return self._abandoned.is_stalled(searcher.progress().nodes, COMPILED_GRACE_S)

    def _choose_evaluation(self) -> None:
        """Use the evaluation that is set, or the usual one while too many calls hang in it."""
        evaluation = self._settings.evaluation
        if self._abandoned.count_exceeds(MAX_ABANDONED if evaluation.jitted is None else 0):
            evaluation = self._default_evaluation()
        if evaluation is self._evaluation:
            return
        self._evaluation = evaluation
        self._fallback = None
        for searcher in self._searchers.values():
            searcher.set_evaluation(evaluation)
        if evaluation is not self._settings.evaluation:
            name = self._settings.evaluation.name
            self._report(f"evaluation {name} still does not return; {evaluation.name} plays")

    def _default_evaluation(self) -> Evaluation:
        """Return the default evaluation; where it cannot be had say why, and return our other."""
        if self._default is None:
            try:
                self._default = load(DEFAULT)
            except EvaluationError as error:
                self._report(f"{error}, which plays meanwhile")
                self._default = HANDCRAFTED
        return self._default

    def _load_default_evaluation(self) -> None:
        """Load the default evaluation where it is meant and stands for itself so far."""
        if self._settings.evaluation is UNLOADED_DEFAULT:
            self._settings = replace(self._settings, evaluation=self._default_evaluation())
        if self._evaluation is UNLOADED_DEFAULT:
            self._evaluation = self._default_evaluation()

    def _create_searcher(self, name: str) -> ChessSearch:
        """Make a searcher with an evaluation of ours, and the process's first one search.

        That search takes longer than a fast game allows.
        """
        import chess

        self._load_default_evaluation()
        is_users = self._evaluation.is_function
        searcher = _make_search(name, self._default_evaluation() if is_users else self._evaluation)
        if name not in _warmed_up:
            searcher.clear_stop()
            for _ in searcher.search(chess.Board(), Limits(depth=1)):
                pass
            searcher.new_game()
            _warmed_up.add(name)
        return searcher

    def _best_available(
        self, names: tuple[str, ...], clock: SearchClock[chess.Move], stop: OneShotEvent
    ) -> ChessSearcher:
        """Return the first of these searches that is there or can be waited for."""
        self.start()
        for name in dict.fromkeys(names):
            self._loaders[name].wait(clock, stop)
            if searcher := self._searcher_if_loaded(name):
                return searcher
        return self._python_search()

    def wait_for_kernel(self, stop: OneShotEvent) -> ChessSearch:
        """Wait for the kernel and return it; raise AgentError if it does not come.

        A stop ends the waiting for a compiler alone: what is only loaded is there at once.
        """
        self.start()
        wait_for_any(self.ready, stop)
        if not self.ready.is_set():
            self._loaders[ALPHABETA].wait_unless_compiling(READY_TIMEOUT_S)
        self._abandoned.start_search()
        self._choose_evaluation()
        self._current_searcher = kernel = self._searcher_if_loaded()
        if kernel is None:
            why = "is not there" if self.ready.is_set() else "is still being compiled"
            raise AgentError(f"this needs the compiled kernel, which {why}")
        return kernel

    def wait_until_loaded(self, job: Job) -> None:
        """Wait for the kernel as long as a front end should: until PATIENCE, or something else."""
        self.start()
        for name in dict.fromkeys((ALPHABETA, self._settings.search)):
            loading = self._loaders[name]
            if loading.started is not None:
                left = loading.started + READY_TIMEOUT_S - time.monotonic()
                wait_for_any(loading.ready, job.stop, job.superseded, timeout=max(left, 0.0))
            if (
                self._searcher_unless_budgeted(name) is None
                and loading.is_loaded
                and name not in _warmed_up
            ):
                try:
                    self._create_searcher(name)
                except Exception as error:  # noqa: BLE001 - without it the fallback plays
                    loading.fail(error)

    def set_megabytes(self, megabytes: int) -> None:
        """Resize the table; raises MemoryError and keeps the old one if there is no room."""
        before, taken = self._settings, self._reserved_megabytes
        if self._budget is not None:
            self._budget.resize(taken, megabytes)
            self._reserved_megabytes = megabytes
        self._settings = replace(before, megabytes=megabytes)
        try:
            self._distribute_memory()
        except MemoryError:
            # What else was settled meanwhile, as the usual evaluation, stays.
            self._settings = replace(self._settings, megabytes=before.megabytes)
            if self._budget is not None:
                self._budget.resize(megabytes, taken)
                self._reserved_megabytes = taken
            raise

    def set_threads(self, threads: int) -> None:
        """Search with so many threads."""
        self._settings = replace(self._settings, threads=threads)
        self._report_thread_limit()
        self._searcher_unless_budgeted(self._settings.search)
        self._apply_threads()

    def set_evaluation(self, spec: str) -> None:
        """Load and use an evaluation; raises EvaluationError and keeps the old one on failure."""
        evaluation = load_with_timeout(spec)
        for searcher in self._created_searchers():
            searcher.set_evaluation(evaluation)
        self._settings = replace(self._settings, evaluation=evaluation)
        self._evaluation = evaluation
        self._abandoned.clear()
        if evaluation.python is not None:
            self._report_thread_limit()
        self._apply_threads()
        self._fallback = None

    def set_search(self, name: str) -> None:
        """Search with another algorithm of SEARCHES from now on; begin to load what it needs."""
        self._settings = replace(self._settings, search=name)
        if name != ALPHABETA:
            self.start()
            self._loaders[name].start()
        self._distribute_memory()

    def set_final_choice(self, choice: str) -> None:
        """Let Monte Carlo tree search choose its move by another of FINAL_CHOICES."""
        self._settings = replace(self._settings, final_choice=choice)
        if MCTS in self._searchers:
            self._set_final_choice(self._searchers[MCTS])

    def set_level(
        self, *, skill: int | None = None, limit: bool | None = None, elo: int | None = None
    ) -> None:
        """Play at a skill from 0 to 20, or where strength is limited, at an Elo."""
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

    def use_builtin_tablebase(self, wanted: bool) -> None:
        """Use the engine's own endgame tables, or do not."""
        self._settings = replace(self._settings, builtin_tablebase=wanted)
        self._update_tablebases()

    def use_gaviota(self, paths: str) -> None:
        """Use the Gaviota tables in these folders, which are written like PATH; "" for none.

        Raises AgentError and keeps the old ones if there are none.
        """
        from agent.chess.endgames.external_tablebases import open_gaviota

        old, tables = self._settings.gaviota, _open(open_gaviota, paths, self._report)
        self._settings = replace(self._settings, gaviota=tables)
        self._update_tablebases()
        if old is not None:
            old.close()
        if tables is not None:
            self._report(f"Gaviota tables of up to {tables.max_pieces} pieces")

    def use_syzygy(self, paths: str) -> None:
        """Use the Syzygy tables in these folders, which are written like PATH; "" for none.

        Raises AgentError and keeps the old ones if there are none.
        """
        from agent.chess.endgames.external_tablebases import open_syzygy

        old, tables = self._settings.syzygy, _open(open_syzygy, paths, self._report)
        self._settings = replace(self._settings, syzygy=tables)
        self._update_tablebases()
        if old is not None:
            old.close()
        if tables is not None:
            self._report(f"Syzygy tables of up to {tables.max_pieces} pieces")

    def _update_tablebases(self) -> None:
        for searcher in self._created_searchers():
            searcher.set_tablebases(self._tablebases())

    def _has_tablebases(self) -> bool:
        return bool(self._builtin_tablebase or self._settings.gaviota or self._settings.syzygy)

    def _tablebases(self) -> Tablebases:
        from agent.chess.endgames.root_probe import Tablebases

        settings = self._settings
        if settings.level is not None:  # a level is to play alike with and without tables
            return Tablebases()
        own = self._builtin_tablebase if settings.builtin_tablebase else None
        return Tablebases(own, settings.gaviota, settings.syzygy)

    def clear(self) -> None:
        """Empty the table."""
        for searcher in self._created_searchers():
            searcher.clear()

    def new_game(self) -> None:
        """Forget everything that can change a search."""
        self._seed = int.from_bytes(os.urandom(4), "little")
        for searcher in (*self._created_searchers(), self._fallback):
            if searcher is not None:
                searcher.new_game()

    def _created_searchers(self) -> list[ChessSearch]:
        """Return the kernel's searchers that are in use or were, once they are loaded."""
        for name in (ALPHABETA, self._settings.search):
            self._searcher_unless_budgeted(name)
        return list(self._searchers.values())

    def _open_builtin_tablebase(self) -> None:
        """Open the engine's own endgame tables; without them it plays all the same."""
        if self._open_tables is None:
            return
        try:
            self._builtin_tablebase = self._open_tables(self._report)
        except Exception as error:  # noqa: BLE001 - whatever a file does, the search goes on
            self._report(f"no endgame tables: {describe(error)}")

    def _searcher_if_loaded(self, name: str = ALPHABETA) -> ChessSearch | None:
        """Return a searcher of the kernel with the user's settings, once it is loaded."""
        loading = self._loaders[name]
        if name not in self._searchers and loading.is_loaded:
            try:
                searcher = self._create_searcher(name)
            except Exception as error:  # noqa: BLE001 - without it the fallback plays
                loading.fail(error)
            else:
                self._searchers[name] = searcher
                self._apply_settings(searcher)
        return self._searchers.get(name)

    def _searcher_unless_budgeted(self, name: str) -> ChessSearch | None:
        """Return a searcher that is made, or may be made before it is to search."""
        return self._searcher_if_loaded(name) if self._budget is None else self._searchers.get(name)

    def _reserve_memory(self) -> None:
        """Take the table's part of the budget, or what there is of it."""
        if self._budget is None or self._reserved_megabytes:
            return
        wanted = self._settings.megabytes
        self._reserved_megabytes = self._budget.reserve(wanted, _MIN_MEGABYTES)
        if self._reserved_megabytes < wanted:
            self._settings = replace(self._settings, megabytes=self._reserved_megabytes)
            self._report(
                f"the table has {self._reserved_megabytes} MB: other sessions have the rest"
            )

    def _apply_settings(self, searcher: ChessSearch) -> None:
        """Set what the user has set before the searcher was there."""
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
        """Tell why fewer threads search than were asked for, if fewer do."""
        threads, cores = self._settings.threads, usable_cores()
        if threads > 1 and self._settings.evaluation.python is not None:
            self._report("the evaluation is plain Python: one thread searches")
        elif threads > cores:
            self._report(f"{threads} threads are more than the cores: {cores} search")

    def _apply_threads(self) -> None:
        for searcher in self._searchers.values():
            searcher.set_threads(self._settings.effective_threads)

    def _distribute_memory(self) -> None:
        """Give the table's memory to the search in use; raises MemoryError if it is not there."""
        in_use = self._searcher_unless_budgeted(
            self._settings.search
        ) or self._searcher_unless_budgeted(ALPHABETA)
        for searcher in self._searchers.values():
            if searcher is not in_use:
                searcher.resize(_MIN_MEGABYTES)
        if in_use is not None:
            in_use.resize(self._settings.megabytes)

    def _python_search(self) -> ChessSearcher:
        """Return the search in plain Python, with the user's evaluation if it is plain too."""
        if self._fallback is None:
            from agent.chess.search.python_search import PythonSearch

            self._fallback = PythonSearch(_board_function(self._evaluation))
        return self._fallback


def _board_function(evaluation: Evaluation) -> Callable[[chess.Board], int] | None:
    """Return a plain function of a board, if the evaluation is plain; it raises EvaluationError."""
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
        raise AgentError(f"{error}; the tables stay as they were") from None


# The searches that have searched in this process.
_warmed_up: set[str] = set()


def _make_search(name: str, evaluation: Evaluation) -> ChessSearch:
    if name == MCTS:
        from agent.chess.search.mcts_search import MctsSearch

        return MctsSearch(_MIN_MEGABYTES, evaluation=evaluation)
    from agent.chess.search.alphabeta_search import AlphaBetaSearch

    return AlphaBetaSearch(_MIN_MEGABYTES, evaluation=evaluation)
