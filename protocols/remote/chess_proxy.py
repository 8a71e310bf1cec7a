"""What the UCI and xboard proxies share: searches, readiness checks, and the handshake."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, TypeVar

from agent.games.variants import ChessRules
from protocols.remote.legal_move import choose_legal_move, is_uci_move
from protocols.remote.proxy import NOTHING, OutgoingLines, Proxy, keep_last

# Maximum number of held lines that do not concern the game.
MAX_HELD_LINES = 256
# A front end's readiness check is answered after this time, even without a server.
READY_TIMEOUT_S = 2.0
# Additional time for a connected server before the proxy answers itself.
REPLY_TOLERANCE_S = 3.0


@dataclass(kw_only=True)
class PendingSearch:
    """An unanswered search. Times are in seconds of the monotonic clock.

    - `since`: when the clock started, or `inf` while no clock is running.
    - `stopped_at`: when the front end stopped the search.
    - `best`: the best known move, or "".
    """

    since: float
    stopped_at: float = inf
    best: str = ""


class PendingCheck(NamedTuple):
    """An unanswered readiness check from the front end, and the answer that it expects."""

    line: str
    answer: str
    asked_at: float


Search = TypeVar("Search", bound=PendingSearch)


class ChessProxy(Proxy[Search]):
    def __init__(self, timeout: float) -> None:
        super().__init__(timeout)
        # Whether the front end is waiting for the end of the handshake, and whether it has seen it.
        self._negotiating = self._negotiated = False
        # Whether the server has not yet answered the proxy's own check after the replayed commands.
        self._syncing = False
        self._options: dict[str, str] = {}
        # Whether the replayed settings include some about which no server has reported errors.
        self._has_new_settings = False
        self._checks: list[PendingCheck] = []
        # Lines that do not concern the game, received while no server was connected.
        self._held: deque[str] = deque(maxlen=MAX_HELD_LINES)

    def on_connected(self, now: float) -> OutgoingLines:
        self._syncing = True
        lines = [*super().on_connected(now).server, *self._held]
        self._held.clear()
        return OutgoingLines(server=lines)

    def deadline(self) -> float:
        return min(super().deadline(), self._check_due())

    def on_timeout(self, now: float, reason: str) -> OutgoingLines:
        frontend: list[str] = []
        while self._check_due() <= now:
            frontend += self._answer_check(self._checks.pop(0), reason)
        return OutgoingLines(frontend=[*frontend, *super().on_timeout(now, reason).frontend])

    def has_pending(self) -> bool:
        pending = self._negotiating or self._checks or super().has_pending()
        return bool(pending) and not self.finished

    @abstractmethod
    def _time_limits(self, search: Search) -> tuple[float, float]:
        """Return the seconds left on the clock, and the seconds allowed for the move (or `inf`)."""

    def _keep_setting(self, settings: dict[str, str], name: str, line: str) -> None:
        """Store the last line for `name`, to be replayed."""
        keep_last(settings, name, line)
        self._has_new_settings |= not self._connected

    def _answer_check(self, check: PendingCheck, reason: str) -> list[str]:
        return [check.answer]

    def _check_due(self) -> float:
        """Return when the proxy must answer the first readiness check itself, or `inf`."""
        if self._connected or not self._negotiated or not self._checks:
            return inf
        return self._checks[0].asked_at + READY_TIMEOUT_S

    def _due(self, search: Search) -> float:
        tolerance = REPLY_TOLERANCE_S if self._connected else 0.0
        if search.stopped_at < inf:
            return search.stopped_at + tolerance
        clock, movetime = self._time_limits(search)
        due = min(search.since + movetime + tolerance, self._clock_due(search.since, clock))
        if due == inf and not self._connected:
            return max(self._lost_at, search.since) + self._timeout
        return due

    def _stop_searches(self, now: float) -> None:
        for search in self._pending:
            search.stopped_at = min(search.stopped_at, now)

    def _forward(self, line: str, hold: bool = False) -> OutgoingLines:
        """Send a line to the server, or store it if `hold` is set and no server is connected."""
        if self._connected:
            return OutgoingLines(server=(line,))
        if hold:
            self._held.append(line)
        return NOTHING

    def _on_check_answer(self, answer: str) -> OutgoingLines:
        """Forward the server's answer to a readiness check, unless the check has been answered."""
        for check in self._checks:
            if check.answer == answer:
                self._checks.remove(check)
                return OutgoingLines(frontend=(answer,))
        return NOTHING

    def _best_move(
        self,
        candidate: str,
        fen: str | None,
        rules: ChessRules,
        moves: Sequence[str],
    ) -> str | None:
        """Return `candidate` if it is legal, else another legal move, or None.

        While a server is connected, only the notation of `candidate` is checked.
        """
        if self._connected and is_uci_move(candidate):
            return candidate
        return choose_legal_move(fen, rules, moves, candidate)
