"""Engine settings: protocol, command, and timeouts in seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agent.io.strict_json import MAX_NUMBER
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.time_control import TimeControl


class Restart(StrEnum):
    """The restart policy of an engine.

    AUTO restarts it after a failure, and ON before every game. With OFF, a failure ends the run.
    """

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class EngineProtocol(StrEnum):
    """The protocol of an engine.

    LAB is a search algorithm for any game, AGENT is the built-in chess engine, and MQTT is a bot
    behind an MQTT broker.
    """

    UCI = "uci"
    XBOARD = "xboard"
    GTP = "gtp"
    LAB = "lab"
    AGENT = "agent"
    MQTT = "mqtt"


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings of an engine. Timeouts are in seconds.

    `command` is a program on the PATH, the bot's name for MQTT, "chess" for AGENT, or the algorithm
    for LAB. `start_limit` applies to `uci` and the first `isready`, and `ready_limit` to each later
    `isready`. A process that has not exited `quit_limit` seconds after `quit` is killed. If `time`
    is None, the time control of the tournament applies. In the first `bookdepth` moves of a game of
    chess, the runner plays the moves in the Polyglot book `book`. With `ponder`, a UCI engine
    searches during the time of its opponent.
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
    book: str | None = None
    bookdepth: int | None = None
    ponder: bool = False

    def __post_init__(self) -> None:
        for name in ("start_limit", "ready_limit", "quit_limit"):
            if not 0 <= (value := getattr(self, name)) <= MAX_NUMBER:  # also if it is NaN
                limits = f"from 0 to {MAX_NUMBER:g} seconds"
                raise SettingsError(f"{name}: must be {limits} (got {value})")
        if self.bookdepth is not None and (self.bookdepth < 1 or self.book is None):
            raise SettingsError("bookdepth: requires a book, and must be at least 1")
        if self.ponder and self.protocol is not EngineProtocol.UCI:
            raise SettingsError(f"ponder: requires the protocol uci (got {self.protocol})")
