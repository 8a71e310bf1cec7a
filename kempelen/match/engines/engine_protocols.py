"""How engines are reached: what is known of each protocol is its row in KINDS.

Settings are checked by these rows, contestants made by them; a protocol that is added needs its
word in EngineProtocol and a row.
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
    """What a contestant takes part in, and what it is given for it. bots: who reaches bots.

    own: makes our own agent's protocol, of what takes its lines, where it is to share something.
    """

    game: GameSettings = field(default_factory=GameSettings)
    chess960: bool = False
    log: IoLog | None = None
    bots: "BotClient | None" = None
    own: ProtocolFactory | None = None


@dataclass(frozen=True, slots=True)
class ProtocolSpec:
    """The engines of one protocol.

    name: of the protocol, as people write it. check: raises SettingsError if what `command` names
    is not there, or does not play the game. make: returns a contestant that is not started yet.
    limits: of a search, that it can be told beside times. plays: who, where engines of this kind
    play every game; else they play chess alone. from_start: games begin at the start only, with
    moves, not at a position, and are no Chess960. speaks_uci: it has options of UCI, and is a
    UciPlayer. uses_broker: it is reached over one, and may come later than others.
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
        """Whether engines of this kind play games other than chess."""
        return bool(self.plays)


def _check_program(settings: EngineSettings, game: GameSettings) -> None:
    try:
        find_program(settings.command, settings.directory)
    except EngineNotFoundError as error:
        raise SettingsError(f"engine {settings.name}: {error}") from None


def _check_own(settings: EngineSettings, game: GameSettings) -> None:
    if settings.command != CHESS:
        raise SettingsError(f"engine {settings.name}: our agent plays {CHESS}")


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
    # A game of a file may be called anything.
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
        raise SettingsError(
            f"engine {settings.name}: a bot is reached over a broker: add --mqtt URL"
        )
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
        "the lab",
        check_lab_agent,
        _make_lab,
        limits=frozenset({"nodes", "depth", "playouts"}),
        plays="agents",
        start_position_only=True,
    ),
    EngineProtocol.AGENT: ProtocolSpec("our agent", _check_own, _make_own, speaks_uci=True),
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
    """Return the row of an engine's protocol."""
    return PROTOCOL_SPECS[settings.protocol]


def check_game_supported(settings: EngineSettings, game: GameSettings) -> None:
    """Raise SettingsError for a game that engines of the protocol do not play."""
    if game.name == CHESS or protocol_spec(settings).plays_any_game:
        return
    players = [
        f"{kind.plays} with the protocol {word}"
        for word, kind in PROTOCOL_SPECS.items()
        if kind.plays
    ]
    raise SettingsError(
        f"engine {settings.name or settings.command} plays chess only: {game.name} is played by "
        f"{', '.join(players[:-1])} and {players[-1]}"
    )


def check_engine(settings: EngineSettings, game: GameSettings | None = None) -> None:
    """Raise SettingsError if an engine is not there, or does not play the game (chess if None)."""
    protocol_spec(settings).check(settings, game or GameSettings())


def make_player(settings: EngineSettings, context: MatchContext | None = None) -> EnginePlayer:
    """Return a contestant of the kind that the settings name; bots need a client."""
    return protocol_spec(settings).make(settings, context or MatchContext())


def make_uci_player(
    settings: EngineSettings, *, chess960: bool = False, own: ProtocolFactory | None = None
) -> UciPlayer:
    """Return one that has the options of UCI, or raise SettingsError."""
    if not protocol_spec(settings).speaks_uci:
        raise SettingsError(
            f"engine {settings.name}: one that speaks UCI is needed, not {settings.protocol}"
        )
    made = make_player(settings, MatchContext(chess960=chess960, own=own))
    assert isinstance(made, UciPlayer)
    return made
