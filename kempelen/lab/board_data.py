"""Convert game positions to JSON data for drawing boards."""

from __future__ import annotations

from typing import Any

from agent.game import NotatedGame
from agent.games.checkers import Checkers
from agent.games.connect_four import ConnectFour
from agent.games.go import Go
from agent.games.grundy import Grundy
from agent.games.nim import Nim
from agent.games.othello import Othello
from agent.games.pig import Pig
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tree import Tree
from agent.search.beam_limited_game import BeamLimitedGame
from agent.search.symmetry_reduced_game import SymmetryReducedGame

# Drawing style of each game whose board is a grid.
GRID_TYPES: dict[type[Any], str] = {
    TicTacToe: "marks",
    ConnectFour: "holes",
    Othello: "discs",
    Checkers: "men",
    Go: "stones",
}
SIGNS = frozenset(".XOxbBwW")


def board_data(game: NotatedGame[Any]) -> dict[str, Any] | None:
    """Return JSON data for a picture of the board, or None for a `Tree`, which has no board.

    The key "look" is the drawing style: a value of `GRID_TYPES`, "pieces", "heaps", "pig" or
    "text".
    """
    while isinstance(game, (BeamLimitedGame, SymmetryReducedGame)):
        game = game.game
    if isinstance(game, Tree):
        return None
    if isinstance(game, (Nim, Grundy)):
        return {"look": "heaps", "heaps": list(game.heaps)}
    if isinstance(game, Pig):
        scores, player, rolled, rolling = game.state
        return {"look": "pig", "scores": list(scores), "player": player, "rolled": rolled,
                "rolling": rolling}  # fmt: skip
    text = str(game)
    for kind, look in GRID_TYPES.items():
        if isinstance(game, kind):
            return {"look": look, "rows": _grid_rows(text)}
    if type(game).__module__.startswith("agent.games.chess"):
        return {"look": "pieces", "rows": [line.replace(" ", "") for line in text.splitlines()]}
    return {"look": "text", "lines": text.splitlines()}


def _grid_rows(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    rows = []
    for line in lines:
        cells = line[0::2] if line[:1] in (" ", *SIGNS) and _is_grid_row(line) else _row_marks(line)
        if cells:
            rows.append(cells)
    width = max(map(len, rows), default=0)
    return [row.ljust(width) for row in rows]


def _is_grid_row(line: str) -> bool:
    return all(sign in SIGNS or sign == " " for sign in line)


def _row_marks(line: str) -> str:
    first, *rest = line.split()
    if first.isdigit() and rest and all(len(each) == 1 and each in SIGNS for each in rest):
        return "".join(rest)
    return ""
