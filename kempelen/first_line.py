"""`kempelen` alone: speak the protocol that the first line of input asks for."""

from __future__ import annotations

from collections.abc import Iterator

from kempelen import serving, uci
from protocols.session import Session


def serve() -> int:
    """Speak UCI or GTP until `quit`, the end of input, or a closed output."""
    return serving.serve(FirstLine)


class FirstLine:
    """Waits for a line that is not empty, and becomes the protocol that it belongs to.

    It is GTP if the line is a command of GTP and none of UCI, with or without an id; else UCI.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._chosen: serving.Served | None = None

    @property
    def finished(self) -> bool:
        """Whether the session is to end."""
        return self._chosen is not None and self._chosen.finished

    def handle_line(self, line: str) -> Iterator[str]:
        """Pass a line on."""
        if self._chosen is None and line.strip():
            self._chosen = self._choose(line)
        if self._chosen is not None:
            yield from self._chosen.handle_line(line)

    def overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        if self._chosen is not None:
            yield from self._chosen.overlong_line()

    def drain(self, timeout: float | None = None) -> bool:
        """Answer what is still to be answered."""
        return self._chosen is None or self._chosen.drain(timeout)

    def close(self, timeout: float) -> bool:
        """Stop everything."""
        return self._chosen is None or self._chosen.close(timeout)

    def _choose(self, line: str) -> serving.Served:
        from protocols.uci.protocol import COMMANDS

        words = line.split()
        if words[0].lower() not in COMMANDS:
            from kempelen import gtp
            from protocols.gtp.protocol import COMMANDS as GTP_COMMANDS
            from protocols.gtp.values import parse_line

            call = parse_line(line)
            if call is not None and call.name in GTP_COMMANDS:
                return gtp.make(self._session)
        return uci.make(self._session)
