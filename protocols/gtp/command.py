from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.gtp.messages import Arguments

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession


@dataclass(frozen=True, slots=True)
class Command:
    """A GTP command with its handler and its restrictions."""

    # Returns the text of the response, or None if it has sent the response itself.
    handler: Callable[[GtpSession, Arguments], str | None]
    go_only: bool = False
    not_for_go: bool = False
    requires_trust: bool = False  # see `protocols.permissions`
    trust_free_without_arguments: bool = False

    def is_offered(self, is_go: bool) -> bool:
        """Return whether the command exists for the game."""
        return not (self.not_for_go if is_go else self.go_only)

    def is_permitted(self, trusted: bool, has_arguments: bool) -> bool:
        """Return whether a client may use the command."""
        is_trust_free = self.trust_free_without_arguments and not has_arguments
        return trusted or is_trust_free or not self.requires_trust
