"""`kempelen serve`: an engine as a bot that answers position requests over MQTT."""

import argparse
import asyncio
import contextlib
import signal
import sys
from typing import Any

from kempelen.console import complain
from kempelen.match import ENGINE_HELP, engine_entries, parse_entries
from kempelen.mqtt_arguments import broker_from, configure_mqtt
from kempelen.numbers import positive, seconds
from protocols.client.process import EngineError
from protocols.mqtt import topics
from protocols.mqtt.link import BrokerLostError
from tournament.contestants import Contestant
from tournament.engine_protocols import Terms, kind_of, make_contestant
from tournament.engine_settings import EngineSettings
from tournament.values import SettingsError, decode

INTERRUPTED = 130


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--name", required=True, help="the bot's name on the broker")
    parser.add_argument("--engine", metavar="SPEC", required=True, help=ENGINE_HELP)
    parser.add_argument("--queue", type=positive, default=16, help="requests that may wait (16)")
    parser.add_argument(
        "--queue-per-client", type=positive, metavar="N", default=8,
        help="of one client, whose turns are fair to all (8)",
    )  # fmt: skip
    parser.add_argument(
        "--longest", type=seconds, metavar="SECONDS", default=600.0,
        help="for one request, whatever limit it asks for (600)",
    )  # fmt: skip
    configure_mqtt(parser)
    parser.set_defaults(mqtt="mqtt://localhost")


def run(arguments: argparse.Namespace) -> int:
    """Answer until told to stop. 1: the broker is lost, or the name is another's."""
    try:
        entries = engine_entries(parse_entries(arguments.engine, "--engine"))
        settings = decode(EngineSettings, {"name": arguments.name, **entries})
        if not topics.is_name(arguments.name):
            raise SettingsError(f"--name: {topics.NAME_RULE}")
        if kind_of(settings).every_game:
            raise SettingsError(f"--engine: a bot plays chess; {settings.protocol} cannot be asked")
        return asyncio.run(_serve(settings, arguments))
    except (SettingsError, EngineError) as error:
        complain(error)
        return 2
    except BrokerLostError as error:
        complain(error)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED


async def _serve(settings: EngineSettings, arguments: argparse.Namespace) -> int:
    broker = broker_from(arguments)
    from protocols.mqtt.bot import Bot, NameTakenError

    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    engine = Replaceable(settings)
    try:
        await engine.get()
        bot = Bot(
            broker,
            arguments.name,
            settings.command,
            engine.get,
            queue_limit=arguments.queue,
            client_limit=arguments.queue_per_client,
            longest=arguments.longest,
            patience=arguments.broker_patience,
            tell=complain,
        )
        await bot.serve()
    except NameTakenError as error:
        complain(error)
        return 1
    finally:
        await engine.close()
    return 0


class Replaceable:
    """An engine that is started anew after each failure, and for another variant of chess."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._player: Contestant | None = None
        self._failed = False
        self._chess960 = False

    async def get(self, chess960: bool = False) -> "Replaceable":
        """Return this, with an engine that works."""
        if self._failed or chess960 != self._chess960:
            await self.close()
        if self._player is None:
            self._chess960 = chess960
            self._player = make_contestant(self._settings, Terms(chess960=chess960))
            self._failed = True
            await self._player.start()
            self._failed = False
        return self

    async def new_game(self) -> None:
        """Forget the last game."""
        with self._watched():
            assert self._player is not None
            await self._player.new_game()

    async def search(self, request: Any, limit: float) -> Any:
        """Choose a move."""
        with self._watched():
            assert self._player is not None
            return await self._player.search(request, limit)

    async def close(self) -> None:
        """End the engine."""
        player, self._player = self._player, None
        self._failed = False
        if player is not None:
            await player.close()

    @contextlib.contextmanager
    def _watched(self) -> Any:
        try:
            yield
        except BaseException:
            self._failed = True
            raise
