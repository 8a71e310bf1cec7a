"""Who plays whom, next: pure functions of the settings and the results so far."""

from kempelen.match.config.settings import Settings
from kempelen.match.pairing.pairs import Pair, Results


def due_pairs(settings: Settings, results: Results) -> list[Pair]:
    """Return what can be played now and has not been, in order; empty when all is played."""
    return [
        Pair(key, missing)
        for key, games in settings.format.rules.plan_pairs(settings.tournament_size, results)
        if (missing := tuple(game for game in games if game not in results.get(key, {})))
    ]


def total_games(settings: Settings) -> int:
    """Return how many games are asked for; in a knockout, without tie-breaks."""
    return settings.format.rules.match_count(settings.tournament_size) * settings.games
