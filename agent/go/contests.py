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

from agent.compiled.source import Means
from agent.games.go import Go
from agent.games.life import GoOn
from agent.games.stones import BLACK, EMPTY, WHITE, members
from agent.go.search import GoSearch
from agent.limits import Limits

# Whose each vertex was at the ends of playouts, 1 Black's, -1 White's: a row a playout, a column
# a vertex.
Ends = npt.NDArray[np.int8]
Chain = tuple[int, ...]

# Playouts disagree about a chain that lives in a share of them between this and its rest to 1, and
# about other vertices alike.
UNSURE = 0.1
# What is so much correlated has one fate.
TOGETHER = 0.6
# A search ends when its best move wins or loses so surely, from -1 to 1, after the first number of
# playouts, and after the second at the latest; what is less sure than it takes to be heard then is
# left to the playouts.
SURE, HEARD = 0.3, 0.25
LEAST, MOST = 2000, 16000
# All searches of a position have so many playouts.
BUDGET = 48000
_MEGABYTES = 32


@dataclass(frozen=True, slots=True)
class Contest:
    """Chains, of one colour or both, that share a fate: if Black's live, White's die.

    counted: the vertices that are settled, or settled with it. levels: Black's points less White's
    there with White's way, in a seki where one is thinkable, and with Black's way. black: in what
    share of the playouts it is Black who has his way.
    """

    chains: tuple[Chain, ...]
    counted: tuple[int, ...]
    levels: tuple[float, ...]
    black: float

    @property
    def swing(self) -> float:
        """By how many points the contest decides."""
        return self.levels[-1] - self.levels[0]


def contests(game: Go, ends: Ends) -> list[Contest]:
    """Return what playouts disagree about, the greatest first."""
    stones = game.stones
    unsure = []
    for head in sorted(
        {stones.head[at] for at in members(stones.sets[BLACK] | stones.sets[WHITE])}
    ):
        chain = tuple(sorted(stones.chains[head]))
        if abs(float(ends[:, chain].mean())) < 1 - 2 * UNSURE:
            unsure.append(chain)
    found = [_contest(game, group, ends) for group in _groups(unsure, ends)]
    return sorted((each for each in found if each.swing > 0), key=lambda each: -each.swing)


def _groups(chains: Sequence[Chain], ends: Ends) -> list[list[Chain]]:
    """Return chains by the fate that they share."""
    if not chains:
        return []
    fates = np.array([ends[:, chain].mean(axis=1) for chain in chains])
    alike = np.abs(np.corrcoef(fates).reshape(len(chains), -1)) >= TOGETHER
    left, groups = set(range(len(chains))), []
    while left:
        group = {min(left)}
        while more := {other for one in group for other in left - group if alike[one, other]}:
            group |= more
        left -= group
        groups.append([chains[number] for number in sorted(group)])
    return groups


def _contest(game: Go, group: Sequence[Chain], ends: Ends) -> Contest:
    """Return what a group of chains decides."""
    fate = np.sign(ends[:, [at for chain in group for at in chain]].sum(axis=1, dtype=np.int64))
    counted = [at for at in game.stones.shape.vertices if _goes_with(ends[:, at], fate)]
    points = ends[:, counted].sum(axis=1, dtype=np.int64)
    won = fate > 0
    worst, best = float(np.median(points[~won])), float(np.median(points[won]))
    levels: tuple[float, ...] = (worst, best)
    living = _points_alive(game, group, counted, ends)
    if worst < living < best and _may_be_seki(game, group):
        levels = (worst, living, best)
    return Contest(tuple(group), tuple(counted), levels, float(won.mean()))


def _goes_with(ends: npt.NDArray[np.int8], fate: npt.NDArray[np.int64]) -> bool:
    """Tell whether a vertex is settled, or settled with the fate of some chains."""
    mean = float(ends.mean())
    if abs(mean) >= 1 - 2 * UNSURE:
        return True
    spread = float(ends.std() * fate.std())
    return abs(float((ends * fate).mean()) - mean * float(fate.mean())) >= TOGETHER * spread > 0


def _points_alive(game: Go, group: Sequence[Chain], counted: Iterable[int], ends: Ends) -> float:
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
        elif abs(mean) >= 1 - 2 * UNSURE:
            total += 1 if mean > 0 else -1
    return total


def _may_be_seki(game: Go, group: Sequence[Chain]) -> bool:
    """Tell whether chains of both colours have a liberty in common."""
    stones = game.stones
    free = [0, 0, 0]
    for chain in group:
        free[stones.board[chain[0]]] |= stones.liberties[stones.head[chain[0]]]
    return bool(free[BLACK] & free[WHITE])


class Arbiter:
    """Decides contests of a position by searches; what `go_on` ends is left to the playouts."""

    def __init__(self, game: Go, seed: int, go_on: GoOn) -> None:
        self._game = game
        self._go_on = go_on
        self._search = GoSearch(Means(threads=1, megabytes=_MEGABYTES, seed=seed))
        self._left = BUDGET

    def decide(self, found: Sequence[Contest]) -> Iterator[tuple[Contest, int]]:
        """Generate contests with the colour that has its way, EMPTY where both live.

        What goes to whoever begins is taken by turns, the greatest first; who is to move begins.
        What searches are not sure of goes as most playouts do.
        """
        player = self._game.turn
        for contest in found:
            self._search.count(contest.counted)
            result = self._winner(contest, player)
            yield contest, result
            if contest is not found[-1] and self._winner(contest, 1 - player) != result:
                player = 1 - player

    def _winner(self, contest: Contest, player: int) -> int:
        """Return which colour has its way if a player begins, EMPTY for neither."""
        levels = contest.levels
        wins = [self._black_wins(player, (low + high) / 2) for low, high in pairwise(levels)]
        if None in wins:
            return BLACK if contest.black > 0.5 else WHITE
        return BLACK if wins[-1] else EMPTY if wins[0] else WHITE

    def _black_wins(self, player: int, komi: float) -> bool | None:
        """Tell whether Black wins with a komi if a player begins; None if it is not known."""
        if self._left <= 0 or not self._go_on():
            return None
        trial = deepcopy(self._game)
        trial.komi = komi
        trial.captures_all = True
        trial.hand_to(player)
        self._search.new_game()
        value, nodes = 0.0, 0
        for info in self._search.deepen(trial, Limits(nodes=min(MOST, self._left))):
            value, nodes = info.expected or 0.0, info.nodes
            if nodes >= LEAST and abs(value) >= SURE:
                break
            if not self._go_on():
                return None
        self._left -= nodes
        if abs(value) < HEARD:
            return None
        return (value > 0) == (player == 0)
