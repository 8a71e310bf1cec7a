"""Move ordering: the table's move, winning captures, killers, quiet moves by history, the rest.

Moves are generated and picked in stages, so that a cut-off spares the work of later stages.
The killer heuristic keeps, for each ply, the last quiet moves that cut off a sibling node; the
history heuristic counts how well a quiet move did anywhere in the tree (Schaeffer, 1989).
"""

from agent.chess.attacks import has
from agent.chess.exchange import VALUES, wins_exchange
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
from agent.chess.native import U64
from agent.chess.records import (
    FLAG,
    NO_MOVE,
    PROMOTION,
    Frame,
    Position,
    Worker,
    frame_at,
    position_at,
)
from agent.kernel import kernel

# Stages of picking; quiescence ends after WINNING.
TABLE_MOVE, START_NOISY, WINNING, START_QUIET, QUIETS, LOSING = range(6)

_EVERYWHERE = U64(0xFFFFFFFFFFFFFFFF)
_KILLER_SCORE = 1 << 20  # above every history
_MAX_HISTORY = 1 << 14


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


@kernel
def _score_noisy(position: Position, frame: Frame) -> None:
    """Order captures by the most valuable victim, then the least valuable attacker."""
    for i in range(frame.count):
        move = frame.moves[i]
        score = 16 * VALUES[position.board[to_square(move)]]
        if move & FLAG == PROMOTION:
            score += 16 * VALUES[promotion_kind(move)]
        frame.scores[i] = score - position.board[from_square(move)]


@kernel
def history_index(side: int, move: int) -> int:
    """Return the place of a quiet move in the history table."""
    return side << 12 | from_square(move) << 6 | to_square(move)


@kernel
def _score_quiets(worker: Worker, position: Position, frame: Frame, first: int) -> None:
    for i in range(first, frame.count):
        move = frame.moves[i]
        if move == frame.killers[0]:
            frame.scores[i] = _KILLER_SCORE + 1
        elif move == frame.killers[1]:
            frame.scores[i] = _KILLER_SCORE
        else:
            frame.scores[i] = worker.history[history_index(position.turn, move)]


@kernel
def _pick_best(frame: Frame) -> int:
    """Take the move with the highest score out of those not yet picked."""
    best = frame.next
    for i in range(frame.next + 1, frame.count):
        if frame.scores[i] > frame.scores[best]:
            best = i
    move = frame.moves[best]
    frame.moves[best] = frame.moves[frame.next]
    frame.scores[best] = frame.scores[frame.next]
    frame.next += 1
    return move


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
        frame.count = generate(position, frame, 0, NOISY, _EVERYWHERE, False)
        _score_noisy(position, frame)
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
        frame.next = 0
        frame.stage = LOSING
    if frame.stage == START_QUIET:
        first = frame.count
        frame.count = generate(position, frame, first, QUIET, _EVERYWHERE, False)
        _score_quiets(worker, position, frame, first)
        frame.stage = QUIETS
    if frame.stage == QUIETS:
        while frame.next < frame.count:
            move = _pick_best(frame)
            if move != frame.table_move:
                return move
        frame.next = 0
        frame.stage = LOSING
    if frame.next < frame.losing:
        move = frame.moves[frame.next]
        frame.next += 1
        return move
    return NO_MOVE


@kernel
def _adjust(worker: Worker, index: int, bonus: int) -> None:
    """Move a history entry towards +- its maximum, the less the nearer it is ("gravity")."""
    worker.history[index] += bonus - worker.history[index] * abs(bonus) // _MAX_HISTORY


@kernel
def reward(worker: Worker, ply: int, move: int, depth: int) -> None:
    """Note that the quiet `move` cut off: it becomes a killer, its history rises.

    The quiet moves tried before it, which did not, lose history.
    """
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    if frame.killers[0] != move:
        frame.killers[1] = frame.killers[0]
        frame.killers[0] = move
    bonus = min(16 * depth * depth + 32 * depth, 1600)
    _adjust(worker, history_index(position.turn, move), bonus)
    if frame.stage == QUIETS:
        for i in range(frame.next - 1):
            tried = frame.moves[i]
            if tried != move and not is_noisy(position, tried):
                _adjust(worker, history_index(position.turn, tried), -bonus)
