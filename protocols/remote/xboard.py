"""The xboard proxy (CECP version 2), which stores the settings, the game and the side to move.

If it is the opponent's turn, a new server stays in force mode until the opponent's move.
"""

from __future__ import annotations

import re

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

# Commands to replay: the last of each kind. The two commands that set the clock count as one kind.
SETTING_COMMANDS = {
    "level": "clock",
    "st": "clock",
    "sd": "sd",
    "memory": "memory",
    "cores": "cores",
    "egtpath": "egtpath",
    "post": "post",
    "nopost": "post",
    "hard": "ponder",
    "easy": "ponder",
    "random": "random",
    "computer": "computer",
    "name": "name",
    "rating": "rating",
    "ics": "ics",
}
# Commands that need not be replayed to a new server.
FORWARDED_COMMANDS = frozenset(
    "xboard protover accepted rejected . hint bk draw pause resume otim".split()  # noqa: SIM905
)
# The proxy's own ping, sent after the replayed commands.
SYNC_PING = "1903278451"
_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][a-z]?|O-O(-O)?|0-0(-0)?", re.IGNORECASE)
_THINKING = re.compile(r"\s*\d+\D?\s+-?\d+\s+\d+\s+\d+\s(.*)")
_RESULT = re.compile(r"(1-0|0-1|1/2-1/2|resign)\b")


class XboardProxy(ChessProxy):
    def __init__(self, timeout: float) -> None:
        super().__init__(timeout)
        self._lost_at: float | None = None
        self._protover = ""
        self._features_done = False
        self._options: dict[str, str] = {}
        self._settings: dict[str, str] = {}
        self._new_game = False
        self._variant = ""
        self._board = ""
        self._moves: list[str] = []
        self._mode = "play"
        # When the engine's turn began, and when the front end sent "?" (move now).
        self._thinking_since: float | None = None
        self._move_now_at: float | None = None
        self._best_line = ""
        # The clocks in centiseconds, and whether a new server is waiting in force mode.
        self._clocks: dict[str, int] = {}
        self._forced = False
        self._pings: dict[str, float] = {}
        self._syncing = False

    def on_frontend_line(self, line: str, now: float) -> OutgoingLines:
        name, _, rest = line.strip().partition(" ")
        if not name:
            return NOTHING
        rest = rest.strip()
        move = rest if name == "usermove" else name if _MOVE.fullmatch(name) else ""
        if move:
            return self._on_move(line, move, now)
        if name == "ping":
            self._pings[rest] = now
        elif name == "quit":
            self.finished = True
        elif name == "?":
            self._move_now_at = now
        elif name in ("time", "otim") and rest.lstrip("-").isdecimal():
            self._clocks[name] = int(rest)
        elif name == "protover":
            self._protover = line
            # A front end waits two seconds for features. done=0 makes it wait longer.
            return OutgoingLines((line,) if self._connected else (), ("feature done=0",))
        elif name == "option":
            keep_last(self._options, rest.partition("=")[0].lower(), line)
        elif name in SETTING_COMMANDS:
            keep_last(self._settings, SETTING_COMMANDS[name], line)
        elif not (
            self._change_game(name, line, now) or name in FORWARDED_COMMANDS or self._connected
        ):
            self._held.append(line)
        return OutgoingLines(server=(line,)) if self._connected else NOTHING

    def on_server_line(self, line: str, now: float) -> OutgoingLines:
        name, _, rest = line.partition(" ")
        if name == "feature":
            passes = not self._features_done
            self._features_done = self._features_done or "done=1" in rest
            return OutgoingLines(frontend=(line,)) if passes else NOTHING
        if name == "pong" and rest.strip() == SYNC_PING:
            self._syncing = False
            return NOTHING
        if self._syncing:
            if line.startswith("Illegal move"):
                self.failure = f"the server cannot resume the game: {line}"
            return NOTHING
        if name == "pong":
            sent_at = self._pings.pop(rest.strip(), None)
            return NOTHING if sent_at is None else OutgoingLines(frontend=(line,))
        if name == "move" and self._thinking_since is not None:
            self._moves.append(rest.strip())
            self._stop_thinking()
        elif line.startswith("Illegal move"):
            if self._moves and line.rpartition(":")[2].strip() == self._moves[-1]:
                self._moves.pop()
                self._stop_thinking()
        elif _RESULT.match(line):
            self._stop_thinking()
        elif self._thinking_since is not None and (match := _THINKING.match(line)):
            self._best_line = match[1]
        return OutgoingLines(frontend=(line,))

    def on_connected(self, now: float) -> OutgoingLines:
        self._connected, self._lost_at, self._syncing = True, None, True
        lines = ["xboard", self._protover] if self._protover else ["xboard"]
        lines += self._options.values()
        lines += ["new"] if self._new_game else []
        lines += [self._variant] if self._variant else []
        lines += self._settings.values()
        placed = bool(self._board or self._moves)
        if placed or self._mode == "force":
            lines.append("force")
        lines += [self._board] if self._board else []
        lines += [f"usermove {move}" for move in self._moves]
        lines.append(f"ping {SYNC_PING}")
        if self._mode == "analyze":
            lines.append("analyze")
        elif self._mode == "play" and self._thinking_since is not None:
            lines += [*self._clock_lines(now - self._thinking_since), "go"]
            lines += ["?"] if self._move_now_at is not None else []
        self._forced = placed and self._mode == "play" and self._thinking_since is None
        lines += [f"ping {ping}" for ping in self._pings]
        return OutgoingLines(server=lines + self._take_held())

    def on_disconnected(self, now: float) -> OutgoingLines:
        self._connected, self._lost_at, self._syncing = False, now, False
        return NOTHING

    def deadline(self) -> float | None:
        times = [self._thinking_due()]
        if (
            self._pings
            and not self._connected
            and self._thinking_since is None
            and self._features_done
        ):
            times.append(min(self._pings.values()) + READY_TIMEOUT_S)
        return earliest(times)

    def on_timeout(self, now: float, reason: str) -> OutgoingLines:
        frontend: list[str] = []
        due = self._thinking_due()
        if due is not None and due <= now:
            frontend += self._answer(reason)
        elif not self._connected:
            late = [ping for ping, sent in self._pings.items() if sent + READY_TIMEOUT_S <= now]
            for ping in late:
                del self._pings[ping]
                frontend.append(f"pong {ping}")
        return OutgoingLines((), frontend, disconnect=self._connected)

    def abort(self, now: float, reason: str) -> OutgoingLines:
        frontend = self._answer(reason) if self._thinking_since is not None else []
        return OutgoingLines(frontend=(*frontend, f"tellusererror {reason}"))

    def on_overlong_line(self) -> OutgoingLines:
        return OutgoingLines(frontend=("Error (line too long): ignored",))

    def notify(self, message: str) -> OutgoingLines:
        return OutgoingLines(frontend=(f"# {message}",))

    def has_pending(self) -> bool:
        negotiating = bool(self._protover) and not self._features_done
        pending = negotiating or self._thinking_since is not None or bool(self._pings)
        return pending and not self.finished

    def stop(self) -> OutgoingLines:
        return (
            OutgoingLines(server=("?",))
            if self._connected and self._thinking_since is not None
            else NOTHING
        )

    def _change_game(self, name: str, line: str, now: float) -> bool:
        """Handle a command that changes the game or the players. Return False for others."""
        if name == "new":
            self._new_game, self._board, self._variant, self._mode = True, "", "", "play"
            self._moves.clear()
            self._settings.pop("sd", None)
            self._stop_thinking()
        elif name == "variant":
            self._variant = line
        elif name == "setboard":
            self._board = line
            self._moves.clear()
            self._stop_thinking()
        elif name in ("force", "exit", "result"):
            self._mode = "force"
            self._stop_thinking()
        elif name in ("go", "playother"):
            self._mode = "play"
            if name == "go":
                self._start_thinking(now)
        elif name == "analyze":
            self._mode = "analyze"
            self._stop_thinking()
        elif name in ("undo", "remove"):
            del self._moves[-1 if name == "undo" else -2 :]
            self._stop_thinking()
        else:
            return False
        self._forced = self._forced and self._mode == "play" and name != "go"
        return True

    def _on_move(self, line: str, move: str, now: float) -> OutgoingLines:
        self._moves.append(move)
        lines = [line]
        if self._mode == "play":
            self._start_thinking(now)
            if self._forced:
                lines.append("go")
        if not self._connected:
            return NOTHING
        self._forced = False
        return OutgoingLines(server=lines)

    def _start_thinking(self, now: float) -> None:
        self._thinking_since, self._move_now_at, self._best_line = now, None, ""

    def _stop_thinking(self) -> None:
        self._thinking_since, self._move_now_at = None, None

    def _clock_lines(self, elapsed: float) -> list[str]:
        lines = []
        if "time" in self._clocks:
            lines.append(f"time {max(self._clocks['time'] - round(elapsed * 100), 1)}")
        if "otim" in self._clocks:
            lines.append(f"otim {self._clocks['otim']}")
        return lines

    def _time_budget(self) -> tuple[float, bool] | None:
        """Return the available seconds, and whether exceeding them loses the game, or None."""
        words = self._settings.get("clock", "").split()
        if words[:1] == ["st"] and len(words) == 2 and words[1].replace(".", "", 1).isdecimal():
            return float(words[1]), False
        return (self._clocks["time"] / 100, True) if "time" in self._clocks else None

    def _thinking_due(self) -> float | None:
        if self._thinking_since is None:
            return None
        if self._move_now_at is not None:
            return self._move_now_at + (REPLY_TOLERANCE_S if self._connected else 0.0)
        budget = self._time_budget()
        if budget is None:
            return (
                None
                if self._connected or self._lost_at is None
                else (max(self._lost_at, self._thinking_since) + self._timeout)
            )
        seconds, loses = budget
        if self._connected:
            return (
                silent_server_deadline(self._thinking_since, seconds)
                if loses
                else self._thinking_since + seconds + REPLY_TOLERANCE_S
            )
        return (
            no_server_deadline(self._thinking_since, seconds)
            if loses
            else self._thinking_since + seconds
        )

    def _answer(self, reason: str) -> list[str]:
        fen = self._board.partition(" ")[2].strip() or None
        chess960 = "fischerandom" in self._variant
        words = [word for word in self._best_line.split() if not word.rstrip(".").isdecimal()]
        candidate = words[0] if words else ""
        move = self._best_move(candidate, fen, self._moves, chess960)
        self._stop_thinking()
        if move is None:
            return [f"# {reason}; no legal move"]
        self._moves.append(move)
        self._forced = True
        return [f"# {reason}; playing the best known or any legal move", f"move {move}"]
