"""What can sit at a board: programs, our own agent in this process, bots behind a broker."""

import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from agent.games import catalogue
from agent.games.go import Go
from protocols.client.engine import Conversation
from protocols.client.gtp import GtpEngine, board_command
from protocols.client.process import IoLog
from protocols.client.uci import Answer, InfoCallback, Option, SearchRequest, UciEngine
from protocols.client.xboard import XBoardEngine
from protocols.mqtt.requests import Variant, public_name
from tournament.engine_settings import EngineSettings
from tournament.game_settings import CHESS, GO, GameSettings, new_game
from tournament.verdicts import Termination

if TYPE_CHECKING:
    from protocols.mqtt.client import BotClient


# Our command of GTP that names the opponent: there is none that all know.
MEET = "kempelen-opponent"


class Contestant(Protocol):
    """One side of a game. Every method raises EngineError when the player fails.

    BrokerLostError says that a player cannot be reached, which is not its failure.
    """

    async def start(self) -> None:
        """Get ready to play."""

    async def new_game(self) -> None:
        """Forget the last game."""

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> Answer:
        """Choose a move within `limit` seconds."""

    async def close(self) -> None:
        """Stop for good and leave nothing behind; never raises."""


@runtime_checkable
class Acquainted(Protocol):
    """A player who can be told whom it meets, and how that ended; it may raise EngineError."""

    async def meet(self, opponent: str) -> None:
        """Play the next game against an opponent of this name."""

    async def hear(self, result: str, termination: Termination) -> None:
        """Take note of how the game ended, as PGN writes it, and why."""


class Driven(Contestant, Protocol):
    """An engine that has options: what each client of a protocol is."""

    async def configure(self, options: Mapping[str, str | int | float | bool]) -> None:
        """Set options; EngineOptionError for one that it does not have."""


class ProgramContestant:
    """A program, or our own agent in this process, with its options set."""

    def __init__(self, engine: Driven, options: Mapping[str, str | int | float | bool]) -> None:
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
    ) -> Answer:
        """Ask for a move."""
        return await self._engine.search(request, limit, on_info)

    async def close(self) -> None:
        """Quit, or kill."""
        await self._engine.close()


class UciContestant(ProgramContestant):
    """One that speaks UCI."""

    _engine: UciEngine

    def __init__(
        self,
        settings: EngineSettings,
        *,
        chess960: bool,
        log: IoLog | None,
        converse: Callable[[], Conversation] | None = None,
    ) -> None:
        """Prepare to start a program, or what `converse` makes in its place."""
        engine = UciEngine(converse=converse, **process_settings(settings, log))
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

    async def meet(self, opponent: str) -> None:
        """Tell the opponent's name, as UCI has it, where the program wants to know."""
        if "uci_opponent" in self._engine.options:
            await self._engine.configure({"UCI_Opponent": f"none none computer {opponent}"})

    async def hear(self, result: str, termination: Termination) -> None:
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


class XBoardContestant(ProgramContestant):
    """One that speaks xboard's protocol."""

    _engine: XBoardEngine

    def __init__(self, settings: EngineSettings, *, chess960: bool, log: IoLog | None) -> None:
        """Prepare to start a program."""
        engine = XBoardEngine(chess960=chess960, **process_settings(settings, log))
        super().__init__(engine, settings.options)

    async def meet(self, opponent: str) -> None:
        """Tell the opponent's name."""
        self._engine.meet(opponent)

    async def hear(self, result: str, termination: Termination) -> None:
        """Tell the result."""
        self._engine.hear(result, termination.tag if termination.is_forfeit else str(termination))


class GtpContestant(ProgramContestant):
    """One that speaks GTP. It is told at the beginning of each game which it is."""

    _engine: GtpEngine

    def __init__(
        self,
        settings: EngineSettings,
        game: GameSettings,
        *,
        game_id: str = "",
        log: IoLog | None = None,
    ) -> None:
        """Prepare to start a program; game_id: the game that it must play, as GtpEngine has it."""
        engine = GtpEngine(setup=_setup(game), game_id=game_id, **process_settings(settings, log))
        super().__init__(engine, settings.options)

    async def meet(self, opponent: str) -> None:
        """Tell the opponent's name, where the program knows our command for it."""
        if MEET in self._engine.known:
            await self._engine.ask(f"{MEET} {opponent}", self._engine.ready_limit)

    async def hear(self, result: str, termination: Termination) -> None:
        """Say nothing: a program of GTP sees how the game ends."""

    def take_up(self, game: GameSettings) -> None:
        """Take the next game for one with other options that GTP has commands for."""
        self._engine.setup = _setup(game)


class BotContestant:
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
        self._variant = variant_of(game, chess960=chess960)
        self._game = ""

    async def start(self) -> None:
        """Wait until the bot is online; EngineOptionError if it plays another game."""
        name, limit = self._settings.command, self._settings.start_limit
        await self._client.wait_for(name, limit, self._variant)

    async def new_game(self) -> None:
        """Begin a game of a new name, by which the bot knows."""
        await self.start()
        self._game = secrets.token_hex(8)

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> Answer:
        """Ask for a move."""
        name = self._settings.command
        return await self._client.ask(name, self._game, request, limit, self._variant)

    async def close(self) -> None:
        """Leave the bot to others."""


def variant_of(game: GameSettings, *, chess960: bool = False) -> Variant:
    """Return what a bot is asked to play, with all options: its own may not be the usual."""
    if game.name == CHESS:
        return Variant(chess960=chess960)
    kind = catalogue.find(game.name)
    return Variant(public_name(game.name), kind.complete(game.options))


def _setup(game: GameSettings) -> tuple[str, ...]:
    """Return the commands of GTP that begin a game."""
    if game.name == GO:
        go = new_game(game)
        assert isinstance(go, Go)
        return board_command(go), "clear_board", f"komi {go.komi:g}"
    if isinstance(game.options.get("size"), int):
        return f"boardsize {game.options['size']}", "clear_board"
    return ("clear_board",)


def process_settings(settings: EngineSettings, log: IoLog | None) -> dict[str, Any]:
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
