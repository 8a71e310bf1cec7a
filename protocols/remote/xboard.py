"""A dialogue in xboard's protocol (CECP, version 2): settings, the game, and who is to move.

A front end that waits for the engine's move has it from whatever server is there; one that has
the move itself may find the server in force mode, until it moves.
"""

from __future__ import annotations

import re

from protocols.remote.chess_dialogue import ChessDialogue, keep_last
from protocols.remote.dialogue import (
    LATENESS,
    NOTHING,
    READY_PATIENCE,
    Traffic,
    answer_by,
    last_moment,
    soonest,
)

# What is said again as it was, the last of each; the two that set the clock are one.
SETTINGS = {
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
# What nothing follows from for another server.
PASSED_ON = frozenset(
    "xboard protover accepted rejected . hint bk draw pause resume otim".split()  # noqa: SIM905
)
# A ping of ours, behind which all has been said again.
OURS = "1903278451"
_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][a-z]?|O-O(-O)?|0-0(-0)?", re.IGNORECASE)
_THINKING = re.compile(r"\s*\d+\D?\s+-?\d+\s+\d+\s+\d+\s(.*)")
_RESULT = re.compile(r"(1-0|0-1|1/2-1/2|resign)\b")


class XboardDialogue(ChessDialogue):
    """One front end's, in xboard's protocol."""

    def __init__(self, patience: float) -> None:
        super().__init__(patience)
        self._lost: float | None = None
        self._protover = ""
        self._featured = False
        self._options: dict[str, str] = {}
        self._settings: dict[str, str] = {}
        self._new = False
        self._variant = ""
        self._board = ""
        self._moves: list[str] = []
        self._mode = "play"
        # Since when the engine is to move, and when it was told to move now.
        self._thinking: float | None = None
        self._hurried: float | None = None
        self._best = ""
        # The clocks, in centiseconds, and whether the server has been told to play.
        self._left: dict[str, int] = {}
        self._forced = False
        self._pings: dict[str, float] = {}
        self._swallows = False

    def asked(self, line: str, now: float) -> Traffic:
        """Take a line of the front end."""
        name, _, rest = line.strip().partition(" ")
        if not name:
            return NOTHING
        rest = rest.strip()
        move = rest if name == "usermove" else name if _MOVE.fullmatch(name) else ""
        if move:
            return self._moved(line, move, now)
        if name == "ping":
            self._pings[rest] = now
        elif name == "quit":
            self.finished = True
        elif name == "?":
            self._hurried = now
        elif name in ("time", "otim") and rest.lstrip("-").isdecimal():
            self._left[name] = int(rest)
        elif name == "protover":
            self._protover = line
            # A front end waits two seconds for features, unless it is asked to wait for more.
            return Traffic((line,) if self._up else (), ("feature done=0",))
        elif name == "option":
            keep_last(self._options, rest.partition("=")[0].lower(), line)
        elif name in SETTINGS:
            keep_last(self._settings, SETTINGS[name], line)
        elif not (self._change_game(name, line, now) or name in PASSED_ON or self._up):
            self._held.append(line)
        return Traffic(server=(line,)) if self._up else NOTHING

    def told(self, line: str, now: float) -> Traffic:
        """Take a line of the server."""
        name, _, rest = line.partition(" ")
        if name == "feature":
            passes = not self._featured
            self._featured = self._featured or "done=1" in rest
            return Traffic(front=(line,)) if passes else NOTHING
        if name == "pong" and rest.strip() == OURS:
            self._swallows = False
            return NOTHING
        if self._swallows:
            if line.startswith("Illegal move"):
                self.failed = f"the server cannot go on with the game: {line}"
            return NOTHING
        if name == "pong":
            asked = self._pings.pop(rest.strip(), None)
            return NOTHING if asked is None else Traffic(front=(line,))
        if name == "move" and self._thinking is not None:
            self._moves.append(rest.strip())
            self._rest()
        elif line.startswith("Illegal move"):
            if self._moves and line.rpartition(":")[2].strip() == self._moves[-1]:
                self._moves.pop()
                self._rest()
        elif _RESULT.match(line):
            self._rest()
        elif self._thinking is not None and (match := _THINKING.match(line)):
            self._best = match[1]
        return Traffic(front=(line,))

    def resume(self, now: float) -> Traffic:
        """Begin with a server that knows nothing, the first or a later one."""
        self._up, self._lost, self._swallows = True, None, True
        lines = ["xboard", self._protover] if self._protover else ["xboard"]
        lines += self._options.values()
        lines += ["new"] if self._new else []
        lines += [self._variant] if self._variant else []
        lines += self._settings.values()
        placed = bool(self._board or self._moves)
        if placed or self._mode == "force":
            lines.append("force")
        lines += [self._board] if self._board else []
        lines += [f"usermove {move}" for move in self._moves]
        lines.append(f"ping {OURS}")
        if self._mode == "analyze":
            lines.append("analyze")
        elif self._mode == "play" and self._thinking is not None:
            lines += [*self._clock_lines(now - self._thinking), "go"]
            lines += ["?"] if self._hurried is not None else []
        self._forced = placed and self._mode == "play" and self._thinking is None
        lines += [f"ping {each}" for each in self._pings]
        return Traffic(server=lines + self._release())

    def lost(self, now: float) -> Traffic:
        """Take note that there is no server now."""
        self._up, self._lost, self._swallows = False, now, False
        return NOTHING

    def due(self) -> float | None:
        """Return when something must be answered, server or not; None if nothing must."""
        times = [self._thinking_due()]
        if self._pings and not self._up and self._thinking is None and self._featured:
            times.append(min(self._pings.values()) + READY_PATIENCE)
        return soonest(times)

    def overdue(self, now: float, reason: str) -> Traffic:
        """Answer what is due. reason: why no server has done so."""
        front: list[str] = []
        due = self._thinking_due()
        if due is not None and due <= now:
            front += self._answer(reason)
        elif not self._up:
            late = [each for each, came in self._pings.items() if came + READY_PATIENCE <= now]
            for each in late:
                del self._pings[each]
                front.append(f"pong {each}")
        return Traffic((), front, drop=self._up)

    def give_up(self, now: float, reason: str) -> Traffic:
        """Answer all that has not been answered, and tell why no server will."""
        front = self._answer(reason) if self._thinking is not None else []
        return Traffic(front=(*front, f"tellusererror {reason}"))

    def overlong(self) -> Traffic:
        """Say that a line was dropped."""
        return Traffic(front=("Error (too long): a line",))

    def tell(self, message: str) -> Traffic:
        """Tell the front end something that it keeps in its log."""
        return Traffic(front=(f"# {message}",))

    def asking(self) -> bool:
        """Tell whether something that will be answered has not been."""
        introducing = bool(self._protover) and not self._featured
        asked = introducing or self._thinking is not None or bool(self._pings)
        return asked and not self.finished

    def stop(self) -> Traffic:
        """End what would not end by itself: no more lines will come."""
        return Traffic(server=("?",)) if self._up and self._thinking is not None else NOTHING

    def _change_game(self, name: str, line: str, now: float) -> bool:
        """Act on a command that changes the game or who plays it; tell whether it is one."""
        if name == "new":
            self._new, self._board, self._variant, self._mode = True, "", "", "play"
            self._moves.clear()
            self._settings.pop("sd", None)
            self._rest()
        elif name == "variant":
            self._variant = line
        elif name == "setboard":
            self._board = line
            self._moves.clear()
            self._rest()
        elif name in ("force", "exit", "result"):
            self._mode = "force"
            self._rest()
        elif name in ("go", "playother"):
            self._mode = "play"
            if name == "go":
                self._think(now)
        elif name == "analyze":
            self._mode = "analyze"
            self._rest()
        elif name in ("undo", "remove"):
            del self._moves[-1 if name == "undo" else -2 :]
            self._rest()
        else:
            return False
        self._forced = self._forced and self._mode == "play" and name != "go"
        return True

    def _moved(self, line: str, move: str, now: float) -> Traffic:
        """Take a move of the front end."""
        self._moves.append(move)
        lines = [line]
        if self._mode == "play":
            self._think(now)
            if self._forced:
                lines.append("go")
        if not self._up:
            return NOTHING
        self._forced = False
        return Traffic(server=lines)

    def _think(self, now: float) -> None:
        self._thinking, self._hurried, self._best = now, None, ""

    def _rest(self) -> None:
        self._thinking, self._hurried = None, None

    def _clock_lines(self, gone: float) -> list[str]:
        lines = []
        if "time" in self._left:
            lines.append(f"time {max(self._left['time'] - round(gone * 100), 1)}")
        if "otim" in self._left:
            lines.append(f"otim {self._left['otim']}")
        return lines

    def _seconds(self) -> tuple[float, bool] | None:
        """Return how long the engine may think, and whether its game ends then; None: unknown."""
        words = self._settings.get("clock", "").split()
        if words[:1] == ["st"] and len(words) == 2 and words[1].replace(".", "", 1).isdecimal():
            return float(words[1]), False
        return (self._left["time"] / 100, True) if "time" in self._left else None

    def _thinking_due(self) -> float | None:
        if self._thinking is None:
            return None
        if self._hurried is not None:
            return self._hurried + (LATENESS if self._up else 0.0)
        seconds = self._seconds()
        if seconds is None:
            return (
                None
                if self._up or self._lost is None
                else (max(self._lost, self._thinking) + self._patience)
            )
        left, ends = seconds
        if self._up:
            return last_moment(self._thinking, left) if ends else self._thinking + left + LATENESS
        return answer_by(self._thinking, left) if ends else self._thinking + left

    def _answer(self, reason: str) -> list[str]:
        """Move by the best move that was heard of, or any legal one."""
        fen = self._board.partition(" ")[2].strip() or None
        chess960 = "fischerandom" in self._variant
        words = [word for word in self._best.split() if not word.rstrip(".").isdecimal()]
        wanted = words[0] if words else ""
        move = self._best_move(wanted, fen, self._moves, chess960)
        self._rest()
        if move is None:
            return [f"# {reason}; no move can be made"]
        self._moves.append(move)
        self._forced = True
        return [f"# {reason}; this is the best move heard of, or any legal one", f"move {move}"]
