"""Writes learned moves into the transposition table."""

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


def seed_table(table: TableMemory, learned_moves: Mapping[str, LearnedMove]) -> None:
    """Write moves that were learned from earlier games into the transposition table.

    Each key is the hexadecimal Polyglot hash of the position after the move.
    """
    words = _table_words(table)
    for key, data in _entries(table, learned_moves.items()):
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
    table: TableMemory, learned_moves: Iterable[tuple[str, LearnedMove]]
) -> Iterable[tuple[int, int]]:
    for key_text, learned_move in learned_moves:
        bound = LOWER if learned_move.is_refutation else UPPER
        depth = min(max(learned_move.depth - 1, 1), _MAX_DEPTH)
        data = (
            (round(-learned_move.found) & 0xFFFF) << 16
            | (NO_EVALUATION & 0xFFFF) << 32
            | depth << 48
            | bound << 56
            | table.generation << 58
        )
        yield int(key_text, 16) & _KEY_MASK, data


def _table_words(table: TableMemory) -> npt.NDArray[np.uint64]:
    size = table.clusters * _WORDS
    return np.ctypeslib.as_array((ctypes.c_uint64 * size).from_address(table.address))
