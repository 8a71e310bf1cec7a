"""Typed arrays ("columns") in shared memory, which compiled code accesses by address.

Each factory takes an element type and returns a compiled function that accesses the element at
`address + index * element size`. Compiled code handles all elements as int64 or float64.
"""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from llvmlite import ir
from numba import types

from agent.kernel.bits import Bits
from agent.kernel.intrinsics import Emitted, typed_intrinsic

Number = TypeVar("Number", int, float)


class ColumnType(NamedTuple, Generic[Number]):
    """The element type of a column as a Numba type and an LLVM type."""

    numba: Any
    llvm: Any


INT16 = ColumnType[int](types.int16, ir.IntType(16))
INT32 = ColumnType[int](types.int32, ir.IntType(32))
INT64 = ColumnType[int](types.int64, ir.IntType(64))
FLOAT32 = ColumnType[float](types.float32, ir.FloatType())

_I64 = ir.IntType(64)


def _wide(column_type: ColumnType[Any]) -> Any:
    return types.float64 if column_type.numba in types.real_domain else types.int64


def _pointer(builder: Any, column_type: ColumnType[Any], address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, column_type.llvm.as_pointer()), [index])


def reader(column_type: ColumnType[Number]) -> Callable[[Bits, int], Number]:
    """Return a compiled function `f(address, index)` that reads an element."""
    wide = _wide(column_type)

    @typed_intrinsic
    def read(typing_context: Any, address: Bits, index: int) -> Emitted[Number]:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = builder.load(_pointer(builder, column_type, *args))
            return context.cast(builder, value, column_type.numba, wide)

        return wide(types.uint64, types.int64), codegen

    return read


def writer(column_type: ColumnType[Number]) -> Callable[[Bits, int, Number], None]:
    """Return a compiled function `f(address, index, value)` that writes an element."""
    wide = _wide(column_type)

    @typed_intrinsic
    def write(typing_context: Any, address: Bits, index: int, value: Number) -> Emitted[None]:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            narrow = context.cast(builder, args[2], wide, column_type.numba)
            builder.store(narrow, _pointer(builder, column_type, args[0], args[1]))
            return context.get_dummy_value()

        return types.void(types.uint64, types.int64, wide), codegen

    return write


def atomic_adder(column_type: ColumnType[int]) -> Callable[[Bits, int, int], int]:
    """Return a compiled function `f(address, index, value)` for an atomic fetch-and-add."""
    return _atomic_operation(column_type, "add")


def atomic_exchanger(column_type: ColumnType[int]) -> Callable[[Bits, int, int], int]:
    """Return a compiled function `f(address, index, value)` for an acquire-release exchange."""
    return _atomic_operation(column_type, "xchg")


def _atomic_operation(column_type: ColumnType[int], change: str) -> Callable[[Bits, int, int], int]:
    @typed_intrinsic
    def changed(typing_context: Any, address: Bits, index: int, value: int) -> Emitted[int]:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            narrow = context.cast(builder, args[2], types.int64, column_type.numba)
            pointer = _pointer(builder, column_type, args[0], args[1])
            before = builder.atomic_rmw(change, pointer, narrow, "acq_rel")
            return context.cast(builder, before, column_type.numba, types.int64)

        return types.int64(types.uint64, types.int64, types.int64), codegen

    return changed
