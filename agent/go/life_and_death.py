"""Chains whose fate playouts disagree about, and the searches that decide it.

A search knows only wins. So what else is in doubt counts for nothing, and komi lies between what
the rest is worth with these chains alive and with them dead: who wins has his way with them.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from agent.games.chain_status import ShouldContinue
from agent.games.go import Go
from agent.games.stones import BLACK, EMPTY, WHITE, iter_bits
from agent.go.search import GoSearch
from agent.kernel.backend import SearchConfig
from agent.limits import Limits

# Whose each vertex was at the ends of playouts, 1 Black's, -1 White's: a row a playout, a column
# a vertex.
OwnerSamples = npt.NDArray[np.int8]
Chain = tuple[int, ...]

# Playouts disagree about a chain that lives in a share of them between this and its rest to 1, and
# about other vertices alike.
MIN_DISAGREEMENT = 0.1
# What is so much correlated has one fate.
MIN_CORRELATION = 0.6
# A search ends when its best move wins or loses so surely, from -1 to 1, after the first number of
# playouts, and after the second at the latest; what is less sure than it takes to be heard then is
# left to the playouts.
DECISIVE_VALUE, MIN_VALUE = 0.3, 0.25
MIN_PLAYOUTS, MAX_PLAYOUTS = 2000, 16000
# All searches of a position have so many playouts.
PLAYOUT_BUDGET = 48000
_MEGABYTES = 32


@dataclass(frozen=True, slots=True)
class UnsettledGroup:
    """Chains, of one colour or both, that share a fate: if Black's live, White's die.

    counted: the vertices that are settled, or settled with it. levels: Black's points less White's
    there with White's way, in a seki where one is thinkable, and with Black's way. black: in what
    share of the playouts it is Black who has his way.
    """

    chains: tuple[Chain, ...]
    scored_vertices: tuple[int, ...]
    score_levels: tuple[float, ...]
    black_share: float

    @property
    def swing(self) -> float:
        """By how many points the contest decides."""
        return self.score_levels[-1] - self.score_levels[0]


def find_unsettled_groups(game: Go, ends: OwnerSamples) -> list[UnsettledGroup]:
    """Return what playouts disagree about, the greatest first."""
    stones = game.stones
    unsure = []
    for head in sorted(
        {stones.head[at] for at in iter_bits(stones.sets[BLACK] | stones.sets[WHITE])}
    ):
        chain = tuple(sorted(stones.chains[head]))
        if abs(float(ends[:, chain].mean())) < 1 - 2 * MIN_DISAGREEMENT:
            unsure.append(chain)
    found = [_unsettled_group(game, group, ends) for group in _group_by_fate(unsure, ends)]
    return sorted((each for each in found if each.swing > 0), key=lambda each: -each.swing)


def _group_by_fate(chains: Sequence[Chain], ends: OwnerSamples) -> list[list[Chain]]:
    """Return chains by the fate that they share."""
    if not chains:
        return []
    fates = np.array([ends[:, chain].mean(axis=1) for chain in chains])
    alike = np.abs(np.corrcoef(fates).reshape(len(chains), -1)) >= MIN_CORRELATION
    left, groups = set(range(len(chains))), []
    while left:
        group = {min(left)}
        while more := {other for one in group for other in left - group if alike[one, other]}:
            group |= more
        left -= group
        groups.append([chains[number] for number in sorted(group)])
    return groups


def _unsettled_group(game: Go, group: Sequence[Chain], ends: OwnerSamples) -> UnsettledGroup:
    """Return what a group of chains decides."""
    fate = np.sign(ends[:, [at for chain in group for at in chain]].sum(axis=1, dtype=np.int64))
    counted = [at for at in game.stones.shape.vertices if _follows_fate(ends[:, at], fate)]
    points = ends[:, counted].sum(axis=1, dtype=np.int64)
    won = fate > 0
    worst, best = float(np.median(points[~won])), float(np.median(points[won]))
    levels: tuple[float, ...] = (worst, best)
    living = _score_if_alive(game, group, counted, ends)
    if worst < living < best and _may_be_seki(game, group):
        levels = (worst, living, best)
    return UnsettledGroup(tuple(group), tuple(counted), levels, float(won.mean()))


def _follows_fate(ends: npt.NDArray[np.int8], fate: npt.NDArray[np.int64]) -> bool:
    """Tell whether a vertex is settled, or settled with the fate of some chains."""
    mean = float(ends.mean())
    if abs(mean) >= 1 - 2 * MIN_DISAGREEMENT:
        return True
    spread = float(ends.std() * fate.std())
    return (
        abs(float((ends * fate).mean()) - mean * float(fate.mean())) >= MIN_CORRELATION * spread > 0
    )


def _score_if_alive(
    game: Go, group: Sequence[Chain], counted: Iterable[int], ends: OwnerSamples
) -> float:
    """Return the points with all chains of a group alive: their stones count, and what is settled.

    What lies between them is nobody's.
    """
    board = game.stones.board
    living = {at for chain in group for at in chain}
    total = 0.0
    for at in counted:
        mean = float(ends[:, at].mean())
        if at in living:
            total += 3 - 2 * board[at]
        elif abs(mean) >= 1 - 2 * MIN_DISAGREEMENT:
            total += 1 if mean > 0 else -1
    return total


def _may_be_seki(game: Go, group: Sequence[Chain]) -> bool:
    """Tell whether chains of both colours have a liberty in common."""
    stones = game.stones
    free = [0, 0, 0]
    for chain in group:
        free[stones.board[chain[0]]] |= stones.liberties[stones.head[chain[0]]]
    return bool(free[BLACK] & free[WHITE])


class LifeSearch:
    """Decides contests of a position by searches; what `should_continue` ends is left to the playouts."""

    def __init__(self, game: Go, seed: int, should_continue: ShouldContinue) -> None:
        self._game = game
        self._go_on = should_continue
        self._search = GoSearch(SearchConfig(threads=1, megabytes=_MEGABYTES, seed=seed))
        self._remaining_playouts = PLAYOUT_BUDGET

    def resolve(self, found: Sequence[UnsettledGroup]) -> Iterator[tuple[UnsettledGroup, int]]:
        """Generate contests with the colour that has its way, EMPTY where both live.

        What goes to whoever begins is taken by turns, the greatest first; who is to move begins.
        What searches are not sure of goes as most playouts do.
        """
        player = self._game.turn
        for contest in found:
            self._search.score_only(contest.scored_vertices)
            result = self._winner(contest, player)
            yield contest, result
            if contest is not found[-1] and self._winner(contest, 1 - player) != result:
                player = 1 - player

    def _winner(self, contest: UnsettledGroup, player: int) -> int:
        """Return which colour has its way if a player begins, EMPTY for neither."""
        levels = contest.score_levels
        wins = [self._black_wins(player, (low + high) / 2) for low, high in pairwise(levels)]
        if None in wins:
            return BLACK if contest.black_share > 0.5 else WHITE
        return BLACK if wins[-1] else EMPTY if wins[0] else WHITE

    def _black_wins(self, player: int, komi: float) -> bool | None:
        """Tell whether Black wins with a komi if a player begins; None if it is not known."""
        if self._remaining_playouts <= 0 or not self._go_on():
            return None
        trial = deepcopy(self._game)
        trial.komi = komi
        trial.capture_dead_stones = True
        trial.set_turn(player)
        self._search.new_game()
        value, nodes = 0.0, 0
        for info in self._search.search(
            trial, Limits(nodes=min(MAX_PLAYOUTS, self._remaining_playouts))
        ):
            value, nodes = info.expected_outcome or 0.0, info.nodes
            if nodes >= MIN_PLAYOUTS and abs(value) >= DECISIVE_VALUE:
                break
            if not self._go_on():
                return None
        self._remaining_playouts -= nodes
        if abs(value) < MIN_VALUE:
            return None
        return (value > 0) == (player == 0)
