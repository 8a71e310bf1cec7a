"""The base class of the clients for UCI, xboard and GTP engines."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from agent.io.sanitize import sanitize_line
from protocols.client.process import (
    QUIT_LIMIT,
    EngineDiedError,
    EngineError,
    EngineProcess,
    IoLog,
)

# In seconds.
START_LIMIT = 35.0
READY_LIMIT = 15.0

# Limit of what is kept of an engine's declarations, or of one answer, in characters. Known engines
# stay far below it.
MAX_KEPT_LENGTH = 1 << 20
# Numbers outside these limits are invalid. They are those of the MQTT schema.
MAX_SCORE = 10**9  # centipawns or moves to mate
MAX_COUNT = 2**63 - 1  # plies, nodes, milliseconds

Answered = TypeVar("Answered")
Settings = Mapping[str, str | int | float | bool]


class EngineTimeoutError(EngineError):
    """Raised when an engine does not answer a request within its time limit."""


class EngineUnresponsiveError(EngineTimeoutError):
    """Raised when an engine times out at its start or on a command other than a search."""


class EngineOptionError(EngineError):
    """Raised when an engine does not have an option or rejects its value."""


def unknown_option_message(engine: str, option: str, available: str) -> str:
    return sanitize_line(f"{engine}: unknown option {option} (expected one of: {available})")


def parse_bool(name: str, value: str) -> bool:
    """Parse a boolean option value such as `true`, `on` or `1`, or raise `EngineOptionError`."""
    words = {"true": True, "on": True, "yes": True, "1": True}
    words |= {"false": False, "off": False, "no": False, "0": False}
    if value.lower() not in words:
        raise EngineOptionError(f"option {name}: invalid value {value!r} (expected true or false)")
    return words[value.lower()]


class EngineState(Enum):
    """The state of an engine client. The states FAILED and CLOSED are final."""

    NEW = "new"
    STARTING = "starting"
    IDLE = "idle"
    SEARCHING = "searching"
    FAILED = "failed"
    CLOSED = "closed"


@dataclass(eq=False)
class EngineClient:
    """The base class of clients for engine programs. All limits are in seconds.

    `settings` contains the options to set at the start, and `cpus` the only CPUs to use, by default
    all.
    """

    command: str
    arguments: Sequence[str] = ()
    directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    start_limit: float = START_LIMIT
    ready_limit: float = READY_LIMIT
    quit_limit: float = QUIT_LIMIT
    log: IoLog | None = None
    settings: Settings = field(default_factory=dict)
    cpus: Sequence[int] = ()
    state: EngineState = EngineState.NEW
    name: str = ""
    _process: EngineProcess | None = None

    async def set_opponent(self, name: str) -> None:
        """Send the name of the opponent in the next game, if the engine can receive it."""

    async def report_result(self, result: str, reason: str, *, forfeit: bool) -> None:
        """Send the game's result, in PGN notation, if the engine can receive it."""

    async def close(self) -> None:
        """Ask the engine to quit, and kill it after `quit_limit` seconds.

        An engine that has failed is killed immediately.
        """
        process, self._process = self._process, None
        failed = self.state is EngineState.FAILED
        self.state = EngineState.CLOSED
        if process is not None:
            await (process.kill() if failed else process.stop(self.quit_limit))

    async def _launch(self) -> EngineProcess:
        if self.state is not EngineState.NEW:
            raise EngineError(f"an engine can be started only once (state: {self.state.value})")
        self.state = EngineState.STARTING
        self._process = await EngineProcess.start(
            self.command,
            self.arguments,
            directory=self.directory,
            environment=self.environment,
            log=self.log,
            cpus=self.cpus,
        )
        return self._process

    def _send(self, line: str) -> None:
        assert self._process is not None
        self._process.send(line)

    def _expect_idle(self) -> None:
        if self.state is not EngineState.IDLE:
            raise EngineError("the engine must be idle (state: {})", self.state.value)

    async def _with_timeout(
        self, limit: float, answer: str, reading: Awaitable[Answered]
    ) -> Answered:
        """Await a reply. After `limit` seconds, raise an error and set the state to FAILED."""
        try:
            async with asyncio.timeout(limit):
                return await reading
        except TimeoutError:
            self.state = EngineState.FAILED
            raise EngineUnresponsiveError("no {} within {:.3g} s", answer, limit) from None
        except EngineDiedError:
            raise await self._died_error() from None

    @asynccontextmanager
    async def _searching(self, limit: float, answer: str) -> AsyncIterator[None]:
        """Raise `EngineTimeoutError` if the search inside the block exceeds `limit` seconds."""
        self.state = EngineState.SEARCHING
        try:
            async with asyncio.timeout(limit):
                yield
        except TimeoutError:
            raise EngineTimeoutError("no {} within {:.3g} s", answer, limit) from None
        except EngineDiedError:
            raise await self._died_error() from None
        finally:
            if self.state is EngineState.SEARCHING:
                self._interrupt()
                self.state = EngineState.IDLE

    def _require_kept_length(self, length: int, what: str) -> None:
        """Raise an error and set the state to FAILED if the engine sends too much to be kept."""
        if length > MAX_KEPT_LENGTH:
            self.state = EngineState.FAILED
            raise EngineError("{} too long (at most {} characters)", what, MAX_KEPT_LENGTH)

    def _interrupt(self) -> None:
        """Make the engine move immediately, if the protocol has a command for this."""

    async def _died_error(self) -> EngineDiedError:
        assert self._process is not None
        self.state = EngineState.FAILED
        return EngineDiedError(await self._process.describe_end())
