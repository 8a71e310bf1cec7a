"""A game as GTP's commands made it, and the commands that make it again."""

from __future__ import annotations

from agent.limits import SideClock
from protocols.gtp.clocks import (
    UNLIMITED,
    SideTime,
    TimeSystem,
    from_time_settings,
    read_kind,
)
from protocols.gtp.values import Arguments, Call, GtpError

COLOURS = {"b": "b", "black": "b", "w": "w", "white": "w"}
# Commands that are said again as they were, the last of each; of some, of each first argument.
SETTINGS = {
    "boardsize": "size",
    "rectangular_boardsize": "size",
    "komi": "komi",
    "kata-set-rules": "rules",
    "kgs-rules": "rules",
    "kata-set-rule": "rule",
    "kata-set-param": "parameter",
    "time_settings": "time",
    "kgs-time_settings": "time",
    "kata-time_settings": "time",
}
OF_EACH = ("kata-set-rule", "kata-set-param")
# Commands after which nothing is left of the game before.
BEGINS = ("clear_board", "loadsgf", "set_position")
# Commands that change the position.
HISTORY = (
    "play",
    "fixed_handicap",
    "set_free_handicap",
    "gogui-play_sequence",
    "gogui-setup",
    "gogui-setup_player",
)
GENERATES = (
    "genmove",
    "kgs-genmove_cleanup",
    "lz-genmove_analyze",
    "kata-genmove_analyze",
    "cgos-genmove_analyze",
)


class GtpGame:
    """What a server must be told to go on with a game: settings, moves, and clocks."""

    def __init__(self) -> None:
        self._settings: dict[tuple[str, str], str] = {}
        self._history: list[str] = []
        # None where what was said of the time is not understood.
        self._system: TimeSystem | None = UNLIMITED
        self._clocks: dict[str, SideTime] | None = None
        self._start_clocks()

    def note(self, call: Call, answer: str, seconds: float) -> None:
        """Take note of a command that succeeded, with what it answered in so many seconds."""
        name, line = call.name, " ".join((call.name, *call.arguments))
        if name in SETTINGS:
            each = call.arguments[0] if name in OF_EACH and call.arguments else ""
            self._settings.pop((SETTINGS[name], each), None)
            if SETTINGS[name] == "rules":  # they are all set
                self._settings = {k: v for k, v in self._settings.items() if k[0] != "rule"}
            self._settings[SETTINGS[name], each] = line
            if SETTINGS[name] == "size":
                self._history.clear()
                self._start_clocks()
            if SETTINGS[name] == "time":
                self._system = _system(call)
                self._start_clocks()
            if SETTINGS[name] in ("komi", "rules", "rule") and self._from_sgf:
                self._history.append(line)  # the record has its own, which this is to replace
        elif name in BEGINS:
            self._history = [] if name == "clear_board" else [line]
            if name != "set_position":
                self._start_clocks()
        elif name in HISTORY:
            self._history.append(line)
        elif name == "place_free_handicap":
            self._history.append(f"set_free_handicap {answer}")
        elif name in GENERATES:
            self._note_move(call, answer, seconds)
        elif name == "undo":
            self._undo(1)
        elif name == "gg-undo":
            number = call.arguments[0] if call.arguments else "1"
            self._undo(int(number) if number.isdecimal() else 0)
        elif name == "time_left":
            self._set_left(call)

    def lines(self, thinking: Call | None = None, seconds: float = 0.0) -> list[str]:
        """Return the commands that make the game again.

        thinking: the command that is being answered, for so many seconds.
        """
        order = sorted(self._settings.items(), key=lambda each: each[0][0] != "size")
        lines = [line for _, line in order] + self._history
        mover = colour_of(thinking) if thinking is not None else ""
        for colour, side in (self._clocks or {}).items():
            if not side.system.unlimited:
                gone = seconds if colour == mover else 0.0
                lines.append(f"time_left {colour} {_left(side.clock(), side.system, gone)}")
        return lines

    def seconds(self, thinking: Call) -> float | None:
        """Return what the clock gives a command, in seconds; None where none is known."""
        if self._clocks is None or colour_of(thinking) not in self._clocks:
            return None
        side = self._clocks[colour_of(thinking)]
        if side.system.unlimited:
            return None
        clock = side.clock()
        return clock.time + (clock.overtime.seconds if clock.overtime else 0.0)

    @property
    def _from_sgf(self) -> bool:
        return bool(self._history) and self._history[0].startswith("loadsgf ")

    def _note_move(self, call: Call, answer: str, seconds: float) -> None:
        colour = colour_of(call)
        if self._clocks is not None and colour in self._clocks:
            self._clocks[colour].spend(seconds)
        if colour and answer and answer.lower() != "resign":
            self._history.append(f"play {colour} {answer}")

    def _undo(self, number: int) -> None:
        for _ in range(min(number, len(self._history))):
            if self._history and self._history[-1].startswith("play "):
                self._history.pop()
            else:
                self._history.append("undo")

    def _start_clocks(self) -> None:
        self._clocks = None if self._system is None else _clocks(self._system)

    def _set_left(self, call: Call) -> None:
        try:
            colour, seconds, count = call.arguments
            if self._clocks is not None:
                self._clocks[COLOURS[colour.lower()]].set_left(float(seconds), int(count))
        except (KeyError, ValueError):
            pass


def colour_of(call: Call) -> str:
    """Return whose move a command is about: b, w, or "" where it does not say."""
    words = (COLOURS.get(word.lower(), "") for word in call.arguments)
    return next((word for word in words if word), "")


def _clocks(system: TimeSystem) -> dict[str, SideTime]:
    return {colour: SideTime(system) for colour in "bw"}


def _system(call: Call) -> TimeSystem | None:
    """Return what a command that succeeded says of the time; None if that is not understood."""
    arguments = Arguments(call.arguments)
    try:
        if call.name != "time_settings":
            return read_kind(arguments)
        return from_time_settings(arguments.seconds(), arguments.seconds(), arguments.number())
    except GtpError:
        return None


def _left(clock: SideClock, system: TimeSystem, gone: float) -> str:
    """Return what time_left says when so many seconds are gone: the time, and the count."""
    if clock.time > gone or clock.overtime is None:
        return f"{max(clock.time - gone, 0.0):.2f} 0"
    period, over = clock.overtime, gone - clock.time
    if system.periods:
        periods = system.periods if clock.time else 1
        return f"{system.period:.2f} {max(periods - int(over // system.period), 1)}"
    return f"{max(period.seconds - over, 0.0):.2f} {period.moves}"
