"""Players for engine processes, the built-in engine, and MQTT bots."""

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from agent.games import catalogue
from agent.games.go import Go
from agent.games.position_text import complete_options
from agent.games.variants import STANDARD_RULES, ChessRules
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.game_settings import CHESS, GO, GameSettings, new_game
from protocols.client.gtp import boardsize_command
from protocols.client.in_process import InProcessChessClient
from protocols.client.process import IoLog
from protocols.client.uci import InfoCallback, PlayResult, SearchRequest, UciClient
from protocols.mqtt.request_codec import GameVariant, public_name

if TYPE_CHECKING:
    from protocols.mqtt.client import BotClient


UciEngine = UciClient | InProcessChessClient


class EnginePlayer(Protocol):
    """A player in a game. Every method except `close` raises EngineError if the player fails.

    BrokerLostError and BotUnavailableError are not failures of the player.
    """

    async def start(self) -> None: ...

    async def set_opponent(self, name: str) -> None:
        """Send the name of the opponent in the next game."""

    async def new_game(self) -> None: ...

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> PlayResult:
        """Return a move within `limit` seconds. `on_info` is called with search reports."""

    async def report_result(self, result: str, reason: str, *, forfeit: bool) -> None:
        """Send the result in PGN notation and the reason for it."""

    async def close(self) -> None:
        """Stop the engine and release all resources, without raising exceptions."""


class MqttPlayer:
    """A bot behind an MQTT broker."""

    def __init__(
        self,
        settings: EngineSettings,
        client: "BotClient",
        variant: GameVariant,
    ) -> None:
        self._settings = settings
        self._client = client
        self._variant = variant
        self._game = ""

    async def start(self) -> None:
        """Wait until the bot is online. Raise EngineOptionError if it does not support the game."""
        name, limit = self._settings.command, self._settings.start_limit
        await self._client.wait_for_bot(name, limit, self._variant)

    async def set_opponent(self, name: str) -> None:
        """Do nothing, because bots do not use the name."""

    async def report_result(self, result: str, reason: str, *, forfeit: bool) -> None:
        """Do nothing, because bots do not use the result."""

    async def new_game(self) -> None:
        """Choose a random game id, by which the bot recognises a new game."""
        await self.start()
        self._game = secrets.token_hex(8)

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> PlayResult:
        name = self._settings.command
        return await self._client.request_move(name, self._game, request, limit, self._variant)

    async def close(self) -> None:
        """Do nothing, because other players use the same client."""


def make_variant(game: GameSettings, rules: ChessRules = STANDARD_RULES) -> GameVariant:
    """Return the game with a value for every option, because the defaults of a bot may differ."""
    if game.name == CHESS:
        return GameVariant(rules=rules)
    entry = catalogue.find(game.name)
    return GameVariant(public_name(game.name), complete_options(entry, game.options))


def setup_commands(game: GameSettings) -> tuple[str, ...]:
    if game.name == GO:
        go = new_game(game)
        assert isinstance(go, Go)
        return boardsize_command(go), "clear_board", f"komi {go.komi:g}"
    if isinstance(game.options.get("size"), int):
        return f"boardsize {game.options['size']}", "clear_board"
    return ("clear_board",)


def process_arguments(
    settings: EngineSettings, log: IoLog | None, cpus: Sequence[int]
) -> dict[str, Any]:
    """Return the constructor arguments that all engine clients share."""
    return {
        "command": settings.command,
        "arguments": settings.arguments,
        "directory": settings.directory,
        "environment": settings.environment,
        "start_limit": settings.start_limit,
        "ready_limit": settings.ready_limit,
        "quit_limit": settings.quit_limit,
        "log": log,
        "settings": settings.options,
        "cpus": cpus,
    }
