"""SIMD operations on rows of int16, by LLVM vectors.

Rows are aligned to 64 bytes, and their length is a multiple of ROW_STEP. Sums are modulo 2 ** 16. A
plain loop would be ten times slower, because source and target might overlap.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from agent.kernel.intrinsics import Bits, Emitted, typed_intrinsic

ROW_STEP = 32  # numbers

_LANES = 16
_LOAD_ALIGNMENT = 32  # bytes per vector
_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_SHORTS, _WORDS = ir.VectorType(_I16, _LANES), ir.VectorType(_I32, _LANES)
_SUMS, _WIDE = (ir.VectorType(kind, _LANES // 2) for kind in (_I32, _I64))


@dataclass(frozen=True)
class RowOperations:
    """Compiled functions for rows of one size. Rows are passed by address.

    - `copy(target, source)` sets `target` to `source`.
    - `add(target, source, row)` sets `target` to `source + row`.
    - `remove(target, source, row)` sets `target` to `source - row`.
    - `move(target, source, added, removed)` sets `target` to `source + added - removed`.
    - `take(target, source, added, removed, captured)` also subtracts `captured`.
    - `activate(row, weights)` returns the sum of `clip(row, 0, clip_max) ** 2 * weights`. The
      products `clip(row, 0, clip_max) * weights` must fit into 16 bits.

    `target` may equal `source`.
    """

    copy: Callable[[Bits, Bits], None]
    add: Callable[[Bits, Bits, Bits], None]
    remove: Callable[[Bits, Bits, Bits], None]
    move: Callable[[Bits, Bits, Bits, Bits], None]
    take: Callable[[Bits, Bits, Bits, Bits, Bits], None]
    activate: Callable[[Bits, Bits], int]


def make_row_operations(size: int, clip_max: int) -> RowOperations:
    """Return functions for rows of `size` numbers with activations clipped to `clip_max`.

    Raise `ValueError` if `size` is not a multiple of ROW_STEP.
    """
    if size % ROW_STEP:
        raise ValueError(f"invalid row size {size} (must be a multiple of {ROW_STEP})")

    @typed_intrinsic
    def copy(typing_context: Any, target: Bits, source: Bits) -> Emitted[None]:
        return _sum(size, "")

    @typed_intrinsic
    def add(typing_context: Any, target: Bits, source: Bits, row: Bits) -> Emitted[None]:
        return _sum(size, "+")

    @typed_intrinsic
    def remove(typing_context: Any, target: Bits, source: Bits, row: Bits) -> Emitted[None]:
        return _sum(size, "-")

    @typed_intrinsic
    def move(
        typing_context: Any, target: Bits, source: Bits, added: Bits, removed: Bits
    ) -> Emitted[None]:
        return _sum(size, "+-")

    @typed_intrinsic
    def take(
        typing_context: Any, target: Bits, source: Bits, added: Bits, removed: Bits, captured: Bits
    ) -> Emitted[None]:
        return _sum(size, "+--")

    @typed_intrinsic
    def activate(typing_context: Any, row: Bits, weights: Bits) -> Emitted[int]:
        return _activation(size, clip_max)

    return RowOperations(copy, add, remove, move, take, activate)


def _sum(size: int, signs: str) -> Emitted[None]:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, source, *rows = (_vectors(builder, address) for address in arguments)
        for index in _indices(builder, size):
            value = _load(builder, source, index)
            for sign, row in zip(signs, rows, strict=True):
                combine = builder.add if sign == "+" else builder.sub
                value = combine(value, _load(builder, row, index))
            builder.store(value, builder.gep(target, [index])).align = _LOAD_ALIGNMENT
        return context.get_dummy_value()

    return types.void(*[types.uint64] * (2 + len(signs))), codegen


def _activation(size: int, clip_max: int) -> Emitted[int]:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row, weights = (_vectors(builder, address) for address in arguments)
        undefined = ir.Constant(_WORDS, ir.Undefined)
        even, odd = (ir.Constant(_SUMS, list(range(n, _LANES, 2))) for n in (0, 1))
        lower, upper = ir.Constant(_SHORTS, None), ir.Constant(_SHORTS, [clip_max] * _LANES)
        chains = [
            cgutils.alloca_once_value(builder, ir.Constant(_SUMS, None))
            for _ in range(_unroll_factor(size))
        ]
        for number, index in enumerate(_indices(builder, size)):
            value = _call(builder, "llvm.smax.v16i16", _SHORTS, _load(builder, row, index), lower)
            value = _call(builder, "llvm.smin.v16i16", _SHORTS, value, upper)
            scaled = builder.sext(builder.mul(value, _load(builder, weights, index)), _WORDS)
            product = builder.mul(scaled, builder.sext(value, _WORDS))
            pairs = builder.add(
                builder.shuffle_vector(product, undefined, even),
                builder.shuffle_vector(product, undefined, odd),
            )
            chain = chains[number]
            builder.store(builder.add(builder.load(chain), pairs), chain)
        total = ir.Constant(_WIDE, None)
        for chain in chains:
            total = builder.add(total, builder.sext(builder.load(chain), _WIDE))
        return _call(builder, "llvm.vector.reduce.add.v8i64", _I64, total)

    return types.int64(types.uint64, types.uint64), codegen


def _unroll_factor(size: int) -> int:
    return 4 if size % (4 * _LANES) == 0 else 2


def _indices(builder: Any, size: int) -> Any:
    unrolled = _unroll_factor(size)
    with cgutils.for_range(builder, _I64(size // _LANES // unrolled)) as loop:
        first = builder.mul(loop.index, _I64(unrolled))
        for offset in range(unrolled):
            yield builder.add(first, _I64(offset))


def _vectors(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _SHORTS.as_pointer())


def _load(builder: Any, vectors: Any, index: Any) -> Any:
    value = builder.load(builder.gep(vectors, [index]))
    value.align = _LOAD_ALIGNMENT
    return value


def _call(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)
