"""The type of the entries in the command tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.gtp.messages import Arguments

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession


@dataclass(frozen=True, slots=True)
class Command:
    """A GTP command.

    The function `handler` returns the text of the response, or None if it has sent the response
    itself. If `go_only` is set, the command is available only in games of Go. If `requires_trust`
    is set, the command names a file, and only trusted clients may use it. If
    `trust_free_without_arguments` is set, any client may use the command without arguments. See
    `protocols.permissions`.
    """

    handler: Callable[[GtpSession, Arguments], str | None]
    go_only: bool = False
    requires_trust: bool = False
    trust_free_without_arguments: bool = False
