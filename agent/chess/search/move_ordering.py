"""Move ordering: hash move, winning captures, killer moves, quiet moves, losing captures.

Moves are generated in stages, so that a cutoff saves the work of later stages. Quiet moves are
ordered by the history heuristic (Schaeffer, 1989), by checks, and by squares that enemy pawns
attack.
"""

from agent.chess.board.attacks import bishop_attacks, has, king_square, rook_attacks
from agent.chess.board.bitboards import ALL_SQUARES, adjacent_on_rank, shift_forward
from agent.chess.board.lookup_tables import knight_attacks
from agent.chess.board.movegen import (
    ALL,
    NOISY,
    QUIET,
    drop_is_legal,
    from_square,
    generate,
    gives_check,
    is_drop,
    is_noisy,
    moved_kind,
    promotion_kind,
    to_square,
)
from agent.chess.board.records import (
    BISHOP,
    FLAG_MASK,
    KNIGHT,
    NO_MOVE,
    NO_PIECE_TARGET,
    PAWN,
    PIECE_TARGETS,
    PROMOTION,
    QUEEN,
    ROOK,
    Frame,
    Position,
    Worker,
    frame_at,
    position_at,
)
from agent.chess.board.rules import COUNTS_CHECKS, POCKETS
from agent.chess.board.static_exchange import PIECE_VALUES, see_ge
from agent.chess.search.parameters import (
    check_order,
    continuation_one,
    continuation_two,
    gain_bonus,
    gain_most_bonus,
    history_anywhere,
    history_bonus,
    history_malus,
    history_most_bonus,
    history_reply,
    noisy_bonus,
    pawn_threat,
)
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, int64

# Stages of move picking. Quiescence search ends after GOOD_NOISY.
TABLE_MOVE, GENERATE_NOISY, GOOD_NOISY, GENERATE_QUIETS, QUIETS, BAD_NOISY = range(6)

MAX_HISTORY = 1 << 14
_KILLER_SCORE = 1 << 20  # greater than every history score
_WEIGHT_UNIT = 64  # weights of histories and of bonuses are in 64ths
_VICTIM_WEIGHT = 64  # per centipawn of the captured piece
_INDEX_BITS = 9  # number of bits for the index of a move in its list
_INDEX_MASK = (1 << _INDEX_BITS) - 1


@kernel
def is_legal(position: Position, frame: Frame, move: int) -> bool:
    """Return whether the 16-bit number `move` is a legal move. `frame.moves` is overwritten."""
    start = from_square(move)
    if POCKETS and is_drop(move):
        return drop_is_legal(position, move)
    if move == NO_MOVE or not has(position.sides[position.turn], start):
        return False
    for i in range(generate(position, frame, 0, ALL, U64(1) << U64(start), False)):
        if frame.moves[i] == move:
            return True
    return False


@kernel
def start_picking(worker: Worker, ply: int, table_move: int) -> None:
    """Start picking moves at `ply`. The hash move `table_move` may be NO_MOVE or illegal."""
    frame = frame_at(worker, ply)
    frame.table_move = NO_MOVE
    if is_legal(position_at(worker, ply), frame, table_move):
        frame.table_move = table_move
    frame.stage = TABLE_MOVE
    frame.count = 0
    frame.next_index = 0
    frame.bad_noisy_count = 0
    frame.skip_quiets = 0
    frame.tried_count = 0


@kernel
def _piece_index(side: int, kind: int, target: int) -> int:
    return (6 * side + kind) << 6 | target


@kernel
def piece_target_index(position: Position, move: int) -> int:
    """Return the history index of the moving piece and its target square."""
    return _piece_index(position.turn, moved_kind(position, move), to_square(move))


@kernel
def _capture_index(position: Position, move: int) -> int:
    return piece_target_index(position, move) * 7 + position.board[to_square(move)]


@kernel
def capture_history(worker: Worker, position: Position, move: int) -> int:
    return worker.capture_history[_capture_index(position, move)]


@kernel
def _score_noisy(worker: Worker, position: Position, frame: Frame) -> None:
    for i in range(frame.count):
        move = int64(frame.moves[i])
        score = _VICTIM_WEIGHT * PIECE_VALUES[position.board[to_square(move)]]
        if move & FLAG_MASK == PROMOTION:
            score += _VICTIM_WEIGHT * PIECE_VALUES[promotion_kind(move)]
        score += capture_history(worker, position, move)
        frame.scores[i] = _rank(score, i)


@kernel
def history_index(side: int, move: int) -> int:
    if POCKETS and is_drop(move):
        return side << 12 | to_square(move) << 6 | to_square(move)
    return side << 12 | from_square(move) << 6 | to_square(move)


@kernel
def earlier_piece_target(worker: Worker, ply: int, plies: int) -> int:
    """Return `piece_target_index` of the move `plies` plies earlier, or NO_PIECE_TARGET."""
    return frame_at(worker, ply - plies).piece_target if plies <= ply else NO_PIECE_TARGET


@kernel
def _continuation_start(worker: Worker, ply: int, plies: int) -> int:
    return earlier_piece_target(worker, ply, plies) * PIECE_TARGETS


@kernel
def _combined_history(
    worker: Worker, main_index: int, one_ply_index: int, two_ply_index: int
) -> int:
    total = (
        history_anywhere() * worker.quiet_history[main_index]
        + continuation_one() * worker.continuation_history[one_ply_index]
        + continuation_two() * worker.continuation_history[two_ply_index]
    )
    return total // _WEIGHT_UNIT


@kernel
def quiet_history(worker: Worker, ply: int, move: int) -> int:
    """Return the weighted sum of the main and continuation histories of a quiet move."""
    position = position_at(worker, ply)
    after_one, after_two = _continuation_start(worker, ply, 1), _continuation_start(worker, ply, 2)
    moved = piece_target_index(position, move)
    return _combined_history(
        worker, history_index(position.turn, move), after_one + moved, after_two + moved
    )


@kernel
def is_killer(frame: Frame, move: int) -> bool:
    return move == frame.killers[0] or move == frame.killers[1]


@kernel
def _score_quiets(worker: Worker, ply: int, first: int) -> None:
    frame = frame_at(worker, ply)
    position = position_at(worker, ply)
    side = position.turn
    enemy = 1 - side
    after_one, after_two = _continuation_start(worker, ply, 1), _continuation_start(worker, ply, 2)
    killer, second_killer = frame.killers[0], frame.killers[1]
    pawn_attacked = shift_forward(
        adjacent_on_rank(position.kinds[PAWN] & position.sides[enemy]), enemy
    )
    king = king_square(position, enemy)
    occupied = position.sides[0] | position.sides[1]
    by_knight = knight_attacks(king)
    by_bishop = bishop_attacks(king, occupied)
    by_rook = rook_attacks(king, occupied)
    for i in range(first, frame.count):
        move = int64(frame.moves[i])
        if move == killer:
            score = _KILLER_SCORE + 1
        elif move == second_killer:
            score = _KILLER_SCORE
        else:
            start, target = from_square(move), to_square(move)
            kind = moved_kind(position, move)
            if POCKETS and is_drop(move):
                start = target
            moved = _piece_index(side, kind, target)
            score = _combined_history(
                worker, history_index(side, move), after_one + moved, after_two + moved
            )
            if kind != PAWN:
                score += pawn_threat() * (has(pawn_attacked, start) - has(pawn_attacked, target))
            if (
                (kind == KNIGHT and has(by_knight, target))
                or (kind in (BISHOP, QUEEN) and has(by_bishop, target))
                or (kind in (ROOK, QUEEN) and has(by_rook, target))
            ):
                score += check_order()
        frame.scores[i] = _rank(score, i)


@kernel
def _rank(score: int, index: int) -> int:
    """Pack the score and index of a move into one integer, which is highest for the best move.

    With equal scores, the lower index wins. The maximum of packed integers can be vectorized.
    """
    return score << _INDEX_BITS | (_INDEX_MASK - index)


@kernel
def _pick_best(frame: Frame) -> int:
    first = frame.next_index
    highest = frame.scores[first]
    for i in range(first + 1, frame.count):
        highest = max(highest, frame.scores[i])
    best = _INDEX_MASK - (highest & _INDEX_MASK)
    move = int64(frame.moves[best])
    frame.moves[best] = frame.moves[first]
    frame.moves[first] = move
    frame.scores[best] = _rank(frame.scores[first] >> _INDEX_BITS, best)
    frame.next_index += 1
    return move


@kernel
def _start_bad_noisy(frame: Frame) -> None:
    frame.next_index = 0
    frame.stage = BAD_NOISY


@kernel
def next_move(worker: Worker, ply: int, only_noisy: bool) -> int:
    """Return the next legal move at `ply`, or NO_MOVE at the end.

    If `only_noisy` is true, only captures and queen promotions are returned. A selective search
    then also skips losing captures.
    """
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    if frame.stage == TABLE_MOVE:
        frame.stage = GENERATE_NOISY
        if frame.table_move and (not only_noisy or is_noisy(position, frame.table_move)):
            return frame.table_move
    if frame.stage == GENERATE_NOISY:
        frame.count = generate(position, frame, 0, NOISY, ALL_SQUARES, False)
        _score_noisy(worker, position, frame)
        frame.stage = GOOD_NOISY
    if frame.stage == GOOD_NOISY:
        while frame.next_index < frame.count:
            move = _pick_best(frame)
            if move == frame.table_move:
                continue
            if COUNTS_CHECKS and gives_check(position, move):
                return move
            if worker.selective and not see_ge(position, move, 0):
                frame.moves[frame.bad_noisy_count] = move
                frame.bad_noisy_count += 1
                continue
            return move
        if only_noisy:
            return NO_MOVE
        frame.stage = GENERATE_QUIETS
    if frame.skip_quiets and frame.stage in (GENERATE_QUIETS, QUIETS):
        _start_bad_noisy(frame)
    if frame.stage == GENERATE_QUIETS:
        first = frame.count
        frame.count = generate(position, frame, first, QUIET, ALL_SQUARES, False)
        _score_quiets(worker, ply, first)
        frame.stage = QUIETS
    if frame.stage == QUIETS:
        while frame.next_index < frame.count:
            move = _pick_best(frame)
            if move != frame.table_move:
                return move
        _start_bad_noisy(frame)
    if frame.next_index < frame.bad_noisy_count:
        move = int64(frame.moves[frame.next_index])
        frame.next_index += 1
        return move
    return NO_MOVE


@kernel
def _updated_history(value: int, bonus: int) -> int:
    """Return a history value after a bonus, which shrinks near the maximum ("history gravity")."""
    return value + bonus - value * abs(bonus) // MAX_HISTORY


@kernel
def _update_quiet_history(worker: Worker, ply: int, move: int, bonus: int) -> None:
    position = position_at(worker, ply)
    index = history_index(position.turn, move)
    worker.quiet_history[index] = _updated_history(worker.quiet_history[index], bonus)
    moved = piece_target_index(position, move)
    for plies in range(1, 3):
        index = _continuation_start(worker, ply, plies) + moved
        worker.continuation_history[index] = _updated_history(
            worker.continuation_history[index], bonus
        )


@kernel
def _update_capture_history(worker: Worker, position: Position, move: int, bonus: int) -> None:
    index = _capture_index(position, move)
    worker.capture_history[index] = _updated_history(worker.capture_history[index], bonus)


@kernel
def _history_bonus(depth: int) -> int:
    return min(history_bonus() * depth * (depth + 2), history_most_bonus())


@kernel
def record_tried_move(frame: Frame, move: int) -> None:
    """Record that a move was searched or pruned at this node."""
    frame.tried_moves[frame.tried_count] = move
    frame.tried_count += 1


@kernel
def update_histories(worker: Worker, ply: int, move: int, depth: int) -> None:
    """Update the killer moves and histories after a beta cutoff by `move`.

    Captures and promotions that were tried before `move` get a penalty. Quiet moves get one only if
    `move` is quiet.
    """
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    bonus = _history_bonus(depth)
    quiet = not is_noisy(position, move)
    if quiet:
        if frame.killers[0] != move:
            frame.killers[1] = frame.killers[0]
            frame.killers[0] = move
        _update_quiet_history(worker, ply, move, bonus)
    else:
        _update_capture_history(worker, position, move, bonus * noisy_bonus() // _WEIGHT_UNIT)
    malus = bonus * history_malus() // _WEIGHT_UNIT
    for i in range(frame.tried_count):
        tried = int64(frame.tried_moves[i])
        if tried == move:
            continue
        if is_noisy(position, tried):
            _update_capture_history(worker, position, tried, -malus)
        elif quiet:
            _update_quiet_history(worker, ply, tried, -malus)


@kernel
def _last_quiet_move(worker: Worker, ply: int) -> int:
    move = position_at(worker, ply).move
    if move == NO_MOVE or is_noisy(position_at(worker, ply - 1), move):
        return NO_MOVE
    return move


@kernel
def update_last_move_history(worker: Worker, ply: int, depth: int) -> None:
    """After a fail-low at `ply`, raise the history score of the last move if it was quiet."""
    move = _last_quiet_move(worker, ply)
    if move != NO_MOVE:
        _update_quiet_history(
            worker, ply - 1, move, _history_bonus(depth) * history_reply() // _WEIGHT_UNIT
        )


@kernel
def update_history_by_gain(worker: Worker, ply: int, gain: int) -> None:
    """Update the history of the last move, if quiet, by its evaluation gain in centipawns."""
    move = _last_quiet_move(worker, ply)
    if move != NO_MOVE:
        limit = gain_most_bonus()
        bonus = min(max(gain_bonus() * gain, -limit), limit)
        index = history_index(position_at(worker, ply - 1).turn, move)
        worker.quiet_history[index] = _updated_history(worker.quiet_history[index], bonus)
