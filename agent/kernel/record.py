"""Records: C-like structs that a class declares once, for the kernel, for Python and for mypy.

A field is annotated by its type: `int`, `float` or `Bits` for numbers of 64 bits, another record,
or `Many` of one of these. `Annotated` adds how many they are, and NumPy's type where they are kept
in fewer bits; a kernel reads and writes them as if they had 64:

    @record
    class Worker:
        positions: Annotated[Many[Position], 130]
        board: Annotated[Many[int], np.int8, 64]
        nodes: int

For mypy `Worker` is this class. When the program runs it is Numba's type of such a record, for
signatures; Python holds records that `allocate` makes, whose fields are attributes too. Importing
this module does not import Numba.
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

# NumPy's types, by those of Python and of Numba.
_NUMPY_TYPES: dict[Any, Any] = {int: np.int64, float: np.float64, U64: np.uint64}


class FixedArray(Generic[Item]):
    """Numbers or records in a row: a field of a record, or an array of them."""

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
        def tolist(self) -> list[Item]: ...  # noqa: D102


def record(declaration: type[Declared]) -> type[Declared]:
    """Make a class that declares the fields of a record Numba's type of it."""
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
    """Make a field of NumPy's records an attribute."""

    def write(record: np.void, value: Any) -> None:
        record[name] = value

    return property(itemgetter(name), write)


def layout(declaration: type, align: bool = True) -> "np.dtype[np.void]":
    """Return NumPy's type of the records that a class declares, those of its bases first.

    align: fields begin at multiples of their sizes, as kernels need them.
    """
    fields = [
        (name, *_field_type(declaration, name, annotation))
        for base in reversed(declaration.__mro__)
        for name, annotation in inspect.get_annotations(base).items()
    ]
    return np.dtype(fields, align=align)


def _field_type(declaration: type, name: str, annotation: Any) -> tuple[Any, ...]:
    """Return NumPy's type of a field, and how many there are of it where they are many."""
    if hasattr(np.void, name):
        raise TypeError(f"{declaration.__name__}.{name}: NumPy's records have an attribute {name}")
    details: tuple[Any, ...] = ()
    if get_origin(annotation) is Annotated:
        annotation, *rest = get_args(annotation)
        details = tuple(rest)
    counts = [detail for detail in details if isinstance(detail, int)]
    narrow = [detail for detail in details if isinstance(detail, type)]
    many = get_origin(annotation) is FixedArray
    if many:
        (annotation,) = get_args(annotation)
    kind = narrow[0] if narrow else _NUMPY_TYPES.get(annotation)
    if kind is None or many != bool(counts) or len(counts) + len(narrow) < len(details):
        raise TypeError(f"{declaration.__name__}.{name}: no such field can be in a record")
    return (kind, (counts[0],)) if many else (kind,)


def dtype_of(record_class: type) -> "np.dtype[np.void]":
    """Return NumPy's type of a record."""
    dtype: np.dtype[np.void] = _NUMPY_TYPES[record_class]
    return dtype


def offset_of(record_class: type, name: str) -> int:
    """Return where a field begins in a record, in bytes."""
    fields = dtype_of(record_class).fields
    assert fields is not None
    return fields[name][1]


def allocate(record_class: type[Declared]) -> tuple[Declared, int]:
    """Return a record of zeros, which owns its memory, and its address."""
    block: Any = np.zeros(1, dtype_of(record_class))
    return block[0], block.ctypes.data
