"""A knockout's bracket in the terminal: its rounds, with the points of their matches."""

from typing import Any

from kempelen.console.plain_table import PlainTable

# By how many matches a round has.
ROUND_NAMES = {1: "final", 2: "semi-finals", 4: "quarter-finals"}


def bracket_table(bracket: list[list[dict[str, Any]]]) -> PlainTable:
    """Return a line for each match of the rounds that are paired."""
    table = PlainTable(box=None, header_style="bold")
    for heading in ("round", "player", "", "opponent", "goes on"):
        table.add_column(heading, justify="center" if not heading else "left")
    for number, matches in enumerate(bracket, start=1):
        for place, match in enumerate(matches):
            table.add_row(
                "" if place else ROUND_NAMES.get(len(matches), f"round {number}"),
                match["first"],
                _points(match),
                match["second"] or "",
                match["winner"] or "",
            )
    return table


def _points(match: dict[str, Any]) -> str:
    if match["second"] is None:
        return "free"
    return f"{match['first_points']:g} - {match['second_points']:g}"
