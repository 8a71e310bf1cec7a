"""Parsing of EPD lines, as they occur in published test suites.

Tolerated deviations: the move counters of a FEN after the position, text without quotes, castling
with zeros, move numbers, and annotations of moves such as `!`.
"""

import re

import chess

from agent.games.fen import board_from_fen, position_faults
from agent.games.variants import STANDARD_RULES, ChessRules

# An opcode and its operands, which end at a `;` outside of quotes.
_OPERATION = re.compile(r'\s*([^\s;"]+)((?:"(?:[^"\\]|\\.)*+"?|[^;"])*+);?')
_COUNTERS = re.compile(r"(-?\d+)\s+(-?\d+)\s*(?:;|$|(?=[A-Za-z]))")
# The remaining checks of 3check.
_CHECKS = re.compile(r"(\d\+\d)(?:\s+|;|$)")
_ANNOTATION = re.compile(r"^\d*\.+|[!?,()]|[+#=]+(?=[!?,()]*$)|e\.p\.$")


def parse(line: str, rules: ChessRules = STANDARD_RULES) -> tuple[chess.Board, dict[str, str]]:
    """Return the position and the operands of each opcode, without quotes.

    Raise ValueError if the position is invalid.
    """
    fields = line.strip().rstrip(";").split(None, 4)
    rest = fields.pop() if len(fields) == 5 else ""
    checks = []
    if rules.variant == "3check" and (remaining := _CHECKS.match(rest)):
        checks, rest = [remaining[1]], rest[remaining.end() :]
    clocks = ["0", "1"] if len(fields) == 4 else []
    if counters := _COUNTERS.match(rest):
        clocks, rest = list(counters.groups()), rest[counters.end() :]
    operations = {}
    for opcode, operand in _OPERATION.findall(rest):
        text = operand.strip()
        if text.startswith('"'):
            text = re.sub(r"\\(.)", r"\1", text[1:].removesuffix('"'))
        operations[opcode] = text
    clocks = [
        operations[code] if operations.get(code, "").isdecimal() else clock
        for code, clock in zip(("hmvc", "fmvn"), clocks, strict=False)
    ]
    try:
        board = board_from_fen(" ".join([*fields, *checks, *clocks]), rules)
    except IndexError as error:
        raise ValueError(str(error)) from None
    if not board.is_valid():
        raise ValueError(f"illegal chess position ({position_faults(board)})")
    return board, operations


def moves(board: chess.Board, operations: dict[str, str], code: str) -> list[chess.Move]:
    """Return the moves of an operation, or [] if it is missing. `pv` has its first move only.

    Raise ValueError if one is invalid or illegal.
    """
    words = [word for word in operations.get(code, "").split() if _ANNOTATION.sub("", word)]
    return [parse_move(board, word, code) for word in (words[:1] if code == "pv" else words)]


def parse_move(board: chess.Board, word: str, code: str) -> chess.Move:
    """Parse a move in SAN or UCI notation. Raise ValueError, which names `code`, if illegal."""
    try:
        move = board.parse_san(_ANNOTATION.sub("", word))
    except ValueError as error:
        raise ValueError(f"{code}: {error}") from None
    if not move:
        raise ValueError(f"{code}: invalid move {word!r}")
    return move


def number(operations: dict[str, str], code: str) -> float | None:
    """Return the operand as a number, or None if it is missing or not a finite number."""
    try:
        value = float(operations[code])
    except (KeyError, ValueError):
        return None
    return value if abs(value) < float("inf") else None
