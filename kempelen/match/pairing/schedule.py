"""Compute the schedule of a tournament from its settings and its results."""

from kempelen.match.config.settings import Settings
from kempelen.match.pairing.pairs import Pair, Results


def due_pairs(settings: Settings, results: Results) -> list[Pair]:
    """Return the pairs with unplayed games that can be scheduled with the results so far."""
    return [
        Pair(key, missing)
        for key, games in settings.format.rules.plan_pairs(settings.tournament_size, results)
        if (missing := tuple(game for game in games if game not in results.get(key, {})))
    ]


def total_games(settings: Settings) -> int:
    """Return the number of scheduled games, without tie-breaks of a knockout."""
    return settings.format.rules.match_count(settings.tournament_size) * settings.games
