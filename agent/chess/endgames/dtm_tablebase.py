"""What an oracle of endgames is, and what all who speak of tables and the fifty moves go by."""

from __future__ import annotations

from typing import Protocol

import chess

DRAWN = 0

FIFTY_MOVES = 100  # plies; as in records.py, which needs the kernel


class DtmTablebase(Protocol):
    """Who knows distances to mate."""

    @property
    def max_pieces(self) -> int:
        """The most pieces of a position that it knows."""

    def probe(self, board: chess.Board) -> int | None:
        """Return what a position is worth to the side to move, None if that is not known.

        0 is a draw; else plies to mate plus 1: odd is lost, even is won. The fifty-move rule is
        left out of account.
        """


def makes_threefold(board: chess.Board, move: chess.Move) -> bool:
    """Tell whether a move makes a position stand for the third time."""
    board.push(move)
    third = board.is_repetition(3)
    board.pop()
    return third
