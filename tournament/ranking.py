"""The order of a tournament's table: by Elo, by points, or by how far a player came.

A round robin and a gauntlet are ranked by Elo. A Swiss tournament is ranked by points, then by
Buchholz, by Sonneborn-Berger, and by the players' order in the settings; a knockout by the rounds
that a player survived, then by Elo.

Of a Swiss tournament's unplayed rounds (FIDE Handbook C.07, 2024, on byes that the pairing gives):

- A bye is worth the points of a match won, once its round is complete, and they count as points
  everywhere: in the table, in the next pairings, and in what an opponent adds to tie-breaks.
- For the tie-breaks of the player who had it, a bye is a match won against a virtual opponent
  that has as many points as the player itself.
- A match in which no game has a result, or has one yet, adds nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tournament.schedule import Results, knockout_rounds, match_points, swiss_byes
from tournament.settings import Format, Settings


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


def swiss_scores(settings: Settings, results: Results) -> list[SwissScore]:
    """Return the scores of all players by their indexes."""
    byes = swiss_byes(settings, results)
    points = match_points(results, byes, settings.games)
    opponents: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for (_, first, second), scores in _matches(results).items():
        opponents[first].append((sum(scores), points[second]))
        opponents[second].append((len(scores) - sum(scores), points[first]))
    for player in byes:
        opponents[player].append((settings.games, points[player]))
    return [
        SwissScore(
            points=points[player],
            byes=float(settings.games * byes.count(player)),
            buchholz=sum(theirs for _, theirs in opponents[player]),
            sonneborn_berger=sum(own * theirs for own, theirs in opponents[player]),
        )
        for player in range(len(settings.engines))
    ]


def ranked(settings: Settings, results: Results, by_elo: Sequence[int]) -> list[int]:
    """Return the players' indexes, the best first. by_elo: the same by their ratings."""
    if settings.format is Format.SWISS:
        scores = swiss_scores(settings, results)
        return sorted(
            by_elo,
            key=lambda player: (
                -scores[player].points,
                -scores[player].buchholz,
                -scores[player].sonneborn_berger,
                player,
            ),
        )
    if settings.format is Format.KNOCKOUT:
        survived = [0] * len(by_elo)
        for ties in knockout_rounds(settings, results):
            for tie in ties:
                if tie.winner is not None:
                    survived[tie.winner] += 1
        return sorted(by_elo, key=lambda player: -survived[player])
    return list(by_elo)


def _matches(results: Results) -> dict[tuple[int, int, int], list[float]]:
    """Return the first player's scores by round, first and second player; none is empty."""
    matches: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for key, games in results.items():
        scores = [score for score in games.values() if score is not None]
        if scores:
            matches[key.round, key.first, key.second] += scores
    return matches
