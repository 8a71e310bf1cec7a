"""Indexing of array fields: no negative indices, bounds checks on demand."""

import os
import subprocess
import sys
from typing import Annotated

import numba
import numpy as np
import pytest

from agent.kernel.record import FixedArray, allocate, record

NUMBERS = list(range(100, 108))


@record
class Row:
    before: int
    numbers: Annotated[FixedArray[int], np.int16, len(NUMBERS)]
    after: int


@numba.njit(error_model="numpy")
def get(row, index):
    return row.numbers[index]


@numba.njit(error_model="numpy")
def put(row, index, value):
    row.numbers[index] = value


@pytest.fixture
def row():
    made, _ = allocate(Row)
    made.numbers[:] = NUMBERS
    return made


@pytest.mark.parametrize("kind", [int, np.int64, np.uint64, np.int16, np.uint8])
def test_every_integer_type_can_index_a_row(row, kind):
    assert [get(row, kind(index)) for index in range(len(NUMBERS))] == NUMBERS
    put(row, kind(3), 7)
    assert row.numbers.tolist() == [*NUMBERS[:3], 7, *NUMBERS[4:]]
    assert (row.before, row.after) == (0, 0)


def test_indexing_compiles_without_comparison(row):
    get(row, 0)
    code = get.inspect_llvm(get.signatures[0])
    body = code[code.index("define") :].split("\n}")[0]
    assert "load i16" in body
    assert "icmp" not in body


@pytest.mark.thorough
@pytest.mark.parametrize("index", [-1, len(NUMBERS)])
def test_bounds_are_checked_on_demand(index):
    script = f"import test_indexing as t; t.get(t.allocate(t.Row)[0], {index})"
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=os.path.dirname(__file__),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "IndexError: index is out of bounds" in ran.stderr
