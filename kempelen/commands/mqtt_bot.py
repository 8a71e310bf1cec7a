"""`kempelen serve`: an engine as a bot that answers requests for moves of its game over MQTT."""

import argparse
import asyncio
import contextlib
import signal
import sys
from dataclasses import dataclass, replace
from typing import Any

from agent.games.catalogue import GameError
from kempelen.commands.match import configure_game, game_entries
from kempelen.console.argument_types import positive_int, positive_seconds
from kempelen.console.console_events import on_console_close
from kempelen.console.mqtt_arguments import broker_from, configure_mqtt
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
from kempelen.match.engines.players import EnginePlayer, GtpPlayer
from protocols.client.gtp import EngineRefusalError
from protocols.client.process import EngineError
from protocols.mqtt import payloads, topics
from protocols.mqtt.broker_monitor import BrokerLostError
from protocols.mqtt.request_codec import COUNT_LIMITS, Variant, encode_variant
from protocols.mqtt.request_parser import ChessRequestParser, GameRequestParser, RequestParser

OWN_ENGINE = "kempelen"
# The entries that say which engine it is.
ENGINE_SELECTORS = {"cmd", "command", "agent", "algorithm"}
EXIT_INTERRUPTED = 130


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--name", required=True, help="the bot's name on the broker")
    parser.add_argument(
        "--engine", metavar="SPEC", default="",
        help=f"(default: our own, which proto=gtp is too without cmd=) {ENGINE_HELP}",
    )  # fmt: skip
    configure_game(parser.add_argument_group("what it plays, the usual size and komi of it"))
    parser.add_argument(
        "--queue", type=positive_int, default=16, help="requests that may wait (16)"
    )
    parser.add_argument(
        "--queue-per-client", type=positive_int, metavar="N", default=8,
        help="of one client, whose turns are fair to all (8)",
    )  # fmt: skip
    parser.add_argument(
        "--longest", type=positive_seconds, metavar="SECONDS", default=600.0,
        help="for one request, whatever limit it asks for (600)",
    )  # fmt: skip
    configure_mqtt(parser)
    parser.set_defaults(mqtt="mqtt://localhost")


def run(arguments: argparse.Namespace) -> int:
    """Answer until told to stop. 1: the broker is lost, or the name is another's."""
    try:
        if not topics.is_name(arguments.name):
            raise SettingsError(f"--name: {topics.NAME_RULE}")
        game = decode(GameSettings, game_entries(arguments))
        return asyncio.run(_serve(_engine(arguments, game), game, arguments))
    except (SettingsError, EngineError) as error:
        print_error(error)
        return 2
    except BrokerLostError as error:
        print_error(error)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        return EXIT_INTERRUPTED


@dataclass(frozen=True, slots=True)
class _BotEngine:
    """What a bot thinks with. description: as others are told; limits: that it can be told."""

    settings: EngineSettings
    description: str
    limits: frozenset[str]
    from_start: bool


def _engine(arguments: argparse.Namespace, game: GameSettings) -> _BotEngine:
    """Return the engine that is named, or our own; SettingsError if it cannot play the game."""
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
        raise SettingsError("--engine: a bot is asked over a broker itself; name an engine")
    check_game_supported(settings, game)
    if own:
        program = own_gtp_settings(settings.name, game)
        settings = replace(settings, command=program.command, arguments=program.arguments)
        return _BotEngine(settings, OWN_ENGINE, frozenset(COUNT_LIMITS), kind.start_position_only)
    check_engine(settings, game)
    return _BotEngine(settings, settings.command, kind.limits, kind.start_position_only)


def _request_parser(engine: _BotEngine, game: GameSettings) -> RequestParser:
    """Return what requests to the bot are read with; SettingsError for no such game."""
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

    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    on_console_close(lambda: loop.call_soon_threadsafe(task.cancel))
    if sys.platform != "win32":
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
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
            longest=arguments.longest,
            patience=arguments.broker_patience,
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
    """An engine that is started anew after each failure, and for another variant of chess.

    Of another game it is told the options at the beginning of each.
    """

    def __init__(self, settings: EngineSettings, game: GameSettings | None = None) -> None:
        self._settings = settings
        self._game = game or GameSettings()
        self._player: EnginePlayer | None = None
        self._failed = False
        self._chess960 = False

    async def get(self, variant: Variant | None = None) -> "RestartingEngine":
        """Return this, with an engine that works and plays such a variant."""
        chess960 = variant is not None and variant.chess960
        if self._failed or chess960 != self._chess960:
            await self.close()
        game = self._game if variant is None else replace(self._game, options=variant.options)
        if self._player is None:
            self._chess960 = chess960
            self._player = make_player(self._settings, MatchContext(game, chess960=chess960))
            self._failed = True
            await self._player.start()
            self._failed = False
        elif isinstance(self._player, GtpPlayer):
            self._player.set_game(game)
        return self

    async def new_game(self) -> None:
        """Forget the last game."""
        with self._note_failure():
            assert self._player is not None
            await self._player.new_game()

    async def search(self, request: Any, limit: float) -> Any:
        """Choose a move."""
        with self._note_failure():
            assert self._player is not None
            return await self._player.search(request, limit)

    async def close(self) -> None:
        """End the engine."""
        player, self._player = self._player, None
        self._failed = False
        if player is not None:
            await player.close()

    @contextlib.contextmanager
    def _note_failure(self) -> Any:
        try:
            yield
        except EngineRefusalError:
            raise  # it has answered, and a new game begins with all that it must know
        except BaseException:
            self._failed = True
            raise
