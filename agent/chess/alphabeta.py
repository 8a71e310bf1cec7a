"""The compiled alpha-beta search: principal-variation search with a transposition table.

Contract, for `search` and `quiescence` alike (fail-soft): with v the true value of the position
to this depth, a result r <= alpha means v <= r, r >= beta means v >= r, and anything between is v.
Scores are centipawns for the side to move; a mate is MATE minus its distance in plies from the
root. After `worker.stop` is set every function returns at once, and what it returns means nothing.

With `worker.selective` off nothing is pruned, reduced, extended or taken from the table: the
value is that of plain minimax with the same quiescence, which the tests compare.
"""

import math

import numba
import numpy as np

from agent.chess.correction import corrected, learn
from agent.chess.ending_tables import NO_SCORE, is_small, table_score
from agent.chess.exchange import wins_exchange
from agent.chess.moves import ALL, generate, is_noisy
from agent.chess.native import U64, call_evaluator
from agent.chess.ordering import moved_index, next_move, quiet_history, reward, start_picking
from agent.chess.position import is_insufficient, is_repetition, make, make_null
from agent.chess.records import (
    INFINITE,
    KING,
    MATE,
    MATE_BOUND,
    MAX_EVALUATION,
    MAX_PLY,
    NO_EVALUATION,
    NO_MOVE,
    NOTHING_MOVED,
    PAWN,
    Position,
    Worker,
    frame_at,
    position_at,
)
from agent.chess.table import (
    EXACT,
    LOWER,
    UPPER,
    data_bound,
    data_depth,
    data_evaluation,
    data_move,
    data_score,
    fetch_early,
    probe,
    save,
)
from agent.kernel import entry, kernel

_int64 = numba.int64
_EVERYWHERE = U64(0xFFFFFFFFFFFFFFFF)
_DRAW = 0
_FIFTY_MOVES = 100  # plies

# Depths are plies, margins centipawns.
_REVERSE_FUTILITY_DEPTH = 8
_REVERSE_FUTILITY_MARGIN = 75  # per ply
_NULL_MOVE_DEPTH = 3
_NULL_MOVE_REDUCTION = 3
_NULL_MOVE_MARGIN = 200  # one more ply of reduction for each such lead
_INTERNAL_REDUCTION_DEPTH = 4
_LATE_PRUNING_DEPTH = 8
_FUTILITY_DEPTH = 8
_FUTILITY_BASE, _FUTILITY_MARGIN = 90, 70  # and per ply
_EXCHANGE_DEPTH = 8
_QUIET_EXCHANGE_MARGIN = 50  # per ply of reduced depth
_NOISY_EXCHANGE_MARGIN = 90  # per ply
_REDUCTION_DEPTH = 3
_REDUCTION_HISTORY = 8000  # of history for one ply less or more
_LATE_MOVE = 3  # moves searched before the first that is late

# Plies by which a late move is reduced: by depth, then by the number of the move.
_REDUCTIONS = np.array(
    [
        [
            int(0.6 + math.log(depth) * math.log(number) / 2.2) if depth and number else 0
            for number in range(64)
        ]
        for depth in range(64)
    ],
    dtype=np.int8,
)


@kernel
def evaluate(worker: Worker, ply: int) -> int:
    """Call the worker's evaluation; keep what it says apart from mates."""
    value = call_evaluator(worker.evaluate, worker, ply)
    return min(max(value, -MAX_EVALUATION), MAX_EVALUATION)


@kernel
def _visit(worker: Worker, ply: int) -> None:
    """Count a node and see whether it was the last."""
    worker.nodes += 1
    if worker.nodes >= worker.node_limit:
        worker.stop = 1
    if ply > worker.seldepth:
        worker.seldepth = ply
    frame_at(worker, ply).pv_length = 0


@kernel
def _is_draw(worker: Worker, ply: int) -> bool:
    """Tell whether the rules end the game here without a mate or stalemate."""
    position = position_at(worker, ply)
    if is_insufficient(position) or is_repetition(worker, ply):
        return True
    if position.halfmoves < _FIFTY_MOVES:
        return False
    if not position.checkers:
        return True
    return generate(position, frame_at(worker, ply), 0, ALL, _EVERYWHERE, True) > 0


@kernel
def _extend_pv(worker: Worker, ply: int, move: int) -> None:
    """Make `move`, followed by the child's principal variation, the one at `ply`."""
    frame, child = frame_at(worker, ply), frame_at(worker, ply + 1)
    frame.pv[0] = move
    length = min(child.pv_length, MAX_PLY - 1)
    for i in range(length):
        frame.pv[i + 1] = child.pv[i]
    frame.pv_length = length + 1


@kernel
def _forget_killers(worker: Worker, ply: int) -> None:
    frame = frame_at(worker, ply)
    frame.killers[0] = NO_MOVE
    frame.killers[1] = NO_MOVE


@kernel
def _has_pieces(position: Position) -> bool:
    """Tell whether the side to move has more than king and pawns: zugzwang is then unlikely."""
    own = position.sides[position.turn]
    return own & ~(position.kinds[PAWN] | position.kinds[KING]) != 0


@entry(_int64(Worker, _int64, _int64, _int64))
def quiescence(worker: Worker, ply: int, alpha: int, beta: int) -> int:
    """Search captures and queen promotions until the position is quiet; in check, every move."""
    _visit(worker, ply)
    if worker.stop:
        return 0
    if _is_draw(worker, ply):
        return _DRAW
    position = position_at(worker, ply)
    if worker.tables and is_small(position):
        score = table_score(worker, ply, position)
        if score != NO_SCORE:
            return score
    if ply >= MAX_PLY:
        return evaluate(worker, ply)
    selective = worker.selective != 0
    in_pv = beta - alpha > 1
    in_check = position.checkers != 0
    key = position.key

    # 1. Transposition table.
    data = probe(worker, key) if selective else U64(0)
    if data and not in_pv:
        score = data_score(data, ply)
        bound = data_bound(data)
        if bound == EXACT or bound == (LOWER if score >= beta else UPPER):
            return score

    # 2. Standing pat: whoever is not in check may leave it at that.
    best = ply - MATE
    raw = NO_EVALUATION
    if not in_check:
        raw = data_evaluation(data) if data else NO_EVALUATION
        if raw == NO_EVALUATION:
            raw = evaluate(worker, ply)
        best = corrected(worker, ply, raw) if selective else raw
        if best >= beta:
            return best
        alpha = max(alpha, best)

    # 3. Moves; in check all of them, else captures and promotions to a queen.
    start_picking(worker, ply, data_move(data))
    best_move, bound = NO_MOVE, UPPER
    while True:
        move = next_move(worker, ply, not in_check)
        if move == NO_MOVE:
            break
        make(worker, ply, move)
        score = -quiescence(worker, ply + 1, -beta, -alpha)
        if worker.stop:
            return 0
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                best_move = move
                _extend_pv(worker, ply, move)
                if score >= beta:
                    bound = LOWER
                    break
    if selective:
        save(worker, key, ply, 0, best_move, best, raw, bound)
    return best


@kernel
def _reduction(worker: Worker, ply: int, move: int, depth: int, number: int) -> int:
    """Return by how much to reduce a late quiet move, the less the better its history."""
    reduction = _REDUCTIONS[min(depth, 63), min(number, 63)]
    return reduction - quiet_history(worker, ply, move) // _REDUCTION_HISTORY


@entry(_int64(Worker, _int64, _int64, _int64, _int64))
def search(worker: Worker, ply: int, depth: int, alpha: int, beta: int) -> int:
    """Search to `depth` plies; see the module's contract."""
    # 1. Horizon.
    if depth <= 0:
        return quiescence(worker, ply, alpha, beta)
    _visit(worker, ply)
    if worker.stop:
        return 0

    # 2. Draws, endgame tables, and the end of the stack.
    if _is_draw(worker, ply):
        return _DRAW
    position = position_at(worker, ply)
    if worker.tables and is_small(position):
        score = table_score(worker, ply, position)
        if score != NO_SCORE:
            return score
    if ply >= MAX_PLY:
        return evaluate(worker, ply)

    # 3. Mate distance: no line from here beats a mate that is already certain nearer the root.
    alpha = max(alpha, ply - MATE)
    beta = min(beta, MATE - ply - 1)
    if alpha >= beta:
        return alpha

    in_check = position.checkers != 0
    in_pv = beta - alpha > 1
    selective = worker.selective != 0
    key = position.key

    # 4. Transposition table.
    data = probe(worker, key) if selective else U64(0)
    table_move = data_move(data)
    if data and not in_pv and data_depth(data) >= depth:
        score = data_score(data, ply)
        bound = data_bound(data)
        if (
            bound == EXACT
            or (bound == LOWER and score >= beta)
            or (bound == UPPER and score <= alpha)
        ):
            return score

    # 5. Static evaluation, and whether it has improved since our last move.
    frame = frame_at(worker, ply)
    raw = NO_EVALUATION
    evaluation = NO_EVALUATION
    if not in_check and selective:
        raw = data_evaluation(data) if data else NO_EVALUATION
        if raw == NO_EVALUATION:
            raw = evaluate(worker, ply)
        evaluation = corrected(worker, ply, raw)
    frame.evaluation = evaluation
    improving = not in_check and ply >= 2 and evaluation > frame_at(worker, ply - 2).evaluation

    # 6. Reverse futility: so far above beta that no quick reply brings it below.
    if (
        selective
        and not in_pv
        and not in_check
        and depth <= _REVERSE_FUTILITY_DEPTH
        and evaluation - _REVERSE_FUTILITY_MARGIN * (depth - improving) >= beta
        and beta > -MATE_BOUND
    ):
        return evaluation

    # 7. Null move: if even passing holds beta, some move will.
    if (
        selective
        and not in_pv
        and not in_check
        and depth >= _NULL_MOVE_DEPTH
        and evaluation >= beta
        and position.move != NO_MOVE
        and _has_pieces(position)
    ):
        frame.moved = NOTHING_MOVED
        make_null(worker, ply)
        lead = min((evaluation - beta) // _NULL_MOVE_MARGIN, 3)
        less = depth - _NULL_MOVE_REDUCTION - depth // 3 - lead
        score = -search(worker, ply + 1, less, -beta, 1 - beta)
        if worker.stop:
            return 0
        if score >= beta:
            return beta if score >= MATE_BOUND else score

    # 8. Internal reduction: without a table move the order is poor, and depth is better spent
    # when the position comes back with one.
    if selective and depth >= _INTERNAL_REDUCTION_DEPTH and table_move == NO_MOVE:
        depth -= 1

    # 9. Moves.
    start_picking(worker, ply, table_move)
    _forget_killers(worker, ply + 1)
    best, best_move, bound, number = -INFINITE, NO_MOVE, UPPER, 0
    while True:
        move = next_move(worker, ply, False)
        if move == NO_MOVE:
            break
        number += 1
        quiet = not is_noisy(position, move)

        # 10. Pruning of moves: too late in the order, too far below alpha, or losing material.
        if selective and ply > 0 and best > -MATE_BOUND and _has_pieces(position):
            reduced = max(depth - _REDUCTIONS[min(depth, 63), min(number, 63)], 0)
            if quiet:
                if (
                    depth <= _LATE_PRUNING_DEPTH
                    and not in_pv
                    and number > (3 + depth * depth) // (1 if improving else 2)
                ):
                    frame.skip_quiets = 1
                    continue
                if (
                    reduced <= _FUTILITY_DEPTH
                    and not in_check
                    and evaluation + _FUTILITY_BASE + _FUTILITY_MARGIN * reduced <= alpha
                ):
                    frame.skip_quiets = 1
                    continue
                if reduced <= _EXCHANGE_DEPTH and not wins_exchange(
                    position, move, -_QUIET_EXCHANGE_MARGIN * reduced
                ):
                    continue
            elif depth <= _EXCHANGE_DEPTH and not wins_exchange(
                position, move, -_NOISY_EXCHANGE_MARGIN * depth
            ):
                continue

        frame.moved = moved_index(position, move)
        make(worker, ply, move)
        child = position_at(worker, ply + 1)
        fetch_early(worker, child.key)

        # 11. Check extension.
        gives_check = child.checkers != 0
        next_depth = depth if selective and gives_check else depth - 1

        # 12. Late move reduction: moves ordered late are searched shallower, and again if good.
        score = alpha + 1
        searched = False
        if (
            selective
            and quiet
            and number > _LATE_MOVE
            and depth >= _REDUCTION_DEPTH
            and not in_check
            and not gives_check
        ):
            reduction = _reduction(worker, ply, move, depth, number)
            if in_pv:
                reduction -= 1
            if reduction > 0:
                less = max(next_depth - reduction, 1)
                score = -search(worker, ply + 1, less, -alpha - 1, -alpha)
                searched = less == next_depth

        # 13. Principal variation: after the first move a null window shows that others are worse.
        if score > alpha and number > 1 and not searched:
            score = -search(worker, ply + 1, next_depth, -alpha - 1, -alpha)
        if number == 1 or (in_pv and score > alpha):
            score = -search(worker, ply + 1, next_depth, -beta, -alpha)
        if worker.stop:
            return 0

        if score > best:
            best = score
            if score > alpha:
                alpha = score
                best_move = move
                bound = EXACT
                if in_pv:
                    _extend_pv(worker, ply, move)
                if score >= beta:
                    bound = LOWER
                    if selective:
                        reward(worker, ply, move, depth)
                    break

    # 14. Mate and stalemate.
    if number == 0:
        return ply - MATE if in_check else _DRAW

    # 15. Remember, and learn from what the evaluation missed.
    if selective:
        save(worker, key, ply, depth, best_move, best, raw, bound)
        if (
            not in_check
            and (best_move == NO_MOVE or not is_noisy(position, best_move))
            and not (bound == LOWER and best <= evaluation)
            and not (bound == UPPER and best >= evaluation)
        ):
            learn(worker, ply, depth, best - evaluation)
    return best


@entry(_int64(Worker, _int64, _int64, _int64))
def search_root(worker: Worker, depth: int, alpha: int, beta: int) -> int:
    """Search the root moves from `root_first` on; the best goes to that place in the list.

    worker.best_move, best_score and frame 0's principal variation hold the best so far, also when
    the search is stopped; best_move is NO_MOVE, and best_score the last search's, as long as no
    move has been searched.
    """
    position, frame = position_at(worker, 0), frame_at(worker, 0)
    worker.best_move = NO_MOVE
    best, best_index, bound = -INFINITE, worker.root_first, UPPER
    ply, child_ply = 0, 1
    frame.pv_length = 0
    _forget_killers(worker, child_ply)
    in_check = position.checkers != 0
    frame.evaluation = NO_EVALUATION
    if worker.selective and not in_check:
        frame.evaluation = corrected(worker, ply, evaluate(worker, ply))
    for index in range(worker.root_first, worker.root_count):
        move = numba.int64(worker.root_moves[index])
        number = index - worker.root_first + 1
        worker.root_current = index
        before = worker.nodes
        quiet = not is_noisy(position, move)
        frame.moved = moved_index(position, move)
        make(worker, ply, move)
        gives_check = position_at(worker, child_ply).checkers != 0
        next_depth = depth if worker.selective and gives_check and depth > 1 else depth - 1
        score = alpha + 1
        if number > 1:
            less = next_depth
            if (
                worker.selective
                and quiet
                and number > _LATE_MOVE
                and depth >= _REDUCTION_DEPTH
                and not in_check
                and not gives_check
            ):
                reduction = _reduction(worker, ply, move, depth, number) - 1
                less = max(next_depth - max(reduction, 0), 1)
            score = -search(worker, child_ply, less, -alpha - 1, -alpha)
            if score > alpha and less < next_depth:
                score = -search(worker, child_ply, next_depth, -alpha - 1, -alpha)
        if number == 1 or score > alpha:
            score = -search(worker, child_ply, next_depth, -beta, -alpha)
        if worker.stop:
            break
        worker.root_nodes[index] += worker.nodes - before
        if score > best:
            best = score
            if score > alpha or number == 1:
                best_index = index
                worker.best_move = move
                worker.best_score = score
                _extend_pv(worker, ply, move)
                if score > alpha:
                    alpha = score
                    bound = EXACT
                if score >= beta:
                    bound = LOWER
                    break

    best_nodes = worker.root_nodes[best_index]
    for index in range(best_index, worker.root_first, -1):
        worker.root_moves[index] = worker.root_moves[index - 1]
        worker.root_nodes[index] = worker.root_nodes[index - 1]
    worker.root_moves[worker.root_first] = worker.best_move or worker.root_moves[worker.root_first]
    worker.root_nodes[worker.root_first] = best_nodes
    if worker.selective and not worker.stop and worker.root_first == 0:
        best_move = worker.best_move
        save(worker, position.key, ply, depth, best_move, best, NO_EVALUATION, bound)
    return best
