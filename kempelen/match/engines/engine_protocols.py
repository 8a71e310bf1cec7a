"""The table PROTOCOL_SPECS, which is used to validate engine settings and to create players.

To add a protocol, add a member to EngineProtocol and a row to the table.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import CHESS, GameSettings, new_game
from kempelen.match.engines.lab_agents import check_lab_agent, lab_agent_settings
from kempelen.match.engines.players import (
    EnginePlayer,
    GtpPlayer,
    MqttPlayer,
    UciPlayer,
    XBoardPlayer,
)
from protocols.client.in_process import InProcessTransport, ProtocolFactory
from protocols.client.process import EngineNotFoundError, IoLog, find_program
from protocols.mqtt import topics

if TYPE_CHECKING:
    from protocols.mqtt.client import BotClient


@dataclass(frozen=True, slots=True)
class MatchContext:
    """The resources shared by the players of a match.

    `bots` is the MQTT client for bots. `own` creates sessions of the built-in engine.
    """

    game: GameSettings = field(default_factory=GameSettings)
    chess960: bool = False
    log: IoLog | None = None
    bots: "BotClient | None" = None
    own: ProtocolFactory | None = None


@dataclass(frozen=True, slots=True)
class ProtocolSpec:
    """The properties of an engine protocol.

    `limits` contains the supported search limits besides time. `check` raises SettingsError if the
    command or the game is not supported. `make` returns a player that has not been started. `plays`
    is a plural noun for messages, such as "bots", or empty if the protocol supports only chess.
    Engines with `uses_broker` are reached over MQTT and may come online late.
    """

    name: str
    check: Callable[[EngineSettings, GameSettings], None]
    make: Callable[[EngineSettings, MatchContext], EnginePlayer]
    limits: frozenset[str] = frozenset({"nodes", "depth"})
    plays: str = ""
    start_position_only: bool = False
    speaks_uci: bool = False
    uses_broker: bool = False

    @property
    def plays_any_game(self) -> bool:
        return bool(self.plays)


def _check_program(settings: EngineSettings, game: GameSettings) -> None:
    try:
        find_program(settings.command, settings.directory)
    except EngineNotFoundError as error:
        raise SettingsError(f"engine {settings.name}: {error}") from None


def _check_own(settings: EngineSettings, game: GameSettings) -> None:
    if settings.command != CHESS:
        raise SettingsError(f"engine {settings.name}: agent must be {CHESS}")


def _check_bot(settings: EngineSettings, game: GameSettings) -> None:
    if not topics.is_name(settings.command):
        raise SettingsError(f"engine {settings.name}: {topics.NAME_RULE}")
    if game.name != CHESS:
        new_game(game)


def _make_uci(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    return UciPlayer(settings, chess960=context.chess960, log=context.log)


def _make_xboard(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    return XBoardPlayer(settings, chess960=context.chess960, log=context.log)


def _make_gtp(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    # The program cannot know the name of a game that is loaded from a file.
    game_id = "" if ":" in context.game.name else context.game.name
    return GtpPlayer(settings, context.game, game_id=game_id, log=context.log)


def _make_lab(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    program = dataclasses.replace(lab_agent_settings(settings, context.game), options={})
    return GtpPlayer(program, context.game, log=context.log)


def _make_own(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    def make_transport() -> InProcessTransport:
        return InProcessTransport(settings.name, context.log, context.own)

    return UciPlayer(
        settings, chess960=context.chess960, log=context.log, make_transport=make_transport
    )


def _make_bot(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    if context.bots is None:
        raise SettingsError(f"engine {settings.name}: a bot needs a broker (add --mqtt URL)")
    return MqttPlayer(settings, context.bots, context.game, chess960=context.chess960)


PROTOCOL_SPECS = {
    EngineProtocol.UCI: ProtocolSpec("UCI", _check_program, _make_uci, speaks_uci=True),
    EngineProtocol.XBOARD: ProtocolSpec(
        "xboard", _check_program, _make_xboard, limits=frozenset({"depth"})
    ),
    EngineProtocol.GTP: ProtocolSpec(
        "GTP",
        _check_program,
        _make_gtp,
        limits=frozenset(),
        plays="programs",
        start_position_only=True,
    ),
    EngineProtocol.LAB: ProtocolSpec(
        "lab agents",
        check_lab_agent,
        _make_lab,
        limits=frozenset({"nodes", "depth", "playouts"}),
        plays="agents",
        start_position_only=True,
    ),
    EngineProtocol.AGENT: ProtocolSpec(
        "the built-in engine", _check_own, _make_own, speaks_uci=True
    ),
    EngineProtocol.MQTT: ProtocolSpec(
        "MQTT",
        _check_bot,
        _make_bot,
        limits=frozenset({"nodes", "depth", "playouts"}),
        plays="bots",
        uses_broker=True,
    ),
}


def protocol_spec(settings: EngineSettings) -> ProtocolSpec:
    return PROTOCOL_SPECS[settings.protocol]


def check_game_supported(settings: EngineSettings, game: GameSettings) -> None:
    """Raise SettingsError if the protocol of the engine does not support the game."""
    if game.name == CHESS or protocol_spec(settings).plays_any_game:
        return
    players = [
        f"{spec.plays} with protocol {protocol}"
        for protocol, spec in PROTOCOL_SPECS.items()
        if spec.plays
    ]
    raise SettingsError(
        f"engine {settings.name or settings.command}: plays only chess "
        f"({game.name} is played by {', '.join(players[:-1])} and {players[-1]})"
    )


def check_engine(settings: EngineSettings, game: GameSettings | None = None) -> None:
    """Raise SettingsError if the engine does not exist or does not play `game` (default: chess)."""
    protocol_spec(settings).check(settings, game or GameSettings())


def make_player(settings: EngineSettings, context: MatchContext | None = None) -> EnginePlayer:
    """Return a player without starting its engine. MQTT bots require `context.bots`."""
    return protocol_spec(settings).make(settings, context or MatchContext())


def make_uci_player(
    settings: EngineSettings, *, chess960: bool = False, own: ProtocolFactory | None = None
) -> UciPlayer:
    """Return a player without starting its engine. Raise SettingsError if it does not speak UCI."""
    if not protocol_spec(settings).speaks_uci:
        raise SettingsError(
            f"engine {settings.name}: protocol must be uci (got {settings.protocol})"
        )
    player = make_player(settings, MatchContext(chess960=chess960, own=own))
    assert isinstance(player, UciPlayer)
    return player
