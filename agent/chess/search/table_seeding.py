"""What experience knows, written into the transposition table, so that searches meet it there.

An entry is as deep as the search that taught the lesson would have had to be, so that a deeper
search looks for itself. The layout is that of `agent.kernel.transposition_table`.
"""

import ctypes
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from agent.kernel.scores import NO_EVALUATION
from agent.kernel.table_memory import TableMemory
from agent.kernel.transposition_table import CLUSTER_BYTES, LOWER, UPPER
from agent.learning.learned_move import LearnedMove

_WORDS = CLUSTER_BYTES // 8
_KEY_MASK = (1 << 64) - 1
_MAX_DEPTH = 127


def seed_table(table: TableMemory, lessons: Mapping[str, LearnedMove]) -> None:
    """Write the lessons, by the keys of the positions that their moves lead to."""
    words = _table_words(table)
    for key, data in _entries(table, lessons.items()):
        start = (key * table.clusters >> 64) * _WORDS
        slot = start
        for word in range(start, start + _WORDS, 2):
            old = int(words[word])
            if not old or int(words[word + 1]) ^ old == key:
                slot = word
                break
        words[slot] = data
        words[slot + 1] = data ^ key


def _entries(
    table: TableMemory, lessons: Iterable[tuple[str, LearnedMove]]
) -> Iterable[tuple[int, int]]:
    """Generate keys and data of the entries; the score is of whoever is to move there."""
    for key_text, lesson in lessons:
        bound = LOWER if lesson.is_refutation else UPPER
        depth = min(max(lesson.depth - 1, 1), _MAX_DEPTH)
        data = (
            (round(-lesson.found) & 0xFFFF) << 16
            | (NO_EVALUATION & 0xFFFF) << 32
            | depth << 48
            | bound << 56
            | table.generation << 58
        )
        yield int(key_text, 16) & _KEY_MASK, data


def _table_words(table: TableMemory) -> npt.NDArray[np.uint64]:
    size = table.clusters * _WORDS
    return np.ctypeslib.as_array((ctypes.c_uint64 * size).from_address(table.address))
