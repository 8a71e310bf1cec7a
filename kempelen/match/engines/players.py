"""Players for engine processes, the built-in engine, and MQTT bots."""

import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from agent.games import catalogue
from agent.games.go import Go
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.game_settings import CHESS, GO, GameSettings, new_game
from kempelen.match.game.game_result import Termination
from protocols.client.engine import EngineTransport
from protocols.client.gtp import GtpClient, boardsize_command
from protocols.client.process import IoLog
from protocols.client.uci import InfoCallback, Option, PlayResult, SearchRequest, UciClient
from protocols.client.xboard import XboardClient
from protocols.mqtt.request_codec import GameVariant, public_name

if TYPE_CHECKING:
    from protocols.mqtt.client import BotClient


# Kempelen's GTP extension that sends the opponent's name. GTP has no standard command for it.
OPPONENT_COMMAND = "kempelen-opponent"


class EnginePlayer(Protocol):
    """A player in a game. Every method except `close` raises EngineError if the player fails.

    BrokerLostError means a lost connection, which is not a failure of the player.
    """

    async def start(self) -> None: ...

    async def new_game(self) -> None: ...

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> PlayResult:
        """Return a move within `limit` seconds. `on_info` is called with search reports."""

    async def close(self) -> None:
        """Stop the engine and release all resources, without raising exceptions."""


@runtime_checkable
class OpponentAware(Protocol):
    """A player that can receive the opponent's name and the result.

    Both methods may raise EngineError.
    """

    async def set_opponent(self, opponent: str) -> None:
        """Set the name of the opponent for the next game."""

    async def on_game_end(self, result: str, termination: Termination) -> None:
        """Send the result in PGN notation and the reason for it."""


class ConfigurableEngine(EnginePlayer, Protocol):
    """A client for an engine with options."""

    async def configure(self, options: Mapping[str, str | int | float | bool]) -> None:
        """Set options. Raise EngineOptionError if an option is unknown."""


class ClientPlayer:
    """A player that uses an engine client. The options are set when the engine starts."""

    def __init__(
        self, engine: ConfigurableEngine, options: Mapping[str, str | int | float | bool]
    ) -> None:
        self._engine = engine
        self._options = options

    async def start(self) -> None:
        await self._engine.start()
        await self._engine.configure(self._options)

    async def new_game(self) -> None:
        await self._engine.new_game()

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> PlayResult:
        return await self._engine.search(request, limit, on_info)

    async def close(self) -> None:
        await self._engine.close()


class UciPlayer(ClientPlayer):
    _engine: UciClient

    def __init__(
        self,
        settings: EngineSettings,
        *,
        chess960: bool,
        log: IoLog | None,
        make_transport: Callable[[], EngineTransport] | None = None,
    ) -> None:
        """Create a player. If `make_transport` is given, no engine process is started."""
        engine = UciClient(make_transport=make_transport, **process_arguments(settings, log))
        super().__init__(engine, settings.options)
        self._chess960 = chess960

    async def start(self) -> None:
        """Start the engine and set its options. OwnBook is turned off unless an option sets it."""
        await self._engine.start()
        options = dict(self._options)
        names = {name.lower() for name in options}
        if "ownbook" in self._engine.options and "ownbook" not in names:
            options["OwnBook"] = False
        if self._chess960:
            options["UCI_Chess960"] = True
        await self._engine.configure(options)

    async def set_opponent(self, opponent: str) -> None:
        """Set the option UCI_Opponent if the engine has this option."""
        if "uci_opponent" in self._engine.options:
            await self._engine.configure({"UCI_Opponent": f"none none computer {opponent}"})

    async def on_game_end(self, result: str, termination: Termination) -> None:
        """Set the option GameResult, an extension of UCI by Kempelen, if the engine has it."""
        options = self._engine.options
        option = options.get("gameresult") or options.get("game result")  # the older name
        if option is not None:
            forfeit = f"{result} forfeit"
            by_forfeit = termination.is_forfeit and forfeit in option.choices
            await self._engine.configure({option.name: forfeit if by_forfeit else result})

    @property
    def options(self) -> Mapping[str, Option]:
        """The options of the started engine, by lower-case name."""
        return self._engine.options

    async def configure(self, options: Mapping[str, int]) -> None:
        await self._engine.configure(options)


class XBoardPlayer(ClientPlayer):
    _engine: XboardClient

    def __init__(self, settings: EngineSettings, *, chess960: bool, log: IoLog | None) -> None:
        engine = XboardClient(chess960=chess960, **process_arguments(settings, log))
        super().__init__(engine, settings.options)

    async def set_opponent(self, opponent: str) -> None:
        self._engine.set_opponent(opponent)

    async def on_game_end(self, result: str, termination: Termination) -> None:
        self._engine.send_result(
            result, termination.tag if termination.is_forfeit else str(termination)
        )


class GtpPlayer(ClientPlayer):
    """A GTP engine. The commands that set up the game are sent at the start of each game."""

    _engine: GtpClient

    def __init__(
        self,
        settings: EngineSettings,
        game: GameSettings,
        *,
        game_id: str = "",
        log: IoLog | None = None,
    ) -> None:
        """Create a player. GtpClient checks that the engine plays the game `game_id`, if given."""
        engine = GtpClient(
            setup_commands=_setup_commands(game),
            game_id=game_id,
            **process_arguments(settings, log),
        )
        super().__init__(engine, settings.options)

    async def set_opponent(self, opponent: str) -> None:
        """Send the opponent's name if the engine has the command kempelen-opponent."""
        if OPPONENT_COMMAND in self._engine.known_commands:
            await self._engine.ask(f"{OPPONENT_COMMAND} {opponent}", self._engine.ready_limit)

    async def on_game_end(self, result: str, termination: Termination) -> None:
        """Do nothing, because GTP has no command that reports the result."""

    def set_game(self, game: GameSettings) -> None:
        """Set the game for the next `new_game`. All its options must have GTP commands."""
        self._engine.setup_commands = _setup_commands(game)


class MqttPlayer:
    """A bot behind an MQTT broker."""

    def __init__(
        self,
        settings: EngineSettings,
        client: "BotClient",
        game: GameSettings,
        *,
        chess960: bool,
    ) -> None:
        self._settings = settings
        self._client = client
        self._variant = make_variant(game, chess960=chess960)
        self._game = ""

    async def start(self) -> None:
        """Wait until the bot is online. Raise EngineOptionError if it does not support the game."""
        name, limit = self._settings.command, self._settings.start_limit
        await self._client.wait_for_bot(name, limit, self._variant)

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


def make_variant(game: GameSettings, *, chess960: bool = False) -> GameVariant:
    """Return the game with a value for every option, because the defaults of a bot may differ."""
    if game.name == CHESS:
        return GameVariant(chess960=chess960)
    entry = catalogue.find(game.name)
    return GameVariant(public_name(game.name), entry.with_defaults(game.options))


def _setup_commands(game: GameSettings) -> tuple[str, ...]:
    if game.name == GO:
        go = new_game(game)
        assert isinstance(go, Go)
        return boardsize_command(go), "clear_board", f"komi {go.komi:g}"
    if isinstance(game.options.get("size"), int):
        return f"boardsize {game.options['size']}", "clear_board"
    return ("clear_board",)


def process_arguments(settings: EngineSettings, log: IoLog | None) -> dict[str, Any]:
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
    }
