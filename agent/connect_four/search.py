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
from agent.kernel.game_follower import GameReplayer
from agent.kernel.scaled_evaluation import make_user_evaluator
from agent.kernel.score_scale import to_value
from agent.kernel.scores import INFINITE, score_of
from agent.kernel.table_memory import TableMemory
from agent.kernel.worker_pool import NO_LIMIT, ParallelSearch, WorkerPool
from agent.limits import Info, Limits, Mate, Progress, Score
from agent.multipv import merge_interrupted
from agent.search.search import expected_outcome, to_cp

# Node limit of the first iteration, which a lower limit does not interrupt.
_FIRST_ITERATION_NODES = 1000


class ConnectFourSearch(ParallelSearch[DiscBoard]):
    """Iterative deepening with compiled alpha-beta in one thread. Implements `Searcher`.

    A move is a column number, counted from 0. `evaluation` may return a number on any scale.
    """

    def __init__(self, megabytes: int = 16, evaluation: Evaluation = HANDCRAFTED) -> None:
        self._table = TableMemory(megabytes)
        self._workers = WorkerPool(DiscBoard, 1)
        self._board = self._workers.first
        self._position = ConnectFour()
        self._follower: GameReplayer[int] | None = None
        self._evaluator: Evaluator = CompiledEvaluator(evaluation.name, handcrafted_function)
        if evaluation.python or evaluation.jitted:
            self._evaluator = make_user_evaluator(evaluation, Worker, self._game_at, self.stop)
        self._started = 0.0

    @property
    def supports_multipv(self) -> bool:
        return True

    @property
    def nodes(self) -> int:
        return int(self._board.worker.nodes)

    def save(self) -> None:
        """Do nothing, because there is no learned data."""

    # Callable from any thread.

    def progress(self) -> Progress[int]:
        worker = self._board.worker
        move = int(worker.root_current)
        return Progress(
            nodes=self.nodes,
            hashfull=self._table.permille_used(),
            seldepth=int(worker.seldepth),
            current_move=move - 1 if move else None,
        )

    # Search.

    def new_game(self) -> None:
        self._table.clear()

    def evaluate(self, position: ConnectFour) -> float:
        """Return the evaluation for the side to move. Raise EvaluationError if it fails."""
        self._begin(position, Limits())
        score = evaluate_root(self._evaluator, self._board.address)
        self._raise_error()
        return to_value(score)

    def search(
        self, position: ConnectFour, limits: Limits[int], lines: int = 1, /
    ) -> Iterator[Info[int]]:
        """Search until a limit is reached or the position is solved (see `Searcher.search`)."""
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
        worker.node_limit = NO_LIMIT
        worker.evaluate = U64(self._evaluator.address)
        self._table.attach_to(worker)
        worker.stop = 0

    def _game_at(self, address: int, ply: int) -> ConnectFour:
        if self._follower is None:
            self._follower = GameReplayer(self._position)
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
        worker, max_depth = self._board.worker, self._board.empty_squares()
        level: list[Info[int]] = []
        worker.node_limit = max(limits.nodes or NO_LIMIT, _FIRST_ITERATION_NODES)
        for depth in range(1, min(limits.depth or max_depth, max_depth) + 1):
            last, level = level, []
            scores: list[int] = []
            for index in range(lines):
                remaining = set(moves).difference(info.pv[0] for info in level)
                nodes_before = int(worker.nodes)
                self._search_line(depth, remaining, last[index].pv[0] if last else None)
                default = level[0].pv[0] if level else last[0].pv[0] if last else moves[0]
                info = self._line(depth, default, nodes_before)
                if self._workers.interrupted:
                    break
                level.append(info)
                scores.append(int(worker.best_score))
            # A later line may have a better score than an earlier one.
            order = sorted(range(len(level)), key=lambda index: -scores[index])
            level = [replace(level[old], multipv=new) for new, old in enumerate(order, 1)]
            if self._workers.interrupted:
                if not level and (not last or info.pv[0] != last[0].pv[0]):
                    level = [replace(info, complete=False)]
                if level:
                    yield from merge_interrupted([*level, *last], lines)
                return
            yield from level
            worker.node_limit = limits.nodes or NO_LIMIT
            if all(isinstance(info.score, Mate) for info in level):
                return
            if limits.mate_found(level[0].score):
                return

    def _search_line(self, depth: int, moves: Iterable[int], first: int | None) -> None:
        worker = self._board.worker
        worker.root_squares = self._board.landing_squares(moves)
        while True:
            worker.root_move = NO_MOVE if first is None else first + 1
            worker.frames[0].pv_length = worker.best_score = 0
            search(worker, 0, depth, -INFINITE, INFINITE)
            if not self._workers.resume_after_pause():
                return

    def _line(self, depth: int, default: int, nodes_before: int) -> Info[int]:
        """Return the line of the last search call, or `default` if it found no move."""
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
            visits=nodes - nodes_before,
            expected_outcome=expected,
        )


def _score_and_outcome(score: int) -> tuple[Score, float]:
    mate = score_of(score)
    if isinstance(mate, Mate):
        return mate, copysign(1.0, score)
    value = to_value(score)
    return to_cp(value), expected_outcome(value, decided=False)
