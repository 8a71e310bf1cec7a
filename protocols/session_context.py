"""What a session is given: what it may ask for, and its part of what many sessions share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.permissions import LOCAL, Permissions

if TYPE_CHECKING:
    from agent.memory_budget import MemoryBudget
    from agent.threads.scheduler import SearchScheduler


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What one session may do and use; all there is, as it stands here.

    permissions: what it may ask for. turns: to search by, shared with other sessions; None to
    search at any time. budget: of the memory that all sessions share; None where none do.
    """

    permissions: Permissions = LOCAL
    scheduler: SearchScheduler | None = None
    budget: MemoryBudget | None = None


# Of whoever has the program to himself.
STANDALONE = SessionContext()
