"""Machine operations that Numba lacks: bit operations, memory access, and external tables.

Operations return a Numba signature and a code generator. Their annotations are for mypy. Callers
omit the first parameter, the typing context.
"""

from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    overload,
)

import llvmlite.binding
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from agent.kernel.bits import U64 as U64  # declares the allowed operations
from agent.kernel.bits import Bits as Bits

if TYPE_CHECKING:

    class _Int64:
        """The type of `int64`, which can convert values and create signatures."""

        def __call__(self, *value: Any) -> int: ...
        def __getitem__(self, dimensions: Any) -> Any: ...

    int64 = _Int64()
else:
    int64 = types.int64

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
Owner = TypeVar("Owner")
Record = TypeVar("Record")


class TypedSignature(Generic[Returned]):
    """The Numba signature of an operation. Its type parameter is the return type for mypy."""


Emitted: TypeAlias = tuple[TypedSignature[Returned], Callable[..., Any]]


def typed_intrinsic(
    function: Callable[Concatenate[Any, Parameters], Emitted[Returned]],
) -> Callable[Parameters, Returned]:
    """Convert a function that returns a signature and a code generator to a compiled function."""
    made: Callable[Parameters, Returned] = intrinsic(function)
    return made


# int32 evaluate(worker*, int64 ply)
EVALUATOR_SIGNATURE = types.int32(types.uint64, types.int64)

_I1, _I8, _I32, _I64, _I128 = (ir.IntType(width) for width in (1, 8, 32, 64, 128))


@typed_intrinsic
def first_square(typing_context: Any, bits: Bits) -> Emitted[int]:
    """Return the index of the lowest set bit. `bits` must not be 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(_I1, 1))

    return types.int64(types.uint64), codegen


@typed_intrinsic
def last_square(typing_context: Any, bits: Bits) -> Emitted[int]:
    """Return the index of the highest set bit. `bits` must not be 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sub(ir.Constant(_I64, 63), builder.ctlz(args[0], ir.Constant(_I1, 1)))

    return types.int64(types.uint64), codegen


@typed_intrinsic
def count(typing_context: Any, bits: Bits) -> Emitted[int]:
    """Return the number of set bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@typed_intrinsic
def multiply_high(typing_context: Any, a: Bits, b: Bits) -> Emitted[Bits]:
    """Return the upper 64 bits of the 128-bit product of `a` and `b`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.mul(builder.zext(args[0], _I128), builder.zext(args[1], _I128))
        return builder.trunc(builder.lshr(product, ir.Constant(_I128, 64)), _I64)

    return types.uint64(types.uint64, types.uint64), codegen


@typed_intrinsic
def load(typing_context: Any, base: Bits, index: Bits) -> Emitted[Bits]:
    """Return the uint64 at `base + 8 * index`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I64.as_pointer())
        return builder.load(builder.gep(pointer, [args[1]]))

    return types.uint64(types.uint64, types.uint64), codegen


@typed_intrinsic
def store(typing_context: Any, base: Bits, index: Bits, value: Bits) -> Emitted[None]:
    """Write the uint64 `value` to `base + 8 * index`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I64.as_pointer())
        builder.store(args[2], builder.gep(pointer, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64), codegen


@typed_intrinsic
def load_byte(typing_context: Any, base: Bits, offset: int) -> Emitted[int]:
    """Return the byte at `base + offset` as a number from 0 to 255."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I8.as_pointer())
        return builder.zext(builder.load(builder.gep(pointer, [args[1]])), _I64)

    return types.int64(types.uint64, types.int64), codegen


@typed_intrinsic
def store_byte(typing_context: Any, base: Bits, offset: int, value: int) -> Emitted[None]:
    """Write the lowest byte of `value` to `base + offset`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I8.as_pointer())
        builder.store(builder.trunc(args[2], _I8), builder.gep(pointer, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.int64), codegen


@typed_intrinsic
def prefetch(typing_context: Any, base: Bits, index: Bits) -> Emitted[None]:
    """Prefetch the cache line at `base + 8 * index`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.gep(builder.inttoptr(args[0], _I64.as_pointer()), [args[1]])
        pointer = builder.bitcast(pointer, _I8.as_pointer())
        signature = ir.FunctionType(ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0i8")
        builder.call(function, [pointer, *(ir.Constant(_I32, n) for n in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), codegen


@typed_intrinsic
def call_evaluator(typing_context: Any, address: Bits, worker: Any, ply: int) -> Emitted[int]:
    """Call the C function `int32 evaluate(worker*, int64 ply)` at `address`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = ir.FunctionType(_I32, [_I64, _I64])
        pointer = builder.inttoptr(args[0], function.as_pointer())
        value = builder.call(pointer, [builder.ptrtoint(args[1], _I64), args[2]])
        return builder.sext(value, _I64)

    return types.int64(types.uint64, worker, types.int64), codegen


def at_address(record: type[Record]) -> Callable[[Bits], Record]:
    """Return a compiled function `f(address)` that returns the record of this type at `address`."""
    kind: Any = record

    @typed_intrinsic
    def record_at(typing_context: Any, address: Bits) -> Emitted[Record]:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(kind))

        return kind(types.uint64), codegen

    return record_at


def element(owner: type[Owner], field: str, record: type[Record]) -> Callable[[Owner, int], Record]:
    """Return a compiled function `f(owner, index)` that returns an element of an array of records.

    `field` is the array in the record `owner`, and `record` the type of its elements.
    """
    owner_kind: Any = owner
    kind: Any = record
    offset = owner_kind.offset(field)

    @typed_intrinsic
    def record_of(typing_context: Any, parent: Owner, index: int) -> Emitted[Record]:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            base = builder.bitcast(args[0], _I8.as_pointer())
            distance = builder.add(
                builder.mul(args[1], ir.Constant(_I64, kind.size)), ir.Constant(_I64, offset)
            )
            pointer = builder.gep(base, [distance], inbounds=True)
            return builder.bitcast(pointer, context.get_value_type(kind))

        return kind(owner_kind, types.int64), codegen

    return record_of


def copier(record: type[Record]) -> Callable[[Record, Record], None]:
    """Return a compiled function `f(target, source)` that copies a record."""
    kind: Any = record

    @typed_intrinsic
    def copy(typing_context: Any, target: Record, source: Record) -> Emitted[None]:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            cgutils.raw_memcpy(builder, args[0], args[1], ir.Constant(_I64, kind.size), 1)
            return context.get_dummy_value()

        return types.void(kind, kind), codegen

    return copy


@overload
def external_table(
    name: str, values: npt.NDArray[np.uint64]
) -> Callable[[SupportsIndex], Bits]: ...
@overload
def external_table(name: str, values: npt.NDArray[np.int64]) -> Callable[[int], int]: ...
def external_table(name: str, values: npt.NDArray[Any]) -> Callable[..., Any]:
    """Return a compiled function `f(index)` that reads the uint64 or int64 array `values`.

    Compiled code refers to the array by the symbol `name`, which this call binds to the array's
    address. The array must not be freed before the process ends, nor change during a search.
    """
    read, number = _reader(name, values)

    @typed_intrinsic
    def table(typing_context: Any, index: Any) -> Emitted[Any]:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return read(builder, args[0])

        return number(types.int64), codegen

    return table


def external_number(name: str, values: npt.NDArray[np.int64], index: int) -> Callable[[], int]:
    """Return a compiled function `f()` that reads `values[index]` (see `external_table`)."""
    read, number = _reader(name, values)

    @typed_intrinsic
    def one(typing_context: Any) -> Emitted[int]:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return read(builder, ir.Constant(_I64, index))

        return number(), codegen

    return one


def _reader(name: str, values: npt.NDArray[Any]) -> tuple[Callable[..., Any], Any]:
    """Bind the symbol `name`. Return a code generator that reads an element, and its Numba type."""
    llvmlite.binding.add_symbol(name, values.ctypes.data)
    length = len(values)

    def read(builder: Any, index: Any) -> Any:
        symbol = builder.module.globals.get(name)
        if symbol is None:
            symbol = ir.GlobalVariable(builder.module, ir.ArrayType(_I64, length), name)
        return builder.load(builder.gep(symbol, [ir.Constant(_I64, 0), index], inbounds=True))

    return read, types.int64 if values.dtype == np.int64 else types.uint64
