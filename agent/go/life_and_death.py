"""Searches that determine the status of groups that are unsettled after playouts.

Each search decides one group. Unsettled vertices that do not depend on the group are not scored.
Komi lies between the score if the group lives and the score if it dies, so the winner of the search
determines the status.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from agent.games.chain_status import ShouldContinue
from agent.games.contests import find_contests
from agent.games.go import Go
from agent.games.go_rules import DEFAULT_RULES
from agent.games.stones import BLACK, EMPTY, PASS, WHITE, iter_bits
from agent.go.ownership import OwnerSamples, sample_owners
from agent.go.records import BOARD_CELLS
from agent.go.search import GoSearch
from agent.kernel.backend import SearchConfig
from agent.limits import Info, Limits
from agent.search.stone_fate import Fate, FateSearch

Chain = tuple[int, ...]

# A chain or vertex is unsettled if the fraction of playouts in which it survives is between
# MIN_DISAGREEMENT and 1 - MIN_DISAGREEMENT.
MIN_DISAGREEMENT = 0.1
# Chains form a group if the correlation of their owners is at least this value.
MIN_CORRELATION = 0.6
# A search stops after MIN_PLAYOUTS if the value (-1 to 1) reaches DECISIVE_VALUE, otherwise after
# MAX_PLAYOUTS. The result is used if the absolute value is at least MIN_VALUE. Otherwise the sign
# of the sum of two values decides, with each side moving first: after two passes, either may do so.
DECISIVE_VALUE, MIN_VALUE = 0.5, 0.4
MIN_PLAYOUTS, MAX_PLAYOUTS = 2000, 16000
# A search also stops after CLEAR_PLAYOUTS at CLEAR_VALUE.
CLEAR_PLAYOUTS, CLEAR_VALUE = 1000, 0.9
# The time of a playout is about proportional to the number of empty vertices plus PLAYOUT_OVERHEAD.
# WORK_BUDGET is the sum of these for all searches of a position, which take about 2 seconds. A
# search gets the fraction WORK_SHARE of the rest, if this allows CLEAR_PLAYOUTS.
PLAYOUT_OVERHEAD, WORK_BUDGET, WORK_SHARE = 50, 3_000_000, 0.5
# The same for a `fate_search`. If the samples agree that stones live or die, AGREED_PLAYOUTS
# suffice instead of CLEAR_PLAYOUTS.
FATE_BUDGET, FATE_SHARE = 3_000_000, 0.25
FATE_SAMPLES, AGREED_SHARE, AGREED_PLAYOUTS = 500, 0.96, 200
# Playouts of a `RegionSearch` for the expected score.
_REGION_PROBE = 500
_MEGABYTES = 32


@dataclass(frozen=True, slots=True)
class UnsettledGroup:
    """Chains with a common fate: Black's chains live if and only if White's chains die.

    - `scored_vertices`: the settled vertices and the vertices that depend on the group.
    - `score_levels`: Black's points minus White's on `scored_vertices` if White wins the group, in
      a seki (if possible), and if Black wins the group.
    - `black_share`: the fraction of playouts in which Black wins the group.
    """

    chains: tuple[Chain, ...]
    scored_vertices: tuple[int, ...]
    score_levels: tuple[float, ...]
    black_share: float

    @property
    def swing(self) -> float:
        """The number of points that depend on the group."""
        return self.score_levels[-1] - self.score_levels[0]


def find_unsettled_groups(
    game: Go, ends: OwnerSamples, settled: Collection[int] = ()
) -> list[UnsettledGroup]:
    """Return the groups that are unsettled after playouts, in descending order of `swing`.

    Chains whose heads are in `settled` are omitted.
    """
    stones = game.stones
    unsettled = []
    for head in sorted(
        {stones.head[vertex] for vertex in iter_bits(stones.sets[BLACK] | stones.sets[WHITE])}
        - set(settled)
    ):
        chain = tuple(sorted(stones.chains[head]))
        if abs(float(ends[:, chain].mean())) < 1 - 2 * MIN_DISAGREEMENT:
            unsettled.append(chain)
    groups = [_unsettled_group(game, group, ends) for group in _group_by_fate(unsettled, ends)]
    return sorted((group for group in groups if group.swing > 0), key=lambda group: -group.swing)


def _group_by_fate(chains: Sequence[Chain], ends: OwnerSamples) -> list[list[Chain]]:
    if not chains:
        return []
    fates = np.array([ends[:, chain].mean(axis=1) for chain in chains])
    alike = np.abs(np.corrcoef(fates).reshape(len(chains), -1)) >= MIN_CORRELATION
    remaining, groups = set(range(len(chains))), []
    while remaining:
        group = {min(remaining)}
        while more := {other for one in group for other in remaining - group if alike[one, other]}:
            group |= more
        remaining -= group
        groups.append([chains[i] for i in sorted(group)])
    return groups


def _unsettled_group(game: Go, group: Sequence[Chain], ends: OwnerSamples) -> UnsettledGroup:
    fate = np.sign(
        ends[:, [vertex for chain in group for vertex in chain]].sum(axis=1, dtype=np.int64)
    )
    scored = [
        vertex for vertex in game.stones.shape.vertices if _follows_fate(ends[:, vertex], fate)
    ]
    points = ends[:, scored].sum(axis=1, dtype=np.int64)
    black_wins = fate > 0
    if_white, if_black = float(np.median(points[~black_wins])), float(np.median(points[black_wins]))
    levels: tuple[float, ...] = (if_white, if_black)
    alive = _score_if_alive(game, group, scored, ends)
    if if_white < alive < if_black and _may_be_seki(game, group):
        levels = (if_white, alive, if_black)
    return UnsettledGroup(tuple(group), tuple(scored), levels, float(black_wins.mean()))


def _follows_fate(ends: npt.NDArray[np.int8], fate: npt.NDArray[np.int64]) -> bool:
    mean = float(ends.mean())
    if abs(mean) >= 1 - 2 * MIN_DISAGREEMENT:
        return True
    spread = float(ends.std() * fate.std())
    return (
        abs(float((ends * fate).mean()) - mean * float(fate.mean())) >= MIN_CORRELATION * spread > 0
    )


def _score_if_alive(
    game: Go, group: Sequence[Chain], scored: Iterable[int], ends: OwnerSamples
) -> float:
    """Return Black's points minus White's if all chains live and open vertices are neutral."""
    board = game.stones.board
    living = {vertex for chain in group for vertex in chain}
    total = 0.0
    for vertex in scored:
        mean = float(ends[:, vertex].mean())
        if vertex in living:
            total += 3 - 2 * board[vertex]
        elif abs(mean) >= 1 - 2 * MIN_DISAGREEMENT:
            total += 1 if mean > 0 else -1
    return total


def _may_be_seki(game: Go, group: Sequence[Chain]) -> bool:
    stones = game.stones
    free = [0, 0, 0]
    for chain in group:
        free[stones.board[chain[0]]] |= stones.liberties[stones.head[chain[0]]]
    return bool(free[BLACK] & free[WHITE])


class LifeSearch:
    """Searches for the winners of unsettled groups, until `should_continue` returns False."""

    def __init__(self, game: Go, seed: int, should_continue: ShouldContinue) -> None:
        self._game = game
        self._should_continue = should_continue
        self._search = GoSearch(SearchConfig(threads=1, megabytes=_MEGABYTES, seed=seed))
        self._remaining_work = float(WORK_BUDGET)
        # Values of the current group for Black, by the side that moves first and the komi.
        self._values: dict[tuple[int, float], float | None] = {}

    def resolve(self, groups: Sequence[UnsettledGroup]) -> Iterator[tuple[UnsettledGroup, int]]:
        """Yield each group with the colour that wins it, or EMPTY for a seki.

        If the result depends on the side that moves first, the other side starts in the next group.
        Without time for a search, the majority of the playouts decides.
        """
        player = self._game.turn
        for group in groups:
            self._search.score_only(group.scored_vertices)
            self._values.clear()
            result = self._winner(group, player)
            yield group, result
            if group is not groups[-1] and self._winner(group, 1 - player) != result:
                player = 1 - player

    def _winner(self, group: UnsettledGroup, player: int) -> int:
        levels = group.score_levels
        wins = [self._black_wins(player, (low + high) / 2) for low, high in pairwise(levels)]
        if None in wins:
            return BLACK if group.black_share > 0.5 else WHITE
        return BLACK if wins[-1] else EMPTY if wins[0] else WHITE

    def _black_wins(self, player: int, komi: float) -> bool | None:
        value = self._black_value(player, komi)
        if value is not None and abs(value) < MIN_VALUE:
            value += self._black_value(1 - player, komi) or 0.0
        return None if value is None else value > 0

    def _black_value(self, player: int, komi: float) -> float | None:
        """Return the value for Black (-1 to 1) if `player` moves first, or None without time."""
        if (player, komi) not in self._values:
            self._values[player, komi] = self._search_value(player, komi)
        return self._values[player, komi]

    def _search_value(self, player: int, komi: float) -> float | None:
        """Search for the value of `_black_value`."""
        cost = _playout_cost(self._game)
        limit = int(WORK_SHARE * self._remaining_work / cost)
        if limit < CLEAR_PLAYOUTS or not self._should_continue():
            return None
        value, nodes = 0.0, 0
        for info in _search_trial(self._search, self._game, player, komi, limit):
            value, nodes = info.expected_outcome or 0.0, info.nodes
            if _is_decided(value, nodes, CLEAR_PLAYOUTS):
                break
            if not self._should_continue():
                return None
        self._remaining_work -= nodes * cost
        return -value if player else value


def fate_search(game: Go, should_continue: ShouldContinue, seed: int = 1) -> FateSearch:
    """Return a function that searches for the fate of stones, independently of other groups.

    The outcome is 0 (undecided) if `should_continue` returns False, or if the budget is exhausted.
    """
    search = GoSearch(SearchConfig(threads=1, megabytes=_MEGABYTES, seed=seed))
    ends = sample_owners(game, FATE_SAMPLES, seed)
    contested = {head for contest in find_contests(game.stones) for head in contest.chains}
    cost = _playout_cost(game)
    remaining_work = float(FATE_BUDGET)

    def fate(stones: int, player: int) -> Fate:
        nonlocal remaining_work
        vertices, limit = list(iter_bits(stones)), int(FATE_SHARE * remaining_work / cost)
        if limit <= 0:
            return Fate(0.0, PASS)
        agreed = abs(float(ends[:, vertices].mean())) >= AGREED_SHARE
        if agreed and not {game.stones.head[vertex] for vertex in vertices} & contested:
            min_playouts = AGREED_PLAYOUTS
        else:
            min_playouts = CLEAR_PLAYOUTS
        search.score_only(vertices)
        value, move, nodes = 0.0, PASS, 0
        for info in _search_trial(search, game, player, 0.0, limit):
            value, move, nodes = info.expected_outcome or 0.0, info.pv[0], info.nodes
            if _is_decided(value, nodes, min_playouts):
                break
            if not should_continue():
                return Fate(0.0, PASS)
        remaining_work -= nodes * cost
        return Fate(value, move)

    return fate


def _is_decided(value: float, playouts: int, clear_playouts: int) -> bool:
    is_clear = playouts >= clear_playouts and abs(value) >= CLEAR_VALUE
    return is_clear or (playouts >= MIN_PLAYOUTS and abs(value) >= DECISIVE_VALUE)


def _playout_cost(game: Go) -> int:
    return game.stones.sets[EMPTY].bit_count() + PLAYOUT_OVERHEAD


def _search_trial(
    search: GoSearch, game: Go, player: int, komi: float, max_playouts: int
) -> Iterator[Info[int]]:
    """Search a copy of a game with another komi, in which `player` moves first."""
    search.new_game()
    limits: Limits[int] = Limits(nodes=min(MAX_PLAYOUTS, max_playouts))
    yield from search.search(_trial(game, player, komi), limits)


def _trial(game: Go, player: int, komi: float) -> Go:
    trial = deepcopy(game)
    trial.komi, trial.rules = komi, DEFAULT_RULES
    trial.capture_dead_stones = True
    trial.set_turn(player)
    return trial


class RegionSearch:
    """A search that scores only the vertices of a region, for problems of life and death.

    Komi lies between the scores if one side moves first and if the other one does, so the win rate
    tells whether a move succeeds.
    """

    def __init__(self, game: Go, player: int, region: Iterable[int], seed: int = 1) -> None:
        self._search = GoSearch(SearchConfig(threads=1, megabytes=_MEGABYTES, seed=seed))
        self._search.score_only(region)
        self._game = game
        self._player = player

    def stop(self) -> None:
        self._search.stop()

    def levels(self, limits: Limits[int]) -> Iterator[list[Info[int]]]:
        """Yield all lines after each level of the search. Leads are points in the region."""
        komi = 0.0  # the mean of Black's scores if each side moves first
        probe = replace(limits, nodes=_REGION_PROBE, infinite=False, search_moves=())
        for player in (0, 1):
            *_, (best, *_) = self._levels(player, 0.0, probe)
            komi += (best.lead or 0.0) * (-0.5 if player else 0.5)
        for level in self._levels(self._player, komi, limits):
            more = -komi if self._player else komi
            yield [replace(line, lead=(line.lead or 0.0) + more) for line in level]

    def _levels(self, player: int, komi: float, limits: Limits[int]) -> Iterator[list[Info[int]]]:
        trial = _trial(self._game, player, komi)
        level: list[Info[int]] = []
        for line in self._search.search(trial, limits, BOARD_CELLS):
            if line.multipv == 1 and level:
                yield level
                level = []
            level.append(line)
        if level:
            yield level
