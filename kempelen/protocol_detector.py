"""Detect the protocol from the first line of input, for `kempelen` without a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial

from kempelen import __version__
from kempelen.engines import create_gtp_engine, create_uci_engine, create_xboard_engine
from protocols import stdio
from protocols.session import LineWriter
from protocols.uci.parsing import shorten

GREETING = (
    f"Kempelen {__version__}, a game-playing agent server, waiting for the first line of a GUI.",
    "Type help for the protocols, quit to exit; kempelen --help lists the commands.",
)
HELP = (
    "uci            chess over UCI; then help lists its commands",
    "xboard         chess over xboard's protocol, after another of its commands",
    "list_commands  Go over the Go Text Protocol; kempelen gtp --game NAME plays other games",
    "quit           exit",
)
PROTOCOLS_TEXT = (
    "UCI (first line uci), xboard's protocol (xboard, protover) and the Go Text Protocol "
    "(list_commands)"
)
HELP_HINT = "kempelen --help lists the commands"


def serve() -> int:
    """Serve standard input until `quit`, until the input ends, or until the output is closed."""
    terminal = os.isatty(0) and os.isatty(1)
    return stdio.serve(partial(ProtocolDetector, terminal=terminal))


class ProtocolDetector:
    """A protocol that waits for a line of UCI, GTP or xboard, and then delegates to that protocol.

    A line is UCI if any of its words is a UCI command, and GTP if it is a GTP command, with or
    without an id. A line is xboard if it is `protover`, or another xboard command after the line
    `xboard`. The line `xboard` alone does not decide, because some programs probe engines with
    `xboard` and then `uci`.

    `tell` receives a message about each unknown line at a terminal, and otherwise only about the
    first. By default, messages are printed on standard error. `make` creates the protocol with a
    given name.
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
        return self._engine is not None and self._engine.finished

    def handle_line(self, line: str) -> Iterator[str]:
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
        if self._engine is not None:
            yield from self._engine.handle_overlong_line()

    def drain(self, timeout: float | None = None) -> bool:
        return self._engine is None or self._engine.drain(timeout)

    def close(self, timeout: float) -> bool:
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
        self._reported_unknown = True
        self._report(f"unknown command {shorten(line)} (expected {PROTOCOLS_TEXT}); {HELP_HINT}")


def _create_engine(protocol: str, session: LineWriter) -> stdio.ThreadedLineProtocol:
    if protocol == "uci":
        return create_uci_engine(session)
    return create_xboard_engine(session) if protocol == "xboard" else create_gtp_engine(session)


def _print_to_stderr(text: str) -> None:
    print(f"kempelen: {text}", file=sys.stderr, flush=True)
