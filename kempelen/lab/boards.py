"""Positions as pictures need them: a grid of signs, heaps, or lines of text."""

from __future__ import annotations

from typing import Any

from agent.game import Written
from agent.games.backgammon import Backgammon
from agent.games.checkers import Checkers
from agent.games.connect_four import ConnectFour
from agent.games.go import Go
from agent.games.grundy import Grundy
from agent.games.nim import Nim
from agent.games.othello import Othello
from agent.games.pig import Pig
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tree import Tree
from agent.search.heuristic_pruning import Pruned
from agent.search.symmetry import Folded

# How the signs of a grid are drawn: marks on squares, discs in holes, men on squares, stones.
GRIDS: dict[type[Any], str] = {
    TicTacToe: "marks",
    ConnectFour: "holes",
    Othello: "discs",
    Checkers: "men",
}
SIGNS = frozenset(".XOxbBwW")


def board(game: Written[Any]) -> dict[str, Any] | None:
    """Return what a picture of the position shows; None of a tree, which has no board.

    look: how it is drawn: one of GRIDS, "stones", "pieces", "heaps", "points", "pig" or "text".
    """
    while isinstance(game, (Pruned, Folded)):
        game = game.game
    if isinstance(game, Tree):
        return None
    if isinstance(game, Nim):
        return {"look": "heaps", "heaps": list(game.heaps)}
    if isinstance(game, Grundy):
        return {"look": "heaps", "heaps": list(game.heaps)}
    if isinstance(game, Pig):
        scores, player, rolled, rolling = game.state
        return {"look": "pig", "scores": list(scores), "player": player, "rolled": rolled,
                "rolling": rolling}  # fmt: skip
    text = str(game)
    for kind, look in GRIDS.items():
        if isinstance(game, kind):
            return {"look": look, "rows": _grid(text)}
    if isinstance(game, Go):
        return {"look": "stones", "rows": _grid(text)}
    if isinstance(game, Backgammon):
        return {"look": "text", "lines": text.splitlines()}
    if type(game).__module__.startswith("agent.games.chess"):
        return {"look": "pieces", "rows": [line.replace(" ", "") for line in text.splitlines()]}
    return {"look": "text", "lines": text.splitlines()}


def _grid(text: str) -> list[str]:
    """Return the rows of a board, without what stands beside it; squares not used are blank."""
    lines = [line for line in text.splitlines() if line.strip()]
    rows = []
    for line in lines:
        cells = line[0::2] if line[:1] in (" ", *SIGNS) and _plain(line) else _marks(line)
        if cells:
            rows.append(cells)
    width = max(map(len, rows), default=0)
    return [row.ljust(width) for row in rows]


def _plain(line: str) -> bool:
    """Tell whether a line has nothing but signs, with blanks between them."""
    return all(sign in SIGNS or sign == " " for sign in line)


def _marks(line: str) -> str:
    """Return the signs of a line that begins with its number, nothing of one with letters."""
    first, *rest = line.split()
    if first.isdigit() and rest and all(len(each) == 1 and each in SIGNS for each in rest):
        return "".join(rest)
    return ""
