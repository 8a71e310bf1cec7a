"""The pairing and ranking rules of the tournament formats."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kempelen.match.pairing import knockout, swiss
from kempelen.match.pairing.knockout import KnockoutMatch
from kempelen.match.pairing.pairs import PlannedPair, Results, TournamentSize, round_pairs
from kempelen.match.pairing.swiss import SwissScore


class Format(StrEnum):
    ROUND_ROBIN = "round-robin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    KNOCKOUT = "knockout"

    @property
    def rules(self) -> "FormatRules":
        return FORMATS[self]


@dataclass(frozen=True, slots=True)
class FormatRules:
    """The rules of a tournament format, as functions of its size and the results so far.

    `plan_pairs` yields, in order, all pairs that can be scheduled. `match_count` returns
    the number of matches without tie-breaks. `rank_players` takes player indexes by rating and
    returns them by rank. `bracket` returns the matches of the rounds that have been paired.

    `extendable_settings` names the settings that may be increased when a tournament is resumed.
    More games require a tournament with a single round, because pairs are numbered per round.
    """

    plan_pairs: Callable[[TournamentSize, Results], Iterator[PlannedPair]]
    match_count: Callable[[TournamentSize], int]
    rank_players: Callable[[TournamentSize, Results, Sequence[int]], list[int]]
    swiss_scores: Callable[[TournamentSize, Results], list[SwissScore]] | None = None
    bracket: Callable[[TournamentSize, Results], list[list[KnockoutMatch]]] | None = None
    extendable_settings: frozenset[str] = frozenset({"rounds"})
    allows_sprt: bool = True
    has_fixed_pairings: bool = False  # they do not depend on results


def _everyone(tournament_size: TournamentSize) -> Iterable[tuple[int, int]]:
    return itertools.combinations(range(tournament_size.players), 2)


def _seeds_against_others(tournament_size: TournamentSize) -> Iterable[tuple[int, int]]:
    others = range(tournament_size.seeds, tournament_size.players)
    return itertools.product(range(tournament_size.seeds), others)


def _same_each_round(
    pairings: Callable[[TournamentSize], Iterable[tuple[int, int]]],
) -> Callable[[TournamentSize, Results], Iterator[PlannedPair]]:
    def plan_pairs(tournament_size: TournamentSize, results: Results) -> Iterator[PlannedPair]:
        pairs = list(pairings(tournament_size))
        if tournament_size.reverse:
            pairs = [(second, first) for first, second in pairs]
        for number in range(1, tournament_size.rounds + 1):
            yield from round_pairs(number, pairs, tournament_size.games, swap=tournament_size.swap)

    return plan_pairs


def _by_elo(tournament_size: TournamentSize, results: Results, by_elo: Sequence[int]) -> list[int]:
    return list(by_elo)


FORMATS = {
    Format.ROUND_ROBIN: FormatRules(
        plan_pairs=_same_each_round(_everyone),
        match_count=lambda tournament_size: (
            tournament_size.players * (tournament_size.players - 1) // 2 * tournament_size.rounds
        ),
        rank_players=_by_elo,
        extendable_settings=frozenset({"rounds", "games"}),
        has_fixed_pairings=True,
    ),
    Format.GAUNTLET: FormatRules(
        plan_pairs=_same_each_round(_seeds_against_others),
        match_count=lambda tournament_size: (
            len(list(_seeds_against_others(tournament_size))) * tournament_size.rounds
        ),
        rank_players=_by_elo,
        extendable_settings=frozenset({"rounds", "games"}),
        has_fixed_pairings=True,
    ),
    Format.SWISS: FormatRules(
        plan_pairs=swiss.plan_pairs,
        match_count=lambda tournament_size: tournament_size.players // 2 * tournament_size.rounds,
        rank_players=swiss.rank_players,
        swiss_scores=swiss.swiss_scores,
    ),
    Format.KNOCKOUT: FormatRules(
        plan_pairs=knockout.plan_pairs,
        match_count=lambda tournament_size: tournament_size.players - 1,
        rank_players=knockout.rank_players,
        bracket=knockout.bracket_rounds,
        extendable_settings=frozenset(),
        allows_sprt=False,
    ),
}
