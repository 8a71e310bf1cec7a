"""`kempelen` alone: speak the protocol that the first line of input asks for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial

from kempelen import __version__
from kempelen.commands import uci
from protocols import stdio
from protocols.session import LineWriter
from protocols.uci.parsing import shorten

GREETING = (
    f"Kempelen {__version__}, a game-playing agent server. It waits for a front end's first line.",
    "Type help to see what it speaks, quit to leave; kempelen --help lists the commands.",
)
HELP = (
    "uci            chess, over UCI; help then lists its commands",
    "xboard         chess, over xboard's protocol, as soon as another of its commands follows",
    "list_commands  Go, over the Go Text Protocol; kempelen gtp --game NAME plays any other game",
    "quit           leave",
)
PROTOCOLS_TEXT = (
    "UCI (begin with uci), xboard's protocol (xboard, protover) and the Go Text Protocol "
    "(list_commands)"
)
HELP_HINT = "kempelen --help lists the commands"


def serve() -> int:
    """Speak one of the protocols until `quit`, the end of input, or a closed output."""
    terminal = os.isatty(0) and os.isatty(1)
    return stdio.serve(partial(ProtocolDetector, terminal=terminal))


class ProtocolDetector:
    """Waits for a line that belongs to a protocol, and becomes that protocol.

    It is UCI if a word of the line is a command of UCI, as UCI has it, and GTP if the line is a
    command of GTP alone, with or without an id. It is xboard's protocol if `protover` comes, or
    after `xboard` any other of its commands: programs that look for what an engine speaks send
    `xboard` and then, perhaps, `uci`. Of another line `tell` tells, on standard error where nothing
    else is given, for a person to find: once, but of each at a terminal, where a person is greeted.
    make: makes a protocol by its name.
    """

    def __init__(
        self,
        session: LineWriter,
        terminal: bool = False,
        tell: Callable[[str], None] | None = None,
        make: Callable[[str, LineWriter], stdio.ThreadedLineProtocol] | None = None,
    ) -> None:
        self._session = session
        self._terminal = terminal
        self._report = tell or _print_to_stderr
        self._make = make or _create_engine
        self._reported_unknown = False
        self._xboard = False
        self._engine: stdio.ThreadedLineProtocol | None = None
        if terminal:
            for line in GREETING:
                session.send(line)

    @property
    def finished(self) -> bool:
        """Whether the session is to end."""
        return self._engine is not None and self._engine.finished

    def handle_line(self, line: str) -> Iterator[str]:
        """Pass a line on."""
        if self._engine is None and line.strip():
            if self._terminal and line.strip().lower() == "help":
                yield from HELP
            elif line.split() == ["xboard"]:
                self._xboard = True
            elif (chosen := self._detect(line)) is not None:
                self._engine = chosen
            elif self._terminal or not self._reported_unknown:
                self._report_unknown(line)
        if self._engine is not None:
            yield from self._engine.handle_line(line)

    def handle_overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        if self._engine is not None:
            yield from self._engine.handle_overlong_line()

    def drain(self, timeout: float | None = None) -> bool:
        """Answer what is still to be answered."""
        return self._engine is None or self._engine.drain(timeout)

    def close(self, timeout: float) -> bool:
        """Stop everything."""
        return self._engine is None or self._engine.close(timeout)

    def _detect(self, line: str) -> stdio.ThreadedLineProtocol | None:
        from protocols.uci.protocol import COMMANDS

        words = line.split()
        first = words[0].lower()
        if (self._xboard and first != "uci") or first == "protover":
            from protocols.xboard.protocol import is_command

            if is_command(line):
                return self._make("xboard", self._session)
        if first not in COMMANDS:
            from protocols.gtp.messages import parse_line
            from protocols.gtp.protocol import COMMANDS as GTP_COMMANDS

            call = parse_line(line)
            if call is not None and call.name in GTP_COMMANDS:
                return self._make("gtp", self._session)
            if not any(word.lower() in COMMANDS for word in words):
                return None
        return self._make("uci", self._session)

    def _report_unknown(self, line: str) -> None:
        """Say that a line belongs to no protocol, and what is spoken here."""
        self._reported_unknown = True
        self._report(
            f"{shorten(line)} is not understood; spoken here are {PROTOCOLS_TEXT}; {HELP_HINT}"
        )


def _create_engine(protocol: str, session: LineWriter) -> stdio.ThreadedLineProtocol:
    if protocol == "uci":
        return uci.create_engine(session)
    from kempelen.commands import gtp, xboard

    return xboard.create_engine(session) if protocol == "xboard" else gtp.create_engine(session)


def _print_to_stderr(text: str) -> None:
    print(f"kempelen: {text}", file=sys.stderr, flush=True)
