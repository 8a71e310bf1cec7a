"""A search that adds to some moves at the root what habits say of them and no search can know.

A move that lets the other repeat a position is worth what a draw against him is worth, as often
as he takes such draws; one that has ended badly against him is worth a little less than it seems.
These few moves are searched first, alone, in a part of the nodes, and then all others: at each
iteration the better of the two is the move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from agent.agent import PausableWrapper, Searcher, SearcherWrapper
from agent.learning.opponent_game_record import centipawns
from agent.learning.opponent_game_tracker import repeating_moves
from agent.learning.opponent_profile import LineStats
from agent.limits import Cp, Info, Limits, Mate

if TYPE_CHECKING:
    import chess


# The part of the nodes, or of the time, for the moves that habits speak of; and the most nodes
# where only time ends a search.
NODE_DIVISOR = 4
DEFAULT_NODES = 20_000
# A draw is not offered by a move that costs more, in centipawns.
MAX_DRAW_COST = 120


@dataclass(frozen=True, slots=True)
class MoveAdjustment:
    """What habits say of a move: a draw follows so often, from 0 to 1, and it is worth less."""

    draw_probability: float = 0.0
    penalty: int = 0


def move_adjustments(
    board: chess.Board, acceptance: float, draw_value: int, line: LineStats | None
) -> dict[chess.Move, MoveAdjustment]:
    """Return what habits say of the moves of a position; of most they say nothing."""
    import chess

    found: dict[chess.Move, MoveAdjustment] = {}
    if draw_value:
        for move in _drawing_moves(board):
            board.push(move)
            ended = board.is_repetition(3)
            board.pop()
            found[move] = MoveAdjustment(1.0 if ended else acceptance)
    for text, penalty in line.penalties.items() if line else ():
        move = chess.Move.from_uci(text)
        if board.is_legal(move):
            found[move] = MoveAdjustment(
                found.get(move, MoveAdjustment()).draw_probability, penalty
            )
    return found


def _drawing_moves(board: chess.Board) -> Iterator[chess.Move]:
    """Yield the moves that repeat a position, and that which lets the other take his last back."""
    yield from repeating_moves(board)
    if len(board.move_stack) < 2 or board.halfmove_clock < 2:
        return
    import chess

    own, his = board.move_stack[-2], board.move_stack[-1]
    back = chess.Move(own.to_square, own.from_square)
    if own.promotion or his.promotion or not board.is_legal(back) or board.is_zeroing(back):
        return
    board.push(back)
    takes = chess.Move(his.to_square, his.from_square)
    offers = board.is_legal(takes) and not board.is_repetition(2)
    if offers:
        board.push(takes)
        offers = board.is_repetition(2)
        board.pop()
    board.pop()
    if offers:
        yield back


class OpponentAwareSearch(SearcherWrapper["chess.Board", "chess.Move"]):
    """A search against one opponent: the player's Searcher around another.

    acceptance: how often he repeats a position where he can. draw_value: in centipawns, to us.
    line: what is known of the position in which it is to search. left: seconds that a search has.
    """

    def __init__(
        self,
        searcher: Searcher[chess.Board, chess.Move],
        acceptance: float,
        draw_value: int,
        line: LineStats | None,
        left: Callable[[], float] = lambda: inf,
    ) -> None:
        super().__init__(searcher)
        self._acceptance = acceptance
        self._draw_value = draw_value
        self._line = line
        self._remaining_time = left

    def search(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        """Yield the lines of each iteration, first the one that it would play."""
        free = lines == 1 and not (limits.infinite or limits.mate or limits.search_moves)
        adjustments = (
            move_adjustments(board, self._acceptance, self._draw_value, self._line) if free else {}
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
            whole = info.complete and not info.bound
            if whole:
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
        """Return what a short search finds of each of the moves that habits speak of."""
        nodes = DEFAULT_NODES if limits.nodes is None else max(limits.nodes // NODE_DIVISOR, 1)
        few = replace(limits, search_moves=tuple(adjustments), nodes=nodes)
        found: dict[chess.Move, Info[chess.Move]] = {}
        at_first = self._remaining_time()
        infos = self.search_wrapped(board.copy(), few, len(adjustments))
        for info in infos:
            if info.pv and not info.bound and (info.complete or info.pv[0] not in found):
                found[info.pv[0]] = info
            # An iteration takes as long as all before it together, and more.
            if len(found) == len(adjustments) and at_first - self._remaining_time() > at_first / (
                2 * NODE_DIVISOR
            ):
                break
        infos.close()
        return found

    def _choice(
        self,
        best: Info[chess.Move],
        known: Mapping[chess.Move, Info[chess.Move]],
        adjustments: Mapping[chess.Move, MoveAdjustment],
    ) -> Info[chess.Move]:
        """Return the better of the best other line and those that habits speak of."""
        choice, worth = best, float(centipawns(best.score))
        if isinstance(best.score, Mate) and best.score.moves > 0:
            return best
        for move, info in known.items():
            value = self._adjusted_score(info, adjustments[move], best)
            if value > worth:
                choice, worth = replace(info, multipv=1), value
        return choice

    def _adjusted_score(
        self, info: Info[chess.Move], remark: MoveAdjustment, best: Info[chess.Move]
    ) -> float:
        """Return what a move is worth against this opponent."""
        score = centipawns(info.score)
        draw = self._draw_value
        cost = centipawns(best.score) - score
        draws = remark.draw_probability
        if 0.0 < draws < 1.0 and draw > 0 and (cost > MAX_DRAW_COST or info.score == Cp(0)):
            draws = 0.0  # too dear an offer; or the search sees the draw by itself
        return draws * draw + (1 - draws) * score - remark.penalty


class PreemptibleOpponentAwareSearch(
    OpponentAwareSearch, PausableWrapper["chess.Board", "chess.Move"]
):
    """A search against one opponent, around one that can make room for others."""
