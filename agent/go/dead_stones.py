"""Which stones of a position are dead, by many compiled playouts: see agent.games.chain_status.

Where playouts disagree, searches decide.
"""

from collections.abc import Sequence

import numpy as np

from agent.games.chain_status import ShouldContinue, Statuses, classify_chains
from agent.games.go import Go
from agent.games.stones import BLACK, EMPTY, WHITE
from agent.go.kernel_board import KernelBoard
from agent.go.life_and_death import LifeSearch, OwnerSamples, find_unsettled_groups
from agent.go.playout import run_playouts
from agent.go.records import BOARD_CELLS

PLAYOUTS = 2000


def chain_statuses(
    game: Go,
    playouts: int = PLAYOUTS,
    seed: int = 1,
    should_continue: ShouldContinue = lambda: True,
) -> Statuses:
    """Return every chain of the position, as its vertices, with its status.

    Both players begin half of the playouts, which are those of the search. Who is to move begins
    to play for what is not settled.
    """
    ends = _sample_owners(game, playouts, seed)
    held = _survival_rates(game, ends)
    found = find_unsettled_groups(game, ends)
    if found:
        board = game.stones.board
        for contest, winner in LifeSearch(game, seed, should_continue).resolve(found):
            for chain in contest.chains:
                lives = winner in (EMPTY, board[chain[0]])
                for vertex in chain:
                    held[vertex] = float(lives)
    return classify_chains(game, held)


def playout_chain_statuses(game: Go, playouts: int = PLAYOUTS, seed: int = 1) -> Statuses:
    """Return the same as playouts alone tell it, in the time that they take."""
    return classify_chains(game, _survival_rates(game, _sample_owners(game, playouts, seed)))


def _sample_owners(game: Go, playouts: int, seed: int) -> OwnerSamples:
    board = KernelBoard()
    board.seed(seed)
    board.load(game)
    ends = np.zeros((playouts, BOARD_CELLS), np.int8)
    for number in range(playouts):
        board.worker.root.turn = WHITE if number % 2 else BLACK
        run_playouts(board.worker, 1, 1)
        ends[number] = np.asarray(board.worker.last_owners)
    return ends


def _survival_rates(game: Go, ends: OwnerSamples) -> list[float]:
    """Return in what share of the playouts each vertex stays with the colour that has it."""
    signs: Sequence[float] = [
        {BLACK: 1.0, WHITE: -1.0}.get(colour, 0.0) for colour in game.stones.board
    ]
    shares = ends.mean(axis=0)
    return [(1 + sign * float(shares[at])) / 2 for at, sign in enumerate(signs)]
