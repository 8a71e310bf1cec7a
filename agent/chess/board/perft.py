"""Perft divide: the number of leaf nodes below each root move."""

import threading
from collections.abc import Iterator

import chess

from agent.chess.variants import variant_module
from agent.games.variants import variant_of, variant_outcome

# Trees up to this depth are counted in one kernel call, which cannot be interrupted.
MAX_UNINTERRUPTED_DEPTH = 6


def divide(
    board: chess.Board, depth: int, stop: threading.Event
) -> Iterator[tuple[chess.Move, int]]:
    """Yield each legal move with its number of leaf nodes at `depth` plies from `board`.

    After `stop` is set, the last number may be incomplete.
    """
    board = board.copy(stack=False)
    if variant_outcome(board) is not None:
        return
    kernel_board = variant_module(variant_of(board), "board.kernel_board")
    for move in list(board.legal_moves):
        if stop.is_set():
            return
        board.push(move)
        if depth <= MAX_UNINTERRUPTED_DEPTH:
            leaves = kernel_board.perft(board, depth - 1)
        else:
            leaves = sum(leaves for _, leaves in divide(board, depth - 1, stop))
        yield move, leaves
        board.pop()
