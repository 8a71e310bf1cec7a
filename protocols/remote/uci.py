"""The UCI proxy, which stores the options, the position, and the unanswered searches."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from protocols.remote.chess_proxy import ChessProxy, keep_last
from protocols.remote.proxy import (
    NOTHING,
    READY_TIMEOUT_S,
    REPLY_TOLERANCE_S,
    OutgoingLines,
    earliest,
    no_server_deadline,
    silent_server_deadline,
)
from protocols.uci.formatting import info_string
from protocols.uci.parsing import (
    GoCommand,
    PositionCommand,
    UciError,
    parse_go,
    parse_position,
    parse_set_option,
)

COMMANDS = frozenset(
    "uci debug isready setoption register ucinewgame position go stop ponderhit quit".split()  # noqa: SIM905
)


@dataclass
class PendingSearch:
    """An unanswered `go` command. Times are in seconds of the monotonic clock.

    - `position`: the `position` command before the search.
    - `since`: when the clock started, or None while pondering.
    - `lost`: when the connection was lost, or None while connected.
    - `stopped_at`: when the front end stopped the search, or None.
    - `best`: the last `info` line with a principal variation, or "".
    """

    line: str
    go: GoCommand
    position: str
    since: float | None
    lost: float | None
    stopped_at: float | None = None
    best: str = ""

    def __post_init__(self) -> None:
        position_command = self.position_command()
        words = (position_command.fen or "").split()
        odd = len(position_command.moves) % 2 == 1
        mine, other = "wb" if odd == (words[1:2] == ["b"]) else "bw"
        milliseconds = self.go.numbers.get(f"{mine}time", self.go.numbers.get(f"{other}time"))
        # The keyword of the moving side's clock, and its remaining time in seconds.
        self.clock = f"{mine}time"
        self.remaining = None if milliseconds is None else milliseconds / 1e3

    def position_command(self) -> PositionCommand:
        try:
            return parse_position(re.split(r"(?i)\bposition\b", self.position, maxsplit=1)[-1])
        except UciError:
            return PositionCommand(None, ())

    def deadline(self, timeout: float) -> float | None:
        """Return the latest time at which to answer, or None for no limit.

        If no clock is running, the proxy waits `timeout` seconds for a server.
        """
        if self.stopped_at is not None:
            return self.stopped_at + (0.0 if self.lost is not None else REPLY_TOLERANCE_S)
        if self.since is None or self.go.infinite:
            return None
        times = []
        if self.remaining is not None:
            when = no_server_deadline if self.lost is not None else silent_server_deadline
            times.append(when(self.since, self.remaining))
        if "movetime" in self.go.numbers:
            end = self.since + self.go.numbers["movetime"] / 1e3
            times.append(end if self.lost is not None else end + REPLY_TOLERANCE_S)
        if not times and self.lost is not None:
            times.append(self.lost + timeout)
        return min(times, default=None)

    def resend_line(self, now: float) -> str:
        """Return the `go` command for another server, with the elapsed time deducted."""
        if self.since is None:
            return self.line
        elapsed = round((now - self.since) * 1e3)
        line = re.sub(r"(?i)\sponder\b", "", self.line)
        for name in (self.clock, "movetime"):
            if name in self.go.numbers:
                remaining = max(self.go.numbers[name] - elapsed, 1)
                line = re.sub(rf"(?i)(\s{name}\s+)\S+", rf"\g<1>{remaining}", line)
        return line


class UciProxy(ChessProxy):
    def __init__(self, timeout: float) -> None:
        super().__init__(timeout)
        self._uciok_seen = False
        self._uci_pending = False
        self._debug = ""
        self._options: dict[str, str] = {}
        self._chess960 = False
        self._new_game = False
        self._position = ""
        self._searches: list[PendingSearch] = []
        # Times at which the proxy answered searches that the connected server will still answer.
        self._late_replies: deque[float] = deque()
        # Arrival times of the unanswered `isready` commands. The proxy's own `isready` answers the
        # first `_sync_isready` of them.
        self._pending_isready: deque[float] = deque()
        self._sync_isready: int | None = None

    def on_frontend_line(self, line: str, now: float) -> OutgoingLines:
        match = next(
            (word for word in re.finditer(r"\S+", line) if word[0].lower() in COMMANDS), None
        )
        name = match[0].lower() if match else ""
        rest = line[match.end() :].strip() if match else ""
        if name == "uci":
            self._uci_pending = True
        elif name == "isready":
            self._pending_isready.append(now)
        elif name == "setoption":
            self._set_option(line, rest)
        elif name == "ucinewgame":
            self._new_game, self._position = True, ""
        elif name == "position":
            self._position = line
        elif name == "debug":
            self._debug = line
        elif name == "go":
            self._go(line, rest, now)
        elif name == "stop":
            for search in self._searches:
                search.stopped_at = search.stopped_at or now
        elif name == "ponderhit":
            for search in self._searches:
                search.since = search.since or now
        elif name == "quit":
            self.finished = True
        elif not self._connected and line.strip():
            self._held.append(line)
        return OutgoingLines(server=(line,)) if self._connected and line.strip() else NOTHING

    def on_server_line(self, line: str, now: float) -> OutgoingLines:
        name, _, rest = line.lstrip().partition(" ")
        if name == "bestmove":
            if self._late_replies:
                self._late_replies.popleft()
                return NOTHING
            if not self._searches:
                return NOTHING
            self._searches.pop(0)
        elif name == "info":
            if self._late_replies and not rest.startswith("string"):
                return NOTHING
            if self._searches and " pv " in rest:
                if " multipv " not in line or " multipv 1 " in line:
                    self._searches[0].best = line
            elif self._sync_isready is not None and self._uciok_seen:
                return NOTHING  # Messages about replayed options were shown before.
        elif name == "readyok":
            return self._on_readyok()
        elif name in ("id", "option", "uciok"):
            if not self._uci_pending:
                return NOTHING
            if name == "uciok":
                self._uci_pending, self._uciok_seen = False, True
        return OutgoingLines(frontend=(line,))

    def on_connected(self, now: float) -> OutgoingLines:
        self._connected = True
        lines = ["uci"] if self._uci_pending or self._uciok_seen else []
        lines += [self._debug] if self._debug else []
        lines += self._options.values()
        lines += ["ucinewgame"] if self._new_game else []
        lines.append("isready")
        self._sync_isready = len(self._pending_isready)
        for search in self._searches:
            search.lost = None
            lines += [search.position] if search.position else []
            lines.append(search.resend_line(now))
            lines += ["stop"] if search.stopped_at is not None else []
        if self._position and not (
            self._searches and self._searches[-1].position == self._position
        ):
            lines.append(self._position)
        return OutgoingLines(server=lines + self._take_held())

    def on_disconnected(self, now: float) -> OutgoingLines:
        self._connected, self._sync_isready = False, None
        self._late_replies.clear()
        for search in self._searches:
            search.lost = now
        return NOTHING

    def deadline(self) -> float | None:
        times = [search.deadline(self._timeout) for search in self._searches]
        if self._pending_isready and self._uciok_seen and not self._connected:
            times.append(self._pending_isready[0] + READY_TIMEOUT_S)
        if self._late_replies:
            times.append(self._late_replies[0] + REPLY_TOLERANCE_S)
        return earliest(times)

    def on_timeout(self, now: float, reason: str) -> OutgoingLines:
        frontend: list[str] = []
        while (
            self._pending_isready
            and not self._connected
            and self._pending_isready[0] + READY_TIMEOUT_S <= now
        ):
            self._pending_isready.popleft()
            frontend += [info_string(f"ready, but without a server: {reason}"), "readyok"]
        late = [search for search in self._searches if _is_due(search, self._timeout, now)]
        if late:
            last = self._searches.index(late[-1])
            for search in self._searches[: last + 1]:
                frontend += self._answer(search, reason)
                if self._connected:
                    self._late_replies.append(now)
            del self._searches[: last + 1]
        disconnect = bool(self._late_replies) and self._late_replies[0] + REPLY_TOLERANCE_S <= now
        return OutgoingLines(("stop",) if late and self._connected else (), frontend, disconnect)

    def abort(self, now: float, reason: str) -> OutgoingLines:
        frontend = [info_string(reason)]
        for search in self._searches:
            frontend += self._answer(search, reason)
        self._searches.clear()
        return OutgoingLines(frontend=frontend)

    def on_overlong_line(self) -> OutgoingLines:
        return self.notify("line too long; ignored")

    def notify(self, message: str) -> OutgoingLines:
        return OutgoingLines(frontend=(info_string(message),))

    def has_pending(self) -> bool:
        pending = self._uci_pending or self._pending_isready or self._searches
        return bool(pending) and not self.finished

    def stop(self) -> OutgoingLines:
        endless = any(search.since is None or search.go.infinite for search in self._searches)
        return OutgoingLines(server=("stop",)) if endless and self._connected else NOTHING

    def _set_option(self, line: str, rest: str) -> None:
        try:
            option = parse_set_option(rest)
        except UciError:
            return
        name = option.name.lower()
        if option.value is not None:  # A button option must not be pressed again.
            keep_last(self._options, name, line)
        if name == "uci_chess960":
            self._chess960 = (option.value or "").lower() == "true"

    def _go(self, line: str, rest: str, now: float) -> None:
        go = parse_go(rest)
        if "perft" in go.numbers:
            if not self._connected:
                self._held.append(line)
            return
        for search in self._searches:  # A new search stops the previous ones.
            search.stopped_at = search.stopped_at or now
        self._searches.append(
            PendingSearch(
                line,
                go,
                self._position,
                None if go.ponder else now,
                None if self._connected else now,
            )
        )

    def _on_readyok(self) -> OutgoingLines:
        if self._sync_isready is not None:
            answers, self._sync_isready = self._sync_isready, None
        else:
            answers = 1
        answers = min(answers, len(self._pending_isready))
        for _ in range(answers):
            self._pending_isready.popleft()
        return OutgoingLines(frontend=("readyok",) * answers)

    def _answer(self, search: PendingSearch, reason: str) -> list[str]:
        words = search.best.partition(" pv ")[2].split()
        candidate = words[0] if words else ""
        position_command = search.position_command()
        move = self._best_move(
            candidate, position_command.fen, position_command.moves, self._chess960
        )
        source = "the best known move" if move == candidate else "any legal move"
        return [info_string(f"{reason}; playing {source}"), f"bestmove {move or '(none)'}"]


def _is_due(search: PendingSearch, timeout: float, now: float) -> bool:
    due = search.deadline(timeout)
    return due is not None and due <= now
