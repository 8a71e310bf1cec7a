"""Permissions and shared resources of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.permissions import LOCAL, Permissions

if TYPE_CHECKING:
    from agent.memory_budget import MemoryBudget
    from agent.threads.scheduler import SearchScheduler


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The permissions and shared resources of one session. The defaults restrict nothing.

    The object `scheduler` schedules the searches of all sessions. If this is None, searches start
    immediately. All sessions share the memory budget `budget`. If this is None, memory is not
    limited.
    """

    permissions: Permissions = LOCAL
    scheduler: SearchScheduler | None = None
    budget: MemoryBudget | None = None


# The only session of a process.
STANDALONE = SessionContext()
