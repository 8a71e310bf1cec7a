"""FEN, read as tolerantly as Stockfish reads it."""

from __future__ import annotations

import re

import chess

from agent.io.message import Message

# A negative or missing counter, and the value that it stands for, by the index of its field.
_NO_COUNT = re.compile(r"-\d*")
_CASTLING_FIELD = 2
_COUNTER_MINIMA = {4: "0", 5: "1"}


def board_from_fen(fen: str, chess960: bool = False) -> chess.Board:
    """Return the board for a FEN, which may be an illegal position. Raise ValueError if invalid.

    Castling rights may be in any order, and counters may be negative or missing.
    """
    fields = fen.split()
    for index, minimum in _COUNTER_MINIMA.items():
        if index < len(fields) and _NO_COUNT.fullmatch(fields[index]):
            fields[index] = minimum
    if len(fields) > _CASTLING_FIELD:
        fields[_CASTLING_FIELD] = "".join(sorted(set(fields[_CASTLING_FIELD])))
    return chess.Board(" ".join(fields), chess960=chess960)


def position_faults(board: chess.Board) -> Message:
    """Return what makes a position illegal, such as "no white king", or "" if it is legal."""
    faults = [Message(str(fault.name).lower().replace("_", " ")) for fault in board.status()]
    return Message(", ".join("{}" for _ in faults), *faults)
