"""Compiled training kernels for network outputs, gradients and optimizer steps.

Parameters, gradients and Adam moments are float32 rows with the layout of `NetworkShape`. Neurons
are processed in tiles of LLVM vectors. The order of summation is fixed, and multiplications and
additions are not fused.

All kernels are in a single module, because the cache key of compiled code is the source of its
module.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils

from agent.chess.board.packed_position import (
    BLACK_PIECE,
    BLACK_TO_MOVE,
    CASTLING_ROOK,
    PackedPosition,
)
from agent.chess.board.packing import packed_type
from agent.chess.board.records import KING, ROOK
from agent.chess.evaluation.nnue_features import (
    board_half,
    feature_index,
    output_bucket,
)
from agent.chess.evaluation.nnue_format import (
    ALIGNMENT,
    INPUTS,
    MAX_PIECES,
    NEURON_SCALE,
    SCORE_SCALE,
    WEIGHT_SCALE,
    aligned_zeros,
)
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, Bits, Emitted, count, first_square, int64, typed_intrinsic
from agent.kernel.record import FixedArray
from kempelen.training.network_settings import Target

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
Packed = Any  # array of PackedPosition; in kernels a FixedArray

TILE = 32  # neurons; the length of a row is a multiple of TILE
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # Adam's beta1, beta2 and epsilon

_FOUR_BITS = U64(15)
_FLOAT_BYTES = 4
_LANES = 16
_VECTORS = TILE // _LANES  # vectors per tile
_FLOAT, _I32, _I64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_LANE = ir.VectorType(_FLOAT, _LANES)
_ZEROS, _ONES = (ir.Constant(_LANE, [value] * _LANES) for value in (0.0, 1.0))
_address, _index, _float = types.uint64, types.int64, types.float32
_positions = types.Array(packed_type, 1, "C", readonly=True)
_row, _rows = numba.float32[::1], numba.float32[:, ::1]
_number = numba.float64


@dataclass(frozen=True)
class NetworkShape:
    """The size of a network, and the layout of its parameters.

    The order is input rows, biases, output weights, output biases. `neurons` is the number of
    neurons per perspective (side to move and opponent). `buckets` is the number of outputs.
    """

    neurons: int
    buckets: int

    @property
    def biases_start(self) -> int:
        return INPUTS * self.neurons

    @property
    def outputs_start(self) -> int:
        return self.biases_start + self.neurons

    @property
    def output_biases_start(self) -> int:
        return self.outputs_start + 2 * self.neurons * self.buckets

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.output_biases_start + self.buckets

    @property
    def file_scales(self) -> tuple[tuple[int, int, int], ...]:
        """For each section, its start, its end, and the integer for 1.0 in a network file."""
        return (
            (0, self.outputs_start, NEURON_SCALE),
            (self.outputs_start, self.output_biases_start, WEIGHT_SCALE),
            (self.output_biases_start, self.size, NEURON_SCALE * WEIGHT_SCALE),
        )

    @property
    def padded_size(self) -> int:
        """The length of a row, including the padding that aligns the next row."""
        return -(-self.size // TILE) * TILE


@typed_intrinsic
def sum_rows(
    typing_context: Any,
    own: Bits,
    other: Bits,
    table: Bits,
    start: Bits,
    places: Bits,
    rows: int,
    neurons: int,
) -> Emitted[None]:
    """Add a position's input rows to the biases at `start`. Store the sums in `own` and `other`.

    The arguments are addresses. `places` is an int64 array of shape (2, MAX_PIECES) with byte
    offsets into the input rows at `table`. Each perspective uses its first `rows` offsets.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own, other, table, start, places, rows, neurons = arguments
        for tile in _tiles(builder, neurons):
            sums = [
                [cgutils.alloca_once(builder, _LANE) for _ in range(_VECTORS)] for _ in range(2)
            ]
            for view in sums:
                for vector, total in enumerate(view):
                    builder.store(_load(builder, start, tile, vector), total)
            with cgutils.for_range(builder, rows) as loop:
                for number, view in enumerate(sums):
                    row = builder.add(table, _place(builder, places, number, loop.index))
                    for vector, total in enumerate(view):
                        value = _load(builder, row, tile, vector)
                        builder.store(builder.fadd(builder.load(total), value), total)
            for target, view in ((own, sums[0]), (other, sums[1])):
                for vector, total in enumerate(view):
                    _store(builder, builder.load(total), target, tile, vector)
        return context.get_dummy_value()

    arguments = *[_address] * 5, _index, _index
    return types.void(*arguments), codegen


@typed_intrinsic
def activate(
    typing_context: Any, own: Bits, other: Bits, weights: Bits, neurons: int
) -> Emitted[float]:
    """Return the sum of clip(neuron, 0, 1) ** 2 * weight over the neurons of both perspectives.

    `weights` holds the weights for `own`, followed by the weights for `other`.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own, other, weights, neurons = arguments
        second = builder.add(weights, _bytes(builder, neurons))
        chains = [cgutils.alloca_once(builder, _LANE) for _ in range(2 * _VECTORS)]
        for chain in chains:
            builder.store(_ZEROS, chain)
        for tile in _tiles(builder, neurons):
            for view, (row, factors) in enumerate(((own, weights), (other, second))):
                for vector in range(_VECTORS):
                    value = _clip(builder, _load(builder, row, tile, vector))
                    factor = _load(builder, factors, tile, vector)
                    product = builder.fmul(builder.fmul(value, value), factor)
                    chain = chains[view * _VECTORS + vector]
                    builder.store(builder.fadd(builder.load(chain), product), chain)
        total = builder.load(chains[0])
        for chain in chains[1:]:
            total = builder.fadd(total, builder.load(chain))
        return _sum_of_lanes(builder, total)

    return _float(_address, _address, _address, _index), codegen


@typed_intrinsic
def add_to_rows(
    typing_context: Any,
    own: Bits,
    other: Bits,
    weights: Bits,
    output: float,
    weight_gradients: Bits,
    start_gradients: Bits,
    table_gradients: Bits,
    places: Bits,
    rows: int,
    neurons: int,
) -> Emitted[None]:
    """Backpropagate through `activate` and `sum_rows`, and add the result to the gradients.

    `output` is the gradient of the loss with respect to the output of `activate`.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own, other, weights, output, of_weights, of_start, of_table, places, rows, neurons = (
            arguments
        )
        size = _bytes(builder, neurons)
        second, of_second = builder.add(weights, size), builder.add(of_weights, size)
        scale = _broadcast(builder, output)
        views = (own, weights, of_weights), (other, second, of_second)
        for tile in _tiles(builder, neurons):
            changes = []
            for row, factors, of_factors in views:
                for vector in range(_VECTORS):
                    neuron = _load(builder, row, tile, vector)
                    value = _clip(builder, neuron)
                    scaled = builder.fmul(value, scale)
                    gradient = builder.fmul(scaled, value)
                    _add(builder, gradient, of_factors, tile, vector)
                    slope = builder.fmul(
                        builder.fadd(scaled, scaled), _load(builder, factors, tile, vector)
                    )
                    inside = builder.and_(
                        builder.fcmp_ordered(">", neuron, _ZEROS),
                        builder.fcmp_ordered("<", neuron, _ONES),
                    )
                    changes.append(builder.select(inside, slope, _ZEROS))
            for vector in range(_VECTORS):
                both = builder.fadd(changes[vector], changes[_VECTORS + vector])
                _add(builder, both, of_start, tile, vector)
            with cgutils.for_range(builder, rows) as loop:
                for number in range(2):
                    row = builder.add(of_table, _place(builder, places, number, loop.index))
                    for vector in range(_VECTORS):
                        _add(builder, changes[number * _VECTORS + vector], row, tile, vector)
        return context.get_dummy_value()

    arguments = *[_address] * 3, _float, *[_address] * 4, _index, _index
    return types.void(*arguments), codegen


def _tiles(builder: Any, neurons: Any) -> Iterator[Any]:
    with cgutils.for_range(builder, builder.udiv(neurons, _I64(TILE))) as loop:
        yield builder.mul(loop.index, _I64(TILE * 4))


def _bytes(builder: Any, neurons: Any) -> Any:
    return builder.mul(neurons, _I64(4))


def _place(builder: Any, places: Any, view: int, index: Any) -> Any:
    pointer = builder.inttoptr(places, _I64.as_pointer())
    return builder.load(builder.gep(pointer, [builder.add(index, _I64(view * MAX_PIECES))]))


def _pointer(builder: Any, row: Any, tile: Any, vector: int) -> Any:
    address = builder.add(builder.add(row, tile), _I64(vector * _LANES * 4))
    return builder.inttoptr(address, _LANE.as_pointer())


def _load(builder: Any, row: Any, tile: Any, vector: int) -> Any:
    value = builder.load(_pointer(builder, row, tile, vector))
    value.align = ALIGNMENT
    return value


def _store(builder: Any, value: Any, row: Any, tile: Any, vector: int) -> None:
    builder.store(value, _pointer(builder, row, tile, vector)).align = ALIGNMENT


def _add(builder: Any, value: Any, row: Any, tile: Any, vector: int) -> None:
    _store(builder, builder.fadd(_load(builder, row, tile, vector), value), row, tile, vector)


def _clip(builder: Any, value: Any) -> Any:
    above = builder.select(builder.fcmp_ordered(">", value, _ZEROS), value, _ZEROS)
    return builder.select(builder.fcmp_ordered("<", above, _ONES), above, _ONES)


def _broadcast(builder: Any, value: Any) -> Any:
    first = builder.insert_element(ir.Constant(_LANE, ir.Undefined), value, _I32(0))
    everywhere = ir.Constant(ir.VectorType(_I32, _LANES), None)
    return builder.shuffle_vector(first, ir.Constant(_LANE, ir.Undefined), everywhere)


def _sum_of_lanes(builder: Any, vector: Any) -> Any:
    lanes = _LANES
    while lanes > 1:
        lanes //= 2
        undefined = ir.Constant(vector.type, ir.Undefined)
        low, high = (
            builder.shuffle_vector(
                vector,
                undefined,
                ir.Constant(ir.VectorType(_I32, lanes), list(range(first, first + lanes))),
            )
            for first in (0, lanes)
        )
        vector = builder.fadd(low, high)
    return builder.extract_element(vector, _I32(0))


_board_half = kernel(board_half)
_feature_index = kernel(feature_index)
_output_bucket = kernel(output_bucket)


@kernel
def _find_places(position: PackedPosition, places: Integers, row: int) -> int:
    # The perspective of the side to move comes first.
    turned = 1 if position.state >= BLACK_TO_MOVE else 0
    rows = count(position.occupied)
    white_half, black_half = 0, 0
    occupied = position.occupied
    for number in range(rows):
        square = first_square(occupied)
        piece = int64(position.pieces[number >> 4] >> U64(4 * (number & 15)) & _FOUR_BITS)
        if piece & 7 == KING:
            if piece == KING:
                white_half = _board_half(square)
            else:
                black_half = _board_half(square)
        occupied &= occupied - U64(1)
    occupied = position.occupied
    for number in range(rows):
        square = first_square(occupied)
        piece = int64(position.pieces[number >> 4] >> U64(4 * (number & 15)) & _FOUR_BITS)
        kind = piece & 7
        if kind == CASTLING_ROOK:
            kind = ROOK
        side = 1 if piece >= BLACK_PIECE else 0
        places[turned, number] = _feature_index(0, white_half, side, kind, square) * row
        places[1 - turned, number] = _feature_index(1, black_half, side, kind, square) * row
        occupied &= occupied - U64(1)
    return rows


@kernel
def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))


@entry_point(numba.void(_positions, int64[:, :, ::1], int64[::1]))
def _find_inputs(positions: FixedArray[PackedPosition], found: Integers, counts: Integers) -> None:
    for i in range(len(positions)):
        counts[i] = _find_places(positions[i], found[i], 1)


@entry_point(numba.void(_positions, _row, int64, int64, int64[:, ::1], _rows, _row))
def _evaluate(
    positions: FixedArray[PackedPosition],
    parameters: Floats,
    neurons: int,
    buckets: int,
    places: Integers,
    views: Floats,
    outputs: Floats,
) -> None:
    row = neurons * _FLOAT_BYTES
    table = U64(parameters.ctypes.data)
    start = table + U64(INPUTS * row)
    weights = start + U64(row)
    bias = INPUTS * neurons + neurons + 2 * neurons * buckets
    at, own = U64(places.ctypes.data), U64(views.ctypes.data)
    other = own + U64(row)
    for i in range(len(positions)):
        rows = _find_places(positions[i], places, row)
        bucket = _output_bucket(rows, buckets)
        sum_rows(own, other, table, start, at, rows, neurons)
        total = activate(own, other, weights + U64(2 * row * bucket), neurons)
        outputs[i] = total + parameters[bias + bucket]


@entry_point(
    _number(
        *(_positions, _row, _row, int64, int64, int64[:, ::1], _rows), *(_number, _number, _number)
    )
)
def _add_gradients(
    positions: FixedArray[PackedPosition],
    parameters: Floats,
    gradients: Floats,
    neurons: int,
    buckets: int,
    places: Integers,
    views: Floats,
    result_share: float,
    scale: float,
    weight: float,
) -> float:
    row = neurons * _FLOAT_BYTES
    table, of_table = U64(parameters.ctypes.data), U64(gradients.ctypes.data)
    start, of_start = table + U64(INPUTS * row), of_table + U64(INPUTS * row)
    weights, of_weights = start + U64(row), of_start + U64(row)
    bias = INPUTS * neurons + neurons + 2 * neurons * buckets
    at, own = U64(places.ctypes.data), U64(views.ctypes.data)
    other = own + U64(row)
    loss, steepness = 0.0, SCORE_SCALE / scale
    for i in range(len(positions)):
        position = positions[i]
        rows = _find_places(position, places, row)
        bucket = _output_bucket(rows, buckets)
        chosen = U64(2 * row * bucket)
        sum_rows(own, other, table, start, at, rows, neurons)
        total = activate(own, other, weights + chosen, neurons)
        expected = _sigmoid(steepness * (total + parameters[bias + bucket]))
        searched = _sigmoid(position.score / scale)
        target = result_share * 0.5 * (position.result + 1) + (1.0 - result_share) * searched
        error = expected - target
        loss += error * error
        gradient = _float(2.0 * weight * steepness * error * expected * (1.0 - expected))
        gradients[bias + bucket] += gradient
        add_to_rows(
            *(own, other, weights + chosen, gradient, of_weights + chosen, of_start, of_table),
            *(at, rows, neurons),
        )
    return loss


@entry_point(numba.void(_row, _row, _row, _rows, int64, int64, int64, *[_number] * 3))
def _step(
    parameters: Floats,
    means: Floats,
    squares: Floats,
    gradients: Floats,
    begin: int,
    end: int,
    number: int,
    rate: float,
    decay: float,
    limit: float,
) -> None:
    total = gradients[0, begin:end]
    for i in range(1, len(gradients)):
        part = gradients[i, begin:end]
        for j in range(end - begin):
            total[j] += part[j]
        part[:] = _float(0.0)
    one, fade, fade_square = _float(1.0), _float(BETA1), _float(BETA2)
    kept = _float(1.0 - rate * decay)
    size = _float(rate / (1.0 - BETA1**number))
    correction = _float(1.0 / (1.0 - BETA2**number))
    least, top = _float(EPSILON), _float(limit)
    value, mean, square = parameters[begin:end], means[begin:end], squares[begin:end]
    for j in range(end - begin):
        gradient = total[j]
        mean[j] = fade * mean[j] + (one - fade) * gradient
        square[j] = fade_square * square[j] + (one - fade_square) * gradient * gradient
        root = np.sqrt(square[j] * correction) + least
        value[j] = min(max(value[j] * kept - size * mean[j] / root, -top), top)
    total[:] = _float(0.0)


@entry_point(numba.void(_row, _row, int64, int64, _number))
def _round(parameters: Floats, rounded: Floats, begin: int, end: int, one: float) -> None:
    value, target = parameters[begin:end], rounded[begin:end]
    for j in range(end - begin):
        target[j] = np.rint(value[j] * one) / one


class GradientWorker:
    """Evaluates positions and computes gradients in a single thread."""

    def __init__(self, shape: NetworkShape) -> None:
        self._shape = shape
        self._places = np.zeros((2, MAX_PIECES), np.int64)
        self._views = aligned_rows(2, shape.neurons)

    def evaluate(self, positions: Packed, parameters: Floats, outputs: Floats) -> None:
        """Store the network's outputs for the positions, for the side to move, in `outputs`."""
        _evaluate(
            *(positions, parameters, self._shape.neurons, self._shape.buckets),
            *(self._places, self._views, outputs),
        )

    def add_gradients(
        self,
        positions: Packed,
        parameters: Floats,
        gradients: Floats,
        target: Target,
        weight: float,
    ) -> float:
        """Add the gradients of the squared errors, and return the sum of the squared errors.

        `weight` scales the gradients, but not the returned sum.
        """
        loss: float = _add_gradients(
            *(positions, parameters, gradients, self._shape.neurons, self._shape.buckets),
            *(self._places, self._views, float(target.result_share), float(target.scale), weight),
        )
        return loss


@dataclass(frozen=True)
class Optimizer:
    """The AdamW optimizer (Loshchilov and Hutter, 'Decoupled weight decay regularization', 2019).

    `limit` is the maximum absolute value of a parameter. `rounded` holds the parameters rounded as
    in a network file.
    """

    shape: NetworkShape
    parameters: Floats
    rounded: Floats
    means: Floats
    squares: Floats
    decay: float
    limit: float

    def step(self, gradients: Floats, number: int, rate: float, begin: int, end: int) -> None:
        """Update the parameters with indices from `begin` to `end`, excluding `end`.

        `gradients` has the shape (slices, shape.padded_size). The slices are summed in order and
        then set to zero. `number` is the number of the step, from 1.
        """
        _step(
            *(self.parameters, self.means, self.squares, gradients, begin, end, number, rate),
            *(self.decay, self.limit),
        )
        self.round(begin, end)

    def round(self, begin: int, end: int) -> None:
        """Round the parameters with indices from `begin` to `end`, excluding `end`."""
        for first, last, one in self.shape.file_scales:
            if max(begin, first) < min(end, last):
                low, high = max(begin, first), min(end, last)
                _round(self.parameters, self.rounded, low, high, float(one))


def aligned_rows(rows: int, size: int) -> Floats:
    """Return an array of zeros. Its rows are aligned if `size` is a multiple of TILE."""
    return aligned_zeros(np.dtype(np.float32), rows * size).reshape(rows, size)


def input_indices(positions: Packed) -> tuple[Integers, Integers]:
    """Return the active inputs of each position, and their number per perspective.

    The first array has the shape (positions, 2, MAX_PIECES), is padded with zeros, and has the side
    to move first. The second array has the shape (positions,).
    """
    found = np.zeros((len(positions), 2, MAX_PIECES), np.int64)
    counts = np.zeros(len(positions), np.int64)
    _find_inputs(positions, found, counts)
    return found, counts
