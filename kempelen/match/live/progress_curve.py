"""The Elo and the SPRT log-likelihood ratio of a tournament, by number of games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kempelen.console.settings_codec import encode
from kempelen.match.config.settings import Settings
from kempelen.match.rating.standings import Outcome, summarise

# A curve that reaches MAX_POINTS is thinned to half. The games of earlier runs give about
# INITIAL_POINTS.
MAX_POINTS = 200
INITIAL_POINTS = 60
# Limits the work at the start of a run, which is points times games.
MAX_REPLAYED_GAMES = 300_000
# Only the first players have a curve: a plot with more curves is unreadable.
MAX_PLAYERS = 12


def curve_point(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the point of the Elo curve for a tournament summary in JSON form.

    "elo" and "error" are lists in player order, and "llr" is the log-likelihood ratio of the SPRT.
    """
    rows = {row["name"]: row for row in summary["rows"]}
    player_rows = [rows.get(name, {}) for name in summary["players"][:MAX_PLAYERS]]
    test = (summary.get("comparison") or {}).get("test") or {}
    return {
        "played": summary["played"],
        "elo": [_rounded(row.get("elo")) for row in player_rows],
        "error": [_rounded(row.get("error")) for row in player_rows],
        "llr": _rounded(test.get("llr"), 4),
    }


def append_point(points: Sequence[dict[str, Any]], point: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the curve with `point` appended, after removing points with as many or more games.

    If the curve is full, every second point is also removed.
    """
    earlier = [old for old in points if old["played"] < point["played"]]
    if len(earlier) >= MAX_POINTS:
        earlier = earlier[::2]
    return [*earlier, point]


def build_curve(settings: Settings, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return the Elo curve for the games of earlier runs."""
    max_points = max(2, min(INITIAL_POINTS, MAX_REPLAYED_GAMES // max(1, len(outcomes))))
    step = max(1, len(outcomes) // max_points)
    return [
        curve_point(encode(summarise(settings, outcomes[:played])))
        for played in range(step, len(outcomes) + 1, step)
    ]


def _rounded(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)
