"""Compiled training kernels of the Go network: outputs, gradients and transposed weights.

All kernels are in a single module, because the cache key of compiled code is the source of its
module.
"""

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from agent.go.network_format import (
    BLOCK_ROWS,
    CELL_MARGIN,
    CHANNELS,
    CONVOLUTION_ROWS,
    FEATURES,
    FEATURES_AT,
    HIDDEN_AT,
    INPUTS,
    LOGITS_AT,
    NUMBERS_AT,
    OWNERS_AT,
    PASS_LOGIT,
    POOLED,
    POOLS_AT,
    SCORE_SCALE,
    SMALL_SIZE,
    STEM_ROWS,
    VALUE,
)
from agent.go.network_layers import (
    convolve,
    convolve_points,
    float_at,
    forward,
    read_float,
    row_at,
    write_float,
)
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.float_rows import (
    ROW_BYTES,
    TILE,
    add_products,
    add_rows,
    add_scaled_row,
    dot_rows,
    mask_row,
    zero_row,
)
from agent.kernel.intrinsics import U64, Bits, int64


@kernel
def _add_convolution_gradients(
    gradients: Bits, source: Bits, slopes: Bits, channels: int, width: int, height: int
) -> None:
    row = width + 1
    cell_bytes = 4 * channels
    add_products(
        gradients,
        source,
        row_at(slopes, row + 1),
        3 * channels,
        3,
        row * cell_bytes,
        cell_bytes,
        height * row - 1,
    )


@kernel
def _vertex(point: int, width: int) -> int:
    """Return the vertex of a point. Points are numbered in rows, without the border."""
    return (point // width + 1) * (width + 1) + point % width + 1


@kernel
def _clear(plane: Bits, cells: int) -> None:
    for vertex in range(cells):
        row = row_at(plane, vertex)
        zero_row(row)


@kernel
def _mask(slopes: Bits, plane: Bits, width: int, height: int) -> None:
    """Set the gradients to 0 where the activation is 0, and outside the board."""
    step = width + 1
    for vertex in range(width + 2, (height + 1) * step + TILE):
        row = row_at(slopes, vertex)
        mask_row(row, row, row_at(plane, vertex))


@kernel
def _sum_rows(target: Bits, plane: Bits, width: int, height: int) -> None:
    zero_row(target)
    for y in range(1, height + 1):
        for x in range(1, width + 1):
            add_rows(target, target, row_at(plane, y * (width + 1) + x))


@kernel
def _pool_gradients(
    slopes: Bits, plane: Bits, pooled: Bits, of_pooled: Bits, width: int, height: int
) -> None:
    """Add the gradients of the mean, and those of the first maximum, to `slopes`."""
    share = 1.0 / (width * height)
    for y in range(1, height + 1):
        for x in range(1, width + 1):
            add_scaled_row(row_at(slopes, y * (width + 1) + x), of_pooled, share)
    for channel in range(CHANNELS):
        largest = read_float(pooled, CHANNELS + channel)
        slope = read_float(of_pooled, CHANNELS + channel)
        if largest <= 0:
            continue
        found = 0
        for y in range(1, height + 1):
            for x in range(1, width + 1):
                at = (y * (width + 1) + x) * CHANNELS + channel
                if not found and read_float(plane, at) == largest:
                    found = 1
                    write_float(slopes, at, read_float(slopes, at) + slope)


@kernel
def _dense_gradients(
    of_source: Bits, source: Bits, inputs: int, slopes: Bits, weights: Bits, gradients: Bits
) -> None:
    """Backpropagate a dense layer with its bias. `of_source` is overwritten."""
    for i in range(inputs):
        write_float(of_source, i, dot_rows(slopes, row_at(weights, i)))
        add_scaled_row(row_at(gradients, i), slopes, read_float(source, i))
    bias = row_at(gradients, inputs)
    add_rows(bias, bias, slopes)


@kernel
def _output_gradients(
    weights: Bits,
    gradients: Bits,
    head: Bits,
    slopes: Bits,
    buffer: Bits,
    spare: Bits,
    width: int,
    height: int,
    policy: Any,
    owners: Any,
    value: float,
    factors: Any,
    losses: Any,
) -> None:
    """Write the gradients of the head's plane into `slopes`, and add those of its weights."""
    numbers, features = float_at(buffer, NUMBERS_AT), float_at(buffer, FEATURES_AT)
    logits, owned = float_at(buffer, LOGITS_AT), float_at(buffer, OWNERS_AT)
    scalars, of_scalars = row_at(weights, 4), row_at(gradients, 4)
    points = width * height
    # Policy: cross-entropy over the candidates. A target of -1 marks other vertices.
    passed = read_float(numbers, PASS_LOGIT)
    best = passed
    for i in range(points):
        if policy[i] >= 0:
            vertex = _vertex(i, width)
            best = max(best, read_float(logits, vertex))
    total = math.exp(passed - best)
    for i in range(points):
        if policy[i] >= 0:
            vertex = _vertex(i, width)
            total += math.exp(read_float(logits, vertex) - best)
    log_total = math.log(total) + best
    of_pass = factors[0] * (math.exp(passed - log_total) - policy[points])
    losses[0] += policy[points] * (log_total - passed)
    top_target, top_output = policy[points], passed
    # Value.
    output = read_float(numbers, VALUE)
    error = output - value
    losses[1] += error * error
    of_value = 2 * factors[1] * error * (1 - output * output)
    score = read_float(features, POOLED)
    layer, of_layer = row_at(weights, 5), row_at(gradients, 5)
    hidden, of_hidden = float_at(buffer, HIDDEN_AT), spare
    of_features = row_at(spare, 1)
    last, of_last = row_at(layer, FEATURES + 1), row_at(of_layer, FEATURES + 1)
    add_scaled_row(of_last, hidden, of_value)
    write_float(of_scalars, 2, read_float(of_scalars, 2) + of_value)
    write_float(of_scalars, 3, read_float(of_scalars, 3) + of_value * score)
    zero_row(of_hidden)
    add_scaled_row(of_hidden, last, of_value)
    mask_row(of_hidden, of_hidden, hidden)
    _dense_gradients(of_features, features, FEATURES, of_hidden, layer, of_layer)
    of_score = read_float(of_features, POOLED) + of_value * read_float(scalars, 3)
    # Passing.
    for part in range(2):
        passing = row_at(weights, 2 + part)
        add_scaled_row(row_at(gradients, 2 + part), row_at(features, part), of_pass)
        add_scaled_row(row_at(of_features, part), passing, of_pass)
    write_float(of_scalars, 1, read_float(of_scalars, 1) + of_pass)
    # Vertices.
    of_bias = 0.0
    for i in range(points):
        vertex = _vertex(i, width)
        row, slope = row_at(head, vertex), row_at(slopes, vertex)
        zero_row(slope)
        if policy[i] >= 0:
            logit = read_float(logits, vertex)
            if policy[i] > top_target:
                top_target = policy[i]
            if logit > top_output:
                top_output = logit
            of_logit = factors[0] * (math.exp(logit - log_total) - policy[i])
            losses[0] += policy[i] * (log_total - logit)
            add_scaled_row(gradients, row, of_logit)
            add_scaled_row(slope, weights, of_logit)
        owner = read_float(owned, vertex)
        difference = owner - owners[i]
        losses[2] += difference * difference / points
        of_owner = 2 * factors[2] * difference / points + of_score / SCORE_SCALE
        of_owner *= 1 - owner * owner
        add_scaled_row(row_at(gradients, 1), row, of_owner)
        add_scaled_row(slope, row_at(weights, 1), of_owner)
        of_bias += of_owner
    write_float(of_scalars, 0, read_float(of_scalars, 0) + of_bias)
    # Was the move with the most visits predicted?
    predicted = policy[points] == top_target and passed == top_output
    for i in range(points):
        if policy[i] == top_target:
            vertex = _vertex(i, width)
            predicted |= read_float(logits, vertex) == top_output
    losses[3] += 1.0 if predicted else 0.0
    _pool_gradients(slopes, head, features, of_features, width, height)


_floats, _rows_type = numba.float32[::1], numba.float32[:, ::1]


@entry_point(numba.void(_floats, int64, _floats, _floats, int64, int64, numba.float64))
def evaluate(
    parameters: Any, blocks: int, buffer: Any, inputs: Any, width: int, height: int, komi: float
) -> None:
    """Evaluate inputs. `buffer` must be 0 outside the board."""
    at = len(buffer) - len(inputs)
    buffer[at:] = inputs
    forward(U64(parameters.ctypes.data), blocks, U64(buffer.ctypes.data), width, height, komi)


@entry_point(
    numba.void(
        _floats,
        _floats,
        int64,
        _floats,
        _floats,
        _floats,
        _rows_type,
        _rows_type,
        _rows_type,
        _rows_type,
        numba.float64[::1],
        int64,
        int64,
        numba.float64[::1],
    )
)
def add_gradients(
    parameters: Any,
    transposed: Any,
    blocks: int,
    gradients: Any,
    buffer: Any,
    slope_buffer: Any,
    inputs: Any,
    policies: Any,
    owners: Any,
    values: Any,
    factors: Any,
    width: int,
    height: int,
    losses: Any,
) -> None:
    """Add the gradients of a batch to `gradients`, and the losses to `losses`.

    `transposed` holds, for each block, the transposed weights of both convolutions, and at the end
    those of the head. `values` has two columns: the target, and the komi for the side to move. The
    losses are: moves, value, owners, and the number of best moves that were predicted.
    """
    cells = (height + 2) * (width + 1) + CELL_MARGIN
    address, slopes_address = U64(buffer.ctypes.data), U64(slope_buffer.ctypes.data)
    weights_address, of_weights_address = U64(parameters.ctypes.data), U64(gradients.ctypes.data)
    transposed_address = U64(transposed.ctypes.data)
    inputs_at = len(buffer) - cells * INPUTS
    spare = slopes_address
    slope_planes = float_at(slopes_address, 8 * CHANNELS)
    first_plane = float_at(address, SMALL_SIZE)
    for sample in range(len(inputs)):
        buffer[inputs_at:] = inputs[sample]
        forward(weights_address, blocks, address, width, height, float(values[sample, 1]))
        slopes, other = slope_planes, row_at(slope_planes, cells)
        place = STEM_ROWS + 1 + blocks * BLOCK_ROWS
        weights, of_weights = row_at(weights_address, place), row_at(of_weights_address, place)
        trunk = row_at(first_plane, 2 * blocks * cells)
        head = row_at(trunk, cells)
        outputs = CHANNELS + POOLED + 1
        _clear(other, cells)
        _output_gradients(
            row_at(weights, outputs),
            row_at(of_weights, outputs),
            head,
            other,
            address,
            spare,
            width,
            height,
            policies[sample],
            owners[sample],
            float(values[sample, 0]),
            factors,
            losses,
        )
        _mask(other, head, width, height)
        base, of_pooled = spare, row_at(spare, 1)
        _sum_rows(base, other, width, height)
        pooled = float_at(address, POOLS_AT + blocks * POOLED)
        _dense_gradients(
            of_pooled,
            pooled,
            POOLED,
            base,
            row_at(weights, CHANNELS),
            row_at(of_weights, CHANNELS),
        )
        start = width + 2
        add_products(
            of_weights,
            row_at(trunk, start),
            row_at(other, start),
            CHANNELS,
            1,
            0,
            ROW_BYTES,
            height * (width + 1) - 1,
        )
        _clear(slopes, cells)
        turned = row_at(transposed_address, 2 * blocks * CONVOLUTION_ROWS)
        convolve_points(slopes, other, turned, width, height)
        _pool_gradients(slopes, trunk, pooled, of_pooled, width, height)
        for i in range(blocks):
            block = blocks - 1 - i
            place = STEM_ROWS + 1 + block * BLOCK_ROWS
            weights, of_weights = row_at(weights_address, place), row_at(of_weights_address, place)
            before = row_at(first_plane, 2 * block * cells)
            hidden, after = row_at(before, cells), row_at(before, 2 * cells)
            second = CONVOLUTION_ROWS + 1
            turned = row_at(transposed_address, 2 * block * CONVOLUTION_ROWS)
            _mask(slopes, after, width, height)
            _sum_rows(base, slopes, width, height)
            pooled = float_at(address, POOLS_AT + block * POOLED)
            _dense_gradients(
                of_pooled,
                pooled,
                POOLED,
                base,
                row_at(weights, second + CONVOLUTION_ROWS),
                row_at(of_weights, second + CONVOLUTION_ROWS),
            )
            _add_convolution_gradients(
                row_at(of_weights, second), hidden, slopes, CHANNELS, width, height
            )
            _clear(other, cells)
            convolve(other, slopes, row_at(turned, CONVOLUTION_ROWS), CHANNELS, width, height)
            _pool_gradients(other, hidden, pooled, of_pooled, width, height)
            _mask(other, hidden, width, height)
            _add_convolution_gradients(of_weights, before, other, CHANNELS, width, height)
            _sum_rows(base, other, width, height)
            bias = row_at(of_weights, CONVOLUTION_ROWS)
            add_rows(bias, bias, base)
            convolve(slopes, other, turned, CHANNELS, width, height)
        _mask(slopes, first_plane, width, height)
        _add_convolution_gradients(
            of_weights_address, float_at(address, inputs_at), slopes, INPUTS, width, height
        )
        _sum_rows(base, slopes, width, height)
        bias = row_at(of_weights_address, STEM_ROWS)
        add_rows(bias, bias, base)


def transpose(parameters: npt.NDArray[np.float32], blocks: int) -> npt.NDArray[np.float32]:
    """Return the transposed weights that `add_gradients` needs."""
    parts = []
    for block in range(blocks):
        for number in range(2):
            place = STEM_ROWS + 1 + block * BLOCK_ROWS + number * (CONVOLUTION_ROWS + 1)
            rows = parameters[place * CHANNELS : (place + CONVOLUTION_ROWS) * CHANNELS]
            kernel = rows.reshape(3, 3, CHANNELS, CHANNELS)[::-1, ::-1].transpose(0, 1, 3, 2)
            parts.append(kernel.ravel())
    place = STEM_ROWS + 1 + blocks * BLOCK_ROWS
    rows = parameters[place * CHANNELS : (place + CHANNELS) * CHANNELS]
    parts.append(rows.reshape(CHANNELS, CHANNELS).T.ravel())
    return np.ascontiguousarray(np.concatenate(parts), np.float32)
