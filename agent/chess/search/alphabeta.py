"""The compiled alpha-beta search: a principal variation search with a transposition table.

`search` and `quiescence` are fail-soft. Scores are in centipawns for the side to move. A mate
scores MATE minus its distance from the root in plies. After `worker.stop` is set, every function
returns at once with a meaningless score.

If `worker.selective` is 0, there is no pruning, reduction, extension or table lookup. The result is
then that of plain minimax with the same quiescence search.
"""

from numba import boolean

from agent.chess.board.movegen import gives_check, has_capture, is_noisy, to_square
from agent.chess.board.position import make_move, make_null_move
from agent.chess.board.records import (
    BISHOP,
    EMPTY,
    KING,
    KNIGHT,
    NO_MOVE,
    NO_PIECE_TARGET,
    PAWN,
    QUEEN,
    ROOK,
    Position,
    Worker,
    frame_at,
    position_at,
)
from agent.chess.board.rules import COUNTS_CHECKS, FORCED_CAPTURES, HORDE, NULL_MOVES
from agent.chess.board.static_exchange import PIECE_VALUES, see_ge
from agent.chess.board.upcoming_repetition import has_upcoming_repetition
from agent.chess.endgames.dtm_tables import NO_SCORE
from agent.chess.search.correction_history import corrected_evaluation, update_correction_history
from agent.chess.search.move_ordering import (
    MAX_HISTORY,
    capture_history,
    is_killer,
    next_move,
    piece_target_index,
    quiet_history,
    record_tried_move,
    start_picking,
    update_histories,
    update_history_by_gain,
    update_last_move_history,
)
from agent.chess.search.node import (
    DRAW,
    enter_node,
    evaluate,
    extend_pv,
    static_evaluation,
    terminal_score,
)
from agent.chess.search.parameters import (
    REDUCTION_UNIT,
    check_exchange_margin,
    deeper_margin,
    double_margin,
    exchange_depth,
    futility_base,
    futility_depth,
    futility_history,
    futility_margin,
    hindsight_margin,
    hindsight_plies,
    history_depth,
    history_margin,
    internal_reduction_depth,
    internal_reduction_plies,
    late_pruning_base,
    late_pruning_depth,
    late_pruning_not_improving,
    late_pruning_square,
    noisy_exchange_margin,
    noisy_futility_base,
    noisy_futility_depth,
    noisy_futility_margin,
    null_entry_margin,
    null_most_lead,
    null_move_depth,
    null_move_margin,
    null_move_reduction,
    null_move_share,
    null_verification_depth,
    quiet_exchange_margin,
    razor_base,
    razor_square,
    reduction,
    reduction_check,
    reduction_cut,
    reduction_depth,
    reduction_history,
    reduction_killer,
    reduction_late_move,
    reduction_noisy,
    reduction_noisy_history,
    reduction_not_improving,
    reduction_pv,
    reduction_table_noisy,
    reduction_was_pv,
    reverse_futility_depth,
    reverse_futility_improving,
    reverse_futility_margin,
    singular_depth,
    singular_margin,
    singular_table_plies,
    table_margin,
    table_plies,
)
from agent.chess.search.quiescence import quiescence
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, Bits, int64
from agent.kernel.scores import INFINITE, MATE, MATE_BOUND, NO_EVALUATION
from agent.kernel.transposition_table import (
    EXACT,
    LOWER,
    UPPER,
    causes_cutoff,
    data_bound,
    data_depth,
    data_move,
    data_score,
    data_was_pv,
    probe,
    save,
)


@kernel
def _clear_killers(worker: Worker, ply: int) -> None:
    frame = frame_at(worker, ply)
    frame.killers[0] = NO_MOVE
    frame.killers[1] = NO_MOVE


@kernel
def _is_forced(position: Position) -> bool:
    """Return whether the side to move is in check or must capture: no static rule applies."""
    if FORCED_CAPTURES:
        return has_capture(position)
    return position.checkers != 0


@kernel
def _has_non_pawn_material(position: Position) -> bool:
    if HORDE or FORCED_CAPTURES:
        return True
    own = position.sides[position.turn]
    return own & ~(position.kinds[PAWN] | position.kinds[KING]) != 0


@kernel
def _may_prune(position: Position, move: int) -> bool:
    if COUNTS_CHECKS and gives_check(position, move):
        return False
    return _has_non_pawn_material(position)


@kernel
def _allows_null_move(position: Position) -> bool:
    own, kinds = position.sides[position.turn], position.kinds
    minors = own & (kinds[KNIGHT] | kinds[BISHOP])
    return own & (kinds[ROOK] | kinds[QUEEN]) != 0 or minors & (minors - U64(1)) != 0


@kernel
def _hindsight_depth(worker: Worker, ply: int, depth: int) -> int:
    """Return `depth`, minus 1 if the last move was reduced and lowered its side's evaluation.

    The history score of the last move is updated by its gain in static evaluation.
    """
    evaluation, parent = frame_at(worker, ply).evaluation, frame_at(worker, ply - 1)
    if parent.evaluation == NO_EVALUATION:
        return depth
    gain = -evaluation - parent.evaluation  # for the side that moved
    update_history_by_gain(worker, ply, gain)
    bad = parent.reduced_plies >= hindsight_plies() and gain < -hindsight_margin()
    return depth - 1 if bad and depth >= 2 else depth


@kernel
def _passes_reverse_futility(depth: int, beta: int, evaluation: int, improving: bool) -> bool:
    margin = reverse_futility_margin() * depth
    if improving:
        margin -= reverse_futility_improving()
    return (
        depth <= reverse_futility_depth()
        and evaluation - margin >= beta
        and beta > -MATE_BOUND
        and evaluation < MATE_BOUND
    )


@kernel
def _passes_table_probcut(data: Bits, ply: int, depth: int, beta: int) -> bool:
    return (
        data != 0
        and data_depth(data) >= depth - table_plies()
        and data_bound(data) != UPPER
        and data_score(data, ply) >= beta + table_margin()
        and data_score(data, ply) < MATE_BOUND
        and beta > -MATE_BOUND
    )


@kernel
def _is_singular_candidate(data: Bits, ply: int, depth: int) -> bool:
    return (
        data_move(data) != NO_MOVE
        and data_depth(data) >= depth - singular_table_plies()
        and data_bound(data) != UPPER
        and abs(data_score(data, ply)) < MATE_BOUND
    )


@kernel
def _late_pruning_count(depth: int, improving: bool) -> int:
    sixteenths = 16 * late_pruning_base() + late_pruning_square() * depth * depth
    return sixteenths * (16 if improving else late_pruning_not_improving()) // 256


@kernel
def _node_reduction(in_pv: bool, was_pv: bool, cut_node: bool, improving: bool) -> int:
    """Return the part of the late move reduction that depends on the node, in 1024ths of a ply."""
    total = 0
    if in_pv:
        total -= reduction_pv()
    if was_pv:
        total -= reduction_was_pv()
    if cut_node:
        total += reduction_cut()
    if not improving:
        total += reduction_not_improving()
    return total


@kernel
def _move_reduction(depth: int, move_number: int, quiet: bool, killer: bool, history: int) -> int:
    """Return the part of the late move reduction that depends on the move, in 1024ths of a ply."""
    total = reduction(depth, move_number)
    if not quiet:
        return total + reduction_noisy() - history * REDUCTION_UNIT // reduction_noisy_history()
    if killer:
        total -= reduction_killer()
    return total - history * REDUCTION_UNIT // reduction_history()


@kernel
def _is_futile(reduced: int, history: int, deficit: int) -> bool:
    margin = futility_base() + futility_margin() * reduced
    margin += futility_history() * history // MAX_HISTORY
    return reduced <= futility_depth() and margin <= deficit


@kernel
def _can_prune_quiet(
    position: Position, move: int, reduced: int, killer: bool, history: int
) -> bool:
    if reduced <= history_depth() and not killer and history < -history_margin() * (reduced + 1):
        return True
    return reduced <= exchange_depth() and not see_ge(
        position, move, -quiet_exchange_margin() * reduced
    )


@kernel
def _can_prune_noisy(position: Position, move: int, depth: int, reduced: int, deficit: int) -> bool:
    victim = position.board[to_square(move)]
    margin = noisy_futility_base() + noisy_futility_margin() * reduced + PIECE_VALUES[victim]
    if reduced <= noisy_futility_depth() and victim != EMPTY and margin <= deficit:
        return True
    return depth <= exchange_depth() and not see_ge(
        position, move, -noisy_exchange_margin() * depth
    )


@kernel
def _should_update_correction(bound: int, best_score: int, evaluation: int) -> bool:
    if bound == LOWER:
        return best_score > evaluation
    return bound != UPPER or best_score < evaluation


@entry_point(int64(Worker, int64, int64, int64, int64, boolean))
def search(worker: Worker, ply: int, depth: int, alpha: int, beta: int, cut_node: bool) -> int:
    """Return the fail-soft score of the node at `ply`, searched to `depth` plies.

    `ply` must be at least 1. `cut_node` is true if a beta cutoff is expected.
    """
    # Step 1. Quiescence search at depth 0.
    if depth <= 0:
        return quiescence(worker, ply, alpha, beta)
    enter_node(worker, ply)
    if worker.stop:
        return 0

    # Step 2. Draws, endgame tables, and the maximum ply.
    score = terminal_score(worker, ply)
    if score != NO_SCORE:
        return score
    position = position_at(worker, ply)
    selective = worker.selective != 0

    # Step 3. Upcoming repetition: a side that can repeat the position has at least a draw.
    if not FORCED_CAPTURES and selective and alpha < DRAW and has_upcoming_repetition(worker, ply):
        alpha = int64(DRAW)
        if alpha >= beta:
            return alpha

    # Step 4. Mate distance pruning: a shorter mate has already been found.
    alpha = max(alpha, ply - MATE)
    beta = min(beta, MATE - ply - 1)
    if alpha >= beta:
        return alpha

    frame = frame_at(worker, ply)
    in_check = _is_forced(position)
    in_pv = beta - alpha > 1
    excluded = frame.excluded
    key = position.key

    # Step 5. Transposition table lookup and cutoff.
    data = probe(worker, key) if selective else U64(0)
    table_move = data_move(data)
    was_pv = in_pv or (data != 0 and data_was_pv(data))
    if (
        data
        and not in_pv
        and excluded == NO_MOVE
        and data_depth(data) >= depth
        and causes_cutoff(data, ply, beta)
    ):
        return data_score(data, ply)

    # Step 6. Static evaluation, and whether it improves on that of two plies earlier.
    raw = NO_EVALUATION
    evaluation = NO_EVALUATION
    if excluded != NO_MOVE:
        evaluation = frame.evaluation
    elif not in_check and selective:
        raw = static_evaluation(worker, ply, data)
        evaluation = corrected_evaluation(worker, ply, raw)
    frame.evaluation = evaluation
    improving = not in_check and ply >= 2 and evaluation > frame_at(worker, ply - 2).evaluation

    # Step 7. Hindsight reduction: the last move was reduced and worsened the evaluation.
    if selective and not in_check and excluded == NO_MOVE:
        depth = _hindsight_depth(worker, ply, depth)

    if selective and not in_pv and not in_check and excluded == NO_MOVE:
        # Step 8. Reverse futility pruning: the evaluation exceeds beta by a margin. Zugzwang breaks
        # it as it breaks null moves, so verification searches disable it.
        verifying = ply < worker.null_move_min_ply
        if not verifying and _passes_reverse_futility(depth, beta, evaluation, improving):
            return evaluation

        # Step 9. Razoring: the evaluation is so far below alpha that only captures can raise it.
        margin = razor_base() + razor_square() * depth * depth
        if evaluation + margin <= alpha and alpha < MATE_BOUND:
            score = quiescence(worker, ply, alpha, beta)
            if worker.stop:
                return 0
            if score <= alpha:
                return score

        # Step 10. Null move pruning: if a null move fails high, a real move will too.
        if (
            NULL_MOVES
            and depth >= null_move_depth()
            and evaluation >= beta + null_entry_margin()
            and position.move != NO_MOVE
            and not verifying
            and _allows_null_move(position)
        ):
            frame.piece_target = NO_PIECE_TARGET
            make_null_move(worker, ply)
            lead = min((evaluation - beta) * REDUCTION_UNIT // null_move_margin(), null_most_lead())
            reduction_units = null_move_reduction() + depth * null_move_share() + lead
            null_depth = depth - reduction_units // REDUCTION_UNIT
            score = -search(worker, ply + 1, null_depth, -beta, 1 - beta, not cut_node)
            if worker.stop:
                return 0
            if score >= beta:
                score = beta if score >= MATE_BOUND else score
                if depth < null_verification_depth() or worker.null_move_min_ply:
                    return score
                # At high depth, verify without null moves, in case of zugzwang.
                worker.null_move_min_ply = ply + 3 * null_depth // 4
                verified_score = search(worker, ply, null_depth, beta - 1, beta, False)
                worker.null_move_min_ply = 0
                if worker.stop:
                    return 0
                if verified_score >= beta:
                    return score

        # Step 11. ProbCut from the table alone: a shallower entry is far above beta.
        if _passes_table_probcut(data, ply, depth, beta):
            return beta + table_margin()

    # Step 12. Internal iterative reduction: without a hash move from a similar depth, move ordering
    # is bad. A reduced search finds a better hash move for later. All-nodes need no move ordering.
    if (
        selective
        and depth >= internal_reduction_depth()
        and (table_move == NO_MOVE or data_depth(data) + internal_reduction_plies() < depth)
        and (in_pv or cut_node)
    ):
        depth -= 1

    # Step 13. Singular extension: if all other moves fail low against the score of the hash move,
    # the hash move is extended.
    extension = 0
    if (
        selective
        and ply < 2 * worker.root_depth
        and depth >= singular_depth()
        and excluded == NO_MOVE
        and _is_singular_candidate(data, ply, depth)
    ):
        singular_beta = data_score(data, ply) - singular_margin() * depth // 8
        singular_search_depth = (depth - 1) // 2
        frame.excluded = table_move
        score = search(
            worker, ply, singular_search_depth, singular_beta - 1, singular_beta, cut_node
        )
        frame.excluded = NO_MOVE
        if worker.stop:
            return 0
        if score < singular_beta:
            extension = 1
            if not in_pv and score < singular_beta - double_margin():
                extension = 2
        elif singular_beta >= beta:  # multi-cut: another move fails high too
            return singular_beta
        elif data_score(data, ply) >= beta:
            extension = -1

    # Step 14. Loop over the moves, in order.
    start_picking(worker, ply, table_move)
    _clear_killers(worker, ply + 1)
    node_reduction = _node_reduction(in_pv, was_pv, cut_node, improving)
    noisy_table_move = table_move != NO_MOVE and is_noisy(position, table_move)
    late_move_limit = _late_pruning_count(depth, improving)
    best_score, best_move, bound, move_number = -INFINITE, NO_MOVE, UPPER, 0
    while True:
        move = next_move(worker, ply, False)
        if move == NO_MOVE:
            break
        if move == excluded:
            continue
        move_number += 1
        record_tried_move(frame, move)
        quiet = not is_noisy(position, move)
        # Read the histories before the search of the move changes them.
        if quiet:
            history = quiet_history(worker, ply, move)
        else:
            history = capture_history(worker, position, move)
        killer = is_killer(frame, move)

        # Step 15. Pruning at shallow depth: late moves, futile moves, moves with a bad history, and
        # moves that lose material (SEE).
        if selective and best_score > -MATE_BOUND and _may_prune(position, move):
            reduced = max(depth - reduction(depth, move_number) // REDUCTION_UNIT, 0)
            deficit = -INFINITE if in_check else alpha - evaluation
            if quiet:
                late = depth <= late_pruning_depth() and not in_pv and move_number > late_move_limit
                if late or _is_futile(reduced, history, deficit):
                    frame.skip_quiets = 1
                    continue
                if _can_prune_quiet(position, move, reduced, killer, history):
                    continue
            elif _can_prune_noisy(position, move, depth, reduced, deficit):
                continue

        total = 0
        if selective and move_number > reduction_late_move() and depth >= reduction_depth():
            total = node_reduction + _move_reduction(depth, move_number, quiet, killer, history)
            if noisy_table_move and quiet:
                total += reduction_table_noisy()
        frame.piece_target = piece_target_index(position, move)
        make_move(worker, ply, move)
        child = position_at(worker, ply + 1)

        # Step 16. Extensions: the singular move, and checks that do not lose much material.
        is_check = child.checkers != 0
        next_depth = depth - 1
        if move == table_move and extension:
            next_depth += extension
        elif (
            selective
            and is_check
            and (COUNTS_CHECKS or see_ge(position, move, -check_exchange_margin()))
        ):
            next_depth += 1

        # Step 17. Late move reduction (LMR): search late moves at reduced depth with a null window.
        # A move that fails high is searched again, one ply deeper if its score is very good.
        score = alpha + 1
        if total and (in_check or is_check):
            total -= reduction_check()
        reduce_by = total // REDUCTION_UNIT
        if reduce_by > 0:
            reduced_depth = max(next_depth - reduce_by, 1)
            frame.reduced_plies = next_depth - reduced_depth
            score = -search(worker, ply + 1, reduced_depth, -alpha - 1, -alpha, True)
            frame.reduced_plies = 0
            if (
                score > best_score + deeper_margin()
                and score > alpha
                and reduced_depth < next_depth
            ):
                next_depth += 1

        # Step 18. Principal variation search: moves after the first are searched with a null
        # window; a full window is needed only in PV nodes, for scores above alpha.
        if score > alpha and move_number > 1:
            score = -search(worker, ply + 1, next_depth, -alpha - 1, -alpha, not cut_node)
        elif move_number == 1 and not in_pv:
            score = -search(worker, ply + 1, next_depth, -beta, -alpha, not cut_node)
        if in_pv and (move_number == 1 or score > alpha):
            score = -search(worker, ply + 1, next_depth, -beta, -alpha, False)
        if worker.stop:
            return 0

        # Step 19. New best move, and beta cutoff.
        if score > best_score:
            best_score = score
            if score > alpha:
                alpha = score
                best_move = move
                bound = EXACT
                if in_pv:
                    extend_pv(worker, ply, move)
                if score >= beta:
                    bound = LOWER
                    if selective:
                        update_histories(worker, ply, move, depth)
                    break

    # Step 20. Mate and stalemate, or no move besides the excluded one.
    if move_number == 0:
        if excluded != NO_MOVE:
            return alpha
        if FORCED_CAPTURES:
            return MATE - ply
        return ply - MATE if in_check else DRAW

    # Step 21. Save to the transposition table; update histories and corrections.
    if selective and excluded == NO_MOVE:
        save(worker, key, ply, depth, best_move, best_score, raw, bound, was_pv)
        if bound == UPPER and depth > 1:
            update_last_move_history(worker, ply, depth)
        if (
            not in_check
            and (best_move == NO_MOVE or not is_noisy(position, best_move))
            and _should_update_correction(bound, best_score, evaluation)
        ):
            update_correction_history(worker, ply, depth, best_score - evaluation)
    return best_score


@kernel
def search_root(worker: Worker, depth: int, alpha: int, beta: int) -> int:
    """Search the root moves from index `multipv_start`, and return the best score.

    The best move is moved to that index. `worker.best_move`, `worker.best_score` and the PV in
    frame 0 stay valid after a stop. Until the first move has been searched, `best_move` is NO_MOVE
    and `best_score` is from the previous call.
    """
    position, frame = position_at(worker, 0), frame_at(worker, 0)
    worker.best_move = NO_MOVE
    best_score, best_index, bound = -INFINITE, worker.multipv_start, UPPER
    ply, child_ply = int64(0), int64(1)
    worker.root_depth = depth
    worker.null_move_min_ply = 0
    frame.pv_length = 0
    _clear_killers(worker, child_ply)
    in_check = _is_forced(position)
    frame.evaluation = NO_EVALUATION
    if worker.selective and not in_check:
        frame.evaluation = corrected_evaluation(worker, ply, evaluate(worker, ply))
    for index in range(worker.multipv_start, worker.root_count):
        move = int64(worker.root_moves[index])
        move_number = index - worker.multipv_start + 1
        worker.root_index = index
        nodes_before = worker.nodes
        quiet = not is_noisy(position, move)
        frame.piece_target = piece_target_index(position, move)
        make_move(worker, ply, move)
        is_check = position_at(worker, child_ply).checkers != 0
        next_depth = depth if worker.selective and is_check and depth > 1 else depth - 1
        score = alpha + 1
        if move_number > 1:
            reduced_depth = next_depth
            if (
                worker.selective
                and quiet
                and move_number > reduction_late_move()
                and depth >= reduction_depth()
                and not in_check
                and not is_check
            ):
                history = quiet_history(worker, ply, move)
                total = _node_reduction(boolean(True), boolean(True), boolean(False), boolean(True))
                total += _move_reduction(depth, move_number, quiet, is_killer(frame, move), history)
                reduced_depth = max(next_depth - max(total // REDUCTION_UNIT, 0), 1)
            score = -search(worker, child_ply, reduced_depth, -alpha - 1, -alpha, True)
            if score > alpha and reduced_depth < next_depth:
                score = -search(worker, child_ply, next_depth, -alpha - 1, -alpha, True)
        if move_number == 1 or score > alpha:
            score = -search(worker, child_ply, next_depth, -beta, -alpha, False)
        if worker.stop:
            break
        worker.root_nodes[index] += worker.nodes - nodes_before
        if score > best_score:
            best_score = score
            if score > alpha or move_number == 1:
                best_index = index
                worker.best_move = move
                worker.best_score = score
                extend_pv(worker, ply, move)
                if score > alpha:
                    alpha = score
                    bound = EXACT
                if score >= beta:
                    bound = LOWER
                    break

    best_nodes = worker.root_nodes[best_index]
    for index in range(best_index, worker.multipv_start, -1):
        worker.root_moves[index] = worker.root_moves[index - 1]
        worker.root_nodes[index] = worker.root_nodes[index - 1]
    worker.root_moves[worker.multipv_start] = (
        worker.best_move or worker.root_moves[worker.multipv_start]
    )
    worker.root_nodes[worker.multipv_start] = best_nodes
    if worker.selective and not worker.stop and worker.multipv_start == 0:
        best_move = worker.best_move
        save(
            worker,
            position.key,
            ply,
            depth,
            best_move,
            best_score,
            NO_EVALUATION,
            bound,
            boolean(True),
        )
    return best_score
