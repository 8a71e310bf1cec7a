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

from agent.chess.evaluations import DEFAULT, USUAL, load, load_in_time
from agent.chess.parts import ALPHABETA, MCTS
from agent.chess.reader import ChessSearcher
from agent.chess.settings import USUAL_MEGABYTES, Settings
from agent.chess.weak_search import WeakSearch
from agent.clock import Clock
from agent.compiled.loading import Loading
from agent.evaluation import HANDCRAFTED, Evaluation, EvaluationError, guarded, whole
from agent.limits import Limits
from agent.machine import usable_cores
from agent.memory_budget import MemoryBudget
from agent.player import PlayerError, describe
from agent.threads.apart import Watched
from agent.threads.latch import Latch, wait_for_any
from agent.threads.left_behind import GRACE, MOST_LEFT, LeftBehind
from agent.threads.task_thread import Job

if TYPE_CHECKING:
    import chess

    from agent.chess.crew_search import CrewSearch
    from agent.chess.endgame import Endgame
    from agent.chess.own_tables import OwnTables
    from agent.chess.tree_search import FinalChoice, TreeSearch

# The table of a search that is not in use.
_LEAST_MEGABYTES = 1

Opened = TypeVar("Opened")

# How long a front end is kept waiting for the kernel before it is told to go ahead, in seconds.
PATIENCE = 10.0

# How long a kernel with a compiled evaluation may show no sign of life when the search should end.
# Compiled code that did not return once is not tried again; Python may come back from a sleep.
COMPILED_GRACE = 0.15


class Engine:
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
        open_tables: Callable[[Callable[[str], None]], OwnTables] | None = None,
        megabytes: int = USUAL_MEGABYTES,
        budget: MemoryBudget | None = None,
    ) -> None:
        self._report = report
        self._budget = budget
        self._taken = 0  # of the budget
        self._open_tables = open_tables
        self._own_tables: OwnTables | None = None
        self._settings = Settings(megabytes=megabytes)
        self._default: Evaluation | None = None  # once it is loaded
        self._evaluation = USUAL  # in use: the one that is set, unless it rests
        self._told_of: Evaluation | None = None  # the batched one that was said to be slow
        self._given: ChessSearcher | None = None  # to whoever searches now
        self._left = LeftBehind()  # in the evaluation that is set
        kernel = Loading(
            ALPHABETA, "kernel", "playing without it", report, and_then=self._map_tables
        )
        tree = Loading(MCTS, "mcts search", "playing alphabeta", report, after=kernel)
        self._loading = {ALPHABETA: kernel, MCTS: tree}
        self._searchers: dict[str, CrewSearch] = {}
        self._fallback: ChessSearcher | None = None
        self._seed = 0  # of the choices that levels make in this game

    @property
    def ready(self) -> Latch:
        """Set when the kernel is loaded, or will not come."""
        return self._loading[ALPHABETA].ready

    def start(self) -> None:
        """Begin to load the kernel, unless that has begun."""
        self._loading[ALPHABETA].start()

    def close(self, timeout: float) -> bool:
        """End what compiles; return whether the loading ended within about `timeout` seconds.

        The searches must have ended: their memory is given back.
        """
        deadline = time.monotonic() + timeout
        ended = [
            loading.close(max(deadline - time.monotonic(), 0.0))
            for loading in self._loading.values()
        ]
        self._searchers, self._fallback, self._given = {}, None, None
        if self._budget is not None:
            self._budget.give(self._taken)
            self._taken = 0
        return all(ended)

    def searcher(self, clock: Clock[chess.Move], stop: Latch) -> ChessSearcher:
        """Return the search that was chosen; where a clock runs and it is not there, a fallback.

        Levels are played by alpha-beta, with which they were measured.
        """
        self._given = None
        self._left.begin()
        self._choose_evaluation()
        level = self._settings.level
        if level is None:
            self._given = self._strongest((self._settings.search, ALPHABETA), clock, stop)
            self._tell_batches()
            return self._given
        self._given = self._strongest((ALPHABETA,), clock, stop)
        self._tell_batches()
        return WeakSearch(self._given, level, self._seed)

    def give_up(self, thread: threading.Thread) -> str | None:
        """Give up what that thread does with the searcher, if the user's evaluation keeps it.

        Return what to tell the user then. The searcher is left to the thread for good: the next
        one is made anew, with the user's settings.
        """
        evaluation, searcher = self._settings.evaluation, self._given
        if searcher is None or not self._is_stuck(searcher):
            return None
        if isinstance(evaluation.python, Watched):
            evaluation.python.give_up()
        self._left.add(thread)
        self._given = None
        self._searchers = {
            name: made for name, made in self._searchers.items() if made is not searcher
        }
        self._fallback = None
        return f"evaluation {evaluation.name} did not return in time; it is given up for this move"

    def _tell_batches(self) -> None:
        """Tell, once, that a batched evaluation is asked about one position after the other."""
        evaluation = self._evaluation
        settings = self._settings
        if not evaluation.batch or (settings.search == MCTS and settings.level is None):
            return
        if self._told_of is not evaluation:
            self._told_of = evaluation
            self._report(
                f"evaluation {evaluation.name} judges {evaluation.batch} positions at once, but "
                f"this search asks for one at a time, which is slow: set Search to {MCTS}"
                + (", and no level" if settings.level else "")
            )

    def _is_stuck(self, searcher: ChessSearcher) -> bool:
        """Tell whether a search that was stopped goes on because of the user's evaluation."""
        evaluation = self._evaluation
        if isinstance(evaluation.python, Watched):
            return evaluation.python.is_stuck(GRACE)
        if evaluation.jitted is None:
            return False
        return self._left.is_silent(searcher.progress().nodes, COMPILED_GRACE)

    def _choose_evaluation(self) -> None:
        """Use the evaluation that is set, or the usual one while too many calls hang in it."""
        evaluation = self._settings.evaluation
        if self._left.are_more_than(MOST_LEFT if evaluation.jitted is None else 0):
            evaluation = self._usual()
        if evaluation is self._evaluation:
            return
        self._evaluation = evaluation
        self._fallback = None
        for searcher in self._searchers.values():
            searcher.set_evaluation(evaluation)
        if evaluation is not self._settings.evaluation:
            name = self._settings.evaluation.name
            self._report(f"evaluation {name} still does not return; {evaluation.name} plays")

    def _usual(self) -> Evaluation:
        """Return the default evaluation; where it cannot be had say why, and return our other."""
        if self._default is None:
            try:
                self._default = load(DEFAULT)
            except EvaluationError as error:
                self._report(f"{error}, which plays meanwhile")
                self._default = HANDCRAFTED
        return self._default

    def _take_usual(self) -> None:
        """Load the default evaluation where it is meant and stands for itself so far."""
        if self._settings.evaluation is USUAL:
            self._settings = replace(self._settings, evaluation=self._usual())
        if self._evaluation is USUAL:
            self._evaluation = self._usual()

    def _make_ready(self, name: str) -> CrewSearch:
        """Make a searcher with an evaluation of ours, and the process's first one search.

        That search takes longer than a fast game allows.
        """
        import chess

        self._take_usual()
        is_users = self._evaluation.is_function
        searcher = _make(name, self._usual() if is_users else self._evaluation)
        if name not in _tried_out:
            searcher.arm()
            for _ in searcher.deepen(chess.Board(), Limits(depth=1)):
                pass
            searcher.new_game()
            _tried_out.add(name)
        return searcher

    def _strongest(
        self, names: tuple[str, ...], clock: Clock[chess.Move], stop: Latch
    ) -> ChessSearcher:
        """Return the first of these searches that is there or can be waited for."""
        self.start()
        for name in dict.fromkeys(names):
            self._loading[name].wait(clock, stop)
            if searcher := self._adopt(name):
                return searcher
        return self._plain()

    def kernel(self, stop: Latch) -> CrewSearch:
        """Wait for the kernel and return it; raise PlayerError if it does not come.

        A stop ends the waiting for a compiler alone: what is only loaded is there at once.
        """
        self.start()
        wait_for_any(self.ready, stop)
        if not self.ready.is_set():
            self._loading[ALPHABETA].wait_unless_cold(PATIENCE)
        self._left.begin()
        self._choose_evaluation()
        self._given = kernel = self._adopt()
        if kernel is None:
            why = "is not there" if self.ready.is_set() else "is still being compiled"
            raise PlayerError(f"this needs the compiled kernel, which {why}")
        return kernel

    def settle(self, job: Job) -> None:
        """Wait for the kernel as long as a front end should: until PATIENCE, or something else."""
        self.start()
        for name in dict.fromkeys((ALPHABETA, self._settings.search)):
            loading = self._loading[name]
            if loading.started is not None:
                left = loading.started + PATIENCE - time.monotonic()
                wait_for_any(loading.ready, job.stop, job.overtaken, timeout=max(left, 0.0))
            if self._at_hand(name) is None and loading.usable and name not in _tried_out:
                try:
                    self._make_ready(name)
                except Exception as error:  # noqa: BLE001 - without it the fallback plays
                    loading.fail(error)

    def set_megabytes(self, megabytes: int) -> None:
        """Resize the table; raises MemoryError and keeps the old one if there is no room."""
        before, taken = self._settings, self._taken
        if self._budget is not None:
            self._budget.change(taken, megabytes)
            self._taken = megabytes
        self._settings = replace(before, megabytes=megabytes)
        try:
            self._share_memory()
        except MemoryError:
            # What else was settled meanwhile, as the usual evaluation, stays.
            self._settings = replace(self._settings, megabytes=before.megabytes)
            if self._budget is not None:
                self._budget.change(megabytes, taken)
                self._taken = taken
            raise

    def set_threads(self, threads: int) -> None:
        """Search with so many threads."""
        self._settings = replace(self._settings, threads=threads)
        self._tell_threads()
        self._at_hand(self._settings.search)
        self._share_threads()

    def set_evaluation(self, spec: str) -> None:
        """Load and use an evaluation; raises EvaluationError and keeps the old one on failure."""
        evaluation = load_in_time(spec)
        for searcher in self._made():
            searcher.set_evaluation(evaluation)
        self._settings = replace(self._settings, evaluation=evaluation)
        self._evaluation = evaluation
        self._left.forget()
        if evaluation.python is not None:
            self._tell_threads()
        self._share_threads()
        self._fallback = None

    def set_search(self, name: str) -> None:
        """Search with another algorithm of SEARCHES from now on; begin to load what it needs."""
        self._settings = replace(self._settings, search=name)
        if name != ALPHABETA:
            self.start()
            self._loading[name].start()
        self._share_memory()

    def set_final_choice(self, choice: str) -> None:
        """Let Monte Carlo tree search choose its move by another of FINAL_CHOICES."""
        self._settings = replace(self._settings, final_choice=choice)
        if MCTS in self._searchers:
            self._set_choice(self._searchers[MCTS])

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
            self._share_threads()
            if self._has_tables():
                self._renew_endgame()

    def use_own_tables(self, wanted: bool) -> None:
        """Use the engine's own endgame tables, or do not."""
        self._settings = replace(self._settings, own_tables=wanted)
        self._renew_endgame()

    def use_gaviota(self, paths: str) -> None:
        """Use the Gaviota tables in these folders, which are written like PATH; "" for none.

        Raises PlayerError and keeps the old ones if there are none.
        """
        from agent.chess.foreign_tables import open_gaviota

        old, tables = self._settings.gaviota, _open(open_gaviota, paths, self._report)
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
        from agent.chess.foreign_tables import open_syzygy

        old, tables = self._settings.syzygy, _open(open_syzygy, paths, self._report)
        self._settings = replace(self._settings, syzygy=tables)
        self._renew_endgame()
        if old is not None:
            old.close()
        if tables is not None:
            self._report(f"Syzygy tables of up to {tables.size} pieces")

    def _renew_endgame(self) -> None:
        for searcher in self._made():
            searcher.set_endgame(self._endgame())

    def _has_tables(self) -> bool:
        return bool(self._own_tables or self._settings.gaviota or self._settings.syzygy)

    def _endgame(self) -> Endgame:
        from agent.chess.endgame import Endgame

        settings = self._settings
        if settings.level is not None:  # a level is to play alike with and without tables
            return Endgame()
        own = self._own_tables if settings.own_tables else None
        return Endgame(own, settings.gaviota, settings.syzygy)

    def clear(self) -> None:
        """Empty the table."""
        for searcher in self._made():
            searcher.clear()

    def new_game(self) -> None:
        """Forget everything that can change a search."""
        self._seed = int.from_bytes(os.urandom(4), "little")
        for searcher in (*self._made(), self._fallback):
            if searcher is not None:
                searcher.new_game()

    def _made(self) -> list[CrewSearch]:
        """Return the kernel's searchers that are in use or were, once they are loaded."""
        for name in (ALPHABETA, self._settings.search):
            self._at_hand(name)
        return list(self._searchers.values())

    def _map_tables(self) -> None:
        """Open the engine's own endgame tables; without them it plays all the same."""
        if self._open_tables is None:
            return
        try:
            self._own_tables = self._open_tables(self._report)
        except Exception as error:  # noqa: BLE001 - whatever a file does, the search goes on
            self._report(f"no endgame tables: {describe(error)}")

    def _adopt(self, name: str = ALPHABETA) -> CrewSearch | None:
        """Return a searcher of the kernel with the user's settings, once it is loaded."""
        loading = self._loading[name]
        if name not in self._searchers and loading.usable:
            try:
                searcher = self._make_ready(name)
            except Exception as error:  # noqa: BLE001 - without it the fallback plays
                loading.fail(error)
            else:
                self._searchers[name] = searcher
                self._settle_in(searcher)
        return self._searchers.get(name)

    def _at_hand(self, name: str) -> CrewSearch | None:
        """Return a searcher that is made, or may be made before it is to search."""
        return self._adopt(name) if self._budget is None else self._searchers.get(name)

    def _take_memory(self) -> None:
        """Take the table's part of the budget, or what there is of it."""
        if self._budget is None or self._taken:
            return
        wanted = self._settings.megabytes
        self._taken = self._budget.take(wanted, _LEAST_MEGABYTES)
        if self._taken < wanted:
            self._settings = replace(self._settings, megabytes=self._taken)
            self._report(f"the table has {self._taken} MB: other sessions have the rest")

    def _settle_in(self, searcher: CrewSearch) -> None:
        """Set what the user has set before the searcher was there."""
        self._take_memory()
        settings = self._settings
        changes: tuple[Callable[[], None], ...] = (
            self._share_memory,
            lambda: searcher.set_threads(settings.threads_in_use),
            lambda: (
                searcher.set_evaluation(self._evaluation)
                if self._evaluation is not searcher.evaluation
                else None
            ),
            lambda: self._set_choice(searcher),
            lambda: searcher.set_endgame(self._endgame()) if self._has_tables() else None,
        )
        for change in changes:
            try:
                change()
            except (MemoryError, EvaluationError) as error:
                self._report(describe(error))

    def _set_choice(self, searcher: CrewSearch) -> None:
        if searcher is self._searchers.get(MCTS):
            tree = cast("TreeSearch", searcher)
            tree.choice = cast("FinalChoice", self._settings.final_choice)

    def _tell_threads(self) -> None:
        """Tell why fewer threads search than were asked for, if fewer do."""
        threads, cores = self._settings.threads, usable_cores()
        if threads > 1 and self._settings.evaluation.python is not None:
            self._report("the evaluation is plain Python: one thread searches")
        elif threads > cores:
            self._report(f"{threads} threads are more than the cores: {cores} search")

    def _share_threads(self) -> None:
        for searcher in self._searchers.values():
            searcher.set_threads(self._settings.threads_in_use)

    def _share_memory(self) -> None:
        """Give the table's memory to the search in use; raises MemoryError if it is not there."""
        in_use = self._at_hand(self._settings.search) or self._at_hand(ALPHABETA)
        for searcher in self._searchers.values():
            if searcher is not in_use:
                searcher.resize(_LEAST_MEGABYTES)
        if in_use is not None:
            in_use.resize(self._settings.megabytes)

    def _plain(self) -> ChessSearcher:
        """Return the search in plain Python, with the user's evaluation if it is plain too."""
        if self._fallback is None:
            from agent.chess.plain_search import PlainSearch

            self._fallback = PlainSearch(_of_one_board(self._evaluation))
        return self._fallback


def _of_one_board(evaluation: Evaluation) -> Callable[[chess.Board], int] | None:
    """Return a plain function of a board, if the evaluation is plain; it raises EvaluationError."""
    if evaluation.batch:
        from agent.games.chess_batch import judge_boards

        return judge_boards(evaluation)
    function = evaluation.python
    return None if function is None else guarded(evaluation.name, function, whole)


def _open(
    open_tables: Callable[[str, Callable[[str], None]], Opened],
    paths: str,
    report: Callable[[str], None],
) -> Opened | None:
    try:
        return open_tables(paths, report) if paths else None
    except (OSError, ValueError) as error:
        raise PlayerError(f"{error}; the tables stay as they were") from None


# The searches that have searched in this process.
_tried_out: set[str] = set()


def _make(name: str, evaluation: Evaluation) -> CrewSearch:
    if name == MCTS:
        from agent.chess.tree_search import TreeSearch

        return TreeSearch(_LEAST_MEGABYTES, evaluation=evaluation)
    from agent.chess.search import KernelSearch

    return KernelSearch(_LEAST_MEGABYTES, evaluation=evaluation)
