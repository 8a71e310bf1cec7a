"""What of this package is compiled, and for which boards."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.games.connect_four import ConnectFour

CONNECT_FOUR = "connect-four"

# The modules with entry points, in the order of compilation.
PARTS = {
    CONNECT_FOUR: (
        "agent.connect_four.rules",
        "agent.connect_four.alphabeta",
        "agent.connect_four.evaluation",
    )
}
COMPILED_IN_PARALLEL: tuple[str, ...] = ()
ON_DEMAND: tuple[str, ...] = ()
VARIANTS: dict[str, Callable[[], str]] = {}

# Of a board's squares, and one more for each column: what is left of 64 is room to shift.
_MAX_BITS = 62


def fits(game: ConnectFour) -> bool:
    """Tell whether the compiled search can play on this board."""
    return game.width * (game.height + 1) <= _MAX_BITS
