"""Detection of dead stones by compiled playouts and searches."""

from collections.abc import Sequence

from agent.games.chain_status import ShouldContinue, Statuses, classify_chains
from agent.games.contests import settle_contests
from agent.games.go import Go
from agent.games.stones import BLACK, EMPTY, WHITE
from agent.go.life_and_death import LifeSearch, find_unsettled_groups
from agent.go.ownership import OwnerSamples, sample_owners

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
    ends = sample_owners(game, playouts, seed)
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
    return classify_chains(game, _survival_rates(game, sample_owners(game, playouts, seed)))


def _survival_rates(game: Go, ends: OwnerSamples) -> list[float]:
    signs: Sequence[float] = [
        {BLACK: 1.0, WHITE: -1.0}.get(colour, 0.0) for colour in game.stones.board
    ]
    shares = ends.mean(axis=0)
    return [(1 + sign * float(shares[vertex])) / 2 for vertex, sign in enumerate(signs)]
