"""`kempelen ratings`: ratings of the players in PGN files."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TextIO

import chess.pgn
from rich.console import Console
from rich.table import Table

from agent.files import open_text
from tournament.ratings import Rating, rate
from tournament.values import encode

SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("pgn", nargs="+", help="PGN files")
    parser.add_argument(
        "--anchor", action="append", default=[], type=_anchor, metavar="NAME=ELO",
        help="a player whose rating is known; the others are rated on its scale; may be repeated",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the ratings, best first."""
    names: dict[str, int] = {}
    games = []
    for path in arguments.pgn:
        try:
            with open_text(path) as file:
                for white, black, score in _games(file):
                    players = [names.setdefault(name, len(names)) for name in (white, black)]
                    games.append((players[0], players[1], score))
        except OSError as error:
            print(f"kempelen: {path}: {error.strerror}", file=sys.stderr)
            return 2
    if not games:
        print("kempelen: no finished games in these files", file=sys.stderr)
        return 1
    anchors = dict(arguments.anchor)
    if missing := ", ".join(anchors.keys() - names.keys()):
        print(f"kempelen: --anchor: no games of {missing}; of: {', '.join(names)}", file=sys.stderr)
        return 2
    _print(rate(list(names), games, anchors), as_json=arguments.json)
    return 0


def _anchor(text: str) -> tuple[str, float]:
    name, equals, elo = text.rpartition("=")
    try:
        if name and equals:
            return name, float(elo)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"expected NAME=ELO, not {text!r}")


def _games(file: TextIO) -> Iterator[tuple[str, str, float]]:
    while (headers := chess.pgn.read_headers(file)) is not None:
        score = SCORES.get(headers.get("Result", "*"))
        white, black = headers.get("White", "?"), headers.get("Black", "?")
        if score is not None and white != black:
            yield white, black, score


def _print(ratings: list[Rating], *, as_json: bool) -> None:
    if as_json:
        rows = [encode(rating) for rating in ratings]
        print(json.dumps(rows))
        return
    table = Table(box=None)
    table.add_column("player")
    for heading in ("Elo", "±", "points", "games", "drawn"):
        table.add_column(heading, justify="right")
    for r in ratings:
        error = f"{r.error:.0f}" if r.error < float("inf") else "-"
        drawn = f"{r.draws / r.games:.0%}" if r.games else ""
        table.add_row(r.name, f"{r.elo:+.0f}", error, f"{r.points:g}", str(r.games), drawn)
    Console(soft_wrap=True).print(table)
