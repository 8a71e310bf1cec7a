"""Detection of dead stones by compiled playouts, and by searches if these are inconclusive."""

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
    """Return the status of every chain from playouts, and from searches of unsettled groups."""
    ends = _sample_owners(game, playouts, seed)
    survival = _survival_rates(game, ends)
    groups = find_unsettled_groups(game, ends)
    if groups:
        board = game.stones.board
        for group, winner in LifeSearch(game, seed, should_continue).resolve(groups):
            for chain in group.chains:
                lives = winner in (EMPTY, board[chain[0]])
                for vertex in chain:
                    survival[vertex] = float(lives)
    return classify_chains(game, survival)


def playout_chain_statuses(game: Go, playouts: int = PLAYOUTS, seed: int = 1) -> Statuses:
    """Return the status of every chain from playouts alone, which take a predictable time."""
    return classify_chains(game, _survival_rates(game, _sample_owners(game, playouts, seed)))


def _sample_owners(game: Go, playouts: int, seed: int) -> OwnerSamples:
    board = KernelBoard()
    board.seed(seed)
    board.load(game)
    ends = np.zeros((playouts, BOARD_CELLS), np.int8)
    for i in range(playouts):
        board.worker.root.turn = WHITE if i % 2 else BLACK
        run_playouts(board.worker, 1, 1)
        ends[i] = np.asarray(board.worker.last_owners)
    return ends


def _survival_rates(game: Go, ends: OwnerSamples) -> list[float]:
    signs: Sequence[float] = [
        {BLACK: 1.0, WHITE: -1.0}.get(colour, 0.0) for colour in game.stones.board
    ]
    shares = ends.mean(axis=0)
    return [(1 + sign * float(shares[vertex])) / 2 for vertex, sign in enumerate(signs)]
