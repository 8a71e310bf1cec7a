"""The evaluation of pawns and kings, with a pawn hash table.

Each worker caches the scores by a key for the pawns and kings, which most moves do not change.
Source: Slate and Atkin, 'Chess 4.5' (1977).
"""

from typing import NamedTuple

from agent.chess.board.attacks import king_square
from agent.chess.board.bitboards import (
    FILE_A,
    RANKS,
    adjacent_on_rank,
    fill_forward,
    king_distance,
    king_flank,
    shift_forward,
)
from agent.chess.board.position import piece_key
from agent.chess.board.records import (
    KING,
    PAWN,
    PAWN_TABLE_ENTRIES,
    PAWN_TABLE_ENTRY_WORDS,
    Position,
    Worker,
)
from agent.chess.evaluation.terms import (
    TERM_OFFSETS,
    Trace,
    king_square_score,
    piece_square_score,
    square_orientation,
    term,
)
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, count, first_square, int64, last_square


class PawnStructure(NamedTuple):
    """The score for pawns and kings from White's point of view, and the passed pawns."""

    score: int  # packed middlegame and endgame score; see `terms`
    white_passed: Bits
    black_passed: Bits


_DOUBLED = TERM_OFFSETS["doubled"]
_ISOLATED = TERM_OFFSETS["isolated"]
_BACKWARD = TERM_OFFSETS["backward"]
_SUPPORTED = TERM_OFFSETS["supported"]
_PHALANX = TERM_OFFSETS["phalanx"]
_SHELTER = TERM_OFFSETS["shelter"]
_STORM = TERM_OFFSETS["storm"]
_PAWNLESS_WING = TERM_OFFSETS["pawnless_wing"]
_KING_PAWN_DISTANCE = TERM_OFFSETS["king_pawn_distance"]


@kernel
def evaluate_pawn_structure(
    position: Position, trace: Trace, worker: "Worker | None"
) -> PawnStructure:
    """Return the score for pawns and kings, from the hash table of `worker` if possible.

    `trace` counts the uses of each weight. Exactly one of `trace` and `worker` must be None.
    """
    if worker is None:
        return _compute_pawn_structure(position, trace)
    key = position.pawn_key
    for side in range(2):
        key ^= piece_key(side, KING, king_square(position, side))
    entry = (key & U64(PAWN_TABLE_ENTRIES - 1)) * U64(PAWN_TABLE_ENTRY_WORDS)
    words = worker.pawn_table
    if words[entry] != key:
        result = _compute_pawn_structure(position, trace)
        words[entry] = key
        words[entry + U64(1)] = U64(result.score)
        words[entry + U64(2)] = result.white_passed
        words[entry + U64(3)] = result.black_passed
        return result
    return PawnStructure(int64(words[entry + U64(1)]), words[entry + U64(2)], words[entry + U64(3)])


@kernel
def _compute_pawn_structure(position: Position, trace: Trace) -> PawnStructure:
    white, white_passed = _pawns(position, 0, trace)
    black, black_passed = _pawns(position, 1, trace)
    score = white - black + _king(position, 0, trace) - _king(position, 1, trace)
    return PawnStructure(score, white_passed, black_passed)


@kernel
def _pawns(position: Position, side: int, trace: Trace) -> tuple[int, Bits]:
    pawns = position.kinds[PAWN] & position.sides[side]
    enemy_pawns = position.kinds[PAWN] & position.sides[1 - side]
    own_attacks = shift_forward(adjacent_on_rank(pawns), side)
    enemy_attacks = shift_forward(adjacent_on_rank(enemy_pawns), 1 - side)
    enemy_front = fill_forward(shift_forward(enemy_pawns, 1 - side), 1 - side)
    behind_own = fill_forward(shift_forward(pawns, 1 - side), 1 - side)
    files = fill_forward(fill_forward(pawns, 0), 1)

    isolated = pawns & ~adjacent_on_rank(files)
    stops = shift_forward(pawns, side) & ~fill_forward(own_attacks, side) & enemy_attacks
    backward = shift_forward(stops, 1 - side) & pawns & ~isolated
    supported = pawns & own_attacks
    phalanx = pawns & adjacent_on_rank(pawns)
    passed = pawns & ~enemy_front & ~fill_forward(enemy_attacks, 1 - side) & ~behind_own

    score = term(trace, side, _DOUBLED, count(pawns & behind_own))
    score += term(trace, side, _ISOLATED, count(isolated & enemy_front))
    score += term(trace, side, _ISOLATED + 1, count(isolated & ~enemy_front))
    score += term(trace, side, _BACKWARD, count(backward & enemy_front))
    score += term(trace, side, _BACKWARD + 1, count(backward & ~enemy_front))
    for rank in range(1, 7):
        row = RANKS[rank if side == 0 else 7 - rank]
        score += term(trace, side, _SUPPORTED + rank, count(supported & row))
        score += term(trace, side, _PHALANX + rank, count(phalanx & row))
    orientation = square_orientation(position, side)
    while pawns:
        score += piece_square_score(trace, side, orientation, PAWN, first_square(pawns))
        pawns &= pawns - U64(1)
    return score, passed


@kernel
def _king(position: Position, side: int, trace: Trace) -> int:
    king = king_square(position, side)
    own_pawns = position.kinds[PAWN] & position.sides[side]
    enemy_pawns = position.kinds[PAWN] & position.sides[1 - side]
    score = king_square_score(trace, side, square_orientation(position, side), king)
    rank = king >> 3
    # The king's rank and all ranks in front of it.
    in_front = fill_forward(RANKS[rank], side)
    centre = min(max(king & 7, 1), 6)
    for file in range(centre - 1, centre + 2):
        column = (FILE_A << U64(file)) & in_front
        own_on_file, enemy_on_file = column & own_pawns, column & enemy_pawns
        own_rank = _nearest_rank(own_on_file, side)
        enemy_rank = _nearest_rank(enemy_on_file, side)
        file_offset = 0 if file == king & 7 else 8
        score += term(trace, side, _SHELTER + file_offset + own_rank, 1)
        blocked_offset = 8 if own_rank and enemy_rank == own_rank + 1 else 0
        score += term(trace, side, _STORM + blocked_offset + enemy_rank, 1)
    if not king_flank(king) & position.kinds[PAWN]:
        score += term(trace, side, _PAWNLESS_WING, 1)
    return score + term(trace, side, _KING_PAWN_DISTANCE, _nearest_distance(own_pawns, king))


@kernel
def _nearest_distance(squares: Bits, square: int) -> int:
    """Return the distance (in king moves) from `square` to the nearest of `squares`, or 0."""
    nearest = 8 if squares else 0
    while squares:
        nearest = min(nearest, king_distance(first_square(squares), square))
        squares &= squares - U64(1)
    return nearest


@kernel
def _nearest_rank(pawns: Bits, side: int) -> int:
    """Return the lowest rank of `pawns` from the point of view of `side`, or 0 without pawns."""
    if not pawns:
        return 0
    if side == 0:
        return first_square(pawns) >> 3
    return 7 - (last_square(pawns) >> 3)
