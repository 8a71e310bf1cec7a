"""A Swiss tournament: each round pairs players with near equals that they have not met.

It is ranked by points, then by Buchholz, by Sonneborn-Berger, and by the players' order in the
settings.

Of a Swiss tournament's unplayed rounds (FIDE Handbook C.07, 2024, on byes that the pairing gives):

- A bye is worth the points of a match won, once its round is complete, and they count as points
  everywhere: in the table, in the next pairings, and in what an opponent adds to tie-breaks.
- For the tie-breaks of the player who had it, a bye is a match won against a virtual opponent
  that has as many points as the player itself.
- A match in which no game has a result, or has one yet, adds nothing.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kempelen.match.pairing.pairs import (
    PlannedPair,
    Results,
    TournamentSize,
    is_complete,
    match_points,
    round_pairs,
)


@dataclass(frozen=True, slots=True)
class SwissScore:
    """What a player of a Swiss tournament is ranked by; points include those of byes.

    buchholz: the sum of the points of the opponents, one for each match. sonneborn_berger: the sum
    over the matches of what was scored in it, times the opponent's points.
    """

    points: float
    byes: float
    buchholz: float
    sonneborn_berger: float


def plan_pairs(tournament_size: TournamentSize, results: Results) -> Iterator[PlannedPair]:
    """Yield the pairs of the rounds that the results so far settle."""
    for pairs, _ in _rounds(tournament_size, results):
        yield from pairs


def swiss_scores(tournament_size: TournamentSize, results: Results) -> list[SwissScore]:
    """Return the scores of all players by their indexes."""
    byes = bye_players(tournament_size, results)
    points = match_points(results, byes, tournament_size.games)
    opponents: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for (_, first, second), games in _matches(results).items():
        opponents[first].append((sum(games), points[second]))
        opponents[second].append((len(games) - sum(games), points[first]))
    for player in byes:
        opponents[player].append((tournament_size.games, points[player]))
    return [
        SwissScore(
            points=points[player],
            byes=float(tournament_size.games * byes.count(player)),
            buchholz=sum(theirs for _, theirs in opponents[player]),
            sonneborn_berger=sum(own * theirs for own, theirs in opponents[player]),
        )
        for player in range(tournament_size.players)
    ]


def rank_players(
    tournament_size: TournamentSize, results: Results, by_elo: Sequence[int]
) -> list[int]:
    """Return the players' indexes, the best first. by_elo: the same by their ratings."""
    found = swiss_scores(tournament_size, results)
    return sorted(
        by_elo,
        key=lambda player: (
            -found[player].points,
            -found[player].buchholz,
            -found[player].sonneborn_berger,
            player,
        ),
    )


def bye_players(tournament_size: TournamentSize, results: Results) -> list[int]:
    """Return who had the byes of the rounds that are complete; each is worth a won match."""
    return [
        bye
        for pairs, bye in _rounds(tournament_size, results)
        if bye is not None and is_complete(pairs, results)
    ]


def pair_by_score(standing: list[int], met: set[frozenset[int]]) -> list[tuple[int, int]]:
    """Pair players with near equals that they have not met; with ones they have, if they must.

    The search for new opponents goes depth first, nearest first, and gives up after a number of
    tries that only very full tournaments need.
    """
    budget = [20_000]

    def search(left: list[int]) -> list[tuple[int, int]] | None:
        if not left:
            return []
        budget[0] -= 1
        first, *others = left
        for other in others:
            if budget[0] < 0:
                return None
            if frozenset((first, other)) not in met:
                rest = search([player for player in others if player != other])
                if rest is not None:
                    return [(first, other), *rest]
        return None

    found = search(standing)
    return found or list(zip(standing[::2], standing[1::2], strict=True))


def _rounds(
    tournament_size: TournamentSize, results: Results
) -> Iterator[tuple[list[PlannedPair], int | None]]:
    """Yield the pairs of each round, and who has the bye, up to the first that is not complete."""
    count = tournament_size.players
    met: set[frozenset[int]] = set()
    byes: list[int] = []
    for round_ in range(1, tournament_size.rounds + 1):
        earlier = {key: games for key, games in results.items() if key.round < round_}
        points = match_points(earlier, byes, tournament_size.games)
        standing = sorted(range(count), key=lambda player: (-points[player], player))
        bye = None
        if count % 2:
            fewest = min(byes.count(player) for player in standing)
            bye = next(p for p in reversed(standing) if byes.count(p) == fewest)
            byes.append(bye)
            standing.remove(bye)
        pairings = pair_by_score(standing, met)
        met |= {frozenset(pairing) for pairing in pairings}
        pairs = list(round_pairs(round_, pairings, tournament_size.games))
        yield pairs, bye
        if not is_complete(pairs, results):
            return


def _matches(results: Results) -> dict[tuple[int, int, int], list[float]]:
    """Return the first player's scores by round, first and second player; none is empty."""
    matches: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for key, games in results.items():
        scores = [score for score in games.values() if score is not None]
        if scores:
            matches[key.round, key.first, key.second] += scores
    return matches
