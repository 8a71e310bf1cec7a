"""One engine that takes part: how it is reached, started and limited. Times are seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.time_control import TimeControl


class Restart(StrEnum):
    """When an engine's process is started anew.

    AUTO: after a failure. ON: before every game. OFF: never; a failure ends the run.
    """

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class EngineProtocol(StrEnum):
    """How an engine is reached.

    A program that speaks UCI, xboard's protocol or GTP; our own agent for chess; an agent of the
    lab, any algorithm for any game; a bot over MQTT.
    """

    UCI = "uci"
    XBOARD = "xboard"
    GTP = "gtp"
    LAB = "lab"
    AGENT = "agent"
    MQTT = "mqtt"


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """One player and how to start it.

    command: a program, found like a shell finds it; for MQTT the bot's name; for our agent for
    chess "chess"; for an agent of the lab its algorithm. start_limit: seconds to answer `uci` and
    again for the first `isready`; ready_limit: for every other `isready`; quit_limit: to end by
    itself before it is killed.
    time: its own time control, where it differs from the tournament's (see `settings_of`).
    """

    command: str
    name: str = ""
    arguments: tuple[str, ...] = ()
    directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    protocol: EngineProtocol = EngineProtocol.UCI
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    time: TimeControl | None = None
    restart: Restart = Restart.AUTO
    start_limit: float = 35.0
    ready_limit: float = 15.0
    quit_limit: float = 5.0

    def __post_init__(self) -> None:
        for name in ("start_limit", "ready_limit", "quit_limit"):
            if not (isfinite(value := getattr(self, name)) and value >= 0):
                raise SettingsError(f"{name} is a number of seconds from 0, not {value}")
