"""What every engine that plays for us has, whatever protocol it speaks: a life from start to end.

An engine is started once, is idle between searches, and ends closed or failed. Everything that is
asked of it has a limit of time.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeVar

from protocols.client.process import (
    QUIT_LIMIT,
    EngineDiedError,
    EngineError,
    EngineProcess,
    IoLog,
)

START_LIMIT = 35.0
READY_LIMIT = 15.0

Answered = TypeVar("Answered")


class EngineTimeoutError(EngineError):
    """An engine that did not answer within its limit."""


class EngineUnresponsiveError(EngineTimeoutError):
    """An engine that did not finish its start, or answer what it always must, within its limit."""


class EngineOptionError(EngineError):
    """An option that the engine does not have, or a value that it cannot take."""


def parse_bool(name: str, value: str) -> bool:
    """Return what an option that is on or off is set to, or raise EngineOptionError."""
    words = {"true": True, "on": True, "yes": True, "1": True}
    words |= {"false": False, "off": False, "no": False, "0": False}
    if value.lower() not in words:
        raise EngineOptionError(f"option {name} is true or false, not {value!r}")
    return words[value.lower()]


class EngineState(Enum):
    """What an engine is doing. Only IDLE takes a search; FAILED and CLOSED are for good."""

    NEW = "new"
    STARTING = "starting"
    IDLE = "idle"
    SEARCHING = "searching"
    FAILED = "failed"
    CLOSED = "closed"


class EngineTransport(Protocol):
    """What a client needs of an engine: EngineProcess has it, and so has our own agent.

    arrived: when the line came that was read last, by `time.perf_counter`.
    """

    arrived: float

    @property
    def pid(self) -> int:
        """The process, if it has one."""

    def send(self, text: str) -> None:
        """Write lines without waiting."""

    async def read_line(self) -> str:
        """Return the next line; EngineDiedError at the end."""

    async def stop(self, limit: float) -> None:
        """End it, politely if that takes no more than `limit` seconds."""

    async def kill(self) -> None:
        """End it at once."""

    async def describe_end(self) -> str:
        """Return how it ended."""


@dataclass
class EngineClient:
    """One engine: a process, unless `converse` makes something else. Times are seconds."""

    command: str
    arguments: Sequence[str] = ()
    directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    start_limit: float = START_LIMIT
    ready_limit: float = READY_LIMIT
    quit_limit: float = QUIT_LIMIT
    log: IoLog | None = None
    state: EngineState = EngineState.NEW
    name: str = ""
    make_transport: Callable[[], EngineTransport] | None = None
    _process: EngineTransport | None = None

    async def close(self) -> None:
        """End the process: politely, or by force after `quit_limit` seconds or a failure."""
        process, self._process = self._process, None
        failed = self.state is EngineState.FAILED
        self.state = EngineState.CLOSED
        if process is not None:
            await (process.kill() if failed else process.stop(self.quit_limit))

    async def _launch(self) -> EngineTransport:
        """Start the process; the engine is STARTING until its protocol is agreed on."""
        if self.state is not EngineState.NEW:
            raise EngineError(f"an engine is started once; this one is {self.state.value}")
        self.state = EngineState.STARTING
        self._process = await self._open_transport()
        return self._process

    async def _open_transport(self) -> EngineTransport:
        if self.make_transport is not None:
            return self.make_transport()
        return await EngineProcess.start(
            self.command,
            self.arguments,
            directory=self.directory,
            environment=self.environment,
            log=self.log,
        )

    def _send(self, line: str) -> None:
        assert self._process is not None
        self._process.send(line)

    def _expect_idle(self) -> None:
        if self.state is not EngineState.IDLE:
            raise EngineError(f"the engine is {self.state.value}, not idle")

    async def _with_timeout(
        self, limit: float, word: str, reading: Awaitable[Answered]
    ) -> Answered:
        """Wait for what the engine must always be able to answer."""
        try:
            async with asyncio.timeout(limit):
                return await reading
        except TimeoutError:
            self.state = EngineState.FAILED
            raise EngineUnresponsiveError(f"no {word} within {limit:.3g} s") from None
        except EngineDiedError:
            raise await self._died_error() from None

    @asynccontextmanager
    async def _searching(self, limit: float, word: str) -> AsyncIterator[None]:
        """Be SEARCHING for the time of a block, `limit` seconds at most; then IDLE, if all is well.

        A search that the block leaves unanswered is interrupted.
        """
        self.state = EngineState.SEARCHING
        try:
            async with asyncio.timeout(limit):
                yield
        except TimeoutError:
            raise EngineTimeoutError(f"no {word} within {limit:.3g} s") from None
        except EngineDiedError:
            raise await self._died_error() from None
        finally:
            if self.state is EngineState.SEARCHING:
                self._interrupt()
                self.state = EngineState.IDLE

    def _interrupt(self) -> None:
        """Tell the engine to answer now, where the protocol has a word for it."""

    async def _died_error(self) -> EngineDiedError:
        """Return the error with the process's own reason, which takes time off every limit."""
        assert self._process is not None
        self.state = EngineState.FAILED
        return EngineDiedError(await self._process.describe_end())
