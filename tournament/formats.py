"""The formats of tournaments, one row each: who meets whom, and how the table is ordered."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tournament import knockout, swiss
from tournament.knockout import Tie
from tournament.pairs import Extent, Planned, Results, games_of_round
from tournament.swiss import SwissScore


class Format(StrEnum):
    """Who meets whom; FORMATS has a row for each."""

    ROUND_ROBIN = "round-robin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    KNOCKOUT = "knockout"

    @property
    def rules(self) -> "FormatRules":
        """Its row."""
        return FORMATS[self]


@dataclass(frozen=True, slots=True)
class FormatRules:
    """What makes a format.

    planned: yields the pairs of all rounds that the results so far settle, in their order.
    matches: how many matches there are in all, without tie-breaks.
    ranked: the players' indexes, the best first, from the same by their ratings.
    scores: what else the players are ranked by. bracket: the matches of the rounds paired so far.
    growing: what a resumed tournament may ask more of; games only if it has a single round, or
    pairs would be numbered anew. sprt: whether a test may end it early.
    """

    planned: Callable[[Extent, Results], Iterator[Planned]]
    matches: Callable[[Extent], int]
    ranked: Callable[[Extent, Results, Sequence[int]], list[int]]
    scores: Callable[[Extent, Results], list[SwissScore]] | None = None
    bracket: Callable[[Extent, Results], list[list[Tie]]] | None = None
    growing: frozenset[str] = frozenset({"rounds"})
    sprt: bool = True


def _everyone(players: int) -> Iterable[tuple[int, int]]:
    return itertools.combinations(range(players), 2)


def _first_against_others(players: int) -> Iterable[tuple[int, int]]:
    return [(0, other) for other in range(1, players)]


def _same_each_round(
    pairings: Callable[[int], Iterable[tuple[int, int]]],
) -> Callable[[Extent, Results], Iterator[Planned]]:
    """Return the plan of a format in which the same players meet in every round."""

    def planned(extent: Extent, results: Results) -> Iterator[Planned]:
        for number in range(1, extent.rounds + 1):
            yield from games_of_round(number, pairings(extent.players), extent.games)

    return planned


def _by_elo(extent: Extent, results: Results, by_elo: Sequence[int]) -> list[int]:
    return list(by_elo)


FORMATS = {
    Format.ROUND_ROBIN: FormatRules(
        planned=_same_each_round(_everyone),
        matches=lambda extent: extent.players * (extent.players - 1) // 2 * extent.rounds,
        ranked=_by_elo,
        growing=frozenset({"rounds", "games"}),
    ),
    Format.GAUNTLET: FormatRules(
        planned=_same_each_round(_first_against_others),
        matches=lambda extent: (extent.players - 1) * extent.rounds,
        ranked=_by_elo,
        growing=frozenset({"rounds", "games"}),
    ),
    Format.SWISS: FormatRules(
        planned=swiss.planned,
        matches=lambda extent: extent.players // 2 * extent.rounds,
        ranked=swiss.ranked,
        scores=swiss.scores,
    ),
    Format.KNOCKOUT: FormatRules(
        planned=knockout.planned,
        matches=lambda extent: extent.players - 1,
        ranked=knockout.ranked,
        bracket=knockout.rounds_of,
        growing=frozenset(),
        sprt=False,
    ),
}
