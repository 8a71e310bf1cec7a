"""Parsing of EPD lines."""

from typing import Any

import chess


def parse(line: str) -> tuple[chess.Board, dict[str, Any]]:
    """Return the position and the operations on an EPD line. Raise ValueError if it is invalid."""
    try:
        board, operations = chess.Board.from_epd(line)
    except IndexError as error:
        raise ValueError(str(error)) from None
    if not board.is_valid():
        raise ValueError(f"illegal chess position ({board.status()!r})")
    return board, dict(operations)


def moves(operations: dict[str, Any], code: str) -> list[chess.Move]:
    """Return the moves of the operation `code`, or [] if the operation is missing.

    Raise ValueError if the operand is not a list of moves.
    """
    value = operations.get(code)
    if value is None:
        return []
    values = list(value) if isinstance(value, list | tuple) else [value]
    if not all(isinstance(move, chess.Move) for move in values):
        raise ValueError(f"{code}: must be moves (got {value!r})")
    return values
