"""The hand-written evaluation: a weighted sum of terms with the weights in `weights`.

Every term has a middlegame weight and an endgame weight in centipawns. The evaluation interpolates
between the two sums by the game phase ("tapered evaluation"). It is linear in its weights, so a
table has one weight for each level of king danger.

`endgame_knowledge` scales the endgame score, and evaluates known wins without terms.
"""

from typing import Any, NamedTuple

import numpy as np

from agent.chess.board.attacks import (
    bishop_attacks,
    bit,
    has,
    king_square,
    piece_attacks,
    rook_attacks,
)
from agent.chess.board.bitboards import (
    CENTRE_FILES,
    DARK_SQUARES,
    FILE_A,
    RANKS,
    adjacent_on_rank,
    fill_forward,
    king_distance,
    king_flank,
    shift_forward,
)
from agent.chess.board.lookup_tables import king_attacks, knight_attacks
from agent.chess.board.movegen import find_pinned
from agent.chess.board.records import (
    BISHOP,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    Position,
    Worker,
    position_at,
    worker_at,
)
from agent.chess.evaluation.endgame_knowledge import (
    DIFFICULT_SCALE,
    FULL_SCALE,
    endgame_scale,
    is_known_win,
    known_win_value,
)
from agent.chess.evaluation.pawn_structure import evaluate_pawn_structure
from agent.chess.evaluation.terms import (
    TERM_OFFSETS,
    Trace,
    piece_square_score,
    square_orientation,
    term,
)
from agent.kernel.decorators import c_function, kernel
from agent.kernel.intrinsics import (
    EVALUATOR_SIGNATURE,
    U64,
    Bits,
    call_evaluator,
    count,
    external_table,
    first_square,
)


class AttackInfo(NamedTuple):
    """The squares attacked by each piece type of one side, and the danger to the enemy king."""

    pawns: Bits
    knights: Bits
    bishops: Bits
    rooks: Bits
    queens: Bits
    without_king: Bits  # attacks of all pieces except the king
    all_attacks: Bits
    holes: Bits  # outpost squares: defended by a pawn, safe from enemy pawns
    danger_units: int  # danger to the enemy king from the pieces that attack its zone


class EvaluationResult(NamedTuple):
    value: int  # centipawns, for the side to move
    phase: int  # weight of the middlegame score, at most FULL_PHASE
    endgame_scale: int  # scale factor of the endgame score, at most FULL_SCALE


# King danger is counted in units; two units are one step in the table of weights. The units were
# tuned with a quadratic formula instead of the table.
_ATTACK_UNITS = (0, 5, 4, 4, 6)  # a piece, knight to queen, that attacks the king zone
_SAFE_CHECK_UNITS = (0, 15, 16, 24, 14)  # a safe checking square, knight to queen
_OTHER_CHECK_UNITS = 5  # an unsafe checking square
_WEAK_SQUARE_UNITS = 6  # an attacked square next to the king, defended at most by the king
_DOUBLE_ATTACK_UNITS = 8  # a square next to the king that pieces of two kinds attack
_UNDEFENDED_UNITS = 4  # a square next to the king, not attacked and without a defending piece on it
_PINNED_UNITS = 12
_FLANK_ATTACK_UNITS = 2  # an attacked square on the king's wing
_FLANK_DEFENCE_UNITS = 4  # subtracted for each defended square on the king's wing
_QUEEN_UNITS = 18
_BASE_UNITS = 7
_KING_DANGER_STEPS = 64

PHASE_WEIGHTS = (0, 1, 1, 2, 4, 0)
FULL_PHASE = 24
_MAX_KING_DISTANCE = 5  # squares: larger distances of a king from a passed pawn are clamped

_SPACE = (U64(0x00000000FFFFFF00), U64(0x00FFFFFF00000000))  # ranks 2 to 4
_CAMP = (U64(0x000000FFFFFFFFFF), U64(0xFFFFFFFFFF000000))  # ranks 1 to 5
_OUTPOST_RANKS = (U64(0x0000FFFFFF000000), U64(0x000000FFFFFF0000))  # ranks 4 to 6
_CENTRE = U64(0x0000001818000000)

_TEMPO = TERM_OFFSETS["tempo"]
_MOBILITY = (
    0,
    *(TERM_OFFSETS[f"{kind}_mobility"] for kind in ("knight", "bishop", "rook", "queen")),
)
_PASSED = TERM_OFFSETS["passed"]
_PASSED_BLOCKED = TERM_OFFSETS["passed_blocked"]
_PASSED_FREE = TERM_OFFSETS["passed_free"]
_PASSED_OWN_KING = TERM_OFFSETS["passed_own_king"]
_PASSED_ENEMY_KING = TERM_OFFSETS["passed_enemy_king"]
_BISHOP_PAIR = TERM_OFFSETS["bishop_pair"]
_BISHOP_PAWNS = TERM_OFFSETS["bishop_pawns"]
_OUTPOST = TERM_OFFSETS["outpost"]
_BEHIND_PAWN = TERM_OFFSETS["behind_pawn"]
_ROOK_FILE = TERM_OFFSETS["rook_file"]
_ROOK_SEVENTH = TERM_OFFSETS["rook_seventh"]
_PAWN_THREAT = TERM_OFFSETS["pawn_threat"]
_MINOR_THREAT = TERM_OFFSETS["minor_threat"]
_ROOK_THREAT = TERM_OFFSETS["rook_threat"]
_HANGING = TERM_OFFSETS["hanging"]
_PUSH_THREAT = TERM_OFFSETS["push_threat"]
_SPACE_TERM = TERM_OFFSETS["space"]
_KING_DANGER = TERM_OFFSETS["king_danger"]
_RESTRICTED = TERM_OFFSETS["restricted"]
_KING_WING = TERM_OFFSETS["king_wing"]
_ROOK_BEHIND = TERM_OFFSETS["rook_behind"]
_PASSED_SAFE = TERM_OFFSETS["passed_safe"]
_MINOR_FROM_KING = TERM_OFFSETS["minor_from_king"]
_LONG_DIAGONAL = TERM_OFFSETS["long_diagonal"]
_ROOK_AND_QUEEN = TERM_OFFSETS["rook_and_queen"]
_KING_THREAT = TERM_OFFSETS["king_threat"]
_DOUBLE_ATTACK = TERM_OFFSETS["double_attack"]
_OUTPOST_REACHABLE = TERM_OFFSETS["outpost_reachable"]


@kernel
def _pieces(position: Position, side: int, trace: Trace) -> tuple[int, AttackInfo]:
    own, enemy = position.sides[side], position.sides[1 - side]
    occupied = own | enemy
    pawns = position.kinds[PAWN]
    own_pawn_attacks = shift_forward(adjacent_on_rank(pawns & own), side)
    enemy_pawn_attacks = shift_forward(adjacent_on_rank(pawns & enemy), 1 - side)
    enemy_attack_span = fill_forward(enemy_pawn_attacks, 1 - side)
    holes = own_pawn_attacks & ~enemy_attack_span
    own_king, enemy_king = king_square(position, side), king_square(position, 1 - side)
    king_zone = king_attacks(enemy_king)
    king_zone |= shift_forward(king_zone, 1 - side)
    mobility_area = ~own & ~enemy_pawn_attacks
    orientation = square_orientation(position, side)
    score = units = 0
    by_knights = by_bishops = by_rooks = by_queens = U64(0)

    for kind in range(KNIGHT, KING):
        pieces = position.kinds[kind] & own
        while pieces:
            square = first_square(pieces)
            pieces &= pieces - U64(1)
            if kind == KNIGHT:
                attacked = knight_attacks(square)
                by_knights |= attacked
            elif kind == BISHOP:  # X-ray through queens
                attacked = bishop_attacks(square, occupied & ~position.kinds[QUEEN])
                by_bishops |= attacked
            elif kind == ROOK:
                through = position.kinds[QUEEN] | (position.kinds[ROOK] & own)
                attacked = rook_attacks(square, occupied & ~through)
                by_rooks |= attacked
            else:
                attacked = piece_attacks(kind, square, occupied)
                by_queens |= attacked
            score += piece_square_score(trace, side, orientation, kind, square)
            score += term(trace, side, _MOBILITY[kind] + count(attacked & mobility_area), 1)
            if attacked & king_zone:
                units += _ATTACK_UNITS[kind]
            if kind < ROOK:
                distance = king_distance(square, own_king)
                score += term(trace, side, _MINOR_FROM_KING + 8 * (kind - KNIGHT) + distance, 1)
            if kind == BISHOP and count(bishop_attacks(square, pawns) & _CENTRE) > 1:
                score += term(trace, side, _LONG_DIAGONAL, 1)
            if kind == ROOK:
                file = FILE_A << U64(square & 7)
                if file & enemy & position.kinds[QUEEN]:
                    score += term(trace, side, _ROOK_AND_QUEEN, 1)
                if not file & pawns & own:
                    open_offset = 0 if file & pawns else 1
                    score += term(trace, side, _ROOK_FILE + open_offset, 1)

    bishops = position.kinds[BISHOP] & own
    minors = bishops | (position.kinds[KNIGHT] & own)
    if count(bishops) >= 2:
        score += term(trace, side, _BISHOP_PAIR, 1)
    dark, light = count(bishops & DARK_SQUARES), count(bishops & ~DARK_SQUARES)
    same_colour_pawns = dark * count(pawns & own & DARK_SQUARES) + light * count(
        pawns & own & ~DARK_SQUARES
    )
    score += term(trace, side, _BISHOP_PAWNS, same_colour_pawns)
    score += term(trace, side, _OUTPOST, count(position.kinds[KNIGHT] & own & holes))
    score += term(trace, side, _OUTPOST + 1, count(bishops & holes))
    score += term(trace, side, _BEHIND_PAWN, count(minors & shift_forward(pawns, 1 - side)))
    seventh = RANKS[6] if side == 0 else RANKS[1]
    eighth = RANKS[7] if side == 0 else RANKS[0]
    if has(eighth, enemy_king) or seventh & pawns & enemy:
        rooks = position.kinds[ROOK] & own & seventh
        score += term(trace, side, _ROOK_SEVENTH, count(rooks))
    by_pieces = own_pawn_attacks | by_knights | by_bishops | by_rooks | by_queens
    attacks = AttackInfo(
        own_pawn_attacks,
        by_knights,
        by_bishops,
        by_rooks,
        by_queens,
        by_pieces,
        by_pieces | king_attacks(king_square(position, side)),
        holes,
        units,
    )
    return score, attacks


@kernel
def _attacked_twice(attacks: AttackInfo) -> Bits:
    minors = attacks.knights | attacks.bishops
    majors = attacks.rooks | attacks.queens
    twice = (
        (attacks.knights & attacks.bishops) | (attacks.rooks & attacks.queens) | (minors & majors)
    )
    return twice | (attacks.pawns & (minors | majors))


@kernel
def _threats(
    position: Position, side: int, trace: Trace, attacks: AttackInfo, enemy_attacks: AttackInfo
) -> int:
    own, enemy = position.sides[side], position.sides[1 - side]
    pawns = position.kinds[PAWN]
    by_minors = attacks.knights | attacks.bishops
    enemy_pieces = enemy & ~pawns
    undefended = enemy & ~enemy_attacks.all_attacks
    score = 0
    for kind in range(KNIGHT, KING):
        targets = position.kinds[kind] & enemy
        score += term(trace, side, _PAWN_THREAT + kind, count(targets & attacks.pawns))
        score += term(trace, side, _MINOR_THREAT + kind, count(targets & by_minors))
        if kind < ROOK:
            targets &= undefended
        score += term(trace, side, _ROOK_THREAT + kind, count(targets & attacks.rooks))
    undefended_pawns = undefended & pawns
    score += term(trace, side, _MINOR_THREAT, count(undefended_pawns & by_minors))
    score += term(trace, side, _ROOK_THREAT, count(undefended_pawns & attacks.rooks))
    score += term(trace, side, _HANGING, count(undefended & enemy_pieces & attacks.all_attacks))
    by_king = king_attacks(king_square(position, side))
    score += term(trace, side, _KING_THREAT, min(count(undefended & by_king), 1))
    twice = _attacked_twice(attacks) & enemy & ~enemy_attacks.pawns
    score += term(trace, side, _DOUBLE_ATTACK, count(twice))
    reachable = attacks.holes & _OUTPOST_RANKS[side] & ~own
    score += term(trace, side, _OUTPOST_REACHABLE, min(count(reachable & attacks.knights), 1))
    score += term(trace, side, _OUTPOST_REACHABLE + 1, min(count(reachable & attacks.bishops), 1))

    advanced = shift_forward(pawns & own, side) & ~(own | enemy) & ~enemy_attacks.pawns
    advanced &= ~enemy_attacks.all_attacks | attacks.all_attacks
    pushed = shift_forward(adjacent_on_rank(advanced), side) & enemy_pieces & ~attacks.pawns
    score += term(trace, side, _PUSH_THREAT, count(pushed))

    restricted = enemy_attacks.all_attacks & ~enemy_attacks.pawns & attacks.all_attacks & ~own
    score += term(trace, side, _RESTRICTED, count(restricted))

    space = _SPACE[side] & CENTRE_FILES & ~(pawns & own) & ~enemy_attacks.pawns
    return score + term(trace, side, _SPACE_TERM, count(space))


@kernel
def _king_attack(
    position: Position, side: int, trace: Trace, attacks: AttackInfo, enemy_attacks: AttackInfo
) -> int:
    king = king_square(position, 1 - side)
    own, enemy = position.sides[side], position.sides[1 - side]
    beside_king = king_attacks(king)
    units = _BASE_UNITS + attacks.danger_units
    if position.kinds[QUEEN] & own:
        units += _QUEEN_UNITS

    diagonals, lines = bishop_attacks(king, own | enemy), rook_attacks(king, own | enemy)
    by_knights = knight_attacks(king) & attacks.knights & ~own
    by_bishops, by_rooks = diagonals & attacks.bishops & ~own, lines & attacks.rooks & ~own
    by_queens = (diagonals | lines) & attacks.queens & ~own
    safe = ~enemy_attacks.all_attacks
    units += _SAFE_CHECK_UNITS[KNIGHT] * count(by_knights & safe)
    units += _SAFE_CHECK_UNITS[BISHOP] * count(by_bishops & safe)
    units += _SAFE_CHECK_UNITS[ROOK] * count(by_rooks & safe)
    units += _SAFE_CHECK_UNITS[QUEEN] * count(by_queens & safe)
    unsafe_checks = count(by_knights & ~safe) + count(by_bishops & ~safe) + count(by_rooks & ~safe)
    units += _OTHER_CHECK_UNITS * unsafe_checks

    units += _WEAK_SQUARE_UNITS * count(
        beside_king & attacks.all_attacks & ~enemy_attacks.without_king
    )
    units += _DOUBLE_ATTACK_UNITS * count(beside_king & _attacked_twice(attacks))
    units += _UNDEFENDED_UNITS * count(beside_king & ~enemy & ~attacks.all_attacks)
    units += _PINNED_UNITS * count(find_pinned(position, king, 1 - side))

    wing = king_flank(king) & _CAMP[1 - side]
    attacked, defended = count(wing & attacks.all_attacks), count(wing & enemy_attacks.all_attacks)
    units += _FLANK_ATTACK_UNITS * attacked - _FLANK_DEFENCE_UNITS * defended
    score = term(trace, side, _KING_WING, attacked)
    score += term(
        trace, side, _KING_WING + 1, count(wing & attacks.all_attacks & ~enemy_attacks.all_attacks)
    )
    score += term(trace, side, _KING_WING + 2, defended)
    step = min(max(units >> 1, 0), _KING_DANGER_STEPS - 1)
    return score + term(trace, side, _KING_DANGER + step, 1)


@kernel
def _passed_pawns(
    position: Position, side: int, trace: Trace, passed: Bits, enemy_attacks: AttackInfo
) -> int:
    own_king, enemy_king = king_square(position, side), king_square(position, 1 - side)
    own, enemy = position.sides[side], position.sides[1 - side]
    occupied = own | enemy
    score = 0
    while passed:
        square = first_square(passed)
        passed &= passed - U64(1)
        rank = square >> 3 if side == 0 else 7 - (square >> 3)
        stop = square + 8 if side == 0 else square - 8
        path = fill_forward(bit(stop), side)
        score += term(trace, side, _PASSED + rank, 1)
        if has(occupied, stop):
            score += term(trace, side, _PASSED_BLOCKED + rank, 1)
        elif not has(enemy_attacks.all_attacks, stop):
            score += term(trace, side, _PASSED_FREE + rank, 1)
        if not path & (enemy_attacks.all_attacks | occupied):
            score += term(trace, side, _PASSED_SAFE + rank, 1)
        rooks_behind = fill_forward(bit(square), 1 - side) & position.kinds[ROOK]
        score += term(trace, side, _ROOK_BEHIND, min(count(rooks_behind & own), 1))
        score += term(trace, side, _ROOK_BEHIND + 1, min(count(rooks_behind & enemy), 1))
        own_distance, enemy_distance = (
            king_distance(own_king, stop),
            king_distance(enemy_king, stop),
        )
        score += term(trace, side, _PASSED_OWN_KING + rank, min(own_distance, _MAX_KING_DISTANCE))
        score += term(
            trace, side, _PASSED_ENEMY_KING + rank, min(enemy_distance, _MAX_KING_DISTANCE)
        )
    return score


@kernel
def game_phase(position: Position) -> int:
    """Return the game phase, from FULL_PHASE with all pieces to 0 with only kings and pawns."""
    phase = 0
    for kind in range(KNIGHT, KING):
        phase += PHASE_WEIGHTS[kind] * count(position.kinds[kind])
    return min(phase, FULL_PHASE)


@kernel
def evaluate_position(
    position: Position, trace: Trace, worker: "Worker | None"
) -> EvaluationResult:
    """Evaluate a position for the side to move.

    `trace` receives the number of uses of each weight. `worker` provides the pawn hash table.
    Exactly one of `trace` and `worker` must be None.
    """
    for side in range(2):
        if is_known_win(position, side):
            value = known_win_value(position, side)
            return EvaluationResult(value if side == position.turn else -value, 0, 0)
    white_pieces, white = _pieces(position, 0, trace)
    black_pieces, black = _pieces(position, 1, trace)
    pawns = evaluate_pawn_structure(position, trace, worker)
    score = pawns.score + white_pieces - black_pieces
    score += _threats(position, 0, trace, white, black)
    score -= _threats(position, 1, trace, black, white)
    score += _king_attack(position, 0, trace, white, black)
    score -= _king_attack(position, 1, trace, black, white)
    score += _passed_pawns(position, 0, trace, pawns.white_passed, black)
    score -= _passed_pawns(position, 1, trace, pawns.black_passed, white)
    if position.turn:
        score = -score
    score += term(trace, position.turn, _TEMPO, 1)

    middlegame = ((score & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000
    endgame = (score - middlegame) >> 32
    strong = position.turn if endgame > 0 else 1 - position.turn
    factor = endgame_scale(position, strong)
    phase = game_phase(position) if factor > DIFFICULT_SCALE else 0
    total = FULL_SCALE * phase * middlegame + factor * (FULL_PHASE - phase) * endgame
    return EvaluationResult(_rounded(total, FULL_SCALE * FULL_PHASE), phase, factor)


@kernel
def _rounded(dividend: int, divisor: int) -> int:
    """Divide and round towards zero, so that the evaluation is equal for both colours."""
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)


def _handcrafted_at(address: Any, ply: Any) -> Any:
    worker = worker_at(address)
    return evaluate_position(position_at(worker, ply), None, worker).value


handcrafted_function = c_function(
    EVALUATOR_SIGNATURE, _handcrafted_at, "agent.chess.evaluation.handcrafted.handcrafted"
)
_ADDRESS = np.array([handcrafted_function.address], dtype=np.uint64)
_address = external_table("kempelen_handcrafted", _ADDRESS)


@kernel
def handcrafted(worker: Worker, ply: int) -> int:
    """Return the evaluation in centipawns for the side to move. User evaluations can call this."""
    # Called by address: inlining would add several seconds to the compilation.
    return call_evaluator(_address(0), worker, ply)
