"""A chess search in plain Python, which is used until the compiled search is loaded."""

from collections.abc import Callable, Iterator
from math import inf

import chess

from agent.chess.search.mate_line import find_mate_line, with_mate_line, without_mate
from agent.game import Game
from agent.games.plain_chess import PlainChess, evaluate, position_key, static_gain
from agent.limits import Cp, Info, Limits, Mate, Progress, Score
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.iterative_deepening import Iteration, IterativeDeepening
from agent.search.move_ordering import Ordering
from agent.search.terminal_scoring import TerminalScoring
from agent.search.transposition_table import TranspositionTable

MAX_DEPTH = 100
# Node limit of the first iteration, which a lower limit does not interrupt.
_FIRST_ITERATION_NODES = 1000


class PythonSearch:
    """An alpha-beta search with iterative deepening in plain Python.

    `evaluation` returns centipawns for the side to move. If it is None, a simple evaluation is
    used. `search` propagates exceptions of the evaluation.
    """

    # Every mate score exceeds every evaluation.
    ENDING = TerminalScoring(win=32_000, ply_penalty=1)
    MAX_EVALUATION = 30_000
    TABLE_ENTRIES = 200_000

    def __init__(self, evaluation: Callable[[chess.Board], int] | None = None) -> None:
        evaluation = evaluation or evaluate

        def value(game: Game[chess.Move]) -> float:
            assert isinstance(game, PlainChess)
            return max(-self.MAX_EVALUATION, min(self.MAX_EVALUATION, evaluation(game.board)))

        self._evaluation = value
        self._table = TranspositionTable[chess.Move](self.TABLE_ENTRIES)
        self._ordering = Ordering[chess.Move](ratings=True, killers=True, history=True)
        self._search = AlphaBeta[chess.Move](
            value,
            AlphaBetaOptions(
                ending=self.ENDING,
                continuation=True,
                table=self._table,
                ordering=self._ordering,
            ),
        )
        self._deepening = IterativeDeepening(self._search)

    def clear_stop(self) -> None:
        self._search.stopped = False

    def stop(self) -> None:
        self._search.stopped = True

    def new_game(self) -> None:
        self._search.reset()

    def progress(self) -> Progress[chess.Move]:
        counts = self._search.counts
        move, number = self._deepening.root or (None, 0)
        return Progress(counts.nodes, self._table.permille_full(), counts.seldepth, move, number)

    def search(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        game = PlainChess(board)
        self._search.reset_stats()
        node_limit = inf if limits.nodes is None else limits.nodes
        self._search.node_limit = max(node_limit, _FIRST_ITERATION_NODES)
        # The first move is played if the first iteration cannot be completed.
        moves = sorted(
            self._ordering.sort(game, game.moves(), 0),
            key=lambda move: static_gain(game.board, move),
            reverse=True,
        )
        if limits.search_moves:
            moves = [move for move in moves if move in limits.search_moves] or moves
        last: Iteration[chess.Move] | None = None
        depth = MAX_DEPTH if limits.depth is None else max(1, limits.depth)
        for iteration in self._deepening.iterations(game, moves, depth, lines):
            if iteration.complete or last is None or iteration.lines[0] != last.lines[0]:
                last = iteration
                yield from self._infos(board, iteration)
            if limits.mate_found(score(last.lines[0][0])):
                return
            self._search.node_limit = node_limit
        if last is None:
            static_iteration = Iteration(1, [(self._evaluation(game), (moves[0],))])
            yield from self._infos(board, static_iteration)

    def _infos(
        self, board: chess.Board, iteration: Iteration[chess.Move]
    ) -> Iterator[Info[chess.Move]]:
        counts = self._search.counts
        for number, (value, variation) in enumerate(iteration.lines, 1):
            info = Info(
                depth=iteration.depth,
                score=score(value),
                pv=variation,
                seldepth=max(counts.seldepth, iteration.depth),
                multipv=number,
                nodes=counts.nodes,
                hashfull=self._table.permille_full(),
                complete=iteration.complete,
                effort=iteration.effort() if number == 1 else None,
            )
            yield with_mate_line(board, info, self._table_line) or without_mate(info)

    def _table_line(self, board: chess.Board, plies: int) -> tuple[chess.Move, ...] | None:
        """Return the line to a mate in `plies` plies, from the table and from a short search."""
        board, line = board.copy(stack=False), list[chess.Move]()
        while len(line) < plies:
            entry = self._table.get(position_key(board))
            if entry is None or entry.move is None or entry.lower != entry.upper:
                break
            board.push(entry.move)
            line.append(entry.move)
        end = find_mate_line(board, plies - len(line))
        return None if end is None else (*line, *end)


def score(value: float) -> Score:
    """Convert a value of the search to a score in centipawns or moves to mate."""
    if not PythonSearch.ENDING.is_decisive(value):
        return Cp(int(value))
    plies = PythonSearch.ENDING.win - abs(value)
    moves = int(plies + 1) // 2
    return Mate(moves if value > 0 else -moves)
