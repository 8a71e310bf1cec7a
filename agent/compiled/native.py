"""Machine operations that Numba does not spell: bits, addresses, tables outside the compiled code.

Bitboards are uint64 everywhere in the kernel, squares and counts int64. Mixing the two in one
expression gives a float, so constants that meet a bitboard are wrapped in `U64`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

U64 = np.uint64

if TYPE_CHECKING:  # a bitboard, or a key
    Bits: TypeAlias = Any
else:
    Bits = types.uint64

_I1, _I8, _I32, _I64, _I128 = (ir.IntType(width) for width in (1, 8, 32, 64, 128))


@intrinsic  # type: ignore[untyped-decorator]
def first_square(typing_context: Any, bits: Any) -> Any:
    """Return the index of the lowest set bit; the bitboard must not be empty."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(_I1, 1))

    return types.int64(types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def last_square(typing_context: Any, bits: Any) -> Any:
    """Return the index of the highest set bit; the bitboard must not be empty."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sub(ir.Constant(_I64, 63), builder.ctlz(args[0], ir.Constant(_I1, 1)))

    return types.int64(types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def count(typing_context: Any, bits: Any) -> Any:
    """Return the number of set bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def multiply_high(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the upper 64 bits of the 128-bit product: maps a key to 0..b-1 without division."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.mul(builder.zext(args[0], _I128), builder.zext(args[1], _I128))
        return builder.trunc(builder.lshr(product, ir.Constant(_I128, 64)), _I64)

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def load(typing_context: Any, base: Any, index: Any) -> Any:
    """Return the uint64 at `base + 8 * index`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I64.as_pointer())
        return builder.load(builder.gep(pointer, [args[1]]))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, base: Any, index: Any, value: Any) -> Any:
    """Write the uint64 `value` at `base + 8 * index`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I64.as_pointer())
        builder.store(args[2], builder.gep(pointer, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def load_byte(typing_context: Any, base: Any, offset: Any) -> Any:
    """Return the byte at `base + offset`, 0 to 255."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I8.as_pointer())
        return builder.zext(builder.load(builder.gep(pointer, [args[1]])), _I64)

    return types.int64(types.uint64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def store_byte(typing_context: Any, base: Any, offset: Any, value: Any) -> Any:
    """Write the low byte of `value` at `base + offset`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I8.as_pointer())
        builder.store(builder.trunc(args[2], _I8), builder.gep(pointer, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, base: Any, index: Any) -> Any:
    """Ask for the cache line at `base + 8 * index`, which is read soon."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.gep(builder.inttoptr(args[0], _I64.as_pointer()), [args[1]])
        pointer = builder.bitcast(pointer, _I8.as_pointer())
        signature = ir.FunctionType(ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0i8")
        builder.call(function, [pointer, *(ir.Constant(_I32, n) for n in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def call_evaluator(typing_context: Any, address: Any, worker: Any, ply: Any) -> Any:
    """Call the C function at `address` as int32 evaluate(worker*, int64 ply)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = ir.FunctionType(_I32, [_I64, _I64])
        pointer = builder.inttoptr(args[0], function.as_pointer())
        value = builder.call(pointer, [builder.ptrtoint(args[1], _I64), args[2]])
        return builder.sext(value, _I64)

    return types.int64(types.uint64, worker, types.int64), codegen


def at_address(record: Any) -> Callable[..., Any]:
    """Make a kernel function `f(address)` that views the memory there as a `record`."""

    @intrinsic  # type: ignore[untyped-decorator]
    def record_at(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(record))

        return record(types.uint64), codegen

    return record_at


def element(owner: Any, field: str, record: Any) -> Callable[..., Any]:
    """Make a kernel function `f(owner, index)`: the index-th `record` in a field of many."""
    offset = owner.offset(field)

    @intrinsic  # type: ignore[untyped-decorator]
    def record_of(typing_context: Any, parent: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            base = builder.bitcast(args[0], _I8.as_pointer())
            distance = builder.add(
                builder.mul(args[1], ir.Constant(_I64, record.size)), ir.Constant(_I64, offset)
            )
            pointer = builder.gep(base, [distance], inbounds=True)
            return builder.bitcast(pointer, context.get_value_type(record))

        return record(owner, types.int64), codegen

    return record_of


def copier(record: Any) -> Callable[..., Any]:
    """Make a kernel function `f(target, source)` that copies one whole `record`."""

    @intrinsic  # type: ignore[untyped-decorator]
    def copy(typing_context: Any, target: Any, source: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            cgutils.raw_memcpy(builder, args[0], args[1], ir.Constant(_I64, record.size), 1)
            return context.get_dummy_value()

        return types.void(record, record), codegen

    return copy


def outside_table(name: str, values: np.ndarray[Any, Any]) -> Callable[..., Any]:
    """Make a kernel function `f(index)` that reads the uint64 or int64 array `values`.

    The compiled code, cached on disk too, holds only the symbol `name`; the array's address is
    bound to it when the code is loaded. The array must live as long as the process, and must not
    change while a kernel runs.
    """
    read, number = _reader(name, values)

    @intrinsic  # type: ignore[untyped-decorator]
    def table(typing_context: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return read(builder, args[0])

        return number(types.int64), codegen

    return table


def outside_number(name: str, values: np.ndarray[Any, Any], index: int) -> Callable[..., Any]:
    """Make a kernel function `f()` that reads one number of such an array."""
    read, number = _reader(name, values)

    @intrinsic  # type: ignore[untyped-decorator]
    def one(typing_context: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return read(builder, ir.Constant(_I64, index))

        return number(), codegen

    return one


def _reader(name: str, values: np.ndarray[Any, Any]) -> tuple[Callable[..., Any], Any]:
    """Bind the symbol `name`; return what emits the reading of a number, and the number's type."""
    llvmlite.binding.add_symbol(name, values.ctypes.data)
    length = len(values)

    def read(builder: Any, index: Any) -> Any:
        symbol = builder.module.globals.get(name)
        if symbol is None:
            symbol = ir.GlobalVariable(builder.module, ir.ArrayType(_I64, length), name)
        return builder.load(builder.gep(symbol, [ir.Constant(_I64, 0), index], inbounds=True))

    return read, types.int64 if values.dtype == np.int64 else types.uint64
