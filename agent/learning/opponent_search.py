"""Search that adjusts the values of some root moves to the opponent's profile.

The value of a move that allows a repetition is averaged with the value of a draw, weighted by how
often the opponent repeats positions. A move that has scored badly gets a penalty. The adjusted
moves are searched first, with a fraction of the nodes, and then all other moves. The better of the
two results is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from agent.agent import Searcher, SearcherWrapper
from agent.learning.opponent_game_record import centipawns
from agent.learning.opponent_game_tracker import repeating_moves
from agent.learning.opponent_profile import LineStats
from agent.limits import Cp, Info, Limits, Mate

if TYPE_CHECKING:
    import chess


# The adjusted moves get 1/NODE_DIVISOR of the nodes or time. The second number is their node limit
# if only time limits the search.
NODE_DIVISOR = 4
DEFAULT_NODES = 20_000
# Maximum cost in centipawns of a move that offers a draw.
MAX_DRAW_COST = 120


@dataclass(frozen=True, slots=True)
class MoveAdjustment:
    """The adjustment of a move: the probability of a draw, and a penalty in centipawns."""

    draw_probability: float = 0.0
    penalty: int = 0


def move_adjustments(
    board: chess.Board, acceptance: float, draw_value: int, line: LineStats | None
) -> dict[chess.Move, MoveAdjustment]:
    """Return the adjustments of root moves. Moves without an adjustment are omitted."""
    import chess

    adjustments: dict[chess.Move, MoveAdjustment] = {}
    if draw_value:
        for move in _drawing_moves(board):
            board.push(move)
            is_drawn = board.is_repetition(3)
            board.pop()
            adjustments[move] = MoveAdjustment(1.0 if is_drawn else acceptance)
    for text, penalty in line.penalties.items() if line else ():
        move = chess.Move.from_uci(text)
        if board.is_legal(move):
            adjustments[move] = MoveAdjustment(
                adjustments.get(move, MoveAdjustment()).draw_probability, penalty
            )
    return adjustments


def _drawing_moves(board: chess.Board) -> Iterator[chess.Move]:
    yield from repeating_moves(board)
    if len(board.move_stack) < 2 or board.halfmove_clock < 2:
        return
    import chess

    own, reply = board.move_stack[-2], board.move_stack[-1]
    back = chess.Move(own.to_square, own.from_square)
    if own.promotion or reply.promotion or not board.is_legal(back) or board.is_zeroing(back):
        return
    board.push(back)
    reply_back = chess.Move(reply.to_square, reply.from_square)
    offers = board.is_legal(reply_back) and not board.is_repetition(2)
    if offers:
        board.push(reply_back)
        offers = board.is_repetition(2)
        board.pop()
    board.pop()
    if offers:
        yield back


class OpponentAwareSearch(SearcherWrapper["chess.Board", "chess.Move"]):
    """Wraps a searcher and adapts its results to one opponent.

    - `acceptance`: how often the opponent repeats a position when it can, from 0 to 1.
    - `draw_value`: the value of a draw for the agent in centipawns.
    - `line`: the statistics of the line that leads to the position.
    - `remaining_time`: returns the remaining time of the search in seconds.
    """

    def __init__(
        self,
        searcher: Searcher[chess.Board, chess.Move],
        acceptance: float,
        draw_value: int,
        line: LineStats | None,
        remaining_time: Callable[[], float] = lambda: inf,
    ) -> None:
        super().__init__(searcher)
        self._acceptance = acceptance
        self._draw_value = draw_value
        self._line = line
        self._remaining_time = remaining_time

    def search(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        playing = lines == 1 and not (limits.infinite or limits.mate or limits.search_moves)
        adjustments = (
            move_adjustments(board, self._acceptance, self._draw_value, self._line)
            if playing
            else {}
        )
        others = (
            tuple(move for move in board.legal_moves if move not in adjustments)
            if adjustments
            else ()
        )
        if not others:
            yield from self.searcher.search(board, limits, lines)
            return
        known = self._search_alone(board, limits, adjustments)
        spent = max((info.nodes for info in known.values()), default=0)
        rest = replace(
            limits,
            search_moves=others,
            nodes=None if limits.nodes is None else max(limits.nodes - spent, 1),
        )
        preferred = False
        for info in self.searcher.search(board, rest, 1):
            if info.complete and not info.bound:
                choice = self._choice(info, known, adjustments)
                preferred = choice is not info
                yield replace(choice, depth=info.depth, nodes=info.nodes + spent)
            elif not preferred:
                yield replace(info, nodes=info.nodes + spent)

    def _search_alone(
        self,
        board: chess.Board,
        limits: Limits[chess.Move],
        adjustments: Mapping[chess.Move, MoveAdjustment],
    ) -> dict[chess.Move, Info[chess.Move]]:
        nodes = DEFAULT_NODES if limits.nodes is None else max(limits.nodes // NODE_DIVISOR, 1)
        short_limits = replace(limits, search_moves=tuple(adjustments), nodes=nodes)
        results: dict[chess.Move, Info[chess.Move]] = {}
        initial_time = self._remaining_time()
        infos = self.search_wrapped(board.copy(), short_limits, len(adjustments))
        for info in infos:
            if info.pv and not info.bound and (info.complete or info.pv[0] not in results):
                results[info.pv[0]] = info
            # The next iteration takes at least as long as all earlier iterations together.
            spent_time = initial_time - self._remaining_time()
            if len(results) == len(adjustments) and spent_time > initial_time / (2 * NODE_DIVISOR):
                break
        infos.close()
        return results

    def _choice(
        self,
        best: Info[chess.Move],
        known: Mapping[chess.Move, Info[chess.Move]],
        adjustments: Mapping[chess.Move, MoveAdjustment],
    ) -> Info[chess.Move]:
        choice, best_value = best, float(centipawns(best.score))
        if isinstance(best.score, Mate) and best.score.moves > 0:
            return best
        for move, info in known.items():
            value = self._adjusted_score(info, adjustments[move], best)
            if value > best_value:
                choice, best_value = replace(info, multipv=1), value
        return choice

    def _adjusted_score(
        self, info: Info[chess.Move], adjustment: MoveAdjustment, best: Info[chess.Move]
    ) -> float:
        score = centipawns(info.score)
        draw = self._draw_value
        cost = centipawns(best.score) - score
        probability = adjustment.draw_probability
        if 0.0 < probability < 1.0 and draw > 0 and (cost > MAX_DRAW_COST or info.score == Cp(0)):
            probability = 0.0  # the draw offer costs too much, or the search already sees the draw
        return probability * draw + (1 - probability) * score - adjustment.penalty
