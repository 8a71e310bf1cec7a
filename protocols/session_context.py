from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.permissions import LOCAL, Permissions

if TYPE_CHECKING:
    from agent.memory_budget import MemoryBudget
    from agent.threads.scheduler import SearchScheduler
    from protocols.server.line_scheduler import SessionLines


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The permissions and shared resources of one session. The defaults restrict nothing."""

    permissions: Permissions = LOCAL
    scheduler: SearchScheduler | None = None  # or None to start searches immediately
    budget: MemoryBudget | None = None  # shared by all sessions, or None for no limit
    session_lines: SessionLines | None = None  # or None to handle all lines immediately


# The only session of a process.
STANDALONE = SessionContext()
