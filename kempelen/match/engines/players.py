"""What can sit at a board: programs, our own agent in this process, bots behind a broker."""

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
from protocols.mqtt.request_codec import Variant, public_name

if TYPE_CHECKING:
    from protocols.mqtt.client import BotClient


# Our command of GTP that names the opponent: there is none that all know.
OPPONENT_COMMAND = "kempelen-opponent"


class EnginePlayer(Protocol):
    """One side of a game. Every method raises EngineError when the player fails.

    BrokerLostError says that a player cannot be reached, which is not its failure.
    """

    async def start(self) -> None:
        """Get ready to play."""

    async def new_game(self) -> None:
        """Forget the last game."""

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> PlayResult:
        """Choose a move within `limit` seconds."""

    async def close(self) -> None:
        """Stop for good and leave nothing behind; never raises."""


@runtime_checkable
class OpponentAware(Protocol):
    """A player who can be told whom it meets, and how that ended; it may raise EngineError."""

    async def set_opponent(self, opponent: str) -> None:
        """Play the next game against an opponent of this name."""

    async def on_game_end(self, result: str, termination: Termination) -> None:
        """Take note of how the game ended, as PGN writes it, and why."""


class ConfigurableEngine(EnginePlayer, Protocol):
    """An engine that has options: what each client of a protocol is."""

    async def configure(self, options: Mapping[str, str | int | float | bool]) -> None:
        """Set options; EngineOptionError for one that it does not have."""


class ClientPlayer:
    """A program, or our own agent in this process, with its options set."""

    def __init__(
        self, engine: ConfigurableEngine, options: Mapping[str, str | int | float | bool]
    ) -> None:
        self._engine = engine
        self._options = options

    async def start(self) -> None:
        """Start the program and set its options."""
        await self._engine.start()
        await self._engine.configure(self._options)

    async def new_game(self) -> None:
        """Have the next position taken for one of another game."""
        await self._engine.new_game()

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> PlayResult:
        """Ask for a move."""
        return await self._engine.search(request, limit, on_info)

    async def close(self) -> None:
        """Quit, or kill."""
        await self._engine.close()


class UciPlayer(ClientPlayer):
    """One that speaks UCI."""

    _engine: UciClient

    def __init__(
        self,
        settings: EngineSettings,
        *,
        chess960: bool,
        log: IoLog | None,
        make_transport: Callable[[], EngineTransport] | None = None,
    ) -> None:
        """Prepare to start a program, or what `converse` makes in its place."""
        engine = UciClient(make_transport=make_transport, **process_arguments(settings, log))
        super().__init__(engine, settings.options)
        self._chess960 = chess960

    async def start(self) -> None:
        """Start the program and set its options; a book of its own is switched off."""
        await self._engine.start()
        options = dict(self._options)
        chosen = {name.lower() for name in options}
        if "ownbook" in self._engine.options and "ownbook" not in chosen:
            options["OwnBook"] = False
        if self._chess960:
            options["UCI_Chess960"] = True
        await self._engine.configure(options)

    async def set_opponent(self, opponent: str) -> None:
        """Tell the opponent's name, as UCI has it, where the program wants to know."""
        if "uci_opponent" in self._engine.options:
            await self._engine.configure({"UCI_Opponent": f"none none computer {opponent}"})

    async def on_game_end(self, result: str, termination: Termination) -> None:
        """Tell the result, for which our engine has an option; UCI has none."""
        option = self._engine.options.get("game result")
        if option is not None:
            forfeit = f"{result} forfeit"
            by_forfeit = termination.is_forfeit and forfeit in option.choices
            await self._engine.configure({option.name: forfeit if by_forfeit else result})

    @property
    def options(self) -> Mapping[str, Option]:
        """The options that the program declares, by their lower-case names, once started."""
        return self._engine.options

    async def configure(self, options: Mapping[str, int]) -> None:
        """Set options between games."""
        await self._engine.configure(options)


class XBoardPlayer(ClientPlayer):
    """One that speaks xboard's protocol."""

    _engine: XboardClient

    def __init__(self, settings: EngineSettings, *, chess960: bool, log: IoLog | None) -> None:
        """Prepare to start a program."""
        engine = XboardClient(chess960=chess960, **process_arguments(settings, log))
        super().__init__(engine, settings.options)

    async def set_opponent(self, opponent: str) -> None:
        """Tell the opponent's name."""
        self._engine.set_opponent(opponent)

    async def on_game_end(self, result: str, termination: Termination) -> None:
        """Tell the result."""
        self._engine.send_result(
            result, termination.tag if termination.is_forfeit else str(termination)
        )


class GtpPlayer(ClientPlayer):
    """One that speaks GTP. It is told at the beginning of each game which it is."""

    _engine: GtpClient

    def __init__(
        self,
        settings: EngineSettings,
        game: GameSettings,
        *,
        game_id: str = "",
        log: IoLog | None = None,
    ) -> None:
        """Prepare to start a program; game_id: the game that it must play, as GtpClient has it."""
        engine = GtpClient(
            setup_commands=_setup_commands(game),
            game_id=game_id,
            **process_arguments(settings, log),
        )
        super().__init__(engine, settings.options)

    async def set_opponent(self, opponent: str) -> None:
        """Tell the opponent's name, where the program knows our command for it."""
        if OPPONENT_COMMAND in self._engine.known_commands:
            await self._engine.ask(f"{OPPONENT_COMMAND} {opponent}", self._engine.ready_limit)

    async def on_game_end(self, result: str, termination: Termination) -> None:
        """Say nothing: a program of GTP sees how the game ends."""

    def set_game(self, game: GameSettings) -> None:
        """Take the next game for one with other options that GTP has commands for."""
        self._engine.setup_commands = _setup_commands(game)


class MqttPlayer:
    """A bot that is asked over a broker."""

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
        """Wait until the bot is online; EngineOptionError if it plays another game."""
        name, limit = self._settings.command, self._settings.start_limit
        await self._client.wait_for_bot(name, limit, self._variant)

    async def new_game(self) -> None:
        """Begin a game of a new name, by which the bot knows."""
        await self.start()
        self._game = secrets.token_hex(8)

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> PlayResult:
        """Ask for a move."""
        name = self._settings.command
        return await self._client.request_move(name, self._game, request, limit, self._variant)

    async def close(self) -> None:
        """Leave the bot to others."""


def make_variant(game: GameSettings, *, chess960: bool = False) -> Variant:
    """Return what a bot is asked to play, with all options: its own may not be the usual."""
    if game.name == CHESS:
        return Variant(chess960=chess960)
    kind = catalogue.find(game.name)
    return Variant(public_name(game.name), kind.with_defaults(game.options))


def _setup_commands(game: GameSettings) -> tuple[str, ...]:
    """Return the commands of GTP that begin a game."""
    if game.name == GO:
        go = new_game(game)
        assert isinstance(go, Go)
        return boardsize_command(go), "clear_board", f"komi {go.komi:g}"
    if isinstance(game.options.get("size"), int):
        return f"boardsize {game.options['size']}", "clear_board"
    return ("clear_board",)


def process_arguments(settings: EngineSettings, log: IoLog | None) -> dict[str, Any]:
    """Return what the engine of every program is made with."""
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
