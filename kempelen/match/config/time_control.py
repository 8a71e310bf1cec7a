"""What a player may spend on its moves. Times are seconds."""

import re
from dataclasses import dataclass
from math import isfinite
from typing import Any

from kempelen.console.settings_codec import SettingsError

# The entries of a time control that are no limits.
TOLERANCE_KEYS = frozenset({"margin", "patience"})


@dataclass(frozen=True, slots=True)
class TimeControl:
    """What a player may spend: a clock (moves/base+increment), or fixed limits, or both.

    moves: to be made in `base`, after which it is added again; 0 for the whole game.
    margin: how much later than allowed a move may arrive.
    patience: how long a search that has no clock and no movetime may take before it counts as
    hung. playouts: of an agent of the lab that searches by playouts.
    """

    moves: int = 0
    base: float | None = None
    increment: float = 0.0
    movetime: float | None = None
    nodes: int | None = None
    depth: int | None = None
    margin: float = 0.02
    patience: float = 60.0
    playouts: int | None = None

    def __post_init__(self) -> None:
        limits = (self.base, self.movetime, self.nodes, self.depth, self.playouts)
        if all(limit is None for limit in limits):
            raise SettingsError("a time control, movetime, nodes, depth or playouts is needed")
        others = (self.increment, self.margin, self.patience)
        if not all(isfinite(limit) for limit in (*limits, *others) if limit is not None):
            raise SettingsError("times, margin and patience must be finite numbers")
        if any(limit is not None and limit <= 0 for limit in limits):
            raise SettingsError("times, nodes, depth and playouts must be greater than 0")
        if not all(each >= 0 for each in (self.moves, self.increment, self.margin, self.patience)):
            raise SettingsError("moves, increment, margin and patience must not be negative")

    @classmethod
    def from_text(cls, text: str) -> "TimeControl":
        """Parse `moves/base+increment`; base is seconds or minutes:seconds."""
        match = re.fullmatch(r"(?:(\d+)/)?(?:(\d+):)?(\d+(?:\.\d*)?|\.\d+)(?:\+(\d*\.?\d+))?", text)
        if not match:
            raise SettingsError(
                f"time control {text!r}: write moves/base+increment in seconds, "
                "for example 40/60, 10+0.1 or 40/1:30+1"
            )
        moves, minutes, seconds, increment = match.groups()
        base = 60 * int(minutes or 0) + float(seconds)
        return cls(moves=int(moves or 0), base=base, increment=float(increment or 0))

    def __str__(self) -> str:
        parts = []
        if self.base is not None:
            moves = f"{self.moves}/" if self.moves else ""
            increment = f"+{self.increment:g}" if self.increment else ""
            parts.append(f"{moves}{self.base:g}{increment}")
        if self.movetime is not None:
            parts.append(f"{self.movetime:g}/move")
        if self.nodes is not None:
            parts.append(f"{self.nodes} nodes")
        if self.depth is not None:
            parts.append(f"depth {self.depth}")
        if self.playouts is not None:
            parts.append(f"{self.playouts} playouts")
        return ", ".join(parts)


def parse_clock(text: str) -> dict[str, Any]:
    """Return the entries of a TimeControl that `moves/base+increment` stands for."""
    control = TimeControl.from_text(text)
    return {"moves": control.moves, "base": control.base, "increment": control.increment}
