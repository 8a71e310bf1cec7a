"""`kempelen mqtt bot`: answer position requests over MQTT with an engine."""

import argparse
import contextlib
from dataclasses import dataclass, replace
from typing import Any

from agent.games.catalogue import GameError
from agent.games.variants import STANDARD_RULES
from kempelen.commands.match import configure_game, game_entries
from kempelen.console import interruption
from kempelen.console.argument_types import positive_int, positive_seconds
from kempelen.console.mqtt_arguments import broker_from, configure_mqtt
from kempelen.console.old_names import add_alias
from kempelen.console.settings_codec import SettingsError, decode
from kempelen.console.terminal import print_error
from kempelen.match.config.engine_arguments import ENGINE_HELP, engine_entries, parse_entries
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.game_settings import CHESS, GameSettings
from kempelen.match.engines.engine_protocols import (
    MatchContext,
    check_engine,
    check_game_supported,
    make_player,
    protocol_spec,
)
from kempelen.match.engines.lab_agents import own_gtp_settings
from kempelen.match.engines.players import EnginePlayer, setup_commands
from protocols.client.gtp import EngineRefusalError, GtpClient
from protocols.client.process import EngineError
from protocols.mqtt import payloads, topics
from protocols.mqtt.broker_monitor import BrokerLostError
from protocols.mqtt.request_codec import COUNT_LIMITS, GameVariant, encode_variant
from protocols.mqtt.request_parser import ChessRequestParser, GameRequestParser, RequestParser

OWN_ENGINE = "kempelen"
# The entries that choose the engine.
ENGINE_SELECTORS = {"cmd", "command", "agent", "algorithm"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, help="name of the bot on the broker")
    parser.add_argument(
        "--engine", metavar="SPEC", default="",
        help=f"engine (default: Kempelen, also for proto=gtp without cmd=): {ENGINE_HELP}",
    )  # fmt: skip
    configure_game(parser.add_argument_group("game, with its default size and komi"))
    parser.add_argument(
        "--queue",
        type=positive_int,
        default=16,
        help="maximum number of waiting requests (default: 16)",
    )
    parser.add_argument(
        "--queue-per-client", type=positive_int, metavar="N", default=8,
        help="maximum number of waiting requests per client (default: 8)",
    )  # fmt: skip
    max_time = parser.add_argument(
        "--max-time", type=positive_seconds, metavar="SECONDS", default=600.0,
        help="maximum time per request, even if it has another limit (default: 600)",
    )  # fmt: skip
    add_alias(parser, "--longest", max_time)
    configure_mqtt(parser)
    parser.set_defaults(mqtt="mqtt://localhost")


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal arrives.

    Return 1 if the connection to the broker is lost or the bot's name is taken, or 2 if the bot
    cannot start.
    """
    try:
        if not topics.is_name(arguments.name):
            raise SettingsError(f"--name: {topics.NAME_RULE}")
        game = decode(GameSettings, game_entries(arguments))
        interruption.run_as_server(0.0)
        return interruption.run(_serve(_engine(arguments, game), game, arguments))
    except (SettingsError, EngineError) as error:
        print_error(error)
        return 2
    except BrokerLostError as error:
        print_error(error)
        return 1


@dataclass(frozen=True, slots=True)
class _BotEngine:
    """An engine, its description for clients, and the names of its supported search limits.

    If `from_start` is true, games must begin at the start position.
    """

    settings: EngineSettings
    description: str
    limits: frozenset[str]
    from_start: bool


def _engine(arguments: argparse.Namespace, game: GameSettings) -> _BotEngine:
    entries = parse_entries(arguments.engine, "--engine")
    own = not entries.keys() & ENGINE_SELECTORS and entries.get("proto", "gtp") == "gtp"
    if own and game.name == CHESS and "proto" not in entries:
        entries["agent"] = CHESS
        own = False
    if own:
        entries |= {"cmd": OWN_ENGINE, "proto": "gtp"}
    settings = decode(EngineSettings, {"name": arguments.name, **engine_entries(entries)})
    kind = protocol_spec(settings)
    if kind.uses_broker:
        raise SettingsError("--engine: proto=mqtt is not allowed here; name a local engine")
    check_game_supported(settings, game)
    if own:
        program = own_gtp_settings(settings.name, game)
        settings = replace(settings, command=program.command, arguments=program.arguments)
        return _BotEngine(settings, OWN_ENGINE, frozenset(COUNT_LIMITS), kind.start_position_only)
    check_engine(settings, game)
    return _BotEngine(settings, settings.command, kind.limits, kind.start_position_only)


def _request_parser(engine: _BotEngine, game: GameSettings) -> RequestParser:
    if game.name == CHESS:
        return ChessRequestParser(engine.limits, from_start=engine.from_start)
    try:
        positions = GameRequestParser(game.name, game.options, engine.limits)
    except GameError as error:
        raise SettingsError(f"--game: {error}") from None
    if found := payloads.find_error("kind", encode_variant(positions.variant)):
        raise SettingsError(f"--game: {found}")
    return positions


async def _serve(engine: _BotEngine, game: GameSettings, arguments: argparse.Namespace) -> int:
    broker = broker_from(arguments)
    from protocols.mqtt.bot import Bot, NameTakenError

    positions = _request_parser(engine, game)
    thinker = RestartingEngine(engine.settings, game)
    try:
        await thinker.get()
        bot = Bot(
            broker,
            arguments.name,
            engine.description,
            thinker.get,
            positions=positions,
            queue_limit=arguments.queue,
            client_limit=arguments.queue_per_client,
            longest=arguments.max_time,
            patience=arguments.broker_timeout,
            tell=print_error,
        )
        await bot.serve()
    except NameTakenError as error:
        print_error(error)
        return 1
    finally:
        await thinker.close()
    return 0


class RestartingEngine:
    """An engine that is restarted after a failure, or to switch between variants of chess."""

    def __init__(self, settings: EngineSettings, game: GameSettings | None = None) -> None:
        self._settings = settings
        self._game = game or GameSettings()
        self._player: EnginePlayer | None = None
        self._failed = False
        self._rules = STANDARD_RULES

    async def get(self, variant: GameVariant | None = None) -> "RestartingEngine":
        """Start or restart the engine for `variant` if necessary, and return this object."""
        rules = STANDARD_RULES if variant is None else variant.rules
        if self._failed or rules != self._rules:
            await self.close()
        game = self._game if variant is None else replace(self._game, options=variant.options)
        if self._player is None:
            self._rules = rules
            self._player = make_player(self._settings, MatchContext(game, rules))
            self._failed = True
            await self._player.start()
            self._failed = False
        elif isinstance(self._player, GtpClient):
            self._player.setup_commands = setup_commands(game)
        return self

    async def new_game(self) -> None:
        with self._note_failure():
            assert self._player is not None
            await self._player.new_game()

    async def search(self, request: Any, limit: float) -> Any:
        """Return the engine's move within `limit` seconds."""
        with self._note_failure():
            assert self._player is not None
            return await self._player.search(request, limit)

    async def close(self) -> None:
        player, self._player = self._player, None
        self._failed = False
        if player is not None:
            await player.close()

    @contextlib.contextmanager
    def _note_failure(self) -> Any:
        try:
            yield
        except EngineRefusalError:
            raise  # the engine works; a new game resets its state
        except BaseException:
            self._failed = True
            raise
