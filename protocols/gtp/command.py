"""What the tables of commands hold: a function, in which games it is there, and for whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.gtp.messages import Arguments

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession


@dataclass(frozen=True, slots=True)
class Command:
    """One command. act: returns the answer; None if it has given it itself. go: of Go alone.

    trusted: it names a file, see protocols.permissions; bare: not where it has no arguments.
    """

    handler: Callable[[GtpSession, Arguments], str | None]
    go_only: bool = False
    requires_trust: bool = False
    trust_free_without_arguments: bool = False
