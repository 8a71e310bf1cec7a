"""Which stones of a position are dead, by many compiled playouts: see agent.games.life.

Where playouts disagree, searches decide.
"""

from collections.abc import Sequence

import numpy as np

from agent.games.go import Go
from agent.games.life import GoOn, Statuses, judged
from agent.games.stones import BLACK, EMPTY, WHITE
from agent.go.contests import Arbiter, Ends, contests
from agent.go.playout import many_playouts
from agent.go.records import CELLS
from agent.go.rules import StoneBoard

PLAYOUTS = 2000


def statuses(
    game: Go, playouts: int = PLAYOUTS, seed: int = 1, go_on: GoOn = lambda: True
) -> Statuses:
    """Return every chain of the position, as its vertices, with its status.

    Both players begin half of the playouts, which are those of the search. Who is to move begins
    to play for what is not settled.
    """
    ends = _ends(game, playouts, seed)
    held = _held(game, ends)
    found = contests(game, ends)
    if found:
        board = game.stones.board
        for contest, winner in Arbiter(game, seed, go_on).decide(found):
            for chain in contest.chains:
                lives = winner in (EMPTY, board[chain[0]])
                for vertex in chain:
                    held[vertex] = float(lives)
    return judged(game, held)


def quick_statuses(game: Go, playouts: int = PLAYOUTS, seed: int = 1) -> Statuses:
    """Return the same as playouts alone tell it, in the time that they take."""
    return judged(game, _held(game, _ends(game, playouts, seed)))


def _ends(game: Go, playouts: int, seed: int) -> Ends:
    board = StoneBoard()
    board.seed(seed)
    board.load(game)
    ends = np.zeros((playouts, CELLS), np.int8)
    for number in range(playouts):
        board.worker.root.turn = WHITE if number % 2 else BLACK
        many_playouts(board.worker, 1, 1)
        ends[number] = np.asarray(board.worker.owners)
    return ends


def _held(game: Go, ends: Ends) -> list[float]:
    """Return in what share of the playouts each vertex stays with the colour that has it."""
    signs: Sequence[float] = [
        {BLACK: 1.0, WHITE: -1.0}.get(colour, 0.0) for colour in game.stones.board
    ]
    shares = ends.mean(axis=0)
    return [(1 + sign * float(shares[at])) / 2 for at, sign in enumerate(signs)]
