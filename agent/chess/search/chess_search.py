from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import chess

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.rules import IS_STANDARD
from agent.chess.endgames.root_probe import Line, RootProbeResult, Tablebases
from agent.chess.evaluation.evaluators import ChessEvaluator, make_evaluator
from agent.chess.evaluation.loading import DEFAULT, load
from agent.chess.evaluation.nnue_format import NnueNetwork
from agent.chess.search.aspiration import aspiration_search
from agent.chess.search.mate_line import with_mate_line, without_mate
from agent.evaluation_types import Evaluation, EvaluationError
from agent.kernel.bits import U64
from agent.kernel.scores import INFINITE, MAX_PLY, score_of
from agent.kernel.table_memory import TableMemory
from agent.kernel.worker_pool import NO_LIMIT, ParallelSearch, WorkerPool
from agent.limits import Info, Limits, Mate, Progress, Score

MAX_DEPTH = MAX_PLY - 1

# Limit of the search for the lost variation of a mate: about 10 ms.
_MATE_NODES = 20_000


class ChessSearch(ParallelSearch[KernelBoard], ABC):
    """Base class of the compiled chess searches, which use one or more threads.

    `megabytes` is the size of the transposition table. If `evaluation` is None, the default
    evaluation is used. If `selective` is False, pruning, reductions, extensions and the
    transposition table are disabled.
    """

    def __init__(
        self, megabytes: int, threads: int, evaluation: Evaluation | None, selective: bool
    ) -> None:
        self._workers = WorkerPool(KernelBoard, threads)
        self._table = TableMemory(megabytes)
        self.evaluation = evaluation or load(DEFAULT)
        self._evaluator: ChessEvaluator = make_evaluator(self.evaluation, False, self.stop)
        self._chess960 = False
        self._selective = selective
        self._tablebases = Tablebases()
        self._scratch: KernelBoard | None = None
        self._searched_mates: dict[tuple[chess.Move, Score], Info[chess.Move]] = {}
        self._is_clean = True  # no search since the last `new_game`

    # Settings. These methods must not be called during a search.

    @abstractmethod
    def resize(self, megabytes: int) -> None:
        """Empty and resize the table or tree. If `MemoryError` is raised, the old one is kept."""

    def clear(self) -> None:
        self._table.clear()

    def set_threads(self, threads: int) -> None:
        self._workers.resize(threads)

    def set_evaluation(self, evaluation: Evaluation) -> None:
        """Set the evaluation, and clear all search data if the evaluation differs.

        User functions always count as different. If compilation fails, raise `EvaluationError` and
        keep the previous evaluation.
        """
        previous = self.evaluation
        is_function = evaluation.is_function or previous.is_function
        if evaluation.network is previous.network and not is_function:
            self.evaluation = evaluation
            return
        self._evaluator = make_evaluator(evaluation, self._chess960, self.stop)
        self.evaluation = evaluation
        self.new_game()

    def set_tablebases(self, tablebases: Tablebases) -> None:
        """Set the endgame tablebases, and clear all search data."""
        self._tablebases = tablebases
        self.new_game()

    def new_game(self) -> None:
        if self._is_clean:
            return
        self._is_clean = True
        self.clear()
        self._workers.first.clear_histories()
        self._scratch = None
        # Creating new workers is faster than clearing the old ones.
        self._workers.reset_helpers()

    @property
    def network(self) -> NnueNetwork | None:
        """The network that alone gives the evaluation, or None."""
        return self._evaluator.network if IS_STANDARD else None

    # Thread-safe methods.

    @abstractmethod
    def progress(self) -> Progress[chess.Move]:
        """Return the progress of the running search."""

    def _nodes(self) -> int:
        return sum(int(game.worker.nodes) for game in self._workers.active)

    def _tablebase_hits(self) -> int:
        return sum(int(game.worker.tablebase_hits) for game in self._workers.active)

    def evaluate(self, board: chess.Board) -> int:
        """Return the static evaluation in centipawns for the side to move.

        Raise `EvaluationError` if the user's evaluation fails.
        """
        self._is_clean = False  # evaluations are cached
        self._update_chess960(board)
        game = self._workers.first
        game.load(board)
        value = self._evaluator.evaluate(game)
        error = self._take_error()
        if error is not None:
            raise error
        return value

    def search(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        """Search as defined by `Searcher`, after probing the endgame tablebases.

        The tablebases may know the best lines, or restrict the root moves if `lines` is 1. A mate
        is reported with its complete principal variation.
        """
        self._is_clean = False
        self._searched_mates.clear()
        self._update_chess960(board)
        self._table.next_generation()
        self._workers.begin(partial(self._load, board, limits))  # also resets the progress
        worker = self._workers.first.worker
        try:
            moves = limits.search_moves or list(board.legal_moves)
            probe = self._tablebases.probe_root(board, moves, lines, lambda: self._workers.stopped)
            if probe is not None and probe.lines:
                yield from _table_infos(probe)
                return
            if probe is not None and lines == 1:
                limits = replace(limits, search_moves=probe.moves)
                self._workers.begin(partial(self._load, board, limits))
                worker.tablebase_hits = probe.hits
            lines = min(lines, int(worker.root_count))
            reported = False
            for info in self._search_iterations(board, limits, lines):
                if info.complete and reported:
                    complete = self._with_mate_line(board, info, lambda: self._workers.stopped)
                else:  # the result of the search may be this line
                    complete = self._with_mate_line(board, info)
                if complete is not None:
                    yield complete
                    reported = True
        finally:
            self._workers.end()
            error = self._take_error()
        if error is not None:
            raise error

    @abstractmethod
    def _search_iterations(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Iterator[Info[chess.Move]]:
        """Yield the lines of each iteration. The first worker already has the root position."""

    def _mate_line(
        self, board: chess.Board, plies: int, stopped: Callable[[], bool]
    ) -> Line | None:
        """Return the line to a mate in `plies` plies that ended the search of `board`, or None."""
        return self._tablebases.mate_line(board, plies, stopped)

    def _with_mate_line(
        self,
        board: chess.Board,
        info: Info[chess.Move],
        stopped: Callable[[], bool] = lambda: False,
    ) -> Info[chess.Move] | None:
        """Return `info` with the complete variation of its mate, or None after a stop.

        A variation is lost if the search was stopped, or if its nodes were removed from the tree.
        """

        def find_line(end: chess.Board, plies: int) -> Line | None:
            return self._mate_line(end, plies, stopped)

        complete = with_mate_line(board, info, find_line)
        if complete is not None or stopped():
            return complete
        key = info.pv[0], info.score
        if key not in self._searched_mates:
            self._searched_mates[key] = self._search_mate(board, info)
        searched = self._searched_mates[key]
        return replace(info, score=searched.score, pv=searched.pv)

    def _search_mate(self, board: chess.Board, info: Info[chess.Move]) -> Info[chess.Move]:
        """Search the first move of `info` for a mate of at most the same length."""
        mate, found = info.score, without_mate(info)
        assert isinstance(mate, Mate)
        if self.evaluation.is_function:  # too slow
            return found
        game = self._load_scratch(board, Limits(search_moves=info.pv[:1]))
        game.worker.node_limit = _MATE_NODES
        for depth in range(1, MAX_DEPTH):
            score = score_of(int(aspiration_search(game.worker, depth, INFINITE)))
            if game.worker.stop:
                break
            if isinstance(score, Mate) and (score.moves > 0) == (mate.moves > 0):
                line = replace(info, score=score, pv=principal_variation(game))
                found = with_mate_line(board, line, self._tablebases.mate_line) or found
                if abs(score.moves) <= abs(mate.moves):
                    break
        return found

    def _load_scratch(self, board: chess.Board, limits: Limits[chess.Move]) -> KernelBoard:
        """Return a worker for the ends of lines, outside the search, with `board` as its root."""
        game = self._scratch = self._scratch or KernelBoard()
        self._load(board, limits, game)
        return game

    def _load(self, board: chess.Board, limits: Limits[chess.Move], game: KernelBoard) -> None:
        game.load(board)
        worker = game.worker
        moves = game.legal_moves()
        search_moves = [move for move in moves if game.decode_move(move) in limits.search_moves]
        moves = search_moves or moves
        worker.root_moves[: len(moves)] = moves
        worker.root_nodes[:] = 0
        worker.root_count = len(moves)
        worker.multipv_start = worker.root_index = 0
        worker.nodes = worker.seldepth = worker.stop = 0
        worker.best_move = worker.best_score = 0
        worker.node_limit = self._max_nodes(limits)
        worker.selective = self._selective
        self._evaluator.attach(game)
        self._table.attach_to(worker)
        worker.tablebase = U64(self._tablebases.own.tables.address if self._tablebases.own else 0)
        worker.tablebase_hits = 0

    def _max_nodes(self, limits: Limits[chess.Move]) -> int:
        return NO_LIMIT

    def _update_chess960(self, board: chess.Board) -> None:
        if board.chess960 != self._chess960:
            self._chess960 = board.chess960
            self._evaluator = make_evaluator(self.evaluation, self._chess960, self.stop)

    def _stop_on_failure(self, game: KernelBoard) -> None:
        if game.worker.failure:
            self.stop()

    def _take_error(self) -> EvaluationError | None:
        return self._evaluator.pop_error(self._workers)


def principal_variation(game: KernelBoard) -> Line:
    """Return the variation of the last search with a worker."""
    frame = game.worker.frames[0]
    return tuple(map(game.decode_move, frame.pv[: frame.pv_length].tolist()))


def _table_infos(probe: RootProbeResult) -> Iterator[Info[chess.Move]]:
    depth = max(len(pv) for _, pv in probe.lines)
    for number, (score, pv) in enumerate(probe.lines, 1):
        yield Info(
            depth,
            score,
            pv,
            seldepth=depth,
            multipv=number,
            nodes=probe.hits,
            tbhits=probe.hits,
        )
