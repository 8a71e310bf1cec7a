"""Evaluation of Go positions by a network, compiled."""

import math

import numba

from agent.games.stones import BLACK, EMPTY
from agent.go.network_format import (
    CELL_MARGIN,
    CHANNELS,
    INPUTS,
    KOMI_SCALE,
    LOGITS_AT,
    NUMBERS_AT,
    PASS_LOGIT,
    SMALL_SIZE,
    VALUE,
)
from agent.go.network_layers import float_at, forward, read_float, write_float
from agent.go.priors import NO_PRIOR, compute_priors
from agent.go.records import NO_VERTEX, PASS, Board, Worker, copy_board
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import Bits, int64

(
    ON_BOARD,
    OWN,
    OTHER,
    LIBERTIES_1,
    LIBERTIES_2,
    LIBERTIES_3,
    KO,
    LAST,
    PREVIOUS,
    PRIOR_WINS,
    PRIOR_VISITS,
    CANDIDATE,
    KOMI,
    AFTER_PASS,
    CHAIN_SIZE,
    LIBERTIES,
) = range(INPUTS)
_PRIOR_SCALE, _SMALL_COUNT = 40.0, 8.0


@kernel
def _komi_for_mover(worker: Worker, board: Board) -> float:
    return worker.komi if board.turn == BLACK else -worker.komi


@kernel
def _write_inputs(worker: Worker, board: Board, inputs: Bits) -> None:
    """Write the inputs of the network. `compute_priors` must have been called."""
    row = worker.width + 1
    for i in range(((worker.height + 2) * row + CELL_MARGIN) * INPUTS):
        write_float(inputs, i, 0.0)
    komi = _komi_for_mover(worker, board) / KOMI_SCALE
    for y in range(1, worker.height + 1):
        for x in range(1, worker.width + 1):
            vertex = y * row + x
            first = vertex * INPUTS
            write_float(inputs, first + ON_BOARD, 1.0)
            write_float(inputs, first + KOMI, komi)
            if board.passes:
                write_float(inputs, first + AFTER_PASS, 1.0)
            colour = int64(board.colours[vertex])
            if colour == EMPTY:
                if worker.prior_counts[vertex] != NO_PRIOR:
                    write_float(inputs, first + CANDIDATE, 1.0)
                    wins = worker.prior_value_sums[vertex] / _PRIOR_SCALE
                    write_float(inputs, first + PRIOR_WINS, wins)
                    visits = worker.prior_counts[vertex] / _PRIOR_SCALE
                    write_float(inputs, first + PRIOR_VISITS, visits)
                continue
            write_float(inputs, first + (OWN if colour == board.turn else OTHER), 1.0)
            head = int64(board.chain_heads[vertex])
            liberties, size = float(board.liberties[head]), float(board.chain_sizes[head])
            if liberties <= 3:
                write_float(inputs, first + LIBERTIES_1 - 1 + int64(liberties), 1.0)
            write_float(inputs, first + LIBERTIES, min(liberties, _SMALL_COUNT) / _SMALL_COUNT)
            write_float(inputs, first + CHAIN_SIZE, min(size, _SMALL_COUNT) / _SMALL_COUNT)
    if board.ko != NO_VERTEX:
        write_float(inputs, board.ko * INPUTS + KO, 1.0)
    if board.last_move != PASS:
        write_float(inputs, board.last_move * INPUTS + LAST, 1.0)
    if board.previous_move != PASS:
        write_float(inputs, board.previous_move * INPUTS + PREVIOUS, 1.0)


@kernel
def _inputs_at(worker: Worker) -> Bits:
    cells = (worker.height + 2) * (worker.width + 1) + CELL_MARGIN
    planes = 2 * worker.network_blocks + 2
    return float_at(worker.network_buffer, SMALL_SIZE + planes * cells * CHANNELS)


@entry_point(numba.void(Worker))
def encode_root(worker: Worker) -> None:
    """Write the inputs of the root position into the network's buffer."""
    copy_board(worker.board, worker.root)
    compute_priors(worker, worker.board, 0)
    _write_inputs(worker, worker.board, _inputs_at(worker))


@entry_point(numba.float64(Worker))
def evaluate_network(worker: Worker) -> float:
    """Evaluate the worker's board. `compute_priors` must have been called.

    Return the value for Black, and write the probabilities of the moves into `ratings`.
    """
    board, buffer = worker.board, worker.network_buffer
    _write_inputs(worker, board, _inputs_at(worker))
    komi = _komi_for_mover(worker, board)
    forward(worker.network, worker.network_blocks, buffer, worker.width, worker.height, komi)
    logits, numbers = float_at(buffer, LOGITS_AT), float_at(buffer, NUMBERS_AT)
    worker.ratings[PASS] = read_float(numbers, PASS_LOGIT)
    best = float(worker.ratings[PASS])
    for i in range(board.empty_count):
        vertex = int64(board.empty_vertices[i])
        if worker.prior_counts[vertex] != NO_PRIOR:
            worker.ratings[vertex] = read_float(logits, vertex)
            best = max(best, worker.ratings[vertex])
    total = 0.0
    for i in range(-1, board.empty_count):
        move = int64(PASS) if i < 0 else int64(board.empty_vertices[i])
        if worker.prior_counts[move] != NO_PRIOR:
            worker.ratings[move] = math.exp(worker.ratings[move] - best)
            total += worker.ratings[move]
    for i in range(-1, board.empty_count):
        move = int64(PASS) if i < 0 else int64(board.empty_vertices[i])
        if worker.prior_counts[move] != NO_PRIOR:
            worker.ratings[move] /= total
    value = read_float(numbers, VALUE)
    return value if board.turn == BLACK else -value


@entry_point(numba.float64(Worker))
def evaluate_root(worker: Worker) -> float:
    """Evaluate the root position, as `evaluate_network` does with the worker's board."""
    copy_board(worker.board, worker.root)
    compute_priors(worker, worker.board, 0)
    return evaluate_network(worker)
