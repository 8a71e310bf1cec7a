"""Monte Carlo tree search with RAVE on a tree shared by all search threads.

The value of a child combines the mean of its playouts and prior visits with its AMAF (all moves as
first) value. The weight of AMAF decreases with the number of visits. A node is expanded, with all
its children, after a minimum number of visits. Source: Gelly and Silver, 'Monte-Carlo tree search
and rapid action value estimation in computer Go' (2011).

Each node has ANNEX_WORDS extra words:

- AMAF: visits in the upper 32 bits and wins in the lower 32 bits, in units of 1 / AMAF_UNIT.
- PRIOR: the number of prior visits and the sum of prior values, as float32.
- SCORE_SUM: the sum of the playout scores for Black, in units of 1 / SCORE_UNITS_PER_POINT.
- OWNERS: the number of playouts through the parent in which Black finally owned the vertex (upper
  32 bits), and in which the winner owned it (lower 32 bits). If criticality is not used, instead
  the number of draws through the node.

With a network, a node has another word, NETWORK: the network's value of the node for Black, as
float32, and 1.0 if there is one, else 0.0. From a number of visits on, the network evaluates the
node: its move probabilities replace the priors, and its value is mixed with those of the playouts
through the node, down to the next node that it evaluated.
"""

import math

import numba

from agent.games.stones import BLACK
from agent.go.board import count_captured, is_legal, play, stone_key
from agent.go.network import evaluate_network
from agent.go.playout import play_out
from agent.go.priors import NO_PRIOR, compute_priors
from agent.go.records import (
    BOARD_CELLS,
    MAX_TREE_PLIES,
    PASS,
    Board,
    Worker,
    copy_board,
)
from agent.go.scoring import score_end, score_playout
from agent.go.settings import (
    CRITICALITY,
    CRITICALITY_FROM,
    DISTANCE,
    EVALUATION_SHARE,
    EVEN,
    EXPANSION,
    EXPLORATION,
    NETWORK_EXPLORATION,
    NETWORK_PRIOR,
    NETWORK_SHARE,
    NETWORK_VISITS,
    RAVE,
)
from agent.kernel.atomic_columns import FLOAT32, INT32, INT64, reader, writer
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, Bits, call_evaluator, int64, load
from agent.kernel.mcts_tree import (
    EXHAUSTED,
    FULL,
    GROWING,
    NO_NODE,
    ROOT,
    VALUE_SCALE,
    NodeTree,
    add_child,
    add_int64,
    add_virtual_loss,
    cancel_visit,
    count_playouts,
    drop_children,
    extra_word_index,
    first_child,
    move_to,
    next_child,
    prior_of,
    record_value,
    set_prior,
    try_lock,
    unlock,
    visits_of,
)
from agent.kernel.score_scale import to_value

ANNEX_WORDS = 4
AMAF, PRIOR, SCORE_SUM, OWNERS = range(ANNEX_WORDS)
NETWORK, NETWORK_WORDS = ANNEX_WORDS, 1
AMAF_UNIT = 64
SCORE_UNITS_PER_POINT = 2
# From SAMPLING_FROM_VISITS visits on, only one in SAMPLING_INTERVAL playouts updates the children's
# AMAF and owners, with SAMPLING_INTERVAL as weight. This reduces contention between threads.
SAMPLING_FROM_VISITS, SAMPLING_INTERVAL = 512, 4
# A child with at least MIN_SETTLED_VISITS visits, of which this share are draws, is a settled draw.
# One in DETOUR_INTERVAL playouts looks for something better.
MIN_SETTLED_VISITS, SETTLED_DRAW_SHARE, DETOUR_INTERVAL = 128, 0.75, 4
# An evaluation of this value counts as halfway between a draw and a win.
HALF_WIN = 0.5
# Without playouts, AMAF only covers moves in the tree and does not replace exploration.
MIN_EXPLORATION_WITHOUT_PLAYOUTS = 0.5

_read_float32, _write_float32 = reader(FLOAT32), writer(FLOAT32)
_read_int64 = reader(INT64)
_read_int32, _write_int32 = reader(INT32), writer(INT32)
_value_of_score = kernel(to_value)


@kernel
def prior_visits(tree: NodeTree, node: int) -> float:
    return _read_float32(tree.extra_words, 2 * int64(extra_word_index(tree, node, PRIOR)))


@kernel
def _prior_sum(tree: NodeTree, node: int) -> float:
    return _read_float32(tree.extra_words, 2 * int64(extra_word_index(tree, node, PRIOR)) + 1)


@kernel
def _set_prior(tree: NodeTree, node: int, visits: float, total: float) -> None:
    index = 2 * int64(extra_word_index(tree, node, PRIOR))
    _write_float32(tree.extra_words, index, visits)
    _write_float32(tree.extra_words, index + 1, total)


@kernel
def _value_sum(tree: NodeTree, node: int) -> float:
    return _read_int64(tree.totals, node) / VALUE_SCALE


@kernel
def _is_evaluated(tree: NodeTree, node: int) -> bool:
    index = 2 * int64(extra_word_index(tree, node, NETWORK))
    return _read_float32(tree.extra_words, index + 1) > 0


@kernel
def _network_value(tree: NodeTree, node: int) -> float:
    return _read_float32(tree.extra_words, 2 * int64(extra_word_index(tree, node, NETWORK)))


@kernel
def _evaluate_node(worker: Worker, tree: NodeTree, board: Board, node: int, ply: int) -> None:
    """Let the network evaluate a locked node that has children."""
    compute_priors(worker, board, ply)
    value = evaluate_network(worker)
    best, child = 0.0, first_child(tree, node)
    while child != NO_NODE:
        best = max(best, worker.ratings[move_to(tree, child)])
        child = next_child(tree, child)
    even, visits = worker.settings[EVEN], worker.settings[NETWORK_PRIOR]
    child = first_child(tree, node)
    while child != NO_NODE:
        prior = float(worker.ratings[move_to(tree, child)])
        set_prior(tree, child, prior)
        if visits > 0:
            wins = visits * math.sqrt(prior / best)
            _set_prior(tree, child, even + wins, wins)
        child = next_child(tree, child)
    index = 2 * int64(extra_word_index(tree, node, NETWORK))
    _write_float32(tree.extra_words, index, value)
    _write_float32(tree.extra_words, index + 1, 1.0)


@kernel
def _criticality(worker: Worker, tree: NodeTree, node: int, child: int) -> float:
    """Return the covariance of winning and owning the child's vertex, about -1/2 to 1/2.

    Source: Pellegrino et al., 'Localizing search in Monte Carlo Go using statistical covariance'
    (2009).
    """
    visits = float(visits_of(tree, node))
    word = load(tree.extra_words, extra_word_index(tree, child, OWNERS))
    black_share = int64(word >> U64(32)) / visits
    winner_share = int64(word & U64(0xFFFFFFFF)) / visits
    wins = 0.5 + 0.5 * min(max(_value_sum(tree, node) / visits, -1.0), 1.0)
    if worker.board.turn == BLACK:  # the node's total is from the view of the side that moved to it
        wins = 1 - wins
    return winner_share - (black_share * wins + (1 - black_share) * (1 - wins))


@kernel
def _uses_playouts(worker: Worker) -> bool:
    return not worker.evaluate or worker.settings[EVALUATION_SHARE] < 1


@kernel
def _select_child(worker: Worker, tree: NodeTree, node: int) -> int:
    equivalence, exploration = worker.settings[RAVE], worker.settings[EXPLORATION]
    if not _uses_playouts(worker):
        exploration = max(exploration, MIN_EXPLORATION_WITHOUT_PLAYOUTS)
    log_visits = math.log(visits_of(tree, node) + 1.0)
    prior_exploration = 0.0
    if worker.network and _is_evaluated(tree, node):
        prior_exploration = worker.settings[NETWORK_EXPLORATION] * math.sqrt(visits_of(tree, node))
    best, best_value, criticality_weight = NO_NODE, -10.0, 0.0
    if visits_of(tree, node) >= worker.settings[CRITICALITY_FROM]:
        criticality_weight = worker.settings[CRITICALITY]
    child = first_child(tree, node)
    while child != NO_NODE:
        visits = float(visits_of(tree, child))
        total_visits = visits + prior_visits(tree, child)
        value = 0.0
        if total_visits > 0:
            value = (_value_sum(tree, child) + _prior_sum(tree, child)) / total_visits
        word = load(tree.extra_words, extra_word_index(tree, child, AMAF))
        amaf_visits = int64(word >> U64(32)) / AMAF_UNIT
        if amaf_visits > 0:
            critical = 0.0
            if criticality_weight > 0:
                critical = max(criticality_weight * _criticality(worker, tree, node, child), 0.0)
            wins = int64(word & U64(0xFFFFFFFF)) / AMAF_UNIT
            effective_visits = amaf_visits * (1 + critical)
            amaf_share = effective_visits / (
                effective_visits + total_visits + total_visits * effective_visits / equivalence
            )
            value = amaf_share * (2 * wins / amaf_visits - 1) + (1 - amaf_share) * value
        if exploration > 0:
            value += exploration * math.sqrt(log_visits / (visits + 1))
        if prior_exploration > 0:
            value += prior_exploration * prior_of(tree, child) / (visits + 1)
        if value > best_value:
            best, best_value = child, value
        child = next_child(tree, child)
    return best


@kernel
def _is_settled_draw(tree: NodeTree, node: int) -> bool:
    visits = visits_of(tree, node)
    draws = int64(load(tree.extra_words, extra_word_index(tree, node, OWNERS)))
    return visits >= MIN_SETTLED_VISITS and draws >= SETTLED_DRAW_SHARE * visits


@kernel
def _least_visited_child(tree: NodeTree, node: int) -> int:
    child = best = first_child(tree, node)
    while child != NO_NODE:
        if visits_of(tree, child) < visits_of(tree, best):
            best = child
        child = next_child(tree, child)
    return best


@kernel
def _is_repetition(worker: Worker, key: Bits, first_ply: int, ply: int) -> bool:
    """Return whether a key occurs between two plies of the path, or, if the first is 0, before."""
    mask = U64(worker.history_capacity - 1)
    index = key & mask
    while first_ply == 0 and load(worker.history_table, index):
        if load(worker.history_table, index) == key:
            return True
        index = (index + U64(1)) & mask
    found = False
    for i in range(first_ply, ply + 1):
        found |= worker.path_keys[i] == key
    return found


@kernel
def _may_repeat(worker: Worker, board: Board) -> bool:
    return worker.repeatable + board.captures + worker.suicide > 0


@kernel
def _situation_key(worker: Worker, board: Board) -> Bits:
    return board.key if board.turn == BLACK else board.key ^ worker.turn_key


@kernel
def _key_after(worker: Worker, board: Board, move: int) -> Bits:
    if count_captured(board, move, board.turn) == 0 and is_legal(board, move, board.turn):
        key = board.key ^ stone_key(board, move, board.turn)
        return key if board.turn != BLACK else key ^ worker.turn_key
    scratch = worker.ladder_boards[0]
    copy_board(scratch, board)
    play(scratch, move)
    return _situation_key(worker, scratch)


@kernel
def _expand_node(worker: Worker, tree: NodeTree, board: Board, node: int, ply: int) -> None:
    compute_priors(worker, board, ply)
    total = 0.0
    for i in range(board.empty_count):
        vertex = int64(board.empty_vertices[i])
        if worker.prior_counts[vertex] != NO_PRIOR:
            total += worker.prior_counts[vertex] + worker.prior_value_sums[vertex]
    total += worker.prior_counts[PASS] + worker.prior_value_sums[PASS]
    may_repeat = not worker.simple_ko and _may_repeat(worker, board)
    for i in range(-1, board.empty_count):
        move = PASS if i < 0 else int64(board.empty_vertices[i])
        if worker.prior_counts[move] == NO_PRIOR:
            continue
        if worker.restricted and ply < worker.banned[(board.turn - 1) * BOARD_CELLS + move]:
            continue
        if (
            may_repeat
            and move != PASS
            and _is_repetition(worker, _key_after(worker, board, move), 0, ply)
        ):
            continue
        prior = (worker.prior_counts[move] + worker.prior_value_sums[move]) / total
        child = add_child(tree, node, move, prior, EXHAUSTED)
        if child == NO_NODE:
            drop_children(tree, node)  # discard an incomplete list of children
            tree.state = FULL
            return
        _set_prior(tree, child, worker.prior_counts[move], worker.prior_value_sums[move])
    if worker.network:  # a node that lost its children gets the network's priors again
        index = 2 * int64(extra_word_index(tree, node, NETWORK))
        _write_float32(tree.extra_words, index + 1, 0.0)


@kernel
def _descend(worker: Worker, tree: NodeTree, board: Board) -> tuple[int, int]:
    """Descend to a leaf. Return its ply, and the ply of the last detour, or -1.

    A settled draw keeps its value of 0, so a better move would never be tried again without RAVE's
    help. Some playouts make a detour from it to the least visited move.
    """
    ply, node, placed, after_pass, detour = 0, int64(ROOT), 0, 0, -1
    may_draw = _uses_playouts(worker) and worker.settings[CRITICALITY] == 0
    worker.path_nodes[0] = node
    worker.path_keys[0] = _situation_key(worker, board)
    worker.repeated = worker.evaluated = 0
    add_virtual_loss(tree, node)
    while ply < MAX_TREE_PLIES and board.passes < 2:
        if first_child(tree, node) == NO_NODE:
            if visits_of(tree, node) < worker.settings[EXPANSION] and ply > 0:
                break
            if not try_lock(tree, node):
                break
            if first_child(tree, node) == NO_NODE:
                _expand_node(worker, tree, board, node, ply)
            unlock(tree, node)
        if worker.network:
            if (
                visits_of(tree, node) >= worker.settings[NETWORK_VISITS]
                and not _is_evaluated(tree, node)
                and try_lock(tree, node)
            ):
                if not _is_evaluated(tree, node):
                    _evaluate_node(worker, tree, board, node, ply)
                unlock(tree, node)
            if _is_evaluated(tree, node):
                worker.evaluated = 1
                worker.network_value = _network_value(tree, node)
        child = _select_child(worker, tree, node)
        if child == NO_NODE:
            break
        if (
            may_draw
            and visits_of(tree, node) % DETOUR_INTERVAL == 1
            and _is_settled_draw(tree, child)
        ):
            child, detour = _least_visited_child(tree, node), ply
        move = move_to(tree, child)
        play(board, move)
        worker.played_moves[ply] = move
        ply += 1
        node = child
        worker.path_nodes[ply] = node
        worker.path_keys[ply] = _situation_key(worker, board)
        add_virtual_loss(tree, node)
        if move == PASS:
            after_pass = ply
        else:
            placed += 2 * board.turn - 3  # 1 after a move of Black
        if (
            worker.simple_ko
            and _may_repeat(worker, board)
            and _is_repetition(worker, worker.path_keys[ply], after_pass, ply - 1)
        ):
            worker.repeated = 1
            break
    worker.played_count = ply
    worker.placed = placed if worker.territory else 0
    return ply, detour


@kernel
def _evaluation(worker: Worker, board: Board, ply: int) -> float:
    """Return the user's evaluation of a leaf for Black, from -1 to 1."""
    score = call_evaluator(worker.evaluate, worker, ply)
    points = _value_of_score(score)
    if abs(points) > HALF_WIN:
        points = math.copysign(1 - HALF_WIN * HALF_WIN / abs(points), points)
    return points if board.turn == BLACK else -points


@kernel
def _sign(score: float) -> float:
    return 1.0 if score > 0 else -1.0 if score < 0 else 0.0


@kernel
def _amaf_is_full(tree: NodeTree, node: int) -> bool:
    return (load(tree.extra_words, extra_word_index(tree, node, AMAF)) >> U64(63)) != U64(0)


@kernel
def _backpropagate(
    worker: Worker, tree: NodeTree, ply: int, detour: int, value: float, score: float
) -> None:
    """Add a playout to the nodes of its path. Up to a detour, its value is the settled draw."""
    length = worker.played_count
    first = worker.first_played_ply
    for i in range(length - 1, ply - 1, -1):
        first[worker.played_moves[i]] = i + 1
    reach = 1.0 / max(length - ply, 1)
    points = int64(score * SCORE_UNITS_PER_POINT)
    critical = worker.settings[CRITICALITY] > 0
    i = ply
    while i >= 0:
        node = worker.path_nodes[i]
        black_to_move = (worker.root.turn == BLACK) == (i % 2 == 0)
        for_mover = value if black_to_move else -value
        if i > detour:
            record_value(tree, node, -for_mover)
            add_int64(tree.extra_words, int64(extra_word_index(tree, node, SCORE_SUM)), points)
        else:
            record_value(tree, node, 0.0)
        if not critical and (value == 0 or i <= detour):
            add_int64(tree.extra_words, int64(extra_word_index(tree, node, OWNERS)), 1)
        visits, weight = visits_of(tree, node), 1
        if visits >= SAMPLING_FROM_VISITS:
            weight = 0 if visits % SAMPLING_INTERVAL else SAMPLING_INTERVAL
        child = first_child(tree, node) if weight else NO_NODE
        while child != NO_NODE:
            move = move_to(tree, child)
            if critical:
                owner = int64(worker.last_owners[move])
                word = int64(owner > 0) * weight << 32 | int64(owner * score > 0) * weight
                add_int64(tree.extra_words, int64(extra_word_index(tree, child, OWNERS)), word)
            at = int64(first[move]) - 1
            # The side to move here was the first to play this vertex.
            if move != PASS and at >= i and (at - i) % 2 == 0 and not _amaf_is_full(tree, child):
                near = 1.0 - worker.settings[DISTANCE] * (at - i) * reach
                units = max(int64(AMAF_UNIT * near), 1) * weight
                wins = int64(units * (for_mover + 1) * 0.5)
                add_int64(
                    tree.extra_words, int64(extra_word_index(tree, child, AMAF)), units << 32 | wins
                )
            child = next_child(tree, child)
        i -= 1
        if i >= 0:
            first[worker.played_moves[i]] = i + 1
    for i in range(length):
        first[worker.played_moves[i]] = 0


@kernel
def _record_owners(worker: Worker, move: int) -> None:
    """Add the final owners of the last playout to the sums for its first move."""
    first = move * BOARD_CELLS
    _write_int32(
        worker.owner_sums_by_move, first, _read_int32(worker.owner_sums_by_move, first) + 1
    )
    for y in range(worker.height):
        for x in range(worker.width):
            vertex = (y + 1) * (worker.width + 1) + x + 1
            total = _read_int32(worker.owner_sums_by_move, first + vertex) + int64(
                worker.last_owners[vertex]
            )
            _write_int32(worker.owner_sums_by_move, first + vertex, total)


@entry_point(numba.void(Worker, NodeTree))
def expand_root(worker: Worker, tree: NodeTree) -> None:
    """Expand the root if it has no children. Must not be called during a search."""
    if first_child(tree, int64(ROOT)) == NO_NODE and worker.root.passes < 2:
        copy_board(worker.board, worker.root)
        worker.path_keys[0] = _situation_key(worker, worker.board)
        _expand_node(worker, tree, worker.board, int64(ROOT), 0)


@entry_point(numba.void(Worker, NodeTree))
def run_simulations(worker: Worker, tree: NodeTree) -> None:
    """Run simulations until the tree is full or at its playout limit, or `stop` is set.

    Several workers may use the same tree at the same time.
    """
    board = worker.board
    while not worker.stop and tree.state == GROWING:
        if count_playouts(tree, 1) >= tree.goal:
            count_playouts(tree, -1)
            return
        copy_board(board, worker.root)
        worker.played_count = 0
        ply, detour = _descend(worker, tree, board)
        if tree.state != GROWING:
            for i in range(ply + 1):
                cancel_visit(tree, worker.path_nodes[i])
            count_playouts(tree, -1)
            return
        worker.seldepth = max(worker.seldepth, ply)
        worker.nodes += 1
        value = score = 0.0
        drawn = worker.repeated != 0
        if worker.evaluate and board.passes < 2 and not drawn:
            value = _evaluation(worker, board, ply)
            if worker.stop and worker.failure:
                for i in range(ply + 1):
                    cancel_visit(tree, worker.path_nodes[i])
                count_playouts(tree, -1)
                return
        if drawn:
            score = 0.0
        elif board.passes == 2:
            score = score_end(worker, board)
            value = _sign(score)
        elif _uses_playouts(worker):
            play_out(worker, board, True)
            score = score_playout(worker, board)
            share = worker.settings[EVALUATION_SHARE] if worker.evaluate else 0.0
            value = share * value + (1 - share) * _sign(score)
            if worker.evaluated:
                share = worker.settings[NETWORK_SHARE]
                value = share * worker.network_value + (1 - share) * value
        if worker.owner_sums_by_move and ply > 0 and not drawn:
            _record_owners(worker, int64(worker.played_moves[0]))
        _backpropagate(worker, tree, ply, detour, value, score)
