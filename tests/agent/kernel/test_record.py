"""Records declared as classes, for NumPy, Numba and mypy."""

import ctypes
from pathlib import Path
from typing import Annotated

import numba
import numpy as np
import pytest

from agent.chess.board.packed_position import packed_dtype
from agent.chess.board.records import Frame, Position, Worker
from agent.kernel.bits import Bits
from agent.kernel.mcts_tree import COLUMNS, NodeTree
from agent.kernel.record import FixedArray, allocate, dtype_of, layout, offset_of, record
from tests.systems import module_or_skip


class Base:
    first: Annotated[int, np.int8]
    word: Bits


class Whole(Base):
    share: float
    numbers: Annotated[FixedArray[int], 3]
    words: Annotated[FixedArray[Bits], 2]
    narrow: Annotated[FixedArray[int], np.int16, 5]


WHOLE = [
    ("first", np.int8),
    ("word", np.uint64),
    ("share", np.float64),
    ("numbers", np.int64, (3,)),
    ("words", np.uint64, (2,)),
    ("narrow", np.int16, (5,)),
]


def test_base_class_fields_come_before_own_fields() -> None:
    assert layout(Whole) == np.dtype(WHOLE, align=True)
    assert layout(Whole, align=False) == np.dtype(WHOLE)


def test_records_can_contain_records() -> None:
    inner = record(Base)

    class Outer:
        one: inner  # type: ignore[valid-type]
        many: Annotated[FixedArray[inner], 4]  # type: ignore[valid-type]

    base = layout(Base)
    expected = np.dtype([("one", base), ("many", base, (4,))], align=True)
    assert layout(Outer) == expected
    assert record(Outer) == numba.from_dtype(expected)


class NoSuchType:
    name: str


class NoNumber:
    many: FixedArray[int]


class NotMany:
    one: Annotated[int, 3]


class OneWordMore:
    one: Annotated[int, np.int8, "signed"]


class Reserved:
    size: int


@pytest.mark.parametrize("declaration", [NoSuchType, NoNumber, NotMany, OneWordMore, Reserved])
def test_invalid_field_is_rejected_by_name(declaration: type) -> None:
    (name,) = declaration.__annotations__
    with pytest.raises(TypeError, match=rf"^{declaration.__name__}\.{name}: "):
        layout(declaration)


def test_python_and_kernel_see_the_same_memory() -> None:
    kind = record(Whole)

    @numba.njit(numba.int64(kind))
    def change(whole):  # type: ignore[no-untyped-def]
        whole.first += 1
        whole.narrow[4] = 7
        whole.words[1] |= np.uint64(1) << np.uint64(63)
        whole.share /= 2
        return whole.numbers[2]

    whole, address = allocate(kind)
    whole.first, whole.share = 3, 5.0
    whole.numbers[:] = 1, 2, 9
    assert change(whole) == 9
    assert (whole.first, whole.share, whole.narrow.tolist()) == (4, 2.5, [0, 0, 0, 0, 7])
    field_address = address + offset_of(kind, "words") + 8
    assert ctypes.c_uint64.from_address(field_address).value == 1 << 63
    with pytest.raises(AttributeError):
        whole.nothing = 1  # type: ignore[attr-defined]


def test_game_records_have_the_declared_layout() -> None:
    """Cached kernels and files depend on these layouts."""
    assert packed_dtype.itemsize == 32
    assert dtype_of(Worker)["positions"].base == dtype_of(Position)
    assert dtype_of(Worker)["frames"].base == dtype_of(Frame)
    assert dtype_of(NodeTree).names is not None
    assert dtype_of(NodeTree).names[: len(COLUMNS)] == tuple(COLUMNS)


KERNEL = """
from agent.chess.board.records import Position, Worker, position_at

def wrong(worker: Worker, ply: int) -> int:
    position = position_at(worker, ply)
    worker.nodez += 1
    if position.checkers & 1:
        return position.key
    return position.board[0]
"""


@pytest.mark.thorough
def test_mypy_detects_misspelled_fields_and_type_errors(tmp_path: Path) -> None:
    """Mypy checks only the kernel of this test, and uses the declarations of the others."""
    options = ["--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]
    found, _, status = module_or_skip("mypy.api").run(
        [*options, f"--cache-dir={tmp_path}", "-c", KERNEL]
    )
    errors = [line.split(": ", 1)[1] for line in found.splitlines()[:-1]]
    assert status == 1
    assert [error.rpartition("[")[2] for error in errors] == [
        "attr-defined]",
        "operator]",
        "return-value]",
    ]
    assert '"Worker" has no attribute "nodez"' in errors[0]
