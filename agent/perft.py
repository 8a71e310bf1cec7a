"""Perft, root move by root move: counting the leaves of the tree of legal moves."""

from collections.abc import Iterator

import chess

from agent.chess.rules import perft
from agent.latch import Latch


def divide(
    board: chess.Board, depth: int, stop: Latch | None = None
) -> Iterator[tuple[chess.Move, int]]:
    """Yield each legal move with the number of leaves `depth` plies from here that it leads to.

    Ends early, after a count that is not complete, when `stop` goes on.
    """
    board = board.copy()
    for move in list(board.legal_moves):
        if stop:
            return
        board.push(move)
        yield move, perft(board, depth - 1)
        board.pop()
