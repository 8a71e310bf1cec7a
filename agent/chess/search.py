"""The compiled search as the player drives it: progressive deepening, one kernel call a step.

Progressive deepening ('Tema 2: Búsqueda en juegos') searches to depth 1, 2, 3, ... so that an
answer is there at any time; each level orders the next. Each call of the kernel has a window
around the last score (aspiration), widened on the side where it proves too narrow.
"""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import chess

from agent.chess.alphabeta import search_root
from agent.chess.endgame import Endgame
from agent.chess.evaluators import Evaluator, call, make_evaluator
from agent.chess.rules import KernelBoard
from agent.compiled.scores import INFINITE, MATE_BOUND, MAX_PLY, score_of
from agent.compiled.table_memory import TableMemory
from agent.evaluation import HANDCRAFTED, Evaluation, EvaluationError
from agent.limits import Info, Limits, Mate, Progress

MAX_DEPTH = MAX_PLY - 1
_NO_LIMIT = 1 << 62

_ASPIRATION_DEPTH = 5  # plies: from here the window is narrow
_ASPIRATION_WIDTH = 14  # centipawns to either side
_ASPIRATION_LIMIT = 600  # centipawns: a window missed by more is opened whole

# Other threads help from this depth on: the levels before are over sooner than threads start, and
# with them there is a move to play, however long the threads keep this one waiting.
_HELPED_DEPTH = 5
# Threads are not worth starting for fewer nodes each: what they search comes off the main thread's.
_NODES_A_THREAD = 10_000


class KernelSearch:
    """The compiled alpha-beta on one or more threads that share a table (Lazy SMP).

    Implements the player's Searcher. selective: False switches off all pruning, reductions,
    extensions and the table, for comparison with plain minimax.
    """

    def __init__(
        self,
        megabytes: int = 16,
        threads: int = 1,
        evaluation: Evaluation = HANDCRAFTED,
        *,
        selective: bool = True,
    ) -> None:
        self._table = TableMemory(megabytes)
        self._games = [KernelBoard() for _ in range(threads)]
        self._at_work = self._games[:1]
        self._helpers: list[threading.Thread] = []
        self._evaluation = evaluation
        self._evaluator: Evaluator = make_evaluator(evaluation, False, self.stop)
        self._chess960 = False
        self._selective = selective
        self._endgame = Endgame()
        self._stopped = False
        self._root_moves: dict[int, chess.Move] = {}

    # Settings: never called during a search.

    def resize(self, megabytes: int) -> None:
        """Replace the table by an empty one; raises MemoryError, and keeps it, for want of room."""
        self._table = TableMemory(megabytes)

    def clear(self) -> None:
        """Empty the table."""
        self._table.clear()

    def set_threads(self, threads: int) -> None:
        """Search with so many threads."""
        self._games = self._games[:threads] + [
            KernelBoard() for _ in range(threads - len(self._games))
        ]

    def set_evaluation(self, evaluation: Evaluation) -> None:
        """Evaluate with another function; what was learned with the last one is forgotten.

        Raises EvaluationError, and keeps the last one, if it cannot be compiled.
        """
        self._evaluator = make_evaluator(evaluation, self._chess960, self.stop)
        self._evaluation = evaluation
        self.new_game()

    def set_endgame(self, endgame: Endgame) -> None:
        """Use these endgame tables; what was learned without them is forgotten."""
        self._endgame = endgame
        self.new_game()

    def new_game(self) -> None:
        """Forget everything that can change a search: the table and the histories."""
        self._table.clear()
        self._games[0].forget()
        # New ones have forgotten too, and sooner.
        self._games[1:] = [KernelBoard() for _ in self._games[1:]]

    # From any thread.

    def arm(self) -> None:
        """Allow the next search to run."""
        self._stopped = False

    def stop(self) -> None:
        """End the search within a millisecond; none runs until `arm`."""
        self._stopped = True
        for game in self._games:
            game.worker["stop"] = 1

    def progress(self) -> Progress[chess.Move]:
        """Tell where the running search stands."""
        worker = self._games[0].worker
        index = int(worker["root_current"])
        return Progress(
            nodes=self._nodes(),
            hashfull=self._table.permille_used(),
            seldepth=int(worker["seldepth"]),
            move=self._root_moves.get(int(worker["root_moves"][index])),
            number=index + 1,
        )

    def _nodes(self) -> int:
        return sum(int(game.worker["nodes"]) for game in self._at_work)

    def _table_hits(self) -> int:
        return sum(int(game.worker["table_hits"]) for game in self._at_work)

    # The search.

    def evaluate(self, board: chess.Board) -> int:
        """Return the static evaluation: centipawns for the side to move.

        Raises EvaluationError if the user's evaluation fails.
        """
        self._follow_notation(board)
        game = self._games[0]
        game.load(board)
        value = call(self._evaluator, game.address)
        error = self._take_error()
        if error is not None:
            raise error
        return value

    def _take_error(self) -> EvaluationError | None:
        return self._evaluator.take_error(game.worker for game in self._games)

    def _follow_notation(self, board: chess.Board) -> None:
        """Give the boards that a Python evaluation sees the notation of the game's board."""
        if board.chess960 != self._chess960:
            self._chess960 = board.chess960
            self._evaluator = make_evaluator(self._evaluation, self._chess960, self.stop)

    def deepen(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        """Search by progressive deepening; yield the lines of each level, best first.

        After a stop the partial level's line is yielded if its move is another. Obeys depth,
        nodes, mate and search_moves; time is the caller's, who calls `stop`. At least one Info
        is yielded. Raises EvaluationError if the user's evaluation failed.

        Where endgame tables know the best move for certain it is yielded without a search; where
        they only know which moves keep the result, no others are searched (one line only).
        """
        hits = 0
        if lines == 1:
            moves = limits.search_moves or list(board.legal_moves)
            advice = self._endgame.advise(board, moves, lambda: self._stopped)
            if advice is not None and advice.score is not None:
                yield Info(len(advice.line), advice.score, advice.line, tbhits=advice.hits)
                return
            if advice is not None:
                limits = replace(limits, search_moves=advice.moves)
                hits = advice.hits
        yield from self._search(board, limits, lines, hits)

    def _search(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int, hits: int
    ) -> Iterator[Info[chess.Move]]:
        """Search as `deepen` says. hits: positions that were looked up in tables before."""
        self._follow_notation(board)
        self._table.age()
        self._at_work = []
        self._employ(self._games[:1], board, limits)
        self._games[0].worker["table_hits"] = hits
        self._root_moves = {
            number: self._games[0].move(number) for number in _root_moves(self._games[0])
        }
        try:
            yield from self._levels(board, limits, min(lines, len(self._root_moves)))
        finally:
            for game in self._at_work[1:]:
                game.worker["stop"] = 1
            for helper in self._helpers:
                helper.join()
            self._helpers.clear()
            error = self._take_error()
        if error is not None:
            raise error

    def _load(self, game: KernelBoard, board: chess.Board, limits: Limits[chess.Move]) -> None:
        game.load(board)
        worker = game.worker
        moves = game.legal_moves()
        wanted = [number for number in moves if game.move(number) in limits.search_moves]
        moves = wanted or moves
        worker["root_moves"][: len(moves)] = moves
        worker["root_nodes"] = 0
        worker["root_count"] = len(moves)
        worker["root_first"] = worker["root_current"] = 0
        worker["nodes"] = worker["seldepth"] = worker["stop"] = 0
        worker["best_move"] = worker["best_score"] = 0
        worker["node_limit"] = (limits.nodes or _NO_LIMIT) // self._searching(limits)
        worker["selective"] = self._selective
        worker["evaluate"] = self._evaluator.address
        worker["table"] = self._table.address
        worker["table_clusters"] = self._table.clusters
        worker["generation"] = self._table.generation
        worker["tables"] = self._endgame.own.tables.address if self._endgame.own else 0
        worker["table_hits"] = 0

    def _searching(self, limits: Limits[chess.Move]) -> int:
        """Return how many threads search, the main one included."""
        worthwhile = (limits.nodes or _NO_LIMIT) // _NODES_A_THREAD
        return min(len(self._games), max(worthwhile, 1))

    def _levels(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Iterator[Info[chess.Move]]:
        started = time.perf_counter()
        worker = self._games[0].worker
        best: Info[chess.Move] | None = None
        scores = [0] * lines
        for depth in range(1, min(limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
            level: list[Info[chess.Move]] = []
            worker["seldepth"] = 0
            if depth == _HELPED_DEPTH:
                self._start_helpers(board, limits)
            for number in range(lines):
                worker["root_nodes"] = 0
                before = int(worker["nodes"])
                worker["root_first"] = number
                scores[number] = _aspirate(worker, depth, scores[number])
                if worker["stop"]:
                    break
                effort = int(worker["root_nodes"][number]) / (int(worker["nodes"]) - before)
                level.append(self._line(depth, started, number + 1, effort))
            if worker["stop"]:
                if level:
                    yield level[0]
                elif best is None or self._best_move() not in (None, best.pv[0]):
                    yield self._line(depth, started, complete=False)
                return
            # A line searched later may turn out better than one searched before it.
            order = sorted(range(lines), key=lambda number: -scores[number])
            scores = [scores[number] for number in order]
            worker["root_moves"][:lines] = worker["root_moves"][order]
            level = [replace(level[old], multipv=new) for new, old in enumerate(order, 1)]
            best = level[0]
            yield from level
            if limits.mate and isinstance(best.score, Mate) and 0 < best.score.moves <= limits.mate:
                return

    def _best_move(self) -> chess.Move | None:
        """Return the move that the last level had found best when it was stopped, if any.

        A move that failed high stands first in the list while it is searched again.
        """
        worker = self._games[0].worker
        if worker["root_first"]:
            return None
        return self._root_moves[int(worker["best_move"] or worker["root_moves"][0])]

    def _line(
        self,
        depth: int,
        started: float,
        number: int = 1,
        effort: float | None = None,
        complete: bool = True,
    ) -> Info[chess.Move]:
        """Report the principal variation that the kernel has just found."""
        game = self._games[0]
        worker = game.worker
        frame = worker["frames"][0]
        moves = frame["pv"][: frame["pv_length"]].tolist() if worker["best_move"] else []
        return Info(
            depth=depth,
            seldepth=int(worker["seldepth"]),
            multipv=number,
            score=score_of(int(worker["best_score"])),
            pv=tuple(game.move(move) for move in moves or _root_moves(game)[:1]),
            nodes=self._nodes(),
            time=time.perf_counter() - started,
            hashfull=self._table.permille_used(),
            tbhits=self._table_hits(),
            complete=complete,
            effort=effort,
        )

    def _start_helpers(self, board: chess.Board, limits: Limits[chess.Move]) -> None:
        self._employ(self._games[1 : self._searching(limits)], board, limits)
        self._helpers += [
            threading.Thread(target=self._help, args=(game, index), daemon=True)
            for index, game in enumerate(self._at_work[1:], 1)
        ]
        for helper in self._helpers:
            helper.start()

    def _employ(
        self, games: list[KernelBoard], board: chess.Board, limits: Limits[chess.Move]
    ) -> None:
        """Load more workers for this search."""
        for game in games:
            self._load(game, board, limits)
        self._at_work = self._at_work + games
        if self._stopped:  # asked while they were being loaded
            self.stop()

    def _help(self, game: KernelBoard, index: int) -> None:
        """Deepen beside the main thread, for the table's sake; every other helper a ply ahead."""
        score = 0
        for depth in range(1 + index % 2, MAX_DEPTH + 1):
            score = _aspirate(game.worker, depth, score)
            if game.worker["stop"]:
                self._heed(game)
                return

    def _heed(self, game: KernelBoard) -> None:
        """End the search of all threads where the user's evaluation has failed in one."""
        if game.worker["failure"]:
            self.stop()


def _root_moves(game: KernelBoard) -> list[int]:
    worker = game.worker
    return worker["root_moves"][: worker["root_count"]].tolist()


def _aspirate(worker: Any, depth: int, last_score: int) -> int:
    """Search the root to `depth`, with a narrow window around the last score first."""
    width = _ASPIRATION_WIDTH
    alpha, beta = -INFINITE, INFINITE
    if depth >= _ASPIRATION_DEPTH and abs(last_score) < MATE_BOUND and worker["selective"]:
        alpha, beta = last_score - width, last_score + width
    while True:
        score = int(search_root(worker, depth, alpha, beta))
        if worker["stop"]:
            return score
        width *= 3
        open_whole = width > _ASPIRATION_LIMIT
        if score <= alpha and alpha > -INFINITE:
            beta = (alpha + beta) // 2
            alpha = -INFINITE if open_whole else score - width
        elif score >= beta and beta < INFINITE:
            beta = INFINITE if open_whole else score + width
        else:
            return score
