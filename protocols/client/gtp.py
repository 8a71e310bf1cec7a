"""A GTP engine as an object, with the same words as a UCI engine.

Moves are in the notation of the game, as the runner's referee writes them; black is who moves
first. What the engine says of the moves of others is not asked: a refusal is its failure.
Source: 'Specification of the Go Text Protocol, version 2, draft 2' by Gunnar Farnebäck.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent.games.go import Go
from agent.io.sanitize import sanitize_line, sanitize_name
from agent.limits import SideClock
from protocols.client.engine import EngineClient, EngineOptionError, EngineState
from protocols.client.process import MAX_MESSAGE_LENGTH, EngineError
from protocols.client.uci import InfoCallback, PlayResult, SearchRequest
from protocols.gtp.messages import COLOURS, NO_LIMIT, game_id

# An engine that knows it takes fractions of a second too, and increments.
KATA_TIME_SETTINGS = "kata-time_settings"
KATA_SET_PARAM = "kata-set-param"
# What parameters are called in KataGo's words, by what they are called elsewhere.
PARAMETERS = {"threads": "numSearchThreads", "memory": "memory"}
GAME_ID = "gogui-rules_game_id"


class EngineRefusalError(EngineError):
    """A command that the engine answered with an error; `words` are its own."""

    def __init__(self, command: str, words: str) -> None:
        super().__init__(f"the engine refuses {command}: {words}")
        self.engine_message = words


@dataclass
class GtpClient(EngineClient):
    """One program that speaks GTP.

    setup: the commands that begin a game. game_id: the game that it must play, in the words of
    gogui-rules_game_id, if it knows any; "" for whatever it plays.
    """

    setup_commands: Sequence[str] = ("clear_board",)
    game_id: str = ""
    known_commands: frozenset[str] = frozenset()
    _played: list[str] = field(default_factory=list)
    # How time runs, and which limits there are, as the engine was told last.
    _timing: tuple[object, ...] = ()
    _limits: dict[str, str] = field(default_factory=dict)

    async def start(self) -> None:
        """Start the process and ask what it is and knows."""
        await self._launch()
        self.name = sanitize_name(await self._ask("name", self.start_limit))
        self.known_commands = frozenset(
            (await self._ask("list_commands", self.start_limit)).split()
        )
        if self.game_id and GAME_ID in self.known_commands:
            playing = await self._ask(GAME_ID, self.ready_limit)
            if game_id(playing) != game_id(self.game_id):
                self.state = EngineState.FAILED
                raise EngineOptionError(
                    f"{self.name} plays {sanitize_name(playing)}, not {self.game_id}"
                )
        self.state = EngineState.IDLE

    async def configure(self, options: Mapping[str, str | int | float | bool]) -> None:
        """Set parameters, where the engine has KataGo's command for that.

        Threads and Memory are understood. Raises EngineOptionError for what it does not take.
        """
        self._expect_idle()
        if options and KATA_SET_PARAM not in self.known_commands:
            names = sanitize_line(", ".join(options))
            raise EngineOptionError(
                f"{self.name} has no options such as {names}: it does not know {KATA_SET_PARAM};"
                " use arguments"
            )
        for name, value in options.items():
            words = [PARAMETERS.get(name.lower(), name), _format_value(value)]
            if any(len(word.split()) != 1 for word in words):
                raise EngineOptionError(
                    f"option {sanitize_line(name)}: GTP has words without spaces only"
                )
            try:
                await self._ask(f"{KATA_SET_PARAM} {' '.join(words)}", self.start_limit)
            except EngineError as error:
                if self.state is not EngineState.IDLE:  # it has not refused, but failed
                    raise
                raise EngineOptionError(f"option {sanitize_line(name)}: {error}") from None

    async def new_game(self) -> None:
        """Begin a game."""
        self._expect_idle()
        for command in self.setup_commands:
            await self._ask(command, self.ready_limit)
        self._played = []

    async def search(
        self,
        request: SearchRequest,
        limit: float,
        on_info: InfoCallback | None = None,
    ) -> PlayResult:
        """Have a move made; raise EngineTimeoutError when `limit` seconds bring none.

        The engine makes its move itself; it is not played to it again. A position that does not
        follow from the last is set up from the start.
        """
        self._expect_idle()
        if request.fen is not None:
            raise EngineError("a GTP engine begins at the start of a game only")
        own = (request.white, request.black)[request.side]
        colour = COLOURS[request.mover]
        if not self._continues_game(request):
            await self.new_game()
        await self._send_limits(request, limit)
        await self._send_time_settings(own, request)
        await self._send_missing_moves(request)
        if own is not None:
            left = self._seconds(own.time)
            await self._ask(f"time_left {colour} {left} {request.moves_to_go or 0}")
        async with self._searching(limit, "move"):
            started = time.perf_counter()
            self._send(f"genmove {colour}")
            move = await self._read_answer("genmove")
        assert self._process is not None
        elapsed = self._process.arrived - started
        self._played = [*request.moves, move]
        return PlayResult(move.lower(), None, None, elapsed)

    async def ask(self, command: str, limit: float) -> str:
        """Return the answer to any command, as it came; EngineRefusalError if it is an error.

        What it does to the position, the next game undoes.
        """
        self._expect_idle()
        return await self._ask(command, limit)

    def _continues_game(self, request: SearchRequest) -> bool:
        """Tell whether a position follows from the last that the engine has."""
        known = [move.lower() for move in self._played]
        return [move.lower() for move in request.moves[: len(known)]] == known

    async def _send_missing_moves(self, request: SearchRequest) -> None:
        """Play the moves that the engine has not seen."""
        known = len(self._played)
        for move, mover in zip(request.moves[known:], request.movers[known:], strict=True):
            await self._ask(f"play {COLOURS[mover]} {move}")
            self._played.append(move)

    async def _send_limits(self, request: SearchRequest, limit: float) -> None:
        """Tell what ends a search beside time; where no time runs, half of what there is does."""
        asked = {
            "maxPlayouts": request.playouts,
            "maxNodes": request.nodes,
            "maxDepth": request.depth,
        }
        if KATA_SET_PARAM not in self.known_commands:
            if any(asked.values()):
                given = " or ".join(name for name, number in asked.items() if number)
                raise EngineError(f"{self.name} cannot be told {given}: it has no {KATA_SET_PARAM}")
            return
        wanted = {
            name: str(min(number or NO_LIMIT, NO_LIMIT))
            for name, number in asked.items()
            if number or name in self._limits
        }
        if any(asked.values()) and not request.has_time_limit:
            wanted["maxTime"] = f"{limit / 2:.3g}"
        for name, text in wanted.items():
            if self._limits.get(name) != text:
                await self._ask(f"{KATA_SET_PARAM} {name} {text}", self.start_limit)
                self._limits[name] = text

    async def _send_time_settings(self, clock: SideClock | None, request: SearchRequest) -> None:
        """Tell how time runs, at the beginning of a game and when that changes."""
        timing: tuple[object, ...] = ()
        if clock is not None:
            base = self._seconds(clock.time)
            timing = "clock", clock.increment, bool(request.moves_to_go)
            if request.moves_to_go:
                command = f"time_settings 0 {base} {request.moves_to_go}"
            elif clock.increment and KATA_TIME_SETTINGS in self.known_commands:
                command = f"{KATA_TIME_SETTINGS} fischer {base} {clock.increment:g}"
            else:
                command = f"time_settings {base} 0 0"
        elif request.movetime is not None:
            timing = "movetime", request.movetime
            command = f"time_settings 0 {self._seconds(request.movetime)} 1"
        else:
            command = "time_settings 0 1 0"  # no limit, in the words of GTP
        if timing != self._timing or (timing and not self._played):
            await self._ask(command)
            self._timing = timing

    def _seconds(self, seconds: float) -> str:
        """Write a time: in whole seconds where the protocol does not say that more can be read."""
        return (
            f"{seconds:.3f}"
            if KATA_TIME_SETTINGS in self.known_commands
            else str(max(1, int(seconds)))
        )

    async def _ask(self, command: str, limit: float | None = None) -> str:
        """Return the answer to a command that takes no time, within the limit of being ready."""
        self._send(command)
        word = f"answer to {command.split()[0]}"
        return await self._with_timeout(limit or self.ready_limit, word, self._read_answer(command))

    async def _read_answer(self, command: str) -> str:
        """Return the text of an answer; EngineError if it reports one."""
        assert self._process is not None
        lines: list[str] = []
        while (line := await self._process.read_line()) or not lines:
            if lines or line.startswith(("=", "?")):
                lines.append(line)
        text = "\n".join(lines)
        if text.startswith("?"):
            raise EngineRefusalError(command, sanitize_line(text[1:], MAX_MESSAGE_LENGTH).strip())
        return text[1:].strip()


def boardsize_command(game: Go) -> str:
    """Return the command that begins a game of Go on its board: of one that is no square KataGo's.

    GTP itself knows square boards alone.
    """
    if game.width == game.height:
        return f"boardsize {game.width}"
    return f"rectangular_boardsize {game.width} {game.height}"


def _format_value(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
