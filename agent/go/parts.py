"""Groups of Go kernel modules ("parts") that are compiled and loaded separately."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.games.go import Go

GO, FEATURE_EXTRACTION = "go", "go_describing"
MAX_BOARD_SIZE = 19

# Modules with kernel entry points, in compilation order.
PARTS = {
    GO: (
        "agent.go.kernel_board",
        "agent.go.ladders",
        "agent.go.playout",
        "agent.kernel.mcts_tree",
        "agent.go.network",
        "agent.go.mcts",
    ),
    FEATURE_EXTRACTION: ("agent.go.feature_extraction",),
}
COMPILED_IN_PARALLEL: tuple[str, ...] = ()
ON_DEMAND: tuple[str, ...] = ()
VARIANTS: dict[str, Callable[[], str]] = {}


def fits(game: Go) -> bool:
    return max(game.width, game.height) <= MAX_BOARD_SIZE
