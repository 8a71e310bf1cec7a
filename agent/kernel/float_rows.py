"""Rows of ROW_LENGTH float32 numbers in compiled code, by address, with LLVM vectors.

Multiplications and additions are fused where the processor can do this.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from agent.kernel.intrinsics import Bits, Emitted, typed_intrinsic

ROW_LENGTH = 32
TILE = 6  # rows whose sums are kept in registers
STEP = 2  # inputs whose gradients are kept in registers
ROW_BYTES = 4 * ROW_LENGTH
_LANES = 8
_VECTORS = ROW_LENGTH // _LANES
_FLOAT, _I32, _I64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_LANE = ir.VectorType(_FLOAT, _LANES)
_ZEROS = ir.Constant(_LANE, [0.0] * _LANES)


def _bytes(n: int) -> Any:
    return ir.Constant(_I64, n)


def _load(builder: Any, address: Any, vector: int) -> Any:
    place = builder.add(address, _bytes(4 * _LANES * vector))
    value = builder.load(builder.inttoptr(place, _LANE.as_pointer()))
    value.align = 4
    return value


def _store(builder: Any, value: Any, address: Any, vector: int) -> None:
    place = builder.add(address, _bytes(4 * _LANES * vector))
    builder.store(value, builder.inttoptr(place, _LANE.as_pointer())).align = 4


def _broadcast(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(_LANE, ir.Undefined)
    first = builder.insert_element(undefined, value, _I32(0))
    everywhere = ir.Constant(ir.VectorType(_I32, _LANES), None)
    return builder.shuffle_vector(first, undefined, everywhere)


def _read_scalar(builder: Any, address: Any) -> Any:
    return builder.load(builder.inttoptr(address, _FLOAT.as_pointer()))


def _multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    kind = ir.FunctionType(_LANE, [_LANE] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{_LANES}f32")
    return builder.call(function, [a, b, c])


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _accumulation(tile: int, vectors: int) -> Emitted[None]:
    """Keep the sums of `tile` rows in registers, `vectors` vectors of each at a time."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, source, weights, span, rows, row_bytes, cell_bytes, tiles = arguments
        sums = [[cgutils.alloca_once(builder, _LANE) for _ in range(vectors)] for _ in range(tile)]
        with cgutils.for_range(builder, tiles) as tile_loop:
            first = builder.mul(tile_loop.index, _bytes(tile))
            start = builder.add(source, builder.mul(first, cell_bytes))
            for part in range(0, _VECTORS, vectors):
                offset = _bytes(4 * _LANES * part)
                out = builder.add(target, builder.mul(first, _bytes(ROW_BYTES)))
                out = builder.add(out, offset)
                for cell in range(tile):
                    for vector in range(vectors):
                        value = _load(builder, out, cell * _VECTORS + vector)
                        builder.store(value, sums[cell][vector])
                with cgutils.for_range(builder, rows) as row_loop:
                    row = builder.add(start, builder.mul(row_loop.index, row_bytes))
                    before = builder.mul(builder.mul(row_loop.index, span), _bytes(ROW_BYTES))
                    row_weights = builder.add(builder.add(weights, offset), before)
                    with cgutils.for_range(builder, span) as loop:
                        place = builder.add(row_weights, builder.mul(loop.index, _bytes(ROW_BYTES)))
                        factors = [_load(builder, place, vector) for vector in range(vectors)]
                        at = builder.add(row, builder.mul(loop.index, _bytes(4)))
                        for cell in range(tile):
                            value = _broadcast(builder, _read_scalar(builder, at))
                            for vector in range(vectors):
                                total = builder.load(sums[cell][vector])
                                total = _multiply_add(builder, value, factors[vector], total)
                                builder.store(total, sums[cell][vector])
                            at = builder.add(at, cell_bytes)
                for cell in range(tile):
                    for vector in range(vectors):
                        total = builder.load(sums[cell][vector])
                        _store(builder, total, out, cell * _VECTORS + vector)
        return context.get_dummy_value()

    return types.void(*[types.uint64] * 3, *[types.int64] * 5), codegen


@typed_intrinsic
def accumulate(
    typing_context: Any,
    target: Bits,
    source: Bits,
    weights: Bits,
    span: int,
    rows: int,
    row_bytes: int,
    cell_bytes: int,
    tiles: int,
) -> Emitted[None]:
    """Add products of numbers and weight rows to `TILE * tiles` rows at `target`.

    For each row, `span` contiguous numbers in each of `rows` rows count. `row_bytes` is the
    distance of these rows, and `cell_bytes` that of the numbers for the next row.
    """
    return _accumulation(TILE, _VECTORS // 2)


@typed_intrinsic
def accumulate_row(
    typing_context: Any,
    target: Bits,
    source: Bits,
    weights: Bits,
    span: int,
    rows: int,
    row_bytes: int,
    cell_bytes: int,
    tiles: int,
) -> Emitted[None]:
    """Do the same as `accumulate`, with one row at a time."""
    return _accumulation(1, _VECTORS)


def _row_operation(sources: int, operation: Any) -> Emitted[None]:
    """Set a row to the result of an operation on a number of other rows."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, *rows = arguments
        for vector in range(_VECTORS):
            value = operation(builder, *(_load(builder, row, vector) for row in rows))
            _store(builder, value, target, vector)
        return context.get_dummy_value()

    return types.void(*[types.uint64] * (1 + sources)), codegen


@typed_intrinsic
def add_rows(typing_context: Any, target: Bits, a: Bits, b: Bits) -> Emitted[None]:
    """Set a row to `a + b`."""
    return _row_operation(2, lambda builder, a, b: builder.fadd(a, b))


@typed_intrinsic
def max_rows(typing_context: Any, target: Bits, a: Bits, b: Bits) -> Emitted[None]:
    """Set a row to the maximum of `a` and `b`."""
    return _row_operation(2, _larger)


@typed_intrinsic
def relu_row(typing_context: Any, target: Bits, a: Bits) -> Emitted[None]:
    """Set a row to `max(a, 0)`."""
    return _row_operation(1, lambda builder, a: _larger(builder, a, _ZEROS))


@typed_intrinsic
def copy_row(typing_context: Any, target: Bits, a: Bits) -> Emitted[None]:
    """Set a row to `a`."""
    return _row_operation(1, lambda builder, a: a)


@typed_intrinsic
def zero_row(typing_context: Any, target: Bits) -> Emitted[None]:
    """Set a row to 0."""
    return _row_operation(0, lambda builder: _ZEROS)


@typed_intrinsic
def mask_row(typing_context: Any, target: Bits, a: Bits, b: Bits) -> Emitted[None]:
    """Set a row to `a` where `b` is positive, else to 0."""
    return _row_operation(
        2, lambda builder, a, b: builder.select(builder.fcmp_ordered(">", b, _ZEROS), a, _ZEROS)
    )


@typed_intrinsic
def add_scaled_row(typing_context: Any, target: Bits, a: Bits, factor: float) -> Emitted[None]:
    """Add `factor * a` to a row."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, source, factor = arguments
        narrow = _broadcast(builder, builder.fptrunc(factor, _FLOAT))
        for vector in range(_VECTORS):
            total = _load(builder, target, vector)
            total = _multiply_add(builder, narrow, _load(builder, source, vector), total)
            _store(builder, total, target, vector)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.float64), codegen


@typed_intrinsic
def dot_rows(typing_context: Any, a: Bits, b: Bits) -> Emitted[float]:
    """Return the scalar product of two rows."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second = arguments
        total = _ZEROS
        for vector in range(_VECTORS):
            total = _multiply_add(
                builder, _load(builder, first, vector), _load(builder, second, vector), total
            )
        parts = [builder.extract_element(total, _I32(lane)) for lane in range(_LANES)]
        while len(parts) > 1:
            parts = [builder.fadd(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return builder.fpext(parts[0], ir.DoubleType())

    return types.float64(types.uint64, types.uint64), codegen


@typed_intrinsic
def add_products(
    typing_context: Any,
    gradients: Bits,
    source: Bits,
    slopes: Bits,
    span: int,
    rows: int,
    row_bytes: int,
    cell_bytes: int,
    cells: int,
) -> Emitted[None]:
    """Add the gradients of the weights of `accumulate`. `slopes` are those of its rows."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        gradients, source, slopes, span, rows, row_bytes, cell_bytes, cells = arguments
        sums = [[cgutils.alloca_once(builder, _LANE) for _ in range(_VECTORS)] for _ in range(STEP)]
        with cgutils.for_range(builder, rows) as row_loop:
            row = builder.add(source, builder.mul(row_loop.index, row_bytes))
            row_gradients = builder.add(
                gradients, builder.mul(builder.mul(row_loop.index, span), _bytes(ROW_BYTES))
            )
            with cgutils.for_range(builder, builder.udiv(span, _bytes(STEP))) as loop:
                first = builder.mul(loop.index, _bytes(STEP))
                out = builder.add(row_gradients, builder.mul(first, _bytes(ROW_BYTES)))
                start = builder.add(row, builder.mul(first, _bytes(4)))
                for step in range(STEP):
                    for vector in range(_VECTORS):
                        value = _load(builder, out, step * _VECTORS + vector)
                        builder.store(value, sums[step][vector])
                with cgutils.for_range(builder, cells) as cell_loop:
                    at = builder.add(start, builder.mul(cell_loop.index, cell_bytes))
                    place = builder.add(slopes, builder.mul(cell_loop.index, _bytes(ROW_BYTES)))
                    factors = [_load(builder, place, vector) for vector in range(_VECTORS)]
                    for step in range(STEP):
                        number = _read_scalar(builder, builder.add(at, _bytes(4 * step)))
                        value = _broadcast(builder, number)
                        for vector in range(_VECTORS):
                            total = builder.load(sums[step][vector])
                            total = _multiply_add(builder, value, factors[vector], total)
                            builder.store(total, sums[step][vector])
                for step in range(STEP):
                    for vector in range(_VECTORS):
                        total = builder.load(sums[step][vector])
                        _store(builder, total, out, step * _VECTORS + vector)
        return context.get_dummy_value()

    return types.void(*[types.uint64] * 3, *[types.int64] * 5), codegen
