"""What of this package is compiled, and for which boards."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.games.go import Go

GO, DESCRIBING = "go", "go_describing"
LARGEST = 19

# The modules with entry points, in the order of compilation.
PARTS = {
    GO: (
        "agent.go.rules",
        "agent.go.ladders",
        "agent.go.playout",
        "agent.compiled.tree",
        "agent.go.mcts",
    ),
    DESCRIBING: ("agent.go.describing",),
}
APART: tuple[str, ...] = ()
AFTERWARDS: tuple[str, ...] = ()


def fits(game: Go) -> bool:
    """Tell whether the compiled search can play on this board."""
    return game.size <= LARGEST
