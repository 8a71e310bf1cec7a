"""Convert positions to JSON for drawing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_letters, ascii_lowercase, digits
from typing import Any

import chess

from agent.game import CHANCE, GridGame, HasPatterns, NotatedGame
from agent.games.backgammon import Backgammon
from agent.games.game_state import GameState
from agent.games.go import MAX_SIZE
from agent.games.pig import Pig
from kempelen.match.config.game_settings import CHESS, GO, GameSettings, new_game

# The sides of the players: Black moves first, except in chess.
SIDES = ("black", "white")
MAX_FEN_LENGTH = 120
MAX_TEXT_LENGTH = 8000
# Larger boards are shown as plain text.
MAX_CELLS = 1000
# One row of a board in text form. Characters are separated by one space. If only the dark squares
# are written, they are separated by three spaces, and start at the first or second column.
_ROW = re.compile(r"\S( \S)+")
_DARK_ROW = re.compile(r"(  )?\S(   \S)+")


def diagram(game: str, position: str) -> dict[str, Any]:
    """Return a position as JSON for drawing. Long positions are cut or shown as plain text.

    The text `position` is a FEN or the text form of the game's board.
    """
    if game == CHESS:
        return {"type": CHESS, "fen": position[:MAX_FEN_LENGTH]}
    if game == GO:
        lines = position[:MAX_TEXT_LENGTH].splitlines()[:-1][:MAX_SIZE]
        return {"type": GO, "rows": ["".join(line.split()[1:])[:MAX_SIZE] for line in lines]}
    text = position[:MAX_TEXT_LENGTH]
    rows = parse_grid(text)
    if not 0 < sum(map(len, rows)) <= MAX_CELLS:
        return {"type": "text", "text": text}
    return {"type": "grid", "rows": rows, "dark": any(" " in row for row in rows)}


def parse_grid(text: str) -> list[str]:
    """Return the rows of a board in text form, with one character per cell.

    Return [] if the text is not a board. Row and column labels are omitted. If the text contains
    only the dark squares, the light squares are spaces.
    """
    lines = text.splitlines()
    shifted = [line.startswith(" ") for line in lines]
    if all(map(_DARK_ROW.fullmatch, lines)) and shifted[1:] == [not dark for dark in shifted[:-1]]:
        width = max(map(len, lines), default=0)
        dark_rows = [line.ljust(width)[::2] for line in lines]
        return dark_rows if len(dark_rows) > 1 else []
    rows: list[str] = []
    for line in lines:
        if not _ROW.fullmatch(line.strip()) or (rows and len(line.split()) != len(rows[0])):
            break
        rows.append("".join(line.split()))
    if rows and rows[-1].isdecimal():
        rows.pop()
    if rows and _is_row_labels("".join(row[0] for row in rows)):
        rows = [row[1:] for row in rows]
    return rows if len(rows) > 1 and len(rows[0]) > 1 else []


def _is_row_labels(column: str) -> bool:
    """Return whether a column consists of labels such as abc or 123, in either order."""
    ordered = min(column, column[::-1])
    return ascii_letters.find(ordered) in (0, 26) or (
        len(ordered) > 2 and digits[1:].startswith(ordered)
    )


def board_labels(game: NotatedGame[Any]) -> dict[str, Any]:
    """Return the names of columns and rows, and whether pieces fall, in a new game on a grid.

    The names are those in the notation of moves: a column and a row, such as d3, or a column.
    """
    if not isinstance(game, GridGame):
        return {}
    grid = game.grid()
    height, width = len(grid), len(grid[0])
    found = {"falls": isinstance(game, HasPatterns) and game.upright}
    moves = {
        (row, column): game.text(move)
        for row in range(height)
        for column in range(min(width, len(ascii_lowercase)))
        if (move := game.move_at(row, column)) is not None
    }
    down = [str(number) for number in range(1, height + 1)]
    across = [str(number) for number in range(1, width + 1)]
    letters = list(ascii_lowercase[:width])
    for columns, rows in ((letters, down), (letters, down[::-1]), (across, [""] * height)):
        if moves and all(
            columns[column] + rows[row] == text for (row, column), text in moves.items()
        ):
            return {**found, "labels": {"columns": columns, "rows": rows}}
    return found


def dice_diagram(game: NotatedGame[Any]) -> dict[str, Any]:
    """Return what the page needs to draw a game with dice, or {} for other games."""
    if isinstance(game, Pig):
        scores, player, rolled, _ = game.state
        return {"kind": "pig", "scores": scores, "mover": player, "rolled": rolled}
    if isinstance(game, Backgammon):
        men, player, roll = game.state
        return {"kind": "backgammon", "men": men, "mover": player, "roll": roll}
    return {}


def changed_cells(before: Sequence[str], after: Sequence[str]) -> list[list[int]]:
    """Return the cells, as [row, column], that became occupied or empty."""
    if [len(row) for row in before] != [len(row) for row in after]:
        return []
    return [
        [row, column]
        for row, cells in enumerate(after)
        for column, sign in enumerate(cells)
        if (sign in ". ") != (before[row][column] in ". ")
    ]


def move_squares(move: str) -> list[str]:
    """Return the two squares of a chess move in UCI notation, or the square of a drop twice."""
    return [move[2:4] if move[1:2] == "@" else move[:2], move[2:4]]


def chess_diagrams(board: chess.Board, moves: Sequence[str]) -> list[dict[str, Any]]:
    """Return diagrams of all positions in a chess game. The moves are in UCI notation.

    Raise ValueError if a move is illegal.
    """
    diagrams: list[dict[str, Any]] = [{"type": CHESS, "fen": board.fen()}]
    for text in moves:
        move = board.parse_uci(text)
        side, san = chess.COLOR_NAMES[board.turn], board.san(move)
        board.push(move)
        last = [chess.square_name(move.from_square), chess.square_name(move.to_square)]
        shown = {"type": CHESS, "fen": board.fen(), "move": san, "side": side, "last": last}
        diagrams.append(shown)
    return diagrams


def chess_line(board: chess.Board, moves: Sequence[str]) -> list[str]:
    """Return UCI moves in SAN, up to the first illegal one."""
    board, line = board.copy(stack=False), []
    for text in moves:
        try:
            line.append(board.san_and_push(board.parse_uci(text)))
        except ValueError:
            break
    return line


def game_diagrams(settings: GameSettings, moves: Sequence[str]) -> list[dict[str, Any]]:
    """Return diagrams of all positions in a game other than chess.

    Raise ValueError if a move is illegal.
    """
    state = GameState(new_game(settings))
    labels = board_labels(state.game)

    def position() -> dict[str, Any]:
        return diagram(settings.name, str(state.game)) | dice_diagram(state.game) | labels

    diagrams = [position()]
    for text in moves:
        chance = state.mover == CHANCE
        written = state.play(text)
        side = SIDES[state.movers[-1]]
        diagrams.append({**position(), "move": written, "side": side, "chance": chance})
        if settings.name == GO:
            diagrams[-1]["last"] = [written]
        elif diagrams[-1]["type"] == "grid":
            previous = diagrams[-2].get("rows", ())
            diagrams[-1]["last"] = changed_cells(previous, diagrams[-1]["rows"])
    return diagrams
