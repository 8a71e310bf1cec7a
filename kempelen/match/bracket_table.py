"""Show a knockout bracket as a table in the terminal."""

from typing import Any

from kempelen.console.plain_table import PlainTable

# Round names by the number of matches in the round.
ROUND_NAMES = {1: "final", 2: "semi-finals", 4: "quarter-finals"}


def bracket_table(bracket: list[list[dict[str, Any]]]) -> PlainTable:
    table = PlainTable(box=None, header_style="bold")
    for heading in ("round", "player", "", "opponent", "advances"):
        table.add_column(heading, justify="center" if not heading else "left")
    for number, matches in enumerate(bracket, start=1):
        for index, match in enumerate(matches):
            table.add_row(
                "" if index else ROUND_NAMES.get(len(matches), f"round {number}"),
                match["first"],
                _points(match),
                match["second"] or "",
                match["winner"] or "",
            )
    return table


def _points(match: dict[str, Any]) -> str:
    if match["second"] is None:
        return "bye"
    return f"{match['first_points']:g} - {match['second_points']:g}"
