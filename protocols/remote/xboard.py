"""The xboard proxy (CECP version 2), which stores the settings, the game and the side to move.

If it is the opponent's turn, a new server stays in force mode until the opponent's move.
"""

from __future__ import annotations

import re
from math import inf

from agent.games.variants import STANDARD, STANDARD_RULES, ChessRules, find_variant
from protocols.remote.chess_proxy import ChessProxy, PendingCheck, PendingSearch
from protocols.remote.proxy import NOTHING, OutgoingLines
from protocols.uci.parsing import read_number
from protocols.xboard.features import FISCHERANDOM
from protocols.xboard.parsing import BARE_MOVE

# Commands to replay: the last of each, and of those that replace each other.
SETTING_COMMANDS = frozenset(
    "level st sd memory cores egtpath post nopost hard easy random computer name rating ics".split()  # noqa: SIM905
)
REPLACED_COMMANDS = {"st": "level", "nopost": "post", "easy": "hard"}
# Commands that change the mode, and those that take back moves.
MODES = {
    "new": "play",
    "go": "play",
    "playother": "play",
    "force": "force",
    "exit": "force",
    "result": "force",
    "analyze": "analyze",
}
UNDONE_MOVES = {"undo": 1, "remove": 2}
# Commands that need not be replayed to a new server.
FORWARDED_COMMANDS = frozenset(
    "xboard protover accepted rejected . hint bk draw pause resume otim".split()  # noqa: SIM905
)
# The beginnings of messages about commands.
MESSAGES = ("#", "Error", "telluser")
# The proxy's own ping, sent after the replayed commands.
SYNC_PING = "1903278451"
# Thinking output. The group is the first move, which may follow a move number.
_THINKING = re.compile(r"\s*\d+\D?\s+-?\d+\s+\d+\s+\d+\s+(?:\d+\.*\s+)*(\S+)")
_RESULT = re.compile(r"(1-0|0-1|1/2-1/2|resign)\b")


class XboardProxy(ChessProxy[PendingSearch]):
    STOP_LINE = "?"
    OVERLONG_REPLY = "Error (line too long): ignored"

    def __init__(self, timeout: float) -> None:
        super().__init__(timeout)
        self._protover = self._new_game = self._variant = self._board = ""
        self._holdings = ""  # the command that completes the position
        self._settings: dict[str, str] = {}
        self._moves: list[str] = []
        self._mode = "play"
        # The clocks in centiseconds, and whether a new server is waiting in force mode.
        self._clocks: dict[str, int] = {}
        self._forced = False

    def on_frontend_line(self, line: str, now: float) -> OutgoingLines:
        name, _, rest = line.strip().partition(" ")
        if not name:
            return NOTHING
        rest = rest.strip()
        hold = False
        move = rest if name == "usermove" else name if BARE_MOVE.fullmatch(name) else ""
        if move:
            return self._on_move(line, move, now)
        if name == "ping":
            self._checks.append(PendingCheck(line, f"pong {rest}", now))
        elif name == "quit":
            self.finished = True
        elif name == "?":
            self._stop_searches(now)
        elif name in ("time", "otim") and (centiseconds := read_number(rest)) is not None:
            self._clocks[name] = centiseconds
        elif name == "protover":
            self._protover, self._negotiating = line, True
            # A front end waits two seconds for features. done=0 makes it wait longer.
            return self._forward(line)._replace(frontend=("feature done=0",))
        elif name == "variant":
            hold = _rules(line) is None
            if not hold:
                self._variant, self._board, self._holdings = line, "", ""
                self._moves.clear()
        elif name == "holding":  # during a game it has no effect
            self._holdings = self._holdings if self._moves else line
        elif name == "option":
            self._keep_setting(self._options, rest.partition("=")[0].lower(), line)
        elif name in SETTING_COMMANDS:
            self._keep_setting(self._settings, REPLACED_COMMANDS.get(name, name), line)
        else:
            hold = not (self._change_game(name, line, now) or name in FORWARDED_COMMANDS)
        return self._forward(line, hold)

    def on_server_line(self, line: str, now: float) -> OutgoingLines:
        name, _, rest = line.partition(" ")
        if name == "feature":
            passes = self._negotiating
            if "done=1" in rest:
                self._negotiating, self._negotiated = False, True
            return OutgoingLines(frontend=(line,)) if passes else NOTHING
        if self._syncing:
            if line.startswith("Illegal move"):
                self.failure = f"the server cannot resume the game: {line}"
            shown = self._has_new_settings and line.startswith(MESSAGES)
            if line == f"pong {SYNC_PING}":
                self._syncing = self._has_new_settings = False
            return OutgoingLines(frontend=(line,)) if shown else NOTHING
        if name == "pong":
            return self._on_check_answer(line)
        if name == "move" and self._pending:
            self._moves.append(rest.strip())
            self._pending.clear()
        elif line.startswith("Illegal move"):
            if self._moves and line.rpartition(":")[2].strip() == self._moves[-1]:
                self._moves.pop()
                self._pending.clear()
        elif _RESULT.match(line):
            self._pending.clear()
        elif self._pending and (match := _THINKING.match(line)):
            self._pending[0].best = match[1]
        return OutgoingLines(frontend=(line,))

    def on_timeout(self, now: float, reason: str) -> OutgoingLines:
        return super().on_timeout(now, reason)._replace(disconnect=self._connected)

    def abort(self, reason: str) -> OutgoingLines:
        answers = super().abort(reason).frontend
        return OutgoingLines(frontend=(*answers, f"tellusererror {reason}"))

    def notify(self, message: str) -> OutgoingLines:
        return OutgoingLines(frontend=(f"# {message}",))

    def _replay(self, now: float) -> list[str]:
        placed = bool(self._board or self._holdings or self._moves)
        lines = [
            "xboard",
            self._protover,
            *self._options.values(),
            self._new_game,
            self._variant,
            *self._settings.values(),
            "force" if placed or self._mode == "force" else "",
            self._board,
            self._holdings,
            *(f"usermove {move}" for move in self._moves),
            f"ping {SYNC_PING}",
            "analyze" if self._mode == "analyze" else "",
        ]
        for search in self._pending:
            used = {"time": round((now - search.since) * 100)}
            for name, left in self._clocks.items():
                lines.append(f"{name} {max(left - used.get(name, 0), 1)}")
            lines += ["go", "?" if search.stopped_at < inf else ""]
        self._forced = placed and self._mode == "play" and not self._pending
        return [*lines, *(check.line for check in self._checks)]

    def _change_game(self, name: str, line: str, now: float) -> bool:
        """Handle a command that changes the game or the players. Return False for any other."""
        if name == "new":
            self._new_game, self._board, self._variant = name, "", ""
            self._settings.pop("sd", None)
        elif name == "setboard":
            self._board = line
        elif name in UNDONE_MOVES:
            del self._moves[-UNDONE_MOVES[name] :]
        elif name not in MODES:
            return False
        if name in ("new", "setboard"):
            self._moves.clear()
            self._holdings = ""
        self._mode = MODES.get(name, self._mode)
        self._pending = [PendingSearch(since=now)] if name == "go" else []
        self._forced = self._forced and self._mode == "play" and name != "go"
        return True

    def _on_move(self, line: str, move: str, now: float) -> OutgoingLines:
        self._moves.append(move)
        lines = [line]
        if self._mode == "play":
            self._pending = [PendingSearch(since=now)]
            if self._forced:
                lines.append("go")
        if not self._connected:
            return NOTHING
        self._forced = False
        return OutgoingLines(server=lines)

    def _time_limits(self, search: PendingSearch) -> tuple[float, float]:
        words = self._settings.get("level", "").split()
        if words[:1] == ["st"] and len(words) == 2 and words[1].replace(".", "", 1).isdecimal():
            return inf, float(words[1])
        return self._clocks.get("time", inf) / 100, inf

    def _check_due(self) -> float:
        return inf if self._pending else super()._check_due()

    def _answer(self, search: PendingSearch, reason: str) -> list[str]:
        fen = self._board.partition(" ")[2].strip() or None
        rules = _rules(self._variant) or STANDARD_RULES
        move = self._best_move(search.best, fen, rules, self._moves)
        if move is None:
            return [f"# {reason}; no legal move"]
        self._moves.append(move)
        self._forced = True
        return [f"# {reason}; playing the best known or any legal move", f"move {move}"]


def _rules(line: str) -> ChessRules | None:
    """Return the rules that a `variant` command sets, or None if a server rejects it."""
    name = line.strip().partition(" ")[2].strip()
    variant = STANDARD if name == FISCHERANDOM else find_variant(name)
    return None if variant is None else ChessRules(variant, chess960=name == FISCHERANDOM)
