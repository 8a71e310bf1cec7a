"""One line of EPD: a position of chess, and what is said of it by opcodes."""

from typing import Any

import chess


def parse(line: str) -> tuple[chess.Board, dict[str, Any]]:
    """Return the position and the operations of a line; ValueError for what is none."""
    try:
        board, operations = chess.Board.from_epd(line)
    except IndexError as error:
        raise ValueError(str(error)) from None
    if not board.is_valid():
        raise ValueError(f"not a legal chess position ({board.status()!r})")
    return board, dict(operations)


def moves(operations: dict[str, Any], code: str) -> list[chess.Move]:
    """Return the moves of an operation, if it is there; ValueError for others: quotes make text."""
    given = operations.get(code)
    if given is None:
        return []
    found = list(given) if isinstance(given, list | tuple) else [given]
    if not all(isinstance(each, chess.Move) for each in found):
        raise ValueError(f"{code}: moves are expected, not {given!r}")
    return found
