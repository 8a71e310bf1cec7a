"""FEN, read as tolerantly as Stockfish reads it."""

from __future__ import annotations

import re

import chess

from agent.games.variants import STANDARD_RULES, ChessRules, board_class, variant_of
from agent.io.message import Message

# A negative or missing counter, and the value that it stands for, by the index of its field.
_NO_COUNT = re.compile(r"-\d*")
_CASTLING_FIELD = 2
_COUNTER_MINIMA = {4: "0", 5: "1"}
# The pockets of crazyhouse, such as [Qpp]. Empty pockets are written as [] or [-].
_POCKETS = re.compile(r"[\[/]([PNBRQpnbrq]*|-)\]?")
_NO_CASTLING = ("antichess", "racingkings")
# Maximum number of pieces of both sides, including pockets. More pieces could have more legal moves
# than the kernel can store.
MAX_PIECES = 32
MAX_HORDE_PIECES = 52
MAX_CHECKS = 3  # remaining in 3check


def board_from_fen(fen: str | None, rules: ChessRules = STANDARD_RULES) -> chess.Board:
    """Return the board for a FEN, which may be an illegal position. Raise ValueError if invalid.

    Castling rights may be in any order, and counters may be negative or missing. None is the start
    position of the variant.
    """
    variant, board_type = rules.variant, board_class(rules.variant)
    if variant == "crazyhouse" and fen is not None:
        fen = _check_pockets(fen)
    if fen is None:
        return board_type(chess960=rules.chess960)
    fields = fen.split()
    # The remaining checks of 3check are before the counters, as in Fairy-Stockfish and PyChess.
    checks = [fields.pop(4)] if len(fields) > 4 and "+" in fields[4][1:] else []
    for index, minimum in _COUNTER_MINIMA.items():
        if index < len(fields) and _NO_COUNT.fullmatch(fields[index]):
            fields[index] = minimum
    if len(fields) > _CASTLING_FIELD:
        rights = "-" if variant in _NO_CASTLING else fields[_CASTLING_FIELD]
        fields[_CASTLING_FIELD] = "".join(sorted(set(rights)))
    fields[4:4] = checks
    return board_type(" ".join(fields), chess960=rules.chess960)


def _check_pockets(fen: str) -> str:
    """Return a FEN of crazyhouse as python-chess reads it. Raise ValueError if it is damaged."""
    placement, _, rest = " ".join(fen.split()).partition(" ")
    if not rest:
        raise ValueError(Message("expected the side to move after the position"))
    board = placement.partition("[")[0]
    begin = len("/".join(board.split("/")[:8]))
    pockets = placement[begin:]
    if pockets and not _POCKETS.fullmatch(pockets):
        raise ValueError(Message("invalid pockets {!r}", pockets))
    return f"{placement[:begin]}{pockets.replace('-', '')} {rest}"


def position_faults(board: chess.Board) -> Message:
    """Return what makes a position illegal, such as "no white king", or "" if it is legal."""
    faults = [Message(str(fault.name).lower().replace("_", " ")) for fault in board.status()]
    faults = faults or excesses(board)
    return Message(", ".join("{}" for _ in faults), *faults)


def excesses(board: chess.Board) -> list[Message]:
    """Return why no game can reach a position, if `board.status` does not find it."""
    faults = []
    max_pieces = MAX_HORDE_PIECES if variant_of(board) == "horde" else MAX_PIECES
    pockets = getattr(board, "pockets", ())
    if chess.popcount(board.occupied) + sum(map(len, pockets)) > max_pieces:
        faults.append(Message("more than {} pieces", max_pieces))
    if not all(0 <= left <= MAX_CHECKS for left in getattr(board, "remaining_checks", ())):
        faults.append(Message("remaining checks must be from 0 to {}", MAX_CHECKS))
    return faults


def is_playable(board: chess.Board) -> bool:
    """Return whether a position is legal. The compiled search requires it."""
    return board.is_valid() and not excesses(board)
