from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from math import inf

from agent.game_clock import TimeSystem
from protocols.gtp.clock import UNLIMITED, GtpClock, from_time_settings, read_time_system
from protocols.gtp.messages import COLOURS, Arguments, GtpError, ParsedCommand
from protocols.remote.proxy import keep_last

# Commands to replay: the last of each kind, or for some kinds the last for each first argument.
SETTING_COMMANDS = {
    "boardsize": "size",
    "rectangular_boardsize": "size",
    "komi": "komi",
    "kata-set-rules": "rules",
    "kgs-rules": "rules",
    "kata-set-rule": "rule",
    "kata-set-param": "parameter",
    "kata-set-params": "parameters",
    "lz-setoption": "option",
    "time_settings": "time",
    "kgs-time_settings": "time",
    "kata-time_settings": "time",
}
PER_NAME_COMMANDS = ("kata-set-rule", "kata-set-param")
# The names of what other commands set.
SET_NAMES = {
    "kata-set-params": re.compile(r'"(\w+)"\s*:'),
    "lz-setoption": re.compile(r"\bname (.+?) value\b", re.IGNORECASE),
}
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
        self._settings: dict[str, str] = {}
        self._history: list[str] = []
        self._system = UNLIMITED
        self._reset_clocks()

    def record(self, call: ParsedCommand, answer: str, seconds: float) -> None:
        """Record a successful command with its response and its duration in seconds."""
        name, line = call.name, " ".join((call.name, *call.arguments))
        if name in SETTING_COMMANDS:
            self._record_setting(SETTING_COMMANDS[name], call, line)
        elif name in NEW_GAME_COMMANDS:
            self._history = [] if name == "clear_board" else [line]
            if name != "set_position":
                self._reset_clocks()
        elif name in POSITION_COMMANDS:
            self._history.append(line)
        elif name == "place_free_handicap":
            self._history.append(f"set_free_handicap {answer}")
        elif colour := mover(call):
            self._clocks[colour].spend(seconds)
            if answer and answer.lower() != "resign":
                self._history.append(f"play {colour} {answer}")
        elif name == "undo":
            self._undo(1)
        elif name == "gg-undo":
            with suppress(GtpError):
                self._undo(Arguments(call.arguments or ["1"]).integer())
        elif name == "time_left":
            arguments = Arguments(call.arguments)
            with suppress(GtpError):
                clock = self._clocks["bw"[arguments.player()]]
                clock.set_remaining(arguments.seconds(), arguments.integer())

    def replay_commands(self, elapsed: Mapping[str, float]) -> list[str]:
        """Return the commands that replay the game and set the clocks.

        `elapsed` maps a colour to the seconds for which its clock has been running.
        """
        order = sorted(self._settings.items(), key=lambda setting: setting[0] != "size")
        lines = [line for _, line in order] + self._history
        for colour, side in self._clocks.items():
            if side.system.main_time is not None:
                seconds, count = side.time_left(elapsed.get(colour, 0.0))
                lines.append(f"time_left {colour} {seconds:.2f} {count}")
        return lines

    def remaining_time(self, call: ParsedCommand) -> float:
        """Return the seconds left (with overtime) for generating a move, or `inf` if unlimited."""
        side = self._clocks.get(mover(call))
        clock = None if side is None else side.side_clock()
        if clock is None:
            return inf
        return clock.time + (clock.overtime.seconds if clock.overtime else 0.0)

    def _record_setting(self, kind: str, call: ParsedCommand, line: str) -> None:
        if kind == "rules":  # Replaces all individually set rules.
            self._settings = {k: v for k, v in self._settings.items() if not k.startswith("rule ")}
        parameter = call.arguments[0] if call.name in PER_NAME_COMMANDS and call.arguments else ""
        if call.name in SET_NAMES:
            parameter = " ".join(SET_NAMES[call.name].findall(line))
        keep_last(self._settings, f"{kind} {parameter}".strip(), line)
        if kind == "size":
            self._history.clear()
        if kind == "time":
            self._system = _system(call)
        if kind in ("size", "time"):
            self._reset_clocks()
        from_sgf = self._history[:1] and self._history[0].startswith("loadsgf ")
        if kind in ("komi", "rules", "rule") and from_sgf:
            self._history.append(line)  # Overrides the value in the SGF file.

    def _undo(self, count: int) -> None:
        for _ in range(min(count, len(self._history))):
            if self._history and self._history[-1].startswith("play "):
                self._history.pop()
            else:
                self._history.append("undo")

    def _reset_clocks(self) -> None:
        self._clocks = {colour: GtpClock(self._system) for colour in "bw"}


def mover(call: ParsedCommand) -> str:
    """Return the colour ("b" or "w") for which a command generates a move, or ""."""
    words = map(str.lower, call.arguments if call.name in GENMOVE_COMMANDS else ())
    return next((word[0] for word in words if word in ("b", "w", *COLOURS)), "")


def _system(call: ParsedCommand) -> TimeSystem:
    """Return the time system that a command sets, or UNLIMITED if it cannot be parsed."""
    arguments = Arguments(call.arguments)
    try:
        if call.name != "time_settings":
            return read_time_system(arguments)
        return from_time_settings(arguments.seconds(), arguments.seconds(), arguments.integer())
    except GtpError:
        return UNLIMITED
