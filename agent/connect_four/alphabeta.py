"""Principal variation search with a transposition table.

The search is fail-soft: a result r <= alpha is an upper bound for the minimax value, r >= beta is a
lower bound, and any other result is exact. Scores are for the side to move. A win is MATE minus its
distance from the root in plies. Results must be ignored after `worker.stop` is set.
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
_FIRST = 1 << 20  # rating of `first`, higher than all others
_THREAT = 100  # per threat; exceeds the rating difference of any two columns


@kernel
def _key(worker: Worker, position: Position) -> Bits:
    # In each column, the sum has a marker bit above the discs and the mover's discs below it.
    key = (position.own + position.taken + worker.bottom) * U64(0x9E3779B97F4A7C15)
    return (key ^ key >> U64(32) ^ worker.board) * U64(0xD6E8FEB86659FD93)


@kernel
def _rate_moves(worker: Worker, ply: int, depth: int, free: Bits, first: int) -> int:
    """Write the moves and their ratings to the frame, and return the number of moves.

    The move `first` has the highest rating, followed by moves with many threats (if `depth` > 1),
    then by central columns.
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
def _pick_best(frame: Frame, index: int, n: int) -> None:
    best = index
    for i in range(index + 1, n):
        if frame.ratings[i] > frame.ratings[best]:
            best = i
    move, square, rating = frame.moves[best], frame.squares[best], frame.ratings[best]
    frame.moves[best], frame.moves[index] = frame.moves[index], move
    frame.squares[best], frame.squares[index] = frame.squares[index], square
    frame.ratings[best], frame.ratings[index] = frame.ratings[index], rating


@kernel
def _update_pv(worker: Worker, ply: int, move: int, score: int) -> None:
    frame, child = frame_at(worker, ply), frame_at(worker, ply + 1)
    frame.pv[0] = move
    for i in range(child.pv_length):
        frame.pv[i + 1] = child.pv[i]
    frame.pv_length = child.pv_length + 1
    if ply == 0:
        worker.best_score = score


@entry_point(int64(Worker, int64, int64, int64, int64))
def search(worker: Worker, ply: int, depth: int, alpha: int, beta: int) -> int:
    """Search to `depth` plies, and return the fail-soft score. The position must have no winner."""
    # 1. Limits.
    worker.nodes += 1
    if worker.nodes >= worker.node_limit:
        worker.stop = 1
    if worker.stop:
        return 0
    worker.seldepth = max(worker.seldepth, ply)
    frame, position = frame_at(worker, ply), position_at(worker, ply)
    frame.pv_length = 0

    # 2. Full board and horizon.
    free = free_squares(worker, position)
    if not free:
        return DRAW
    if depth <= 0:
        value = call_evaluator(worker.evaluate, worker, ply)
        return min(max(value, -MAX_EVALUATION), MAX_EVALUATION)

    # 3. Win at once, or block an immediate threat. Without a win, every other move loses at once.
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

    # 4. Transposition table. Not at the root, where the moves may be restricted.
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

    # 5. Search all moves, all but the first with a null window.
    best, best_move, bound = -INFINITE, NO_MOVE, UPPER
    n = _rate_moves(worker, ply, depth, free, first)
    for index in range(n):
        _pick_best(frame, index, n)
        move = frame.moves[index]
        make(worker, ply, move, frame.squares[index])
        if ply == 0:
            worker.root_current = move
        score = best
        if index > 0:
            score = -search(worker, ply + 1, depth - 1, -alpha - 1, -alpha)
        if index == 0 or alpha < score < beta:
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

    # 6. Store the result in the transposition table.
    if ply > 0:
        save(worker, key, ply, depth, best_move, best, NO_EVALUATION, bound, False)
    return best
