"""What dialogues of chess have in common: lines that wait, and a move where no server gives one."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from protocols.remote.legal_move import choose_legal_move, is_uci_move
from protocols.remote.proxy import MAX_HELD_LINES


class ChessProxy:
    """One front end's, in a protocol of chess. patience: seconds to wait where no clock runs."""

    def __init__(self, timeout: float) -> None:
        self.finished = False
        self.failure = ""
        self._timeout = timeout
        self._connected = False
        # Lines that are no part of the game, and that no server was there for.
        self._held: deque[str] = deque(maxlen=MAX_HELD_LINES)

    def _take_held(self) -> list[str]:
        """Return the lines that have waited, for a server that is there."""
        held = list(self._held)
        self._held.clear()
        return held

    def _best_move(
        self, candidate: str, fen: str | None, moves: Sequence[str], chess960: bool
    ) -> str | None:
        """Return the best move heard of, or any legal one; None if there is none."""
        if self._connected and is_uci_move(candidate):  # a server that is there is believed
            return candidate
        return choose_legal_move(fen, moves, candidate, chess960)


def keep_last(lines: dict[str, str], name: str, line: str) -> None:
    """Keep the last line of a name, behind all that were said before."""
    lines.pop(name, None)
    lines[name] = line
