from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from protocols.remote.legal_move import choose_legal_move, is_uci_move
from protocols.remote.proxy import MAX_HELD_LINES


class ChessProxy:
    """Base class for the UCI and xboard proxies. It stores lines while no server is connected.

    If no clock is running, the proxy waits `timeout` seconds for a server.
    """

    def __init__(self, timeout: float) -> None:
        self.finished = False
        self.failure = ""
        self._timeout = timeout
        self._connected = False
        # Lines that do not concern the game, received while no server was connected.
        self._held: deque[str] = deque(maxlen=MAX_HELD_LINES)

    def _take_held(self) -> list[str]:
        held = list(self._held)
        self._held.clear()
        return held

    def _best_move(
        self, candidate: str, fen: str | None, moves: Sequence[str], chess960: bool
    ) -> str | None:
        """Return `candidate`, or any legal move if it is illegal, or None if the game is over.

        While a server is connected, `candidate` is not checked for legality.
        """
        if self._connected and is_uci_move(candidate):
            return candidate
        return choose_legal_move(fen, moves, candidate, chess960)


def keep_last(lines: dict[str, str], name: str, line: str) -> None:
    """Store the last line for `name`. The dictionary stays in the order of arrival."""
    lines.pop(name, None)
    lines[name] = line
