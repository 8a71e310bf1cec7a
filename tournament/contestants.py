"""What can sit at a board, and the pool that lends players to games and takes them back."""

import asyncio
import dataclasses
import re
import secrets
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from agent.evaluation import EvaluationError
from agent.game import CHANCE
from agent.games import catalogue
from agent.games.go import Go
from agent.search.suiting import make_search
from protocols.client.engine import EngineOptionError
from protocols.client.gtp import GtpEngine
from protocols.client.inside import InsideEngine
from protocols.client.process import EngineError, EngineNotFoundError, IoLog, find_program
from protocols.client.uci import (
    Answer,
    InfoCallback,
    Option,
    SearchRequest,
    UciEngine,
)
from protocols.client.xboard import XBoardEngine
from protocols.mqtt import topics
from tournament.game_referee import new_game
from tournament.settings import (
    EngineProtocol,
    EngineSettings,
    GameSettings,
    Restart,
    Settings,
    TimeControl,
)
from tournament.values import SettingsError

if TYPE_CHECKING:
    from protocols.mqtt.client import BotClient

CHESS_GAME = GameSettings()


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


class ProgramContestant:
    """A program, or our own agent in this process, with its options set."""

    def __init__(
        self,
        engine: UciEngine | XBoardEngine | GtpEngine,
        options: Mapping[str, str | int | float | bool],
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
    ) -> Answer:
        """Ask for a move."""
        return await self._engine.search(request, limit, on_info)

    async def close(self) -> None:
        """Quit, or kill."""
        await self._engine.close()


class UciContestant(ProgramContestant):
    """One that speaks UCI."""

    _engine: UciEngine

    def __init__(self, settings: EngineSettings, *, chess960: bool, log: IoLog | None) -> None:
        def inside() -> InsideEngine:
            return InsideEngine(settings.name, log)

        converse = inside if settings.protocol is EngineProtocol.AGENT else None
        engine = UciEngine(converse=converse, **_process_settings(settings, log))
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

    @property
    def options(self) -> Mapping[str, Option]:
        """The options that the program declares, by their lower-case names, once started."""
        return self._engine.options

    async def configure(self, options: Mapping[str, int]) -> None:
        """Set options between games."""
        await self._engine.configure(options)


class BotContestant:
    """A bot that is asked over a broker."""

    def __init__(self, settings: EngineSettings, client: "BotClient", *, chess960: bool) -> None:
        self._settings = settings
        self._client = client
        self._chess960 = chess960
        self._game = ""

    async def start(self) -> None:
        """Wait until the bot is online."""
        await self._client.wait_for(self._settings.command, self._settings.start_limit)

    async def new_game(self) -> None:
        """Begin a game of a new name, by which the bot knows."""
        await self.start()
        self._game = secrets.token_hex(8)

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> Answer:
        """Ask for a move."""
        name = self._settings.command
        return await self._client.ask(name, self._game, request, limit, chess960=self._chess960)

    async def close(self) -> None:
        """Leave the bot to others."""


def make_contestant(
    settings: EngineSettings,
    *,
    chess960: bool,
    game: GameSettings = CHESS_GAME,
    time: TimeControl | None = None,
    log: IoLog | None = None,
    bots: "BotClient | None" = None,
) -> Contestant:
    """Return a player of the kind that the settings name; bots need a client.

    time: the engine's time control, which agents of the lab must be told beforehand.
    """
    if settings.protocol in (EngineProtocol.UCI, EngineProtocol.AGENT):
        return UciContestant(settings, chess960=chess960, log=log)
    if settings.protocol is EngineProtocol.XBOARD:
        common = _process_settings(settings, log)
        return ProgramContestant(XBoardEngine(chess960=chess960, **common), settings.options)
    if settings.protocol is EngineProtocol.GTP:
        common = _process_settings(settings, log)
        return ProgramContestant(
            GtpEngine(setup=_setup(game), game_id=_game_id(game), **common), settings.options
        )
    if settings.protocol is EngineProtocol.LAB:
        common = _process_settings(lab_program(settings, game, time), log)
        return ProgramContestant(GtpEngine(setup=_setup(game), **common), {})
    if settings.protocol is EngineProtocol.MQTT and bots is not None:
        return BotContestant(settings, bots, chess960=chess960)
    raise SettingsError(f"engine {settings.name}: a bot is reached over a broker: add --mqtt URL")


def _process_settings(settings: EngineSettings, log: IoLog | None) -> dict[str, Any]:
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


def _setup(game: GameSettings) -> tuple[str, ...]:
    """Return the commands of GTP that begin a game."""
    if game.name == GO:
        go = new_game(game)
        assert isinstance(go, Go)
        return f"boardsize {go.size}", "clear_board", f"komi {go.komi:g}"
    if isinstance(game.options.get("size"), int):
        return f"boardsize {game.options['size']}", "clear_board"
    return ("clear_board",)


def _game_id(game: GameSettings) -> str:
    """Return what a program says it plays; a game of a file may be called anything."""
    return "" if ":" in game.name else game.name


def lab_program(
    settings: EngineSettings, game: GameSettings, time: TimeControl | None
) -> EngineSettings:
    """Return an agent of the lab as a program: our own GTP engine, in a process of its own.

    So it thinks beside the runner and other agents, and a user's code that hangs can be ended.
    """
    arguments = ["-m", "kempelen.cli", "gtp", "--game", game.name, "--algorithm", settings.command]
    arguments.append("--no-book")  # it is the algorithm that plays, not what others know
    if game.name != GO:  # whose options GTP sets itself
        for name, value in game.options.items():
            arguments += ["--option", f"{name}={_option_text(value)}"]
    for name, value in settings.options.items():
        arguments += [f"--{name}", str(value)]
    limits = time or TimeControl(movetime=1)
    for name in ("depth", "nodes", "playouts"):
        if (limit := getattr(limits, name)) is not None:
            arguments += [f"--{name}", str(limit)]
    # Without a clock it answers with what it has before it would count as hung.
    arguments += ["--time", str(limits.movetime or limits.patience / 2)]
    return dataclasses.replace(settings, command=sys.executable, arguments=tuple(arguments))


def _option_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _check_agent(settings: EngineSettings, game: GameSettings) -> None:
    """Raise SettingsError if there is no such agent of the lab, or it cannot play the game."""
    if unknown := ", ".join(settings.options.keys() - LAB_OPTIONS):
        known = ", ".join(sorted(LAB_OPTIONS))
        raise SettingsError(f"engine {settings.name}: no option {unknown}; there are {known}")
    try:
        evaluation = str(settings.options.get("evaluation", "handcrafted"))
        evaluate = catalogue.evaluation(game.name, evaluation)
        start = new_game(game)
        make_search(settings.command, start, evaluate)
        if start.turn != CHANCE:
            evaluate(start)  # once, since an agent whose evaluation fails plays on all the same
    except (ValueError, EvaluationError) as error:
        raise SettingsError(f"engine {settings.name}: {error}") from None


# The game that an agent named directly plays.
AGENT_GAME = "chess"
GO = "go"
LAB_OPTIONS = {"evaluation", "seed"}

MakeContestant = Callable[[EngineSettings], Contestant]


def check_command(settings: EngineSettings, game: GameSettings = CHESS_GAME) -> None:
    """Raise SettingsError if a player's program, or our agent for its game, is not there."""
    if settings.protocol is EngineProtocol.LAB:
        _check_agent(settings, game)
    if settings.protocol is EngineProtocol.AGENT and settings.command != AGENT_GAME:
        raise SettingsError(f"engine {settings.name}: our agent plays {AGENT_GAME}")
    if settings.protocol is EngineProtocol.MQTT and not topics.is_name(settings.command):
        raise SettingsError(f"engine {settings.name}: {topics.NAME_RULE}")
    if settings.protocol in (EngineProtocol.UCI, EngineProtocol.XBOARD, EngineProtocol.GTP):
        try:
            find_program(settings.command, settings.directory)
        except EngineNotFoundError as error:
            raise SettingsError(f"engine {settings.name}: {error}") from None


class ContestantPool:
    """Players between games. One that failed is closed, and a fresh one takes its place."""

    def __init__(
        self, settings: Settings, make: MakeContestant, *, idle: int, report: Callable[[str], None]
    ) -> None:
        """Keep at most `idle` unused players. report: is told what befell one between games."""
        self._report = report
        self._settings = settings
        self._make = make
        self._most_idle = idle
        self._idle: list[tuple[int, Contestant]] = []
        self._lent: set[Contestant] = set()

    async def take(self, index: int) -> Contestant:
        """Lend a player of one engine, ready for a new game; EngineError if none gets ready."""
        while (kept := self._take_idle(index)) is not None:
            try:
                await kept.new_game()
                return kept
            except EngineError as error:
                self._report(f"{self._settings.engines[index].name}, between games: {error}")
                await self.discard(kept)
        player = self._make(self._settings.engines[index])
        self._lent.add(player)
        try:
            await player.start()
            await player.new_game()
        except EngineError:
            await self.discard(player)
            raise
        return player

    def _take_idle(self, index: int) -> Contestant | None:
        for place in range(len(self._idle) - 1, -1, -1):
            if self._idle[place][0] == index:
                player = self._idle.pop(place)[1]
                self._lent.add(player)
                return player
        return None

    async def give(self, index: int, player: Contestant) -> None:
        """Take a player back for later games, unless it is restarted before each."""
        if self._settings.engines[index].restart is Restart.ON:
            await self.discard(player)
            return
        self._lent.discard(player)
        self._idle.append((index, player))
        while len(self._idle) > self._most_idle:
            await self._idle.pop(0)[1].close()

    async def discard(self, player: Contestant) -> None:
        """Close a player that failed."""
        await asyncio.shield(player.close())
        self._lent.discard(player)

    async def probe(self, *, all_must_start: bool = True) -> None:
        """Start one player of each engine, and raise SettingsError for what no retry mends.

        all_must_start: so is a program that does not start; a bot may be late in any case.
        """

        async def probe_one(index: int) -> None:
            try:
                await self.give(index, await self.take(index))
            except (EngineOptionError, EngineNotFoundError) as error:
                name = self._settings.engines[index].name
                raise SettingsError(f"engine {name}: {error}") from None
            except EngineError as error:
                settings = self._settings.engines[index]
                if all_must_start and settings.protocol is not EngineProtocol.MQTT:
                    raise SettingsError(
                        f"engine {settings.name} ({settings.command}) does not start, as one "
                        f"that speaks {settings.protocol}: {error}"
                    ) from None

        await asyncio.gather(*(probe_one(i) for i in range(len(self._settings.engines))))

    async def close(self) -> None:
        """Close all players, lent ones too."""
        players = [player for _, player in self._idle] + list(self._lent)
        self._idle.clear()
        self._lent.clear()
        await asyncio.gather(*(player.close() for player in players), return_exceptions=True)


# Characters: a file's name may have 255 bytes, and a character four.
LOG_NAME_LENGTH = 60


class IoLogs:
    """One text file for each engine of what is said to it and what it says."""

    def __init__(self, directory: str | None) -> None:
        self._directory = directory
        self._files: dict[str, TextIO] = defaultdict()
        if directory is not None:
            Path(directory).mkdir(parents=True, exist_ok=True)

    def of(self, name: str) -> IoLog | None:
        """Return an engine's log, or None where none is asked for."""
        if self._directory is None:
            return None
        if name not in self._files:
            file = re.sub(r"[^\w.-]", "_", name)[:LOG_NAME_LENGTH] + ".log"
            self._files[name] = (Path(self._directory) / file).open("a", encoding="utf-8")
        return IoLog(self._files[name])

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
