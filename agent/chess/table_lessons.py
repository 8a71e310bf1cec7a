"""What experience knows, written into the transposition table, so that searches meet it there.

An entry is as deep as the search that taught the lesson would have had to be, so that a deeper
search looks for itself. The layout is that of `agent.compiled.table`.
"""

import ctypes
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from agent.compiled.scores import NO_EVALUATION
from agent.compiled.table import CLUSTER_BYTES, LOWER, UPPER
from agent.compiled.table_memory import TableMemory
from agent.experience.lesson import Lesson

_WORDS = CLUSTER_BYTES // 8
_LOW = (1 << 64) - 1
_DEEPEST = 127


def write_lessons(table: TableMemory, lessons: Mapping[str, Lesson]) -> None:
    """Write the lessons, by the keys of the positions that their moves lead to."""
    words = _words(table)
    for key, data in _entries(table, lessons.items()):
        start = (key * table.clusters >> 64) * _WORDS
        place = start
        for word in range(start, start + _WORDS, 2):
            old = int(words[word])
            if not old or int(words[word + 1]) ^ old == key:
                place = word
                break
        words[place] = data
        words[place + 1] = data ^ key


def _entries(
    table: TableMemory, lessons: Iterable[tuple[str, Lesson]]
) -> Iterable[tuple[int, int]]:
    """Generate keys and data of the entries; the score is of whoever is to move there."""
    for after, lesson in lessons:
        bound = LOWER if lesson.refutes else UPPER
        depth = min(max(lesson.depth - 1, 1), _DEEPEST)
        data = (
            (round(-lesson.found) & 0xFFFF) << 16
            | (NO_EVALUATION & 0xFFFF) << 32
            | depth << 48
            | bound << 56
            | table.generation << 58
        )
        yield int(after, 16) & _LOW, data


def _words(table: TableMemory) -> npt.NDArray[np.uint64]:
    size = table.clusters * _WORDS
    return np.ctypeslib.as_array((ctypes.c_uint64 * size).from_address(table.address))
