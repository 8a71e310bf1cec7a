"""The Connect Four kernel modules to compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.games.connect_four import ConnectFour

CONNECT_FOUR = "connect-four"

# Modules with kernel entry points, in compilation order.
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

# Maximum number of bits of a board, with an extra bit per column. The remaining bits of 64 are
# needed for shifts.
_MAX_BITS = 62


def fits(game: ConnectFour) -> bool:
    return game.width * (game.height + 1) <= _MAX_BITS
