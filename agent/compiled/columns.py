"""Columns of numbers in memory that threads share: read, written, and changed atomically.

Each maker returns a kernel function for numbers of one kind at `address + index * size`. In the
kernel they are int64 or float64, whatever their size in memory.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

INT16 = types.int16, ir.IntType(16)
INT32 = types.int32, ir.IntType(32)
INT64 = types.int64, ir.IntType(64)
FLOAT32 = types.float32, ir.FloatType()

Kind = tuple[Any, Any]

_I64 = ir.IntType(64)


def _wide(kind: Kind) -> Any:
    return types.float64 if kind[0] in types.real_domain else types.int64


def _pointer(builder: Any, kind: Kind, address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, kind[1].as_pointer()), [index])


def reader(kind: Kind) -> Callable[..., Any]:
    """Make a kernel function `f(address, index)` that returns a number."""
    wide = _wide(kind)

    @intrinsic  # type: ignore[untyped-decorator]
    def read(typing_context: Any, address: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = builder.load(_pointer(builder, kind, *args))
            return context.cast(builder, value, kind[0], wide)

        return wide(types.uint64, types.int64), codegen

    return read


def writer(kind: Kind) -> Callable[..., Any]:
    """Make a kernel function `f(address, index, value)` that writes a number."""
    wide = _wide(kind)

    @intrinsic  # type: ignore[untyped-decorator]
    def write(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            narrow = context.cast(builder, args[2], wide, kind[0])
            builder.store(narrow, _pointer(builder, kind, args[0], args[1]))
            return context.get_dummy_value()

        return types.void(types.uint64, types.int64, wide), codegen

    return write


def adder(kind: Kind) -> Callable[..., Any]:
    """Make a kernel function `f(address, index, value)` that adds; it returns what was there."""

    @intrinsic  # type: ignore[untyped-decorator]
    def add(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            narrow = context.cast(builder, args[2], types.int64, kind[0])
            pointer = _pointer(builder, kind, args[0], args[1])
            before = builder.atomic_rmw("add", pointer, narrow, "acq_rel")
            return context.cast(builder, before, kind[0], types.int64)

        return types.int64(types.uint64, types.int64, types.int64), codegen

    return add


def exchanger(kind: Kind) -> Callable[..., Any]:
    """Make a kernel function `f(address, index, value)` that writes; it returns what was there.

    What was written before is seen by whoever reads the new number.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def exchange(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            narrow = context.cast(builder, args[2], types.int64, kind[0])
            pointer = _pointer(builder, kind, args[0], args[1])
            before = builder.atomic_rmw("xchg", pointer, narrow, "acq_rel")
            return context.cast(builder, before, kind[0], types.int64)

        return types.int64(types.uint64, types.int64, types.int64), codegen

    return exchange
