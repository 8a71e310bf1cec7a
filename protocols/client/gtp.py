"""A client for GTP engines, with the same interface as the UCI client.

In every game, the player who moves first is Black. Source: 'Specification of the Go Text Protocol,
version 2, draft 2' by Gunnar Farnebäck.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.games.go import Go
from agent.io.sanitize import sanitize_line, sanitize_name
from agent.limits import SideClock
from protocols.client.engine import EngineClient, EngineOptionError, EngineState, Settings
from protocols.client.process import MAX_MESSAGE_LENGTH, EngineError
from protocols.client.uci import InfoCallback, PlayResult, SearchRequest
from protocols.gtp.messages import COLOURS, NO_LIMIT, game_id

# An engine that has this command accepts fractions of seconds, and increments.
KATA_TIME_SETTINGS = "kata-time_settings"
KATA_SET_PARAM = "kata-set-param"
# KataGo's parameters by common option names.
PARAMETERS = {"threads": "numSearchThreads", "memory": "memory"}
# Asks for the engine's game. Engines for Go do not offer it, because GoGui has the rules of Go, but
# only they have a handicap.
GAME_ID, GO_COMMAND = "gogui-rules_game_id", "fixed_handicap"
# Kempelen's extension that sends the opponent's name. GTP has no standard command for it.
OPPONENT_COMMAND = "kempelen-opponent"


class EngineRefusalError(EngineError):
    """Raised when the engine returns an error response, whose text is `engine_message`."""

    def __init__(self, command: str, engine_message: str) -> None:
        super().__init__("the engine rejects {}: {}", command, engine_message)
        self.engine_message = engine_message


@dataclass(eq=False)
class GtpClient(EngineClient):
    setup_commands: Sequence[str] = ("clear_board",)  # sent at the start of each game
    game_id: str = ""  # game that the engine must play, if not empty
    known_commands: frozenset[str] = frozenset()
    _played: list[str] = field(default_factory=list)
    # The last time settings and limits that were sent.
    _timing: tuple[object, ...] = ()
    _limits: dict[str, str] = field(default_factory=dict)

    async def start(self) -> None:
        """Start the engine, or raise `EngineOptionError` if it plays another game."""
        await self._launch()
        self.name = sanitize_name(await self._ask("name", self.start_limit))
        self.known_commands = frozenset(
            (await self._ask("list_commands", self.start_limit)).split()
        )
        if self.game_id and {GAME_ID, GO_COMMAND} & self.known_commands:
            offered = GAME_ID in self.known_commands
            game = await self._ask(GAME_ID, self.ready_limit) if offered else "Go"
            if game_id(game) != game_id(self.game_id):
                self.state = EngineState.FAILED
                raise EngineOptionError(
                    f"{self.name}: plays {sanitize_name(game)} (expected {self.game_id})"
                )
        self.state = EngineState.IDLE
        await self.configure(self.settings)

    async def configure(self, options: Settings) -> None:
        """Set parameters with `kata-set-param`, or raise `EngineOptionError` if one is rejected."""
        self._expect_idle()
        if options and KATA_SET_PARAM not in self.known_commands:
            names = sanitize_line(", ".join(options))
            raise EngineOptionError(
                f"{self.name}: options are not supported: {names} (no {KATA_SET_PARAM}; "
                "use command-line arguments)"
            )
        for name, value in options.items():
            words = [PARAMETERS.get(name.lower(), name), _format_value(value)]
            if any(len(word.split()) != 1 for word in words):
                raise EngineOptionError(
                    f"option {sanitize_line(name)}: name and value must not be empty or contain "
                    "spaces"
                )
            try:
                await self._ask(f"{KATA_SET_PARAM} {' '.join(words)}", self.start_limit)
            except EngineError as error:
                if self.state is not EngineState.IDLE:  # The engine has failed.
                    raise
                raise EngineOptionError(f"option {sanitize_line(name)}: {error}") from None

    async def set_opponent(self, name: str) -> None:
        if OPPONENT_COMMAND in self.known_commands:
            await self._ask(f"{OPPONENT_COMMAND} {name}", self.ready_limit)

    async def new_game(self) -> None:
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
        """Return the engine's move, or raise `EngineTimeoutError` after `limit` seconds."""
        self._expect_idle()
        if request.fen is not None:
            raise EngineError("start positions are not supported by GTP engines")
        own = (request.white, request.black)[request.side]
        colour = COLOURS[request.mover]
        if not self._continues_game(request):
            await self.new_game()
        await self._send_limits(request, limit)
        await self._send_time_settings(own, request)
        await self._send_missing_moves(request)
        if own is not None:
            remaining = self._seconds(own.time)
            await self._ask(f"time_left {colour} {remaining} {request.moves_to_go or 0}")
        async with self._searching(limit, "move"):
            started = time.perf_counter()
            self._send(f"genmove {colour}")
            move = await self._read_answer("genmove")
        assert self._process is not None
        elapsed = self._process.arrived - started
        self._played = [*request.moves, move]
        return PlayResult(move.lower(), None, None, elapsed)

    async def ask(self, command: str, limit: float) -> str:
        """Return the response to a command. Raise `EngineRefusalError` if it is an error.

        After a command that changes the position, call `new_game` before the next search.
        """
        self._expect_idle()
        return await self._ask(command, limit)

    def _continues_game(self, request: SearchRequest) -> bool:
        played = [move.lower() for move in self._played]
        return [move.lower() for move in request.moves[: len(played)]] == played

    async def _send_missing_moves(self, request: SearchRequest) -> None:
        start = len(self._played)
        for move, mover in zip(request.moves[start:], request.movers[start:], strict=True):
            await self._ask(f"play {COLOURS[mover]} {move}")
            self._played.append(move)

    async def _send_limits(self, request: SearchRequest, limit: float) -> None:
        """Send the limits for playouts, nodes and depth, if they have changed."""
        requested = {
            "maxPlayouts": request.playouts,
            "maxNodes": request.nodes,
            "maxDepth": request.depth,
        }
        if KATA_SET_PARAM not in self.known_commands:
            if any(requested.values()):
                names = ", ".join(name for name, value in requested.items() if value)
                raise EngineError(
                    f"{self.name}: limits are not supported: {names} (no {KATA_SET_PARAM})"
                )
            return
        parameters = {
            name: str(min(value or NO_LIMIT, NO_LIMIT))
            for name, value in requested.items()
            if value or name in self._limits
        }
        if any(requested.values()) and not request.has_time_limit:
            # Stop the search well before the client's timeout.
            parameters["maxTime"] = f"{limit / 2:.3g}"
        for name, text in parameters.items():
            if self._limits.get(name) != text:
                await self._ask(f"{KATA_SET_PARAM} {name} {text}", self.start_limit)
                self._limits[name] = text

    async def _send_time_settings(self, clock: SideClock | None, request: SearchRequest) -> None:
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
            command = "time_settings 0 1 0"  # GTP defines this as "no time limit".
        if timing != self._timing or (timing and not self._played):
            await self._ask(command)
            self._timing = timing

    def _seconds(self, seconds: float) -> str:
        return (
            f"{seconds:.3f}"
            if KATA_TIME_SETTINGS in self.known_commands
            else str(max(1, int(seconds)))
        )

    async def _ask(self, command: str, limit: float | None = None) -> str:
        self._send(command)
        answer = f"answer to {command.split()[0]}"
        return await self._with_timeout(
            limit or self.ready_limit, answer, self._read_answer(command)
        )

    async def _read_answer(self, command: str) -> str:
        assert self._process is not None
        lines: list[str] = []
        length = 0
        while (line := await self._process.read_line()) or not lines:
            if lines or line.startswith(("=", "?")):
                length += len(line) + 1
                self._require_kept_length(length, f"answer to {command.split()[0]}")
                lines.append(line)
        text = "\n".join(lines)
        if text.startswith("?"):
            raise EngineRefusalError(command, sanitize_line(text[1:], MAX_MESSAGE_LENGTH).strip())
        return text[1:].strip()


def boardsize_command(game: Go) -> str:
    """Return the command `boardsize`, or KataGo's `rectangular_boardsize` if necessary."""
    if game.width == game.height:
        return f"boardsize {game.width}"
    return f"rectangular_boardsize {game.width} {game.height}"


def _format_value(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
