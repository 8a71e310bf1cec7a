"""The table PROTOCOL_SPECS, which is used to validate engine settings and to create players.

To add a protocol, add a member to EngineProtocol and a row to the table.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.games.variants import STANDARD_RULES, ChessRules
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import CHESS, GameSettings, new_game
from kempelen.match.engines.lab_agents import check_lab_agent, lab_agent_settings
from kempelen.match.engines.players import (
    EnginePlayer,
    MqttPlayer,
    UciEngine,
    make_variant,
    process_arguments,
    setup_commands,
)
from protocols.client.engine import Settings
from protocols.client.gtp import GtpClient
from protocols.client.in_process import InProcessChessClient
from protocols.client.process import EngineNotFoundError, IoLog, find_program
from protocols.client.uci import VARIANT_OPTION, UciClient, options_for_rules
from protocols.client.xboard import XboardClient
from protocols.mqtt import topics
from protocols.session_context import STANDALONE, SessionContext

if TYPE_CHECKING:
    from protocols.mqtt.client import BotClient

# In matches, engines play without a book unless an option sets one.
NO_BOOK: Settings = {"OwnBook": False}


@dataclass(frozen=True, slots=True)
class MatchContext:
    """The resources shared by the players of a match.

    `bots` is the MQTT client for bots. `session_context` is for sessions of the built-in engine.
    `cpus` are the only CPUs that an engine process may use, by default all.
    """

    game: GameSettings = field(default_factory=GameSettings)
    rules: ChessRules = STANDARD_RULES
    log: IoLog | None = None
    bots: "BotClient | None" = None
    session_context: SessionContext = STANDALONE
    cpus: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ProtocolSpec:
    """The properties of an engine protocol.

    `limits` contains the supported search limits besides time. `check` raises SettingsError if the
    command or the game is not supported. `make` returns a player that has not been started. `plays`
    is empty if the protocol supports only chess. Otherwise it names the players in messages, for
    example "bots".
    Engines with `uses_broker` are reached over MQTT and may come online late. Those with
    `is_process` are processes of this machine.
    """

    name: str
    check: Callable[[EngineSettings, GameSettings], None]
    make: Callable[[EngineSettings, MatchContext], EnginePlayer]
    limits: frozenset[str] = frozenset({"nodes", "depth"})
    plays: str = ""
    start_position_only: bool = False
    speaks_uci: bool = False
    uses_broker: bool = False
    is_process: bool = True

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
    defaults = {**NO_BOOK, "Ponder": True} if settings.ponder else NO_BOOK
    return UciClient(**process_arguments(settings, context.log, context.cpus), defaults=defaults)


def _make_xboard(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    arguments = process_arguments(settings, context.log, context.cpus)
    return XboardClient(**arguments, rules=context.rules)


def _make_gtp(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    return GtpClient(
        **process_arguments(settings, context.log, context.cpus),
        setup_commands=setup_commands(context.game),
        # The program cannot know the name of a game that is loaded from a file.
        game_id="" if ":" in context.game.name else context.game.name,
    )


def _make_lab(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    program = replace(lab_agent_settings(settings, context.game), options={})
    arguments = process_arguments(program, context.log, context.cpus)
    return GtpClient(**arguments, setup_commands=setup_commands(context.game))


def _make_own(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    return InProcessChessClient(
        settings.name,
        {**NO_BOOK, **settings.options},
        context.session_context,
        settings.start_limit,
        settings.ready_limit,
        context.log,
    )


def _make_bot(settings: EngineSettings, context: MatchContext) -> EnginePlayer:
    if context.bots is None:
        raise SettingsError(f"engine {settings.name}: a bot needs a broker (add --mqtt URL)")
    return MqttPlayer(settings, context.bots, make_variant(context.game, context.rules))


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
        "the built-in engine", _check_own, _make_own, speaks_uci=True, is_process=False
    ),
    EngineProtocol.MQTT: ProtocolSpec(
        "MQTT",
        _check_bot,
        _make_bot,
        limits=frozenset({"nodes", "depth", "playouts"}),
        plays="bots",
        uses_broker=True,
        is_process=False,
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
    """Raise SettingsError if the engine does not exist or does not play `game` (default: chess).

    Its options must not include a variant, which follows from the game that is played.
    """
    if any(name.lower() == VARIANT_OPTION.lower() for name in settings.options):
        name = settings.name or settings.command
        raise SettingsError(
            f"engine {name}: option {VARIANT_OPTION}: must not be set (use variant)"
        )
    protocol_spec(settings).check(settings, game or GameSettings())


def make_player(settings: EngineSettings, context: MatchContext | None = None) -> EnginePlayer:
    """Return a player without starting its engine. MQTT bots require `context.bots`."""
    spec, context = protocol_spec(settings), context or MatchContext()
    if spec.speaks_uci:
        options = {**settings.options, **options_for_rules(context.rules)}
        settings = replace(settings, options=options)
    return spec.make(settings, context)


def make_uci_player(
    settings: EngineSettings,
    rules: ChessRules = STANDARD_RULES,
    session_context: SessionContext = STANDALONE,
) -> UciEngine:
    """Return a player without starting its engine. Raise SettingsError if it does not speak UCI."""
    if not protocol_spec(settings).speaks_uci:
        raise SettingsError(
            f"engine {settings.name}: protocol must be uci (got {settings.protocol})"
        )
    player = make_player(settings, MatchContext(rules=rules, session_context=session_context))
    assert isinstance(player, UciEngine)
    return player
