from __future__ import annotations

from agent.limits import SideClock
from protocols.gtp.clock import (
    UNLIMITED,
    GtpClock,
    TimeSystem,
    from_time_settings,
    read_time_system,
)
from protocols.gtp.messages import Arguments, GtpError, ParsedCommand

COLOURS = {"b": "b", "black": "b", "w": "w", "white": "w"}
# Commands to replay: the last of each kind, or for some kinds the last for each first argument.
SETTING_COMMANDS = {
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
PER_NAME_COMMANDS = ("kata-set-rule", "kata-set-param")
# Commands that discard the previous game.
NEW_GAME_COMMANDS = ("clear_board", "loadsgf", "set_position")
# Commands that change the position.
POSITION_COMMANDS = (
    "play",
    "fixed_handicap",
    "set_free_handicap",
    "gogui-play_sequence",
    "gogui-setup",
    "gogui-setup_player",
)
GENMOVE_COMMANDS = (
    "genmove",
    "kgs-genmove_cleanup",
    "lz-genmove_analyze",
    "kata-genmove_analyze",
    "cgos-genmove_analyze",
)


class GtpReplay:
    """Records a game as GTP commands that replay the game on a new server."""

    def __init__(self) -> None:
        self._settings: dict[tuple[str, str], str] = {}
        self._history: list[str] = []
        # None if the time settings could not be parsed.
        self._system: TimeSystem | None = UNLIMITED
        self._clocks: dict[str, GtpClock] | None = None
        self._reset_clocks()

    def record(self, call: ParsedCommand, answer: str, seconds: float) -> None:
        """Record a successful command with its response and its duration in seconds."""
        name, line = call.name, " ".join((call.name, *call.arguments))
        if name in SETTING_COMMANDS:
            parameter = call.arguments[0] if name in PER_NAME_COMMANDS and call.arguments else ""
            self._settings.pop((SETTING_COMMANDS[name], parameter), None)
            if SETTING_COMMANDS[name] == "rules":  # Replaces all individually set rules.
                self._settings = {k: v for k, v in self._settings.items() if k[0] != "rule"}
            self._settings[SETTING_COMMANDS[name], parameter] = line
            if SETTING_COMMANDS[name] == "size":
                self._history.clear()
                self._reset_clocks()
            if SETTING_COMMANDS[name] == "time":
                self._system = _system(call)
                self._reset_clocks()
            if SETTING_COMMANDS[name] in ("komi", "rules", "rule") and self._from_sgf:
                self._history.append(line)  # Overrides the value in the SGF file.
        elif name in NEW_GAME_COMMANDS:
            self._history = [] if name == "clear_board" else [line]
            if name != "set_position":
                self._reset_clocks()
        elif name in POSITION_COMMANDS:
            self._history.append(line)
        elif name == "place_free_handicap":
            self._history.append(f"set_free_handicap {answer}")
        elif name in GENMOVE_COMMANDS:
            self._record_move(call, answer, seconds)
        elif name == "undo":
            self._undo(1)
        elif name == "gg-undo":
            count = call.arguments[0] if call.arguments else "1"
            self._undo(int(count) if count.isdecimal() else 0)
        elif name == "time_left":
            self._set_time_left(call)

    def replay_commands(
        self, pending: ParsedCommand | None = None, seconds: float = 0.0
    ) -> list[str]:
        """Return the commands that replay the game.

        The command `pending`, if given, has been running for `seconds` of its player's time.
        """
        order = sorted(self._settings.items(), key=lambda setting: setting[0][0] != "size")
        lines = [line for _, line in order] + self._history
        mover = command_colour(pending) if pending is not None else ""
        for colour, side in (self._clocks or {}).items():
            if not side.system.unlimited:
                elapsed = seconds if colour == mover else 0.0
                lines.append(
                    f"time_left {colour} {_time_left_arguments(side.clock(), side.system, elapsed)}"
                )
        return lines

    def remaining_time(self, pending: ParsedCommand) -> float | None:
        """Return the seconds left on the clock of the command's player, or None if unknown."""
        if self._clocks is None or command_colour(pending) not in self._clocks:
            return None
        side = self._clocks[command_colour(pending)]
        if side.system.unlimited:
            return None
        clock = side.clock()
        return clock.time + (clock.overtime.seconds if clock.overtime else 0.0)

    @property
    def _from_sgf(self) -> bool:
        return bool(self._history) and self._history[0].startswith("loadsgf ")

    def _record_move(self, call: ParsedCommand, answer: str, seconds: float) -> None:
        colour = command_colour(call)
        if self._clocks is not None and colour in self._clocks:
            self._clocks[colour].spend(seconds)
        if colour and answer and answer.lower() != "resign":
            self._history.append(f"play {colour} {answer}")

    def _undo(self, count: int) -> None:
        for _ in range(min(count, len(self._history))):
            if self._history and self._history[-1].startswith("play "):
                self._history.pop()
            else:
                self._history.append("undo")

    def _reset_clocks(self) -> None:
        self._clocks = None if self._system is None else _clocks(self._system)

    def _set_time_left(self, call: ParsedCommand) -> None:
        try:
            colour, seconds, count = call.arguments
            if self._clocks is not None:
                self._clocks[COLOURS[colour.lower()]].set_remaining(float(seconds), int(count))
        except (KeyError, ValueError):
            pass


def command_colour(call: ParsedCommand) -> str:
    """Return the first colour in a command's arguments ("b" or "w"), or ""."""
    words = (COLOURS.get(word.lower(), "") for word in call.arguments)
    return next((word for word in words if word), "")


def _clocks(system: TimeSystem) -> dict[str, GtpClock]:
    return {colour: GtpClock(system) for colour in "bw"}


def _system(call: ParsedCommand) -> TimeSystem | None:
    arguments = Arguments(call.arguments)
    try:
        if call.name != "time_settings":
            return read_time_system(arguments)
        return from_time_settings(arguments.seconds(), arguments.seconds(), arguments.integer())
    except GtpError:
        return None


def _time_left_arguments(clock: SideClock, system: TimeSystem, elapsed: float) -> str:
    """Return the arguments of time_left after `elapsed` seconds: time, and stones or periods."""
    if clock.time > elapsed or clock.overtime is None:
        return f"{max(clock.time - elapsed, 0.0):.2f} 0"
    period, over = clock.overtime, elapsed - clock.time
    if system.periods:
        periods = system.periods if clock.time else 1
        return f"{system.period:.2f} {max(periods - int(over // system.period), 1)}"
    return f"{max(period.seconds - over, 0.0):.2f} {period.moves}"
