"""The evaluation of a variant: a few terms with a network.

The network corrects the terms, or it takes the place of all terms but those of the variant (see
`variant_networks`).
"""

from functools import cache
from typing import Any, NamedTuple

from agent.chess.board.attacks import (
    bit,
    is_attacked,
    king_square,
    pawn_attacks,
    piece_attacks,
)
from agent.chess.board.endings import HILL_SQUARES
from agent.chess.board.lookup_tables import king_attacks
from agent.chess.board.records import (
    KING,
    PAWN,
    POCKET_KINDS,
    QUEEN,
    Position,
    Worker,
    position_at,
    worker_at,
)
from agent.chess.board.rules import (
    COUNTS_CHECKS,
    FORCED_CAPTURES,
    HILL,
    HORDE,
    NAME,
    POCKETS,
    RACE,
)
from agent.chess.evaluation.nnue import network_score_function
from agent.chess.evaluation.variant_networks import corrects_evaluation, neuron_count
from agent.kernel.decorators import c_function, kernel
from agent.kernel.intrinsics import EVALUATOR_SIGNATURE, U64, count, first_square


class _Weights(NamedTuple):
    """Weights in centipawns, by piece type from PAWN to KING."""

    values: tuple[int, ...] = (100, 320, 330, 500, 950, 0)
    centre: tuple[int, ...] = (2, 6, 4, 1, 2, -4)  # per step towards the centre
    mobility: tuple[int, ...] = (0, 4, 4, 3, 1, 0)  # per attacked square without an own piece
    pawn_rank: int = 4  # per rank that a pawn has advanced
    ring: int = 6  # per attack on a square next to the enemy king
    shield: int = 8  # per own pawn next to the king


_WEIGHTS = {
    "horde": _Weights(pawn_rank=7, ring=8),
    "racingkings": _Weights(values=(100, 300, 340, 520, 950, 0), centre=(0, 2, 2, 0, 1, 0), ring=2),
    "antichess": _Weights(
        values=(-90, -130, -170, -170, -150, -40),
        centre=(1, 3, 2, 0, 0, 4),
        mobility=(0, 5, 3, 3, 2, 5),
        pawn_rank=-6,
        ring=0,
        shield=0,
    ),
    "atomic": _Weights(
        values=(100, 190, 200, 320, 650, 0),
        centre=(1, 6, 3, 1, 2, -6),
        pawn_rank=9,
        ring=22,
        shield=14,
    ),
    "crazyhouse": _Weights(
        values=(100, 260, 260, 350, 600, 0), centre=(2, 8, 4, 1, 2, -10), ring=18, shield=22
    ),
}
_VALUES, _CENTRE, _MOBILITY, _PAWN_RANK, _RING, _SHIELD = _WEIGHTS.get(NAME, _Weights())
# Pieces in the pocket, which can appear anywhere.
_POCKET_VALUES = (110, 310, 300, 400, 720)
_TEMPO = 15

# By the distance of the king from the four central squares.
_HILL_BONUS = (0, 110, 45, 15)
_UNSTOPPABLE = 2500
# By the number of checks that a side must still give.
_CHECK_BONUS = (0, 600, 180, 0)
# The same, for each square from which a queen could check.
_EXPOSURE = (0, 16, 9, 5)
_RACE_RANK, _RACE_STEP = 75, 20  # per rank, and per safe square in front of the king


@kernel
def _distance_from_centre(square: int) -> int:
    """Return the king's distance from the nearest central square."""
    file, rank = square & 7, square >> 3
    return max(max(3 - file, file - 4), max(3 - rank, rank - 4))


@kernel
def _hill_value(position: Position, side: int) -> int:
    king = king_square(position, side)
    value = 0
    distance = _distance_from_centre(king)
    if distance < 4:
        value = _HILL_BONUS[distance]
    if side == position.turn:
        targets = king_attacks(king) & HILL_SQUARES & ~position.sides[side]
        occupied = (position.sides[0] | position.sides[1]) ^ bit(king)
        while targets:
            if not is_attacked(position, first_square(targets), 1 - side, occupied):
                return _UNSTOPPABLE
            targets &= targets - U64(1)
    return value


@kernel
def _race_value(position: Position, side: int) -> int:
    king = king_square(position, side)
    rank = king >> 3
    value = _RACE_RANK * rank
    occupied = (position.sides[0] | position.sides[1]) ^ bit(king)
    targets = king_attacks(king) & ~position.sides[side]
    while targets:
        target = first_square(targets)
        if target >> 3 > rank and not is_attacked(position, target, 1 - side, occupied):
            value += _RACE_STEP
        targets &= targets - U64(1)
    return value


@kernel
def _pocket_value(position: Position, side: int) -> int:
    value = 0
    for kind in range(5):
        value += _POCKET_VALUES[kind] * position.pockets[POCKET_KINDS * side + kind]
    return value


@kernel
def _special_value(position: Position, side: int) -> int:
    """Return the value of what only the variant knows, for `side`."""
    if HILL:
        return _hill_value(position, side)
    if COUNTS_CHECKS:
        remaining = min(max(position.remaining_checks[side], 0), 3)
        king = king_square(position, 1 - side)
        occupied = position.sides[0] | position.sides[1]
        lines = count(piece_attacks(QUEEN, king, occupied) & ~position.sides[1 - side])
        return _CHECK_BONUS[remaining] + _EXPOSURE[remaining] * lines
    if RACE:
        return _race_value(position, side)
    if POCKETS:
        return _pocket_value(position, side)
    return 0


@kernel
def _piece_value(position: Position, side: int) -> int:
    own, enemy = position.sides[side], position.sides[1 - side]
    occupied = own | enemy
    ring = king_attacks(king_square(position, 1 - side))
    if (HORDE or FORCED_CAPTURES) and not position.kinds[KING] & enemy:
        ring = U64(0)
    value = 0
    for kind in range(6):
        pieces = position.kinds[kind] & own
        while pieces:
            square = first_square(pieces)
            value += _VALUES[kind] - _CENTRE[kind] * _distance_from_centre(square)
            if kind == PAWN:
                attacks = pawn_attacks(side, square)
                value += _PAWN_RANK * (square >> 3 if side == 0 else 7 - (square >> 3))
            else:
                attacks = piece_attacks(kind, square, occupied)
                value += _MOBILITY[kind] * count(attacks & ~own)
            value += _RING * count(attacks & ring)
            if kind == KING:
                value += _SHIELD * count(attacks & position.kinds[PAWN] & own)
            pieces &= pieces - U64(1)
    return value


@kernel
def _value(position: Position) -> int:
    side = position.turn
    return _piece_value(position, side) - _piece_value(position, 1 - side) + _TEMPO


NEURONS = neuron_count(NAME)
_HAS_NETWORK: bool = NEURONS > 0
_CORRECTS: bool = corrects_evaluation(NAME)
_network_score: Any = network_score_function(NEURONS) if _HAS_NETWORK else None


@kernel
def _special_difference(position: Position) -> int:
    side = position.turn
    return _special_value(position, side) - _special_value(position, 1 - side)


def _evaluate(address: Any, ply: Any) -> Any:
    worker: Worker = worker_at(address)
    position = position_at(worker, ply)
    special = _special_difference(position)
    if _HAS_NETWORK and worker.network:
        if _CORRECTS:
            return _network_score(worker, ply) + _value(position) + special
        return _network_score(worker, ply) + special
    return _value(position) + special


def _terms_beside_network(address: Any, ply: Any) -> Any:
    position = position_at(worker_at(address), ply)
    if _CORRECTS:
        return _value(position) + _special_difference(position)
    return _special_difference(position)


variant_function = c_function(EVALUATOR_SIGNATURE, _evaluate, f"{__name__}.{NEURONS}")


@cache
def terms_function() -> Any:
    """Compile what is added to the score of a network, for the training of networks."""
    return c_function(EVALUATOR_SIGNATURE, _terms_beside_network, f"{__name__}.terms")
