"""The layers of the Go network, compiled, with LLVM vectors.

A plane holds CHANNELS numbers for each vertex of a board with its border, in the order of the
vertices, so that the neighbours of a row of vertices are contiguous. The numbers of the border are
0. Parameters and activations are float32, and are given by address.

The network: a 3x3 convolution of the inputs, then blocks `y = relu(x + conv(h) + dense(pool(h)))`
with `h = relu(conv(x))`, then a 1x1 convolution from which the outputs are computed. `pool` is the
mean and the maximum of each channel over the board, so that the network takes every board size.
"""

import math

from agent.go.network_format import (
    BASE_AT,
    CELL_MARGIN,
    CHANNELS,
    CONVOLUTION_ROWS,
    FEATURES,
    FEATURES_AT,
    HIDDEN_AT,
    INPUTS,
    KOMI_SCALE,
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
from agent.kernel.atomic_columns import FLOAT32, reader, writer
from agent.kernel.decorators import kernel
from agent.kernel.float_rows import (
    ROW_BYTES,
    TILE,
    accumulate,
    accumulate_row,
    add_rows,
    add_scaled_row,
    copy_row,
    dot_rows,
    max_rows,
    relu_row,
    zero_row,
)
from agent.kernel.intrinsics import U64, Bits

read_float, write_float = reader(FLOAT32), writer(FLOAT32)


@kernel
def row_at(plane: Bits, vertex: int) -> Bits:
    return plane + U64(vertex * ROW_BYTES)


@kernel
def convolve(
    target: Bits, source: Bits, weights: Bits, channels: int, width: int, height: int
) -> None:
    """Add a 3x3 convolution of `source`, which has `channels` channels, to the plane `target`."""
    row = width + 1
    first, cell_bytes = row + 1, 4 * channels
    tiles = (height * row - 1 + TILE - 1) // TILE
    start = source + U64((first - row - 1) * cell_bytes)
    accumulate(
        row_at(target, first), start, weights, 3 * channels, 3, row * cell_bytes, cell_bytes, tiles
    )


@kernel
def convolve_points(target: Bits, source: Bits, weights: Bits, width: int, height: int) -> None:
    """Add a 1x1 convolution of the plane `source` to the plane `target`."""
    first = width + 2
    tiles = (height * (width + 1) - 1 + TILE - 1) // TILE
    accumulate(
        row_at(target, first), row_at(source, first), weights, CHANNELS, 1, 0, ROW_BYTES, tiles
    )


@kernel
def fill(target: Bits, plane: Bits, row: Bits, width: int, height: int) -> None:
    """Set the rows of the board to those of `plane`, if not 0, plus `row`."""
    for vertex in range(width + 2, (height + 1) * (width + 1) + TILE):
        if plane:
            add_rows(row_at(target, vertex), row_at(plane, vertex), row)
        else:
            copy_row(row_at(target, vertex), row)


@kernel
def clean(target: Bits, width: int, height: int) -> None:
    """Apply relu to the rows of the board, and set the others to 0."""
    step = width + 1
    for vertex in range(width + 2, (height + 1) * step + TILE):
        row = row_at(target, vertex)
        if vertex % step and vertex < (height + 1) * step:
            relu_row(row, row)
        else:
            zero_row(row)


@kernel
def pool(target: Bits, plane: Bits, width: int, height: int) -> None:
    """Write the mean and the maximum of each channel. The numbers must not be negative."""
    means, maxima = target, target + U64(ROW_BYTES)
    zero_row(means)
    zero_row(maxima)
    share = 1.0 / (width * height)
    for y in range(1, height + 1):
        for x in range(1, width + 1):
            row = row_at(plane, y * (width + 1) + x)
            add_scaled_row(means, row, share)
            max_rows(maxima, maxima, row)


@kernel
def float_at(base: Bits, index: int) -> Bits:
    """Return the address of a number."""
    return base + U64(4 * index)


@kernel
def dense(target: Bits, source: Bits, inputs: int, weights: Bits) -> None:
    """Set a row to the bias, which follows the `inputs` rows of weights, plus the products."""
    copy_row(target, row_at(weights, inputs))
    accumulate_row(target, source, weights, inputs, 1, 0, 0, 1)


@kernel
def forward(
    parameters: Bits, blocks: int, buffer: Bits, width: int, height: int, komi: float
) -> None:
    """Evaluate the inputs in `buffer`, and write all activations and outputs there.

    `komi` is the number of points that the opponent of the side to move has beside the area.
    """
    cells = (height + 2) * (width + 1) + CELL_MARGIN
    trunk, base = float_at(buffer, SMALL_SIZE), float_at(buffer, BASE_AT)
    weights, nothing = parameters, U64(0)
    fill(trunk, nothing, row_at(weights, STEM_ROWS), width, height)
    inputs = row_at(trunk, (2 * blocks + 2) * cells)
    convolve(trunk, inputs, weights, INPUTS, width, height)
    clean(trunk, width, height)
    weights = row_at(weights, STEM_ROWS + 1)
    for block in range(blocks):
        hidden, after = row_at(trunk, cells), row_at(trunk, 2 * cells)
        fill(hidden, nothing, row_at(weights, CONVOLUTION_ROWS), width, height)
        convolve(hidden, trunk, weights, CHANNELS, width, height)
        clean(hidden, width, height)
        weights = row_at(weights, CONVOLUTION_ROWS + 1)
        pooled = float_at(buffer, POOLS_AT + block * POOLED)
        pool(pooled, hidden, width, height)
        dense(base, pooled, POOLED, row_at(weights, CONVOLUTION_ROWS))
        fill(after, trunk, base, width, height)
        convolve(after, hidden, weights, CHANNELS, width, height)
        clean(after, width, height)
        weights = row_at(weights, CONVOLUTION_ROWS + POOLED + 1)
        trunk = after
    head = row_at(trunk, cells)
    pooled = float_at(buffer, POOLS_AT + blocks * POOLED)
    pool(pooled, trunk, width, height)
    dense(base, pooled, POOLED, row_at(weights, CHANNELS))
    fill(head, nothing, base, width, height)
    convolve_points(head, trunk, weights, width, height)
    clean(head, width, height)
    _compute_outputs(row_at(weights, CHANNELS + POOLED + 1), head, buffer, width, height, komi)


@kernel
def _compute_outputs(
    weights: Bits, head: Bits, buffer: Bits, width: int, height: int, komi: float
) -> None:
    # The rows are: moves, owners, passing (2), then four single numbers (biases of owners, passing
    # and value, weight of the score in the value), then the two layers of the value.
    numbers, features = float_at(buffer, NUMBERS_AT), float_at(buffer, FEATURES_AT)
    logits, owners = float_at(buffer, LOGITS_AT), float_at(buffer, OWNERS_AT)
    passing, scalars = row_at(weights, 2), row_at(weights, 4)
    total = 0.0
    for y in range(1, height + 1):
        for x in range(1, width + 1):
            vertex = y * (width + 1) + x
            row = row_at(head, vertex)
            write_float(logits, vertex, dot_rows(row, weights))
            owner = math.tanh(dot_rows(row, row_at(weights, 1)) + read_float(scalars, 0))
            write_float(owners, vertex, owner)
            total += owner
    pool(features, head, width, height)
    score = (total - komi) / SCORE_SCALE
    write_float(features, POOLED, score)
    write_float(features, POOLED + 1, komi / KOMI_SCALE)
    passed = dot_rows(features, passing) + dot_rows(row_at(features, 1), row_at(passing, 1))
    write_float(numbers, PASS_LOGIT, passed + read_float(scalars, 1))
    hidden, layer = float_at(buffer, HIDDEN_AT), row_at(weights, 5)
    dense(hidden, features, FEATURES, layer)
    relu_row(hidden, hidden)
    value = dot_rows(hidden, row_at(layer, FEATURES + 1))
    value += read_float(scalars, 2) + score * read_float(scalars, 3)
    write_float(numbers, VALUE, math.tanh(value))
