"""Protocol and constants for distance-to-mate (DTM) tablebases."""

from __future__ import annotations

from typing import Protocol

import chess

DRAWN = 0

FIFTY_MOVES = 100  # plies; equals records.FIFTY_MOVES, whose module needs the kernel


class DtmTablebase(Protocol):
    @property
    def max_pieces(self) -> int:
        """The maximum number of pieces in a position, including kings."""

    def probe(self, board: chess.Board) -> int | None:
        """Return the value of a position for the side to move, or None if the value is unknown.

        The value of a draw is 0. Other values are the number of plies to mate plus 1, which is even
        for a win and odd for a loss. The fifty-move rule is ignored.
        """


def makes_threefold(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    third = board.is_repetition(3)
    board.pop()
    return third
