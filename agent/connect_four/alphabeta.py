"""The compiled search: principal-variation alpha-beta with a transposition table.

Contract (fail-soft): with v the minimax value to this depth, a result r <= alpha means v <= r,
r >= beta means v >= r, and anything between is v. Scores are for the side to move: a win is MATE
minus its distance in plies from the root, all else an evaluation. After `worker.stop` is set every
function returns at once, and what it returns means nothing.
"""

from agent.connect_four.records import NO_MOVE, Frame, Position, Worker, frame_at, position_at
from agent.connect_four.rules import (
    free_squares,
    lowest_bit,
    make,
    move_to,
    opponent_discs,
    winning_squares,
)
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, Bits, call_evaluator, count, int64
from agent.kernel.scores import INFINITE, MATE, MAX_EVALUATION, NO_EVALUATION
from agent.kernel.transposition_table import (
    EXACT,
    LOWER,
    UPPER,
    causes_cutoff,
    data_depth,
    data_move,
    data_score,
    probe,
    save,
)

DRAW = 0
_FIRST = 1 << 20  # outweighs every other rating
_THREAT = 100  # as much as all columns between the middle and the edge


@kernel
def _key(worker: Worker, position: Position) -> Bits:
    """Return a number that no other position of this board has, with well mixed upper bits."""
    # Each column of the sum has one bit above its discs, and those of the mover below it.
    key = (position.own + position.taken + worker.bottom) * U64(0x9E3779B97F4A7C15)
    return (key ^ key >> U64(32) ^ worker.board) * U64(0xD6E8FEB86659FD93)


@kernel
def _rate_moves(worker: Worker, ply: int, depth: int, free: Bits, first: int) -> int:
    """Write the moves to the free squares to the frame, with ratings; return their number.

    first: the move to be tried first. Then those that threaten most, where that is worth its time,
    and those nearest the middle.
    """
    frame, own = frame_at(worker, ply), position_at(worker, ply).own
    n = 0
    while free:
        square = lowest_bit(free)
        free ^= square
        move = move_to(worker, square)
        frame.moves[n], frame.squares[n] = move, square
        frame.ratings[n] = -abs(2 * (move - 1) - worker.centre)
        if depth > 1:
            frame.ratings[n] += _THREAT * count(winning_squares(worker, own | square))
        if move == first:
            frame.ratings[n] = _FIRST
        n += 1
    return n


@kernel
def _pick_best(frame: Frame, number: int, n: int) -> None:
    """Bring the best rated of the `n` moves from `number` on to this place."""
    best = number
    for i in range(number + 1, n):
        if frame.ratings[i] > frame.ratings[best]:
            best = i
    move, square, rating = frame.moves[best], frame.squares[best], frame.ratings[best]
    frame.moves[best], frame.moves[number] = frame.moves[number], move
    frame.squares[best], frame.squares[number] = frame.squares[number], square
    frame.ratings[best], frame.ratings[number] = frame.ratings[number], rating


@kernel
def _update_pv(worker: Worker, ply: int, move: int, score: int) -> None:
    """Make `move`, followed by the child's principal variation, the one at `ply`."""
    frame, child = frame_at(worker, ply), frame_at(worker, ply + 1)
    frame.pv[0] = move
    for i in range(child.pv_length):
        frame.pv[i + 1] = child.pv[i]
    frame.pv_length = child.pv_length + 1
    if ply == 0:
        worker.best_score = score


@entry_point(int64(Worker, int64, int64, int64, int64))
def search(worker: Worker, ply: int, depth: int, alpha: int, beta: int) -> int:
    """Search a position in which nobody has won to `depth` plies; see the module's contract."""
    # 1. Limits.
    worker.nodes += 1
    if worker.nodes >= worker.node_limit:
        worker.stop = 1
    if worker.stop:
        return 0
    worker.seldepth = max(worker.seldepth, ply)
    frame, position = frame_at(worker, ply), position_at(worker, ply)
    frame.pv_length = 0

    # 2. A full board, and the horizon.
    free = free_squares(worker, position)
    if not free:
        return DRAW
    if depth <= 0:
        value = call_evaluator(worker.evaluate, worker, ply)
        return min(max(value, -MAX_EVALUATION), MAX_EVALUATION)

    # 3. Win at once, or keep the other from it: whatever else is done loses as soon.
    if ply == 0:
        free &= worker.root_squares
    wins = free & winning_squares(worker, position.own)
    if wins:
        frame_at(worker, ply + 1).pv_length = 0
        _update_pv(worker, ply, move_to(worker, wins), MATE - ply - 1)
        return MATE - ply - 1
    threats = free & winning_squares(worker, opponent_discs(position))
    if threats and depth > 1:
        free = lowest_bit(threats)

    # 4. Transposition table; the root may not have all its moves.
    key, first = U64(0), worker.root_move
    if ply > 0:
        key = _key(worker, position)
        data = probe(worker, key)
        first = data_move(data)
        if (
            data
            and data_depth(data) >= depth
            and beta - alpha == 1
            and causes_cutoff(data, ply, beta)
        ):
            return data_score(data, ply)

    # 5. Every move, the later ones against a null window first.
    best, best_move, bound = -INFINITE, NO_MOVE, UPPER
    n = _rate_moves(worker, ply, depth, free, first)
    for number in range(n):
        _pick_best(frame, number, n)
        move = frame.moves[number]
        make(worker, ply, move, frame.squares[number])
        if ply == 0:
            worker.root_current = move
        score = best
        if number > 0:
            score = -search(worker, ply + 1, depth - 1, -alpha - 1, -alpha)
        if number == 0 or alpha < score < beta:
            score = -search(worker, ply + 1, depth - 1, -beta, -alpha)
        if worker.stop:
            return 0
        if score > best:
            best = score
            if score > alpha:
                alpha, best_move, bound = score, move, EXACT
                _update_pv(worker, ply, move, score)
                if score >= beta:
                    bound = LOWER
                    break

    # 6. Remember.
    if ply > 0:
        save(worker, key, ply, depth, best_move, best, NO_EVALUATION, bound, False)
    return best
