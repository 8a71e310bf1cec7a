"""Define the settings of an engine: its protocol, its command, and its timeouts in seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.time_control import TimeControl


class Restart(StrEnum):
    """When an engine process is restarted.

    AUTO restarts it after a failure. ON restarts it before every game. OFF never restarts it, and a
    failure ends the run.
    """

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class EngineProtocol(StrEnum):
    """The protocol of an engine.

    UCI, XBOARD and GTP stand for programs that speak these protocols. LAB stands for a search
    algorithm that can play any game, AGENT for the built-in chess engine, and MQTT for a bot that
    is reached through an MQTT broker.
    """

    UCI = "uci"
    XBOARD = "xboard"
    GTP = "gtp"
    LAB = "lab"
    AGENT = "agent"
    MQTT = "mqtt"


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings of an engine, including how it is started.

    `command` is a program, which is looked up on the PATH. For MQTT it is the name of the bot, for
    AGENT it is "chess", and for LAB it is the name of the algorithm.

    `start_limit` is the timeout in seconds for `uci` and the first `isready`, and `ready_limit` is
    the timeout for each later `isready`. A process that does not exit within `quit_limit` seconds
    after `quit` is killed.

    `time` is the engine's own time control. If it is None, the engine uses the time control of the
    tournament.
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
                raise SettingsError(f"{name}: must be at least 0 seconds (got {value})")
