"""The UCI proxy, which stores the options, the position, and the unanswered searches."""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from math import inf

from agent.games.variants import STANDARD, ChessRules, find_variant
from protocols.remote.chess_proxy import (
    REPLY_TOLERANCE_S,
    ChessProxy,
    PendingCheck,
    PendingSearch,
)
from protocols.remote.proxy import NOTHING, OutgoingLines
from protocols.uci.formatting import info_string
from protocols.uci.parsing import (
    GoCommand,
    PositionCommand,
    UciError,
    parse_go,
    parse_position,
    parse_set_option,
    split_command,
)

COMMANDS = frozenset(
    "uci debug isready setoption register ucinewgame position go stop ponderhit quit".split()  # noqa: SIM905
)


# The options that define the rules, in lower case.
VARIANT, CHESS960 = "uci_variant", "uci_chess960"

# Limits of a search. Without any of them, it runs until `stop`.
LIMITS = frozenset("wtime btime depth nodes mate movetime".split())  # noqa: SIM905


@dataclass(kw_only=True)
class UciSearch(PendingSearch):
    """An unanswered `go` command, and the `position` and `setoption` commands before it.

    While `pondering`, the front end has not yet sent `ponderhit`.
    """

    line: str
    go: GoCommand
    position: str
    options: dict[str, str]

    def __post_init__(self) -> None:
        self.pondering = self.go.ponder
        self.refused = False
        self.root = PositionCommand(None, ())
        if self.position:
            try:
                self.root = parse_position(split_command(self.position, COMMANDS)[1])
            except UciError:
                self.refused = True
        odd = len(self.root.moves) % 2 == 1
        mine, other = "wb" if odd == ((self.root.fen or "").split()[1:2] == ["b"]) else "bw"
        numbers = self.go.numbers
        # The keyword of the moving side's clock, and its remaining time in seconds.
        self.clock = f"{mine}time"
        self.remaining = numbers.get(self.clock, numbers.get(f"{other}time", inf)) / 1e3

    @property
    def endless(self) -> bool:
        """Whether the next `go` stops the search, instead of waiting for its answer."""
        return self.pondering or self.go.infinite or LIMITS.isdisjoint(self.go.numbers)

    def resend_line(self, now: float) -> str:
        """Return the `go` command for another server, with the elapsed time deducted."""
        if self.since == inf:
            return self.line
        elapsed = round((now - self.since) * 1e3)
        line = re.sub(r"(?i)\sponder\b", "", self.line)
        for name in (self.clock, "movetime"):
            if name in self.go.numbers:
                remaining = max(self.go.numbers[name] - elapsed, 1)
                line = re.sub(rf"(?i)(\s{name}\s+)\S+", rf"\g<1>{remaining}", line)
        return line


class UciProxy(ChessProxy[UciSearch]):
    STOP_LINE = "stop"
    OVERLONG_REPLY = info_string("line too long; ignored")

    def __init__(self, timeout: float) -> None:
        super().__init__(timeout)
        self._debug = self._new_game = self._position = ""
        # Times at which the proxy answered searches that the connected server will still answer.
        self._late_replies: deque[float] = deque()

    def on_frontend_line(self, line: str, now: float) -> OutgoingLines:
        name, rest = split_command(line, COMMANDS)
        hold = not name
        if name == "uci":
            self._negotiating = True
        elif name == "isready":
            self._checks.append(PendingCheck(line, "readyok", now))
        elif name == "setoption":
            hold = not self._set_option(line, rest)
        elif name == "ucinewgame":
            self._new_game, self._position = name, ""
        elif name == "position":
            self._position = line
        elif name == "debug":
            self._debug = line
        elif name == "go":
            go = parse_go(rest)
            hold = "perft" in go.numbers
            if not hold:
                self._go(line, go, now)
        elif name == "stop":
            self._stop_searches(now)
        elif name == "ponderhit":
            for search in self._pending:
                search.pondering = False
            self._start_clocks(now)
        elif name == "quit":
            self.finished = True
        return self._forward(line, hold) if line.strip() else NOTHING

    def on_overlong_line(self, now: float) -> OutgoingLines:
        # It can only be a `position` command. The server refuses one without arguments, and then
        # searches no older position instead.
        refused = self.on_frontend_line("position", now)
        return OutgoingLines(refused.server, super().on_overlong_line(now).frontend)

    def on_server_line(self, line: str, now: float) -> OutgoingLines:
        name, _, rest = line.lstrip().partition(" ")
        if name == "bestmove":
            if self._late_replies:
                self._late_replies.popleft()
                return NOTHING
            if not self._pending:
                return NOTHING
            self._pending.pop(0)
            self._start_clocks(now)
        elif name == "info":
            if self._late_replies and not rest.startswith("string"):
                return NOTHING
            if self._pending and " pv " in rest:
                if " multipv " not in line or " multipv 1 " in line:
                    words = rest.partition(" pv ")[2].split()
                    self._pending[0].best = words[0] if words else ""
            elif self._syncing and self._negotiated and not self._has_new_settings:
                return NOTHING  # Messages about replayed options were shown before.
        elif name == "readyok":
            if not self._syncing:
                return self._on_check_answer(name)
            self._syncing = self._has_new_settings = False
            return NOTHING
        elif name in ("id", "option", "uciok"):
            if not self._negotiating:
                return NOTHING
            if name == "uciok":
                self._negotiating, self._negotiated = False, True
        return OutgoingLines(frontend=(line,))

    def on_disconnected(self, now: float) -> OutgoingLines:
        self._late_replies.clear()
        return super().on_disconnected(now)

    def deadline(self) -> float:
        return min(super().deadline(), self._disconnect_due())

    def on_timeout(self, now: float, reason: str) -> OutgoingLines:
        pending = len(self._pending)
        frontend = super().on_timeout(now, reason).frontend
        late = pending - len(self._pending) if self._connected else 0
        self._start_clocks(now)
        self._late_replies += [now] * late
        return OutgoingLines(("stop",) if late else (), frontend, self._disconnect_due() <= now)

    def abort(self, reason: str) -> OutgoingLines:
        return OutgoingLines(frontend=(info_string(reason), *super().abort(reason).frontend))

    def notify(self, message: str) -> OutgoingLines:
        return OutgoingLines(frontend=(info_string(message),))

    def stop(self) -> OutgoingLines:
        return super().stop() if any(search.endless for search in self._pending) else NOTHING

    def _replay(self, now: float) -> list[str]:
        sent: dict[str, str] = {}

        def changes(options: dict[str, str]) -> list[str]:
            lines = [line for name, line in options.items() if sent.get(name) != line]
            sent.update(options)
            return lines

        lines = [
            "uci" if self._negotiating or self._negotiated else "",
            self._debug,
            *changes(self._pending[0].options if self._pending else self._options),
            self._new_game,
            "isready",
            *(check.line for check in self._checks),
        ]
        for search in self._pending:
            stop = "stop" if search.stopped_at < inf else ""
            lines += [*changes(search.options), search.position, search.resend_line(now), stop]
        lines += changes(self._options)
        if not (self._pending and self._pending[-1].position == self._position):
            lines.append(self._position)
        return lines

    def _set_option(self, line: str, rest: str) -> bool:
        """Store an option. Return False if it must not be replayed.

        That is the case for buttons, and for unknown variants, which servers reject.
        """
        with suppress(UciError):
            option = parse_set_option(rest)
            name, value = option.name.lower(), option.value
            if value is None or (name == VARIANT and find_variant(value) is None):
                return False
            before = _rules(self._options)
            self._keep_setting(self._options, name, line)
            if _rules(self._options).variant != before.variant:
                self._position = ""  # the server has replaced it
            return True
        return False

    def _go(self, line: str, go: GoCommand, now: float) -> None:
        for search in self._pending:
            if search.endless:
                search.stopped_at = min(search.stopped_at, now)
        search = UciSearch(
            line=line, go=go, position=self._position, options=dict(self._options), since=inf
        )
        self._pending.append(search)
        self._start_clocks(now)

    def _start_clocks(self, now: float) -> None:
        """Start the clocks of the searches that do not have to wait for earlier ones."""
        for search in self._pending:
            if not (search.pondering or search.go.infinite):
                search.since = min(search.since, now)
            if search.stopped_at == inf:
                return

    def _disconnect_due(self) -> float:
        """Return when to disconnect from a server that does not answer a search."""
        return self._late_replies[0] + REPLY_TOLERANCE_S if self._late_replies else inf

    def _time_limits(self, search: UciSearch) -> tuple[float, float]:
        return search.remaining, search.go.numbers.get("movetime", inf) / 1e3

    def _answer_check(self, check: PendingCheck, reason: str) -> list[str]:
        return [info_string(f"ready, but without a server: {reason}"), check.answer]

    def _answer(self, search: UciSearch, reason: str) -> list[str]:
        root, move = search.root, None
        if not search.refused:
            move = self._best_move(search.best, root.fen, _rules(search.options), root.moves)
        source = "the best known move" if move == search.best else "any legal move"
        return [info_string(f"{reason}; playing {source}"), f"bestmove {move or '(none)'}"]


def _rules(options: dict[str, str]) -> ChessRules:
    """Return the rules that `setoption` commands define, by the names of the options."""

    def value(name: str) -> str:
        line = options.get(name)
        return (parse_set_option(split_command(line, COMMANDS)[1]).value if line else "") or ""

    return ChessRules(find_variant(value(VARIANT)) or STANDARD, value(CHESS960).lower() == "true")
