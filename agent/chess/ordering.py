"""Move ordering: the table's move, winning captures, killers, quiet moves by history, the rest.

Moves are generated and picked in stages, so that a cut-off spares the work of later stages.
The killer heuristic keeps, for each ply, the last quiet moves that cut off a sibling node; the
history heuristic counts how well a quiet move did anywhere in the tree (Schaeffer, 1989). Checks,
and moves out of a pawn's attack, come earlier than their history says; moves into one later.
"""

from agent.chess.attacks import bishop_attacks, has, king_square, rook_attacks
from agent.chess.exchange import VALUES, wins_exchange
from agent.chess.geometry import knight_attacks
from agent.chess.moves import (
    ALL,
    NOISY,
    QUIET,
    from_square,
    generate,
    is_noisy,
    promotion_kind,
    to_square,
)
from agent.chess.parameters import (
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
from agent.chess.records import (
    BISHOP,
    FLAG,
    KNIGHT,
    MOVED,
    NO_MOVE,
    NOTHING_MOVED,
    PAWN,
    PROMOTION,
    QUEEN,
    ROOK,
    Frame,
    Position,
    Worker,
    frame_at,
    position_at,
)
from agent.chess.squares import EVERYWHERE, beside, up
from agent.compiled.kernel import kernel
from agent.compiled.native import U64, int64

# Stages of picking; quiescence ends after WINNING.
TABLE_MOVE, START_NOISY, WINNING, START_QUIET, QUIETS, LOSING = range(6)

MAX_HISTORY = 1 << 14
_KILLER_SCORE = 1 << 20  # above every history
_SHARES = 64  # weights of histories, and shares of a bonus, are given in 64ths
_VICTIM_WEIGHT = 64  # a pawn's worth outweighs a third of the history's range
_PLACE_BITS = 9  # hold the place of a move in its list
_LAST_MOVE = (1 << _PLACE_BITS) - 1


@kernel
def is_legal(position: Position, frame: Frame, move: int) -> bool:
    """Tell whether the move, whatever it is, is legal here. Overwrites the frame's move list."""
    start = from_square(move)
    if move == NO_MOVE or not has(position.sides[position.turn], start):
        return False
    for i in range(generate(position, frame, 0, ALL, U64(1) << U64(start), False)):
        if frame.moves[i] == move:
            return True
    return False


@kernel
def start_picking(worker: Worker, ply: int, table_move: int) -> None:
    """Begin with the moves at `ply`; `table_move` (or NO_MOVE) need not be legal."""
    frame = frame_at(worker, ply)
    frame.table_move = NO_MOVE
    if is_legal(position_at(worker, ply), frame, table_move):
        frame.table_move = table_move
    frame.stage = TABLE_MOVE
    frame.count = 0
    frame.next = 0
    frame.losing = 0
    frame.skip_quiets = 0
    frame.tried_count = 0


@kernel
def _piece_index(side: int, kind: int, target: int) -> int:
    return (6 * side + kind) << 6 | target


@kernel
def moved_index(position: Position, move: int) -> int:
    """Return a number for the piece that moves and its target, for the tables of histories."""
    kind = position.board[from_square(move)]
    return _piece_index(position.turn, kind, to_square(move))


@kernel
def _capture_index(position: Position, move: int) -> int:
    return moved_index(position, move) * 7 + position.board[to_square(move)]


@kernel
def capture_history(worker: Worker, position: Position, move: int) -> int:
    """Return how well such a capture did, of that kind of piece by that piece on that square."""
    return worker.captures[_capture_index(position, move)]


@kernel
def _score_noisy(worker: Worker, position: Position, frame: Frame) -> None:
    """Order captures by the most valuable victim, and by what such captures did elsewhere."""
    for i in range(frame.count):
        move = int64(frame.moves[i])
        score = _VICTIM_WEIGHT * VALUES[position.board[to_square(move)]]
        if move & FLAG == PROMOTION:
            score += _VICTIM_WEIGHT * VALUES[promotion_kind(move)]
        score += capture_history(worker, position, move)
        frame.scores[i] = _rank(score, i)


@kernel
def history_index(side: int, move: int) -> int:
    """Return the place of a quiet move in the history table."""
    return side << 12 | from_square(move) << 6 | to_square(move)


@kernel
def moved_before(worker: Worker, ply: int, plies: int) -> int:
    """Return the `moved_index` of the move made `plies` before, NOTHING_MOVED before the root."""
    return frame_at(worker, ply - plies).moved if plies <= ply else NOTHING_MOVED


@kernel
def _before(worker: Worker, ply: int, plies: int) -> int:
    """Return the start of the continuation history of the move made `plies` before."""
    return moved_before(worker, ply, plies) * MOVED


@kernel
def _joined(worker: Worker, anywhere: int, after_one: int, after_two: int) -> int:
    """Join the histories of a quiet move, given by their places."""
    total = (
        history_anywhere() * worker.history[anywhere]
        + continuation_one() * worker.continuations[after_one]
        + continuation_two() * worker.continuations[after_two]
    )
    return total // _SHARES


@kernel
def quiet_history(worker: Worker, ply: int, move: int) -> int:
    """Return how well a quiet move did: anywhere, and after the last two moves."""
    position = position_at(worker, ply)
    after_one, after_two = _before(worker, ply, 1), _before(worker, ply, 2)
    moved = moved_index(position, move)
    return _joined(worker, history_index(position.turn, move), after_one + moved, after_two + moved)


@kernel
def is_killer(frame: Frame, move: int) -> bool:
    """Tell whether a quiet move cut off a sibling node lately."""
    return move == frame.killers[0] or move == frame.killers[1]


@kernel
def _score_quiets(worker: Worker, ply: int, first: int) -> None:
    frame = frame_at(worker, ply)
    position = position_at(worker, ply)
    side = position.turn
    enemy = 1 - side
    after_one, after_two = _before(worker, ply, 1), _before(worker, ply, 2)
    killer, second_killer = frame.killers[0], frame.killers[1]
    feared = up(beside(position.kinds[PAWN] & position.sides[enemy]), enemy)
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
            kind = position.board[start]
            moved = _piece_index(side, kind, target)
            score = _joined(worker, history_index(side, move), after_one + moved, after_two + moved)
            if kind != PAWN:
                score += pawn_threat() * (has(feared, start) - has(feared, target))
            if (
                (kind == KNIGHT and has(by_knight, target))
                or (kind in (BISHOP, QUEEN) and has(by_bishop, target))
                or (kind in (ROOK, QUEEN) and has(by_rook, target))
            ):
                score += check_order()
        frame.scores[i] = _rank(score, i)


@kernel
def _rank(score: int, place: int) -> int:
    """Join a move's score and its place in the list to one number: the highest is the best move.

    Of equal scores the first in the list is best. To find one number a vector at a time is much
    faster than to find its place.
    """
    return score << _PLACE_BITS | (_LAST_MOVE - place)


@kernel
def _pick_best(frame: Frame) -> int:
    """Take the move with the highest rank out of those not yet picked."""
    first = frame.next
    highest = frame.scores[first]
    for i in range(first + 1, frame.count):
        highest = max(highest, frame.scores[i])
    best = _LAST_MOVE - (highest & _LAST_MOVE)
    move = int64(frame.moves[best])
    frame.moves[best] = frame.moves[first]
    frame.moves[first] = move
    frame.scores[best] = _rank(frame.scores[first] >> _PLACE_BITS, best)
    frame.next += 1
    return move


@kernel
def _start_losing(frame: Frame) -> None:
    """Go on to the captures set aside."""
    frame.next = 0
    frame.stage = LOSING


@kernel
def next_move(worker: Worker, ply: int, only_noisy: bool) -> int:
    """Return the next legal move at `ply`, NO_MOVE when there is none left.

    `only_noisy` ends after the captures and promotions; losing ones are then left out, too, by a
    selective search.
    """
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    if frame.stage == TABLE_MOVE:
        frame.stage = START_NOISY
        if frame.table_move and (not only_noisy or is_noisy(position, frame.table_move)):
            return frame.table_move
    if frame.stage == START_NOISY:
        frame.count = generate(position, frame, 0, NOISY, EVERYWHERE, False)
        _score_noisy(worker, position, frame)
        frame.stage = WINNING
    if frame.stage == WINNING:
        while frame.next < frame.count:
            move = _pick_best(frame)
            if move == frame.table_move:
                continue
            if worker.selective and not wins_exchange(position, move, 0):
                frame.moves[frame.losing] = move
                frame.losing += 1
                continue
            return move
        if only_noisy:
            return NO_MOVE
        frame.stage = START_QUIET
    if frame.skip_quiets and frame.stage in (START_QUIET, QUIETS):
        _start_losing(frame)
    if frame.stage == START_QUIET:
        first = frame.count
        frame.count = generate(position, frame, first, QUIET, EVERYWHERE, False)
        _score_quiets(worker, ply, first)
        frame.stage = QUIETS
    if frame.stage == QUIETS:
        while frame.next < frame.count:
            move = _pick_best(frame)
            if move != frame.table_move:
                return move
        _start_losing(frame)
    if frame.next < frame.losing:
        move = int64(frame.moves[frame.next])
        frame.next += 1
        return move
    return NO_MOVE


@kernel
def _moved_towards(value: int, bonus: int) -> int:
    """Move a history value towards +- its maximum, the less the nearer it is ("gravity")."""
    return value + bonus - value * abs(bonus) // MAX_HISTORY


@kernel
def _adjust_quiet(worker: Worker, ply: int, move: int, bonus: int) -> None:
    position = position_at(worker, ply)
    index = history_index(position.turn, move)
    worker.history[index] = _moved_towards(worker.history[index], bonus)
    moved = moved_index(position, move)
    for plies in range(1, 3):
        index = _before(worker, ply, plies) + moved
        worker.continuations[index] = _moved_towards(worker.continuations[index], bonus)


@kernel
def _adjust_capture(worker: Worker, position: Position, move: int, bonus: int) -> None:
    index = _capture_index(position, move)
    worker.captures[index] = _moved_towards(worker.captures[index], bonus)


@kernel
def _bonus(depth: int) -> int:
    """Return by how much the history of a move rises that cut off a search of that depth."""
    return min(history_bonus() * depth * (depth + 2), history_most_bonus())


@kernel
def note_tried(frame: Frame, move: int) -> None:
    """Note that a move was searched, or pruned."""
    frame.tried[frame.tried_count] = move
    frame.tried_count += 1


@kernel
def reward(worker: Worker, ply: int, move: int, depth: int) -> None:
    """Note that `move` cut off: its history rises, and a quiet move becomes a killer.

    The moves noted as tried before it lose history, quiet ones only if it is quiet itself.
    """
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    bonus = _bonus(depth)
    quiet = not is_noisy(position, move)
    if quiet:
        if frame.killers[0] != move:
            frame.killers[1] = frame.killers[0]
            frame.killers[0] = move
        _adjust_quiet(worker, ply, move, bonus)
    else:
        _adjust_capture(worker, position, move, bonus * noisy_bonus() // _SHARES)
    malus = bonus * history_malus() // _SHARES
    for i in range(frame.tried_count):
        tried = int64(frame.tried[i])
        if tried == move:
            continue
        if is_noisy(position, tried):
            _adjust_capture(worker, position, tried, -malus)
        elif quiet:
            _adjust_quiet(worker, ply, tried, -malus)


@kernel
def _last_quiet(worker: Worker, ply: int) -> int:
    """Return the quiet move that led to `ply`, NO_MOVE if it was another or none."""
    move = position_at(worker, ply).move
    if move == NO_MOVE or is_noisy(position_at(worker, ply - 1), move):
        return NO_MOVE
    return move


@kernel
def reward_last(worker: Worker, ply: int, depth: int) -> None:
    """Note that no move at `ply` did any good: the quiet move that led here rises in history."""
    move = _last_quiet(worker, ply)
    if move != NO_MOVE:
        _adjust_quiet(worker, ply - 1, move, _bonus(depth) * history_reply() // _SHARES)


@kernel
def reward_gain(worker: Worker, ply: int, gain: int) -> None:
    """Note by how much the last move bettered the evaluation for its side, if it was quiet."""
    move = _last_quiet(worker, ply)
    if move != NO_MOVE:
        most = gain_most_bonus()
        bonus = min(max(gain_bonus() * gain, -most), most)
        index = history_index(position_at(worker, ply - 1).turn, move)
        worker.history[index] = _moved_towards(worker.history[index], bonus)
