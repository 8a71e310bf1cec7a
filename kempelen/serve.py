"""`kempelen serve`: an engine as a bot that answers position requests over MQTT."""

import argparse
import asyncio
import contextlib
import signal
import sys
from typing import Any

from kempelen.match import ENGINE_HELP, engine_entries, parse_entries
from kempelen.mqtt_arguments import broker_from, configure_mqtt
from protocols.client.process import EngineError
from tournament.player import Player, make_player
from tournament.settings import GAME_PROTOCOLS, EngineSettings
from tournament.values import SettingsError, decode

INTERRUPTED = 130


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--name", required=True, help="the bot's name on the broker")
    parser.add_argument("--engine", metavar="SPEC", required=True, help=ENGINE_HELP)
    parser.add_argument("--queue", type=int, default=16, help="requests that may wait (16)")
    configure_mqtt(parser)
    parser.set_defaults(mqtt="mqtt://localhost")


def run(arguments: argparse.Namespace) -> int:
    """Answer until told to stop."""
    try:
        entries = engine_entries(parse_entries(arguments.engine, "--engine"))
        settings = decode(EngineSettings, {"name": arguments.name, **entries})
        if set(arguments.name) & set("/+#"):
            raise SettingsError("--name: no / + # in a bot's name")
        if settings.protocol in GAME_PROTOCOLS:
            raise SettingsError(f"--engine: a bot plays chess; {settings.protocol} cannot be asked")
        return asyncio.run(_serve(settings, arguments))
    except (SettingsError, EngineError) as error:
        print(f"kempelen: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED


async def _serve(settings: EngineSettings, arguments: argparse.Namespace) -> int:
    broker = broker_from(arguments)
    from protocols.mqtt.bot import Bot

    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    engine = Replaceable(settings)
    try:
        await engine.get()
        bot = Bot(broker, arguments.name, settings.command, engine.get, queue_limit=arguments.queue)
        print(f"kempelen: {arguments.name} answers on {broker}", file=sys.stderr)
        await bot.serve()
    finally:
        await engine.close()
    return 0


class Replaceable:
    """An engine that is started anew after each failure."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._player: Player | None = None
        self._failed = False

    async def get(self) -> "Replaceable":
        """Return this, with an engine that works."""
        if self._failed:
            await self.close()
        if self._player is None:
            self._player = make_player(self._settings, chess960=False)
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
