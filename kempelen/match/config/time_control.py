import re
from dataclasses import dataclass
from typing import Any

from agent.game_clock import GameClock, TimeSystem
from agent.io.strict_json import MAX_NUMBER
from kempelen.console.settings_codec import SettingsError

# The entries of a time control that do not limit a search.
TOLERANCE_KEYS = frozenset({"margin", "patience"})


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The clock of a player, its limits per move, or both. Times are in seconds.

    A clock gives `base` for every `moves` moves, or for the whole game if `moves` is 0. A move may
    be late by `margin`. `patience` is the timeout for a search with neither clock nor `movetime`.
    Only the protocols LAB and MQTT support `playouts`.

    With `hourglass`, the time of each move is added to the opponent's clock. `infinite` means that
    a search needs no limit, because the engine ends it.
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
    hourglass: bool = False
    infinite: bool = False

    def __post_init__(self) -> None:
        limits = (self.base, self.movetime, self.nodes, self.depth, self.playouts)
        if all(limit is None for limit in limits) and not self.infinite:
            raise SettingsError("time: a clock, movetime, nodes, depth or playouts is required")
        if self.hourglass and (self.base is None or self.moves or self.increment):
            raise SettingsError("time: an hourglass requires a base without moves and increment")
        tolerances = (self.increment, self.margin, self.patience)
        numbers = [value for value in (*limits, self.moves, *tolerances) if value is not None]
        if not all(abs(value) <= MAX_NUMBER for value in numbers):  # also if one is NaN
            raise SettingsError(f"time: numbers must be finite and at most {MAX_NUMBER:g}")
        if any(limit is not None and limit <= 0 for limit in limits):
            raise SettingsError("time: times, nodes, depth and playouts must be greater than 0")
        if any(value < 0 for value in (self.moves, *tolerances)):
            raise SettingsError("time: moves, increment, margin and patience must be at least 0")

    @classmethod
    def from_text(cls, text: str) -> "TimeControl":
        """Parse `moves/base+increment`, with `base` in seconds or as minutes:seconds.

        `hg` or PGN's `*` before the base is an hourglass. `inf` is no limit. Raise SettingsError if
        the text is invalid.
        """
        if text == "inf":
            return cls(infinite=True)
        match = re.fullmatch(
            r"(hg|\*)?(?:(\d{1,9})/)?(?:(\d{1,9}):)?(\d+(?:\.\d*)?|\.\d+)(?:\+(\d*\.?\d+))?", text
        )
        if not match:
            raise SettingsError(
                f"invalid time control {text!r} (expected moves/base+increment in seconds, "
                "such as 40/60, 10+0.1 or 40/1:30+1, hg60 for an hourglass, or inf)"
            )
        hourglass, moves, minutes, seconds, increment = match.groups()
        base = 60 * int(minutes or 0) + float(seconds)
        return cls(
            moves=int(moves or 0),
            base=base,
            increment=float(increment or 0),
            hourglass=hourglass is not None,
        )

    def new_clock(self) -> GameClock:
        """Return a clock for a game. The increment is also added before the first move."""
        system = TimeSystem(
            self.base, increment=self.increment, moves=self.moves, max_move_time=self.movetime
        )
        return GameClock(system, (self.base or 0.0) + self.increment)

    def __str__(self) -> str:
        parts = []
        if self.base is not None:
            moves = f"{self.moves}/" if self.moves else ""
            increment = f"+{_seconds(self.increment)}" if self.increment else ""
            parts.append(f"{'*' if self.hourglass else moves}{_seconds(self.base)}{increment}")
        if self.movetime is not None:
            parts.append(f"{_seconds(self.movetime)}/move")
        if self.nodes is not None:
            parts.append(f"{self.nodes} nodes")
        if self.depth is not None:
            parts.append(f"depth {self.depth}")
        if self.playouts is not None:
            parts.append(f"{self.playouts} playouts")
        return ", ".join(parts) or "inf"


def _seconds(value: float) -> str:
    return f"{value:.6f}".rstrip("0").removesuffix(".")  # PGN has no exponents


def parse_clock(text: str) -> dict[str, Any]:
    """Parse a clock such as 40/60+1 to the TimeControl fields that it sets."""
    control = TimeControl.from_text(text)
    if control.infinite:
        return {"infinite": True}
    clock = {"moves": control.moves, "base": control.base, "increment": control.increment}
    return {**clock, "hourglass": True} if control.hourglass else clock
