"""Pair and rank the players of a Swiss tournament.

Each round pairs players who have similar scores and have not played each other. Players are ranked
by points, then Buchholz, then Sonneborn-Berger, then by their order in the settings.

Byes follow the FIDE Handbook C.07 (2024). A bye counts as a won match once its round is complete.
In the player's own tie-breaks, it is a win against a virtual opponent with as many points as the
player. A match without any result does not count.
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
    """The ranking criteria of a player.

    `points` includes byes. `buchholz` is the sum of the opponents' points over all matches.
    `sonneborn_berger` multiplies each of them by the player's score in that match.
    """

    points: float
    byes: float
    buchholz: float
    sonneborn_berger: float


def plan_pairs(tournament_size: TournamentSize, results: Results) -> Iterator[PlannedPair]:
    """Yield the pairs of games that can be scheduled with the results so far."""
    for pairs, _ in _rounds(tournament_size, results):
        yield from pairs


def swiss_scores(tournament_size: TournamentSize, results: Results) -> list[SwissScore]:
    """Return the ranking criteria for all players, by player index."""
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
            buchholz=sum(opponent_points for _, opponent_points in opponents[player]),
            sonneborn_berger=sum(
                score * opponent_points for score, opponent_points in opponents[player]
            ),
        )
        for player in range(tournament_size.players)
    ]


def rank_players(
    tournament_size: TournamentSize, results: Results, by_elo: Sequence[int]
) -> list[int]:
    """Return the player indexes, best first. `by_elo` contains the indexes by descending Elo."""
    scores = swiss_scores(tournament_size, results)
    return sorted(
        by_elo,
        key=lambda player: (
            -scores[player].points,
            -scores[player].buchholz,
            -scores[player].sonneborn_berger,
            player,
        ),
    )


def bye_players(tournament_size: TournamentSize, results: Results) -> list[int]:
    """Return a player index for each bye in a complete round."""
    return [
        bye
        for pairs, bye in _rounds(tournament_size, results)
        if bye is not None and is_complete(pairs, results)
    ]


def pair_by_score(standing: list[int], met: set[frozenset[int]]) -> list[tuple[int, int]]:
    """Pair players who have similar scores. Repeat earlier pairings only if necessary.

    `standing` contains the player indexes, best first. `met` contains the earlier pairings. A
    depth-first search tries the nearest opponents first. After 20,000 steps it pairs neighbours
    instead.
    """
    budget = [20_000]

    def search(unpaired: list[int]) -> list[tuple[int, int]] | None:
        if not unpaired:
            return []
        budget[0] -= 1
        first, *others = unpaired
        for other in others:
            if budget[0] < 0:
                return None
            if frozenset((first, other)) not in met:
                rest = search([player for player in others if player != other])
                if rest is not None:
                    return [(first, other), *rest]
        return None

    pairs = search(standing)
    return pairs or list(zip(standing[::2], standing[1::2], strict=True))


def _rounds(
    tournament_size: TournamentSize, results: Results
) -> Iterator[tuple[list[PlannedPair], int | None]]:
    """Yield the pairs and the bye for each round, up to the first incomplete round."""
    count = tournament_size.players
    met: set[frozenset[int]] = set()
    byes: list[int] = []
    for round_ in range(1, tournament_size.rounds + 1):
        earlier = {key: games for key, games in results.items() if key.round < round_}
        points = match_points(earlier, byes, tournament_size.games)
        standing = sorted(range(count), key=lambda player: (-points[player], player))
        bye = None
        if count % 2:
            min_byes = min(byes.count(player) for player in standing)
            bye = next(p for p in reversed(standing) if byes.count(p) == min_byes)
            byes.append(bye)
            standing.remove(bye)
        pairings = pair_by_score(standing, met)
        met |= {frozenset(pairing) for pairing in pairings}
        pairs = list(round_pairs(round_, pairings, tournament_size.games))
        yield pairs, bye
        if not is_complete(pairs, results):
            return


def _matches(results: Results) -> dict[tuple[int, int, int], list[float]]:
    matches: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for key, games in results.items():
        scores = [score for score in games.values() if score is not None]
        if scores:
            matches[key.round, key.first, key.second] += scores
    return matches
