"""What the tables of commands hold: a function, and in which games it is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.gtp.values import Arguments

if TYPE_CHECKING:
    from protocols.gtp.play import GtpPlay


@dataclass(frozen=True, slots=True)
class Command:
    """One command. act: returns the answer; None if it has given it itself. go: of Go alone."""

    act: Callable[[GtpPlay, Arguments], str | None]
    go: bool = False
