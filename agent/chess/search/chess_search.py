"""What the compiled searches of chess share: a crew of loaded workers, and what they play by.

That is an evaluation and its exceptions, a transposition table, endgame tables, and the moves at
the root. How the workers search is each search's own: alpha-beta in `search`, Monte Carlo tree
search in `tree_search`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import chess

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.endgames.root_probe import Tablebases
from agent.chess.evaluation.evaluators import ChessEvaluator, make_evaluator
from agent.chess.evaluation.loading import DEFAULT, load
from agent.chess.evaluation.nnue_format import NnueNetwork
from agent.evaluation_types import Evaluation, EvaluationError
from agent.kernel.bits import U64
from agent.kernel.scores import MAX_PLY
from agent.kernel.table_memory import TableMemory
from agent.kernel.worker_pool import NO_LIMIT, ParallelSearch, WorkerPool
from agent.limits import Info, Limits, Progress

MAX_DEPTH = MAX_PLY - 1


class ChessSearch(ParallelSearch[KernelBoard], ABC):
    """A search by a crew, on one or more threads; with what is its own, the player's Searcher.

    megabytes: the table's. evaluation: the default one without it. selective: False switches off
    all pruning, reductions, extensions and the table.
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
        self._is_clean = True  # nothing was searched since all was forgotten

    # Settings: never called during a search.

    @abstractmethod
    def resize(self, megabytes: int) -> None:
        """Use so much memory, empty; raises MemoryError, and keeps the old, for want of room."""

    def clear(self) -> None:
        """Empty the memory."""
        self._table.clear()

    def set_threads(self, threads: int) -> None:
        """Search with so many threads."""
        self._workers.resize(threads)

    def set_evaluation(self, evaluation: Evaluation) -> None:
        """Evaluate with another function; what was learned with the last one is forgotten.

        Nothing is where it is the same, as far as that can be told. Raises EvaluationError, and
        keeps the last one, if it cannot be compiled.
        """
        before = self.evaluation
        is_function = evaluation.is_function or before.is_function
        if evaluation.network is before.network and not is_function:
            self.evaluation = evaluation
            return
        self._evaluator = make_evaluator(evaluation, self._chess960, self.stop)
        self.evaluation = evaluation
        self.new_game()

    def set_tablebases(self, endgame: Tablebases) -> None:
        """Use these endgame tables; what was learned without them is forgotten."""
        self._tablebases = endgame
        self.new_game()

    def new_game(self) -> None:
        """Forget everything that can change a search: the memory and the histories."""
        if self._is_clean:
            return
        self._is_clean = True
        self.clear()
        self._workers.first.clear_histories()
        # New ones have forgotten too, and sooner.
        self._workers.reset_helpers()

    @property
    def network(self) -> NnueNetwork | None:
        """The network that evaluates, if one does."""
        return self._evaluator.network

    # From any thread.

    @abstractmethod
    def progress(self) -> Progress[chess.Move]:
        """Tell where the running search stands."""

    def _nodes(self) -> int:
        return sum(int(game.worker.nodes) for game in self._workers.active)

    def _tablebase_hits(self) -> int:
        return sum(int(game.worker.tablebase_hits) for game in self._workers.active)

    # The search.

    def evaluate(self, board: chess.Board) -> int:
        """Return the static evaluation: centipawns for the side to move.

        Raises EvaluationError if the user's evaluation fails.
        """
        self._is_clean = False  # evaluations are remembered
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
        """Search deeper and deeper; yield the lines of each level, best first.

        Obeys depth, nodes, mate and search_moves; time is the caller's, who calls `stop`. After a
        stop the best line of the partial level is yielded, if that tells anything new. At least
        one Info is yielded. Raises EvaluationError if the user's evaluation failed.

        Where endgame tables know the best move for certain it is yielded without a search; where
        they only know which moves keep the result, no others are searched (one line only).
        """
        self._is_clean = False
        hits = 0
        if lines == 1:
            moves = limits.search_moves or list(board.legal_moves)
            probe_result = self._tablebases.probe_root(board, moves, lambda: self._workers.stopped)
            if probe_result is not None and probe_result.score is not None:
                yield Info(
                    len(probe_result.line),
                    probe_result.score,
                    probe_result.line,
                    tbhits=probe_result.hits,
                )
                return
            if probe_result is not None:
                limits = replace(limits, search_moves=probe_result.moves)
                hits = probe_result.hits
        self._update_chess960(board)
        self._table.next_generation()
        self._workers.begin(partial(self._load, board, limits))
        worker = self._workers.first.worker
        worker.tablebase_hits = hits
        try:
            yield from self._search_iterations(board, limits, min(lines, int(worker.root_count)))
        finally:
            self._workers.end()
            error = self._take_error()
        if error is not None:
            raise error

    @abstractmethod
    def _search_iterations(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Iterator[Info[chess.Move]]:
        """Search as `deepen` says, with the first worker loaded; more may be employed."""

    def _load(self, board: chess.Board, limits: Limits[chess.Move], game: KernelBoard) -> None:
        game.load(board)
        worker = game.worker
        moves = game.legal_moves()
        wanted = [number for number in moves if game.decode_move(number) in limits.search_moves]
        moves = wanted or moves
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
        """Return after how many of its nodes each worker stops by itself."""
        return NO_LIMIT

    def _update_chess960(self, board: chess.Board) -> None:
        """Give the boards that a Python evaluation sees the notation of the game's board."""
        if board.chess960 != self._chess960:
            self._chess960 = board.chess960
            self._evaluator = make_evaluator(self.evaluation, self._chess960, self.stop)

    def _stop_on_failure(self, game: KernelBoard) -> None:
        """End the search of all threads where the user's evaluation has failed in one."""
        if game.worker.failure:
            self.stop()

    def _take_error(self) -> EvaluationError | None:
        """Return what the user's evaluation has raised, if anything, and forget it."""
        return self._evaluator.pop_error(self._workers)
