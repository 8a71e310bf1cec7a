"""How a tournament's numbers went: points of Elo and of the test, by the games that were played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kempelen.console.settings_codec import encode
from kempelen.match.config.settings import Settings
from kempelen.match.rating.standings import outcome_from_record, summarise
from kempelen.match.records.game_record import GameRecord

# A curve of so many points is thinned to half of them, and so many are made of games of before.
MAX_POINTS = 200
INITIAL_POINTS = 60
# Of very many games there are fewer, so that a run begins at once.
MAX_REPLAYED_GAMES = 300_000
# Of more players no curve is kept: nobody could tell them apart.
MAX_PLAYERS = 12


def curve_point(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return a curve's point: encoded standings as they are after so many games.

    elo: of each player, in the order of the players; error: of each; llr: of a test.
    """
    rows = {row["name"]: row for row in summary["rows"]}
    known = [rows.get(name, {}) for name in summary["players"][:MAX_PLAYERS]]
    test = (summary.get("comparison") or {}).get("test") or {}
    return {
        "played": summary["played"],
        "elo": [_rounded(row.get("elo")) for row in known],
        "error": [_rounded(row.get("error")) for row in known],
        "llr": _rounded(test.get("llr"), 4),
    }


def append_point(points: Sequence[dict[str, Any]], point: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a curve with a point more, in place of one with no fewer games, and thinned."""
    kept = [each for each in points if each["played"] < point["played"]]
    if len(kept) >= MAX_POINTS:
        kept = kept[::2]
    return [*kept, point]


def build_curve(settings: Settings, records: Sequence[GameRecord]) -> list[dict[str, Any]]:
    """Return the curve of games that have been played already."""
    outcomes = [outcome_from_record(record) for record in records]
    most = max(2, min(INITIAL_POINTS, MAX_REPLAYED_GAMES // max(1, len(outcomes))))
    step = max(1, len(outcomes) // most)
    return [
        curve_point(encode(summarise(settings, outcomes[:played])))
        for played in range(step, len(outcomes) + 1, step)
    ]


def _rounded(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)
