"""Numbers in shared memory: storage, and atomic operations of threads."""

import threading

import numba
import numpy as np
import pytest

from agent.kernel import atomic_columns

THREADS, TIMES = 4, 200_000
KINDS = {
    np.int16: atomic_columns.INT16,
    np.int32: atomic_columns.INT32,
    np.int64: atomic_columns.INT64,
    np.float32: atomic_columns.FLOAT32,
}
add_int32 = atomic_columns.atomic_adder(atomic_columns.INT32)
exchange_int64 = atomic_columns.atomic_exchanger(atomic_columns.INT64)


@numba.njit(nogil=True)
def add_often(address, index, value, times):  # type: ignore[no-untyped-def]
    for _ in range(times):
        add_int32(address, index, value)


@numba.njit(nogil=True)
def exchange_often(address, first, times, seen):  # type: ignore[no-untyped-def]
    """Write `times` numbers from `first` on to one address; count the old values returned."""
    for number in range(first, first + times):
        seen[exchange_int64(address, 0, number)] += 1


def at_once(function, *calls):  # type: ignore[no-untyped-def]
    function.compile(tuple(map(numba.typeof, calls[0])))
    threads = [threading.Thread(target=function, args=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("kind", KINDS)
def test_number_is_stored_without_changing_neighbours(kind: type[np.generic]) -> None:
    read, write = atomic_columns.reader(KINDS[kind]), atomic_columns.writer(KINDS[kind])

    @numba.njit
    def store(address, index, value):  # type: ignore[no-untyped-def]
        write(address, index, value)
        return read(address, index)

    column = np.zeros(5, kind)
    address = np.uint64(column.ctypes.data)
    value = -2.5 if kind is np.float32 else np.iinfo(kind).min
    assert store(address, 3, value) == value
    assert column.tolist() == [0, 0, 0, value, 0]


def test_concurrent_additions_are_not_lost() -> None:
    column = np.zeros(3, np.int32)
    address = np.uint64(column.ctypes.data)
    at_once(add_often, *[(address, 1, value, TIMES) for value in (3, -1, 5, 1)])
    assert column.tolist() == [0, (3 - 1 + 5 + 1) * TIMES, 0]


def test_atomic_exchange_returns_each_value_once() -> None:
    column = np.zeros(1, np.int64)
    seen = [np.zeros(1 + THREADS * TIMES, np.int64) for _ in range(THREADS)]
    address = np.uint64(column.ctypes.data)
    at_once(exchange_often, *[(address, 1 + i * TIMES, TIMES, seen[i]) for i in range(THREADS)])
    total = sum(seen)
    total[column[0]] += 1  # the last value is still stored
    assert (total == 1).all()
