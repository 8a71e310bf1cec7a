"""What of this package is compiled, and for which boards."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.games.go import Go

GO, FEATURE_EXTRACTION = "go", "go_describing"
MAX_BOARD_SIZE = 19

# The modules with entry points, in the order of compilation.
PARTS = {
    GO: (
        "agent.go.kernel_board",
        "agent.go.ladders",
        "agent.go.playout",
        "agent.kernel.mcts_tree",
        "agent.go.mcts",
    ),
    FEATURE_EXTRACTION: ("agent.go.feature_extraction",),
}
COMPILED_IN_PARALLEL: tuple[str, ...] = ()
ON_DEMAND: tuple[str, ...] = ()
VARIANTS: dict[str, Callable[[], str]] = {}


def fits(game: Go) -> bool:
    """Tell whether the compiled search can play on this board."""
    return max(game.width, game.height) <= MAX_BOARD_SIZE
