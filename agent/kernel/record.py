"""Records are C-like structs that are declared as classes for compiled code, Python and mypy.

The annotation of a field is `int`, `float` or `Bits` for 64-bit numbers, another record, or
`FixedArray` of one of these. `Annotated` adds the length of an array, and a NumPy type for storage
in fewer bits:

    @record
    class Worker:
        positions: Annotated[FixedArray[Position], 130]
        board: Annotated[FixedArray[int], np.int8, 64]
        nodes: int

At run time, `Worker` is the Numba type of the record. Python code creates records with `allocate`.
Importing this module does not import Numba.
"""

import inspect
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    SupportsIndex,
    TypeVar,
    get_args,
    get_origin,
    overload,
)

import numpy as np

from agent.kernel.bits import U64
from agent.kernel.indexing import use_c_indexing

Item = TypeVar("Item")
Declared = TypeVar("Declared")

# NumPy type by Python type, and by Numba record type.
_NUMPY_TYPES: dict[Any, Any] = {int: np.int64, float: np.float64, U64: np.uint64}


class FixedArray(Generic[Item]):
    """A record field that contains a fixed number of numbers or records."""

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: SupportsIndex) -> Item: ...
        @overload
        def __getitem__(self, index: slice | list[int]) -> "FixedArray[Item]": ...
        def __getitem__(self, index: Any) -> Any: ...
        @overload
        def __setitem__(self, index: SupportsIndex, value: Item) -> None: ...
        @overload
        def __setitem__(
            self, index: slice, value: "int | Sequence[int] | FixedArray[Item]"
        ) -> None: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Item]: ...
        def tolist(self) -> list[Item]: ...


def record(declaration: type[Declared]) -> type[Declared]:
    """Replace a class by the Numba type of the record that it declares."""
    import numba

    use_c_indexing()
    plain = layout(declaration)
    attributes = {name: _attribute(name) for name in plain.names or ()}
    view = type(declaration.__name__, (np.void,), {"__slots__": (), **attributes})
    dtype = np.dtype((view, plain))
    made: type[Declared] = numba.from_dtype(dtype)
    _NUMPY_TYPES[made] = dtype
    return made


def _attribute(name: str) -> property:
    def write(record: np.void, value: Any) -> None:
        record[name] = value

    return property(itemgetter(name), write)


def layout(declaration: type, align: bool = True) -> "np.dtype[np.void]":
    """Return the NumPy type of the record that a class declares. Base classes come first.

    If `align` is true, fields are aligned to their sizes. Raise `TypeError` for invalid fields.
    """
    fields = [
        (name, *_field_type(declaration, name, annotation))
        for base in reversed(declaration.__mro__)
        for name, annotation in inspect.get_annotations(base).items()
    ]
    return np.dtype(fields, align=align)


def _field_type(declaration: type, name: str, annotation: Any) -> tuple[Any, ...]:
    if hasattr(np.void, name):
        raise TypeError(f"{declaration.__name__}.{name}: reserved name (attribute of np.void)")
    details: tuple[Any, ...] = ()
    if get_origin(annotation) is Annotated:
        annotation, *rest = get_args(annotation)
        details = tuple(rest)
    lengths = [detail for detail in details if isinstance(detail, int)]
    storage_types = [detail for detail in details if isinstance(detail, type)]
    is_array = get_origin(annotation) is FixedArray
    if is_array:
        (annotation,) = get_args(annotation)
    dtype = storage_types[0] if storage_types else _NUMPY_TYPES.get(annotation)
    known = len(lengths) + len(storage_types) == len(details)
    if dtype is None or is_array != bool(lengths) or not known:
        raise TypeError(f"{declaration.__name__}.{name}: unsupported field type")
    return (dtype, (lengths[0],)) if is_array else (dtype,)


def dtype_of(record_class: type) -> "np.dtype[np.void]":
    dtype: np.dtype[np.void] = _NUMPY_TYPES[record_class]
    return dtype


def offset_of(record_class: type, name: str) -> int:
    """Return the offset of the field `name` in bytes."""
    fields = dtype_of(record_class).fields
    assert fields is not None
    return fields[name][1]


def allocate(record_class: type[Declared]) -> tuple[Declared, int]:
    """Return a new record that is filled with zeros, and its address."""
    block: Any = np.zeros(1, dtype_of(record_class))
    return block[0], block.ctypes.data
