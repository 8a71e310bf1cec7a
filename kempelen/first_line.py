"""`kempelen` alone: speak the protocol that the first line of input asks for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial

from kempelen import __version__, uci
from protocols import pipes
from protocols.session import Voice
from protocols.uci.values import shorten

GREETING = (
    f"Kempelen {__version__}, a game-playing agent server. It waits for a front end's first line.",
    "Type help to see what it speaks, quit to leave; kempelen --help lists the commands.",
)
HELP = (
    "uci            chess, over UCI; help then lists its commands",
    "list_commands  Go, over the Go Text Protocol; kempelen gtp --game NAME plays any other game",
    "quit           leave",
)
SPOKEN = "UCI (begin with uci) and the Go Text Protocol (list_commands)"
XBOARD = "for xboard and WinBoard polyglot translates: xboard -fcp 'kempelen uci' -fUCI"
OTHERWISE = "kempelen --help lists the commands"


def serve() -> int:
    """Speak UCI or GTP until `quit`, the end of input, or a closed output."""
    terminal = os.isatty(0) and os.isatty(1)
    return pipes.serve(partial(FirstLine, terminal=terminal))


class FirstLine:
    """Waits for a line that belongs to a protocol, and becomes that protocol.

    It is UCI if a word of the line is a command of UCI, as UCI has it, and GTP if the line is a
    command of GTP alone, with or without an id. Of another line `tell` tells, on standard error
    where nothing else is given, for a person to find: once, but of each at a terminal, where a
    person is greeted. Not of `xboard` where `uci` follows: so programs find out what an engine
    speaks. make: makes a protocol by its name.
    """

    def __init__(
        self,
        session: Voice,
        terminal: bool = False,
        tell: Callable[[str], None] | None = None,
        make: Callable[[str, Voice], pipes.Served] | None = None,
    ) -> None:
        self._session = session
        self._terminal = terminal
        self._tell = tell or _tell_standard_error
        self._make = make or _make
        self._told = False
        self._untold = ""
        self._chosen: pipes.Served | None = None
        if terminal:
            for line in GREETING:
                session.send(line)

    @property
    def finished(self) -> bool:
        """Whether the session is to end."""
        return self._chosen is not None and self._chosen.finished

    def handle_line(self, line: str) -> Iterator[str]:
        """Pass a line on."""
        if self._chosen is None and line.strip():
            if self._terminal and line.strip().lower() == "help":
                yield from HELP
            elif (chosen := self._choose(line)) is not None:
                self._chosen = chosen
            else:
                self._note_unknown(line)
        if self._chosen is not None:
            yield from self._chosen.handle_line(line)

    def overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        if self._chosen is not None:
            yield from self._chosen.overlong_line()

    def drain(self, timeout: float | None = None) -> bool:
        """Answer what is still to be answered."""
        if self._untold and self._chosen is None:
            self._tell_unknown(self._untold)
        return self._chosen is None or self._chosen.drain(timeout)

    def close(self, timeout: float) -> bool:
        """Stop everything."""
        return self._chosen is None or self._chosen.close(timeout)

    def _choose(self, line: str) -> pipes.Served | None:
        from protocols.uci.protocol import COMMANDS

        words = line.split()
        if words[0].lower() not in COMMANDS:
            from protocols.gtp.protocol import COMMANDS as GTP_COMMANDS
            from protocols.gtp.values import parse_line

            call = parse_line(line)
            if call is not None and call.name in GTP_COMMANDS:
                return self._make("gtp", self._session)
            if not any(word.lower() in COMMANDS for word in words):
                return None
        return self._make("uci", self._session)

    def _note_unknown(self, line: str) -> None:
        if self._terminal or self._untold or line.strip().lower() != "xboard":
            self._tell_unknown(self._untold or line)
        elif not self._told:
            self._untold = line

    def _tell_unknown(self, line: str) -> None:
        """Say that a first line belongs to no protocol, and what is spoken here."""
        if self._told and not self._terminal:
            return
        self._told, self._untold = True, ""
        advice = XBOARD if line.strip().lower() == "xboard" else OTHERWISE
        self._tell(f"{shorten(line)} is not understood; spoken here are {SPOKEN}; {advice}")


def _make(protocol: str, session: Voice) -> pipes.Served:
    if protocol == "uci":
        return uci.make(session)
    from kempelen import gtp

    return gtp.make(session)


def _tell_standard_error(text: str) -> None:
    print(f"kempelen: {text}", file=sys.stderr, flush=True)
