"""The compiled search as a player drives it: progressive deepening, one kernel call a line."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import copysign

from agent.connect_four.alphabeta import search
from agent.connect_four.evaluation import handcrafted_function
from agent.connect_four.records import NO_MOVE, Worker
from agent.connect_four.rules import DiscBoard
from agent.evaluation_types import HANDCRAFTED, Evaluation
from agent.games.connect_four import ConnectFour
from agent.kernel.bits import U64
from agent.kernel.evaluators import CompiledEvaluator, Evaluator, evaluate_root
from agent.kernel.game_follower import GameFollower
from agent.kernel.scaled_evaluation import make_user_evaluator
from agent.kernel.score_scale import to_value
from agent.kernel.scores import INFINITE, score_of
from agent.kernel.table_memory import TableMemory
from agent.kernel.worker_pool import NO_LIMIT, ParallelSearch, WorkerPool
from agent.limits import Info, Limits, Mate, Progress, Score
from agent.multipv import merge_interrupted
from agent.search.search import expected_outcome, to_cp


class ConnectFourSearch(ParallelSearch[DiscBoard]):
    """The compiled alpha-beta on one thread; implements the player's Searcher.

    A position is a plain game, a move its column from 0. evaluation: its plain function takes
    such a game, and returns a number on any scale, as its compiled one does.
    """

    def __init__(self, megabytes: int = 16, evaluation: Evaluation = HANDCRAFTED) -> None:
        self._table = TableMemory(megabytes)
        self._workers = WorkerPool(DiscBoard, 1)
        self._board = self._workers.first
        self._position = ConnectFour()
        self._follower: GameFollower[int] | None = None
        self._evaluator: Evaluator = CompiledEvaluator(evaluation.name, handcrafted_function)
        if evaluation.python or evaluation.jitted:
            self._evaluator = make_user_evaluator(evaluation, Worker, self._game_at, self.stop)
        self._started = 0.0

    @property
    def supports_multipv(self) -> bool:
        """Yes, it tells of as many lines as are asked for."""
        return True

    @property
    def nodes(self) -> int:
        """How many nodes the search has visited."""
        return int(self._board.worker.nodes)

    def save(self) -> None:
        """Write nothing: nothing is learned for good."""

    # From any thread.

    def progress(self) -> Progress[int]:
        """Tell where the running search stands."""
        worker = self._board.worker
        move = int(worker.root_current)
        return Progress(
            nodes=self.nodes,
            hashfull=self._table.permille_used(),
            seldepth=int(worker.seldepth),
            current_move=move - 1 if move else None,
        )

    # The search.

    def new_game(self) -> None:
        """Forget everything that can change a search."""
        self._table.clear()

    def evaluate(self, position: ConnectFour) -> float:
        """Return the static evaluation, for the mover; raises EvaluationError if that fails."""
        self._begin(position, Limits())
        score = evaluate_root(self._evaluator, self._board.address)
        self._raise_error()
        return to_value(score)

    def search(
        self, position: ConnectFour, limits: Limits[int], lines: int = 1, /
    ) -> Iterator[Info[int]]:
        """Search deeper and deeper, until nothing more is to be found; see `Searcher`."""
        self._started = time.perf_counter()
        self._table.next_generation()
        self._begin(position, limits)
        moves = limits.search_moves or tuple(position.moves())
        try:
            yield from self._iterations(moves, limits, min(lines, len(moves)))
        finally:
            self._workers.end()
            self._raise_error()

    def _begin(self, position: ConnectFour, limits: Limits[int]) -> None:
        self._board.load(position)
        self._position, self._follower = position, None
        self._workers.begin(lambda board: self._prepare(board.worker, limits))

    def _prepare(self, worker: Worker, limits: Limits[int]) -> None:
        worker.nodes = worker.seldepth = worker.root_current = 0
        worker.node_limit = limits.nodes or NO_LIMIT
        worker.evaluate = U64(self._evaluator.address)
        self._table.attach_to(worker)
        worker.stop = 0

    def _game_at(self, address: int, ply: int) -> ConnectFour:
        if self._follower is None:
            self._follower = GameFollower(self._position)
        line = self._board.worker.positions[1 : ply + 1]
        game: ConnectFour = self._follower.at(int(position.move) - 1 for position in line)
        return game

    def _raise_error(self) -> None:
        error = self._evaluator.pop_error([self._board.worker])
        if error is not None:
            raise error

    def _iterations(
        self, moves: tuple[int, ...], limits: Limits[int], lines: int
    ) -> Iterator[Info[int]]:
        """Search 1, 2, 3, ... plies deep, and each time the best line, the second best, ..."""
        worker, longest = self._board.worker, self._board.empty_squares()
        level: list[Info[int]] = []
        for depth in range(1, min(limits.depth or longest, longest) + 1):
            last, level = level, []
            scores: list[int] = []
            for number in range(lines):
                left = set(moves).difference(info.pv[0] for info in level)
                before = int(worker.nodes)
                self._search_line(depth, left, last[number].pv[0] if last else None)
                default = level[0].pv[0] if level else last[0].pv[0] if last else moves[0]
                info = self._line(depth, default, before)
                if self._workers.interrupted:
                    break
                level.append(info)
                scores.append(int(worker.best_score))
            # A line searched later may turn out better than one searched before it.
            order = sorted(range(len(level)), key=lambda number: -scores[number])
            level = [replace(level[old], multipv=new) for new, old in enumerate(order, 1)]
            if self._workers.interrupted:
                if not level and (not last or info.pv[0] != last[0].pv[0]):
                    level = [replace(info, complete=False)]
                if level:
                    yield from merge_interrupted([*level, *last], lines)
                return
            yield from level
            if all(isinstance(info.score, Mate) for info in level):
                return
            if limits.mate_found(level[0].score):
                return

    def _search_line(self, depth: int, moves: Iterable[int], first: int | None) -> None:
        """Search some moves of the root; `first` is tried before the others."""
        worker = self._board.worker
        worker.root_squares = self._board.landing_squares(moves)
        while True:
            worker.root_move = NO_MOVE if first is None else first + 1
            worker.frames[0].pv_length = worker.best_score = 0
            search(worker, 0, depth, -INFINITE, INFINITE)
            if not self._workers.resume_after_pause():
                return

    def _line(self, depth: int, default: int, before: int) -> Info[int]:
        """Report the line that the kernel has just found; `default`, if there is none.

        before: nodes of the search before this line.
        """
        worker = self._board.worker
        frame, nodes = worker.frames[0], int(worker.nodes)
        moves = [int(move) - 1 for move in frame.pv[: frame.pv_length]]
        score, expected = _score_and_outcome(int(worker.best_score))
        return Info(
            depth=depth,
            seldepth=int(worker.seldepth),
            score=score,
            pv=tuple(moves) or (default,),
            nodes=nodes,
            time=time.perf_counter() - self._started,
            hashfull=self._table.permille_used(),
            visits=nodes - before,
            expected_outcome=expected,
        )


def _score_and_outcome(score: int) -> tuple[Score, float]:
    """Return a kernel's score as others are told it, and the outcome that it promises."""
    known = score_of(score)
    if isinstance(known, Mate):
        return known, copysign(1.0, score)
    value = to_value(score)
    return to_cp(value), expected_outcome(value, decided=False)
