"""A dialogue in UCI: options, the position, and the searches that are not answered yet."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

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
from protocols.uci.text import say
from protocols.uci.values import (
    GoCommand,
    PositionCommand,
    UciError,
    parse_go,
    parse_position,
    parse_set_option,
)

WORDS = frozenset(
    "uci debug isready setoption register ucinewgame position go stop ponderhit quit".split()  # noqa: SIM905
)


@dataclass
class AskedSearch:
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
    stopped: float | None = None
    best: str = ""

    def __post_init__(self) -> None:
        place = self.place()
        words = (place.fen or "").split()
        odd = len(place.moves) % 2 == 1
        mine, other = "wb" if odd == (words[1:2] == ["b"]) else "bw"
        left = self.go.numbers.get(f"{mine}time", self.go.numbers.get(f"{other}time"))
        # The keyword of its clock, and what that leaves it, in seconds.
        self.clock = f"{mine}time"
        self.seconds = None if left is None else left / 1e3

    def place(self) -> PositionCommand:
        """Return the position to search."""
        try:
            return parse_position(re.split(r"(?i)\bposition\b", self.position, maxsplit=1)[-1])
        except UciError:
            return PositionCommand(None, ())

    def due(self, patience: float) -> float | None:
        """Return when to answer it without a server; patience: where no clock runs."""
        if self.stopped is not None:
            return self.stopped + (0.0 if self.lost is not None else LATENESS)
        if self.since is None or self.go.infinite:
            return None
        times = []
        if self.seconds is not None:
            when = answer_by if self.lost is not None else last_moment
            times.append(when(self.since, self.seconds))
        if "movetime" in self.go.numbers:
            over = self.since + self.go.numbers["movetime"] / 1e3
            times.append(over if self.lost is not None else over + LATENESS)
        if not times and self.lost is not None:
            times.append(self.lost + patience)
        return min(times, default=None)

    def again(self, now: float) -> str:
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


class UciDialogue(ChessDialogue):
    """One front end's, in UCI."""

    def __init__(self, patience: float) -> None:
        super().__init__(patience)
        self._introduced = False
        self._asked_uci = False
        self._debug = ""
        self._options: dict[str, str] = {}
        self._chess960 = False
        self._new_game = False
        self._position = ""
        self._searches: list[AskedSearch] = []
        # When each was answered that the server, which is there, will answer still.
        self._stale: deque[float] = deque()
        # When each `isready` came that has not been answered; of the first so many, ours tells.
        self._ready: deque[float] = deque()
        self._ours: int | None = None

    def asked(self, line: str, now: float) -> Traffic:
        """Take a line of the front end."""
        match = next((word for word in re.finditer(r"\S+", line) if word[0].lower() in WORDS), None)
        name = match[0].lower() if match else ""
        rest = line[match.end() :].strip() if match else ""
        if name == "uci":
            self._asked_uci = True
        elif name == "isready":
            self._ready.append(now)
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
                search.stopped = search.stopped or now
        elif name == "ponderhit":
            for search in self._searches:
                search.since = search.since or now
        elif name == "quit":
            self.finished = True
        elif not self._up and line.strip():
            self._held.append(line)
        return Traffic(server=(line,)) if self._up and line.strip() else NOTHING

    def told(self, line: str, now: float) -> Traffic:
        """Take a line of the server."""
        name, _, rest = line.lstrip().partition(" ")
        if name == "bestmove":
            if self._stale:
                self._stale.popleft()
                return NOTHING
            if not self._searches:
                return NOTHING
            self._searches.pop(0)
        elif name == "info":
            if self._stale and not rest.startswith("string"):
                return NOTHING
            if self._searches and " pv " in rest:
                if " multipv " not in line or " multipv 1 " in line:
                    self._searches[0].best = line
            elif self._ours is not None and self._introduced:
                return NOTHING  # what the options said has been heard
        elif name == "readyok":
            return self._told_ready()
        elif name in ("id", "option", "uciok"):
            if not self._asked_uci:
                return NOTHING
            if name == "uciok":
                self._asked_uci, self._introduced = False, True
        return Traffic(front=(line,))

    def resume(self, now: float) -> Traffic:
        """Begin with a server that knows nothing, the first or a later one."""
        self._up = True
        lines = ["uci"] if self._asked_uci or self._introduced else []
        lines += [self._debug] if self._debug else []
        lines += self._options.values()
        lines += ["ucinewgame"] if self._new_game else []
        lines.append("isready")
        self._ours = len(self._ready)
        for search in self._searches:
            search.lost = None
            lines += [search.position] if search.position else []
            lines.append(search.again(now))
            lines += ["stop"] if search.stopped is not None else []
        if self._position and not (
            self._searches and self._searches[-1].position == self._position
        ):
            lines.append(self._position)
        return Traffic(server=lines + self._release())

    def lost(self, now: float) -> Traffic:
        """Take note that there is no server now."""
        self._up, self._ours = False, None
        self._stale.clear()
        for search in self._searches:
            search.lost = now
        return NOTHING

    def due(self) -> float | None:
        """Return when something must be answered, server or not; None if nothing must."""
        times = [search.due(self._patience) for search in self._searches]
        if self._ready and self._introduced and not self._up:
            times.append(self._ready[0] + READY_PATIENCE)
        if self._stale:
            times.append(self._stale[0] + LATENESS)
        return soonest(times)

    def overdue(self, now: float, reason: str) -> Traffic:
        """Answer what is due. reason: why no server has done so."""
        front: list[str] = []
        while self._ready and not self._up and self._ready[0] + READY_PATIENCE <= now:
            self._ready.popleft()
            front += [say(f"ready, but {reason}"), "readyok"]
        late = [search for search in self._searches if _is_due(search, self._patience, now)]
        if late:
            last = self._searches.index(late[-1])
            for search in self._searches[: last + 1]:
                front += self._answer(search, reason)
                if self._up:
                    self._stale.append(now)
            del self._searches[: last + 1]
        drop = bool(self._stale) and self._stale[0] + LATENESS <= now
        return Traffic(("stop",) if late and self._up else (), front, drop)

    def give_up(self, now: float, reason: str) -> Traffic:
        """Answer all that has not been answered, and tell why no server will."""
        front = [say(reason)]
        for search in self._searches:
            front += self._answer(search, reason)
        self._searches.clear()
        return Traffic(front=front)

    def overlong(self) -> Traffic:
        """Say that a line was dropped."""
        return self.tell("a line was too long and is ignored")

    def tell(self, message: str) -> Traffic:
        """Tell the front end something that it may show."""
        return Traffic(front=(say(message),))

    def asking(self) -> bool:
        """Tell whether something that will be answered has not been."""
        asked = self._asked_uci or self._ready or self._searches
        return bool(asked) and not self.finished

    def stop(self) -> Traffic:
        """End what would not end by itself: no more lines will come."""
        endless = any(search.since is None or search.go.infinite for search in self._searches)
        return Traffic(server=("stop",)) if endless and self._up else NOTHING

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
            if not self._up:
                self._held.append(line)
            return
        for search in self._searches:  # a new one stops them
            search.stopped = search.stopped or now
        self._searches.append(
            AskedSearch(
                line, go, self._position, None if go.ponder else now, None if self._up else now
            )
        )

    def _told_ready(self) -> Traffic:
        if self._ours is not None:
            answers, self._ours = self._ours, None
        else:
            answers = 1
        answers = min(answers, len(self._ready))
        for _ in range(answers):
            self._ready.popleft()
        return Traffic(front=("readyok",) * answers)

    def _answer(self, search: AskedSearch, reason: str) -> list[str]:
        """Answer a search by the best move that was heard of, or any legal one."""
        words = search.best.partition(" pv ")[2].split()
        wanted = words[0] if words else ""
        place = search.place()
        move = self._best_move(wanted, place.fen, place.moves, self._chess960)
        how = "the best move heard of" if move == wanted else "any legal move"
        return [say(f"{reason}; this is {how}"), f"bestmove {move or '(none)'}"]


def _is_due(search: AskedSearch, patience: float, now: float) -> bool:
    due = search.due(patience)
    return due is not None and due <= now
