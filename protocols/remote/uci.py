"""A dialogue in UCI: options, the position, and the searches that are not answered yet."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from protocols.remote.chess_proxy import ChessProxy, keep_last
from protocols.remote.proxy import (
    NOTHING,
    READY_TIMEOUT_S,
    REPLY_TOLERANCE_S,
    Outgoing,
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
    """A `go` that has not been answered. Times are seconds of the monotonic clock.

    position: the line before it. since: when its clock began to run, None while it ponders.
    stopped: when it was told to stop. lost: since when there is no server. best: the last line of
    information with a line of play.
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
        left = self.go.numbers.get(f"{mine}time", self.go.numbers.get(f"{other}time"))
        # The keyword of its clock, and what that leaves it, in seconds.
        self.clock = f"{mine}time"
        self.remaining = None if left is None else left / 1e3

    def position_command(self) -> PositionCommand:
        """Return the position to search."""
        try:
            return parse_position(re.split(r"(?i)\bposition\b", self.position, maxsplit=1)[-1])
        except UciError:
            return PositionCommand(None, ())

    def deadline(self, timeout: float) -> float | None:
        """Return when to answer it without a server; patience: where no clock runs."""
        if self.stopped_at is not None:
            return self.stopped_at + (0.0 if self.lost is not None else REPLY_TOLERANCE_S)
        if self.since is None or self.go.infinite:
            return None
        times = []
        if self.remaining is not None:
            when = no_server_deadline if self.lost is not None else silent_server_deadline
            times.append(when(self.since, self.remaining))
        if "movetime" in self.go.numbers:
            over = self.since + self.go.numbers["movetime"] / 1e3
            times.append(over if self.lost is not None else over + REPLY_TOLERANCE_S)
        if not times and self.lost is not None:
            times.append(self.lost + timeout)
        return min(times, default=None)

    def resend_line(self, now: float) -> str:
        """Return the `go` to ask another server: its clock has run meanwhile."""
        if self.since is None:
            return self.line
        gone = round((now - self.since) * 1e3)
        line = re.sub(r"(?i)\sponder\b", "", self.line)
        for name in (self.clock, "movetime"):
            if name in self.go.numbers:
                left = max(self.go.numbers[name] - gone, 1)
                line = re.sub(rf"(?i)(\s{name}\s+)\S+", rf"\g<1>{left}", line)
        return line


class UciProxy(ChessProxy):
    """One front end's, in UCI."""

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
        # When each was answered that the server, which is there, will answer still.
        self._late_replies: deque[float] = deque()
        # When each `isready` came that has not been answered; of the first so many, ours tells.
        self._pending_isready: deque[float] = deque()
        self._sync_isready: int | None = None

    def on_frontend_line(self, line: str, now: float) -> Outgoing:
        """Take a line of the front end."""
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
        return Outgoing(server=(line,)) if self._connected and line.strip() else NOTHING

    def on_server_line(self, line: str, now: float) -> Outgoing:
        """Take a line of the server."""
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
                return NOTHING  # what the options said has been heard
        elif name == "readyok":
            return self._on_readyok()
        elif name in ("id", "option", "uciok"):
            if not self._uci_pending:
                return NOTHING
            if name == "uciok":
                self._uci_pending, self._uciok_seen = False, True
        return Outgoing(frontend=(line,))

    def on_connected(self, now: float) -> Outgoing:
        """Begin with a server that knows nothing, the first or a later one."""
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
        return Outgoing(server=lines + self._take_held())

    def on_disconnected(self, now: float) -> Outgoing:
        """Take note that there is no server now."""
        self._connected, self._sync_isready = False, None
        self._late_replies.clear()
        for search in self._searches:
            search.lost = now
        return NOTHING

    def deadline(self) -> float | None:
        """Return when something must be answered, server or not; None if nothing must."""
        times = [search.deadline(self._timeout) for search in self._searches]
        if self._pending_isready and self._uciok_seen and not self._connected:
            times.append(self._pending_isready[0] + READY_TIMEOUT_S)
        if self._late_replies:
            times.append(self._late_replies[0] + REPLY_TOLERANCE_S)
        return earliest(times)

    def on_timeout(self, now: float, reason: str) -> Outgoing:
        """Answer what is due. reason: why no server has done so."""
        frontend: list[str] = []
        while (
            self._pending_isready
            and not self._connected
            and self._pending_isready[0] + READY_TIMEOUT_S <= now
        ):
            self._pending_isready.popleft()
            frontend += [info_string(f"ready, but {reason}"), "readyok"]
        late = [search for search in self._searches if _is_due(search, self._timeout, now)]
        if late:
            last = self._searches.index(late[-1])
            for search in self._searches[: last + 1]:
                frontend += self._answer(search, reason)
                if self._connected:
                    self._late_replies.append(now)
            del self._searches[: last + 1]
        disconnect = bool(self._late_replies) and self._late_replies[0] + REPLY_TOLERANCE_S <= now
        return Outgoing(("stop",) if late and self._connected else (), frontend, disconnect)

    def abort(self, now: float, reason: str) -> Outgoing:
        """Answer all that has not been answered, and tell why no server will."""
        frontend = [info_string(reason)]
        for search in self._searches:
            frontend += self._answer(search, reason)
        self._searches.clear()
        return Outgoing(frontend=frontend)

    def on_overlong_line(self) -> Outgoing:
        """Say that a line was dropped."""
        return self.notify("a line was too long and is ignored")

    def notify(self, message: str) -> Outgoing:
        """Tell the front end something that it may show."""
        return Outgoing(frontend=(info_string(message),))

    def has_pending(self) -> bool:
        """Tell whether something that will be answered has not been."""
        asked = self._uci_pending or self._pending_isready or self._searches
        return bool(asked) and not self.finished

    def stop(self) -> Outgoing:
        """End what would not end by itself: no more lines will come."""
        endless = any(search.since is None or search.go.infinite for search in self._searches)
        return Outgoing(server=("stop",)) if endless and self._connected else NOTHING

    def _set_option(self, line: str, rest: str) -> None:
        try:
            option = parse_set_option(rest)
        except UciError:
            return
        name = option.name.lower()
        if option.value is not None:  # what a button did is not done again
            keep_last(self._options, name, line)
        if name == "uci_chess960":
            self._chess960 = (option.value or "").lower() == "true"

    def _go(self, line: str, rest: str, now: float) -> None:
        go = parse_go(rest)
        if "perft" in go.numbers:
            if not self._connected:
                self._held.append(line)
            return
        for search in self._searches:  # a new one stops them
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

    def _on_readyok(self) -> Outgoing:
        if self._sync_isready is not None:
            answers, self._sync_isready = self._sync_isready, None
        else:
            answers = 1
        answers = min(answers, len(self._pending_isready))
        for _ in range(answers):
            self._pending_isready.popleft()
        return Outgoing(frontend=("readyok",) * answers)

    def _answer(self, search: PendingSearch, reason: str) -> list[str]:
        """Answer a search by the best move that was heard of, or any legal one."""
        words = search.best.partition(" pv ")[2].split()
        wanted = words[0] if words else ""
        position_command = search.position_command()
        move = self._best_move(wanted, position_command.fen, position_command.moves, self._chess960)
        how = "the best move heard of" if move == wanted else "any legal move"
        return [info_string(f"{reason}; this is {how}"), f"bestmove {move or '(none)'}"]


def _is_due(search: PendingSearch, timeout: float, now: float) -> bool:
    due = search.deadline(timeout)
    return due is not None and due <= now
