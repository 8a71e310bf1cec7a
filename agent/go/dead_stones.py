"""Detection of dead stones by compiled playouts and searches."""

from collections.abc import Sequence

import numpy as np

from agent.games.chain_status import ShouldContinue, Statuses, classify_chains
from agent.games.contests import settle_contests
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
    """Return the status of every chain from playouts and searches.

    Local searches settle contests, even if the playouts agree, since they may agree on a wrong
    result. Searches with playouts settle other groups on which the playouts disagree.
    """
    stones = game.stones
    ends = _sample_owners(game, playouts, seed)
    survival = _survival_rates(game, ends)
    settled = settle_contests(game, should_continue)
    for head, lives in settled.items():
        for vertex in stones.chains[head]:
            survival[vertex] = float(lives)
    groups = find_unsettled_groups(game, ends, settled)
    if groups:
        for group, winner in LifeSearch(game, seed, should_continue).resolve(groups):
            for chain in group.chains:
                survives = winner in (EMPTY, stones.board[chain[0]])
                for vertex in chain:
                    survival[vertex] = float(survives)
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
