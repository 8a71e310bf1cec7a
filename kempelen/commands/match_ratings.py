"""`kempelen match ratings`: rate the players in PGN files."""

import argparse
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.io.read_report import ReadReport
from kempelen.console.argument_types import AppendNamed
from kempelen.console.plain_table import PlainTable
from kempelen.console.settings_codec import encode
from kempelen.console.terminal import print_error, read_lines, table_console
from kempelen.match.rating.bradley_terry import PairScore, Rating, connected_groups, rate
from kempelen.match.records.game_record import unescape_tag_value
from openings.pgn import PgnError, PgnGame, read_games

# Maximum absolute Elo of an anchor.
MAX_ELO = 10_000
# Maximum number of players listed per group in a warning.
MAX_LISTED_NAMES = 10
RESULT_SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}


@dataclass(frozen=True)
class RatedGame:
    """A finished game. `pair` identifies its pair of games, or is None if unknown."""

    white: str
    black: str
    white_score: float
    pair: tuple[str, ...] | None


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pgn", nargs="+", metavar="PGN", help="PGN files")
    parser.add_argument(
        "--anchor", action=AppendNamed, default=[], type=_parse_anchor, metavar="NAME=ELO",
        help="player with a known rating, which fixes the scale; may be repeated",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the ratings. Return 1 if no game is finished, or 2 after an error."""
    games: list[RatedGame] = []
    for path in arguments.pgn:
        report = ReadReport()
        try:
            games += report.select(read_games(read_lines(path, pipes=True)), _rated_game)
        except OSError as error:
            print_error(f"{path}: {error.strerror}")
            return 2
        if report.skipped:
            print_error(f"{path}: {report.message()}")
    if not games:
        print("kempelen: the files contain no finished games", file=sys.stderr)
        return 1
    anchors = dict(arguments.anchor)
    names = list(dict.fromkeys(name for game in games for name in (game.white, game.black)))
    if missing := ", ".join(anchors.keys() - set(names)):
        print_error(f"--anchor: unknown player {missing} (expected one of: {', '.join(names)})")
        return 2
    groups = [rate(*group, anchors) for group in _connected(names, games, anchors)]
    if len(groups) > 1:
        shown = "; ".join(_list_names([rating.name for rating in group]) for group in groups)
        print_error(
            f"{len(groups)} groups of players have not met, directly or through others; their "
            f"ratings are not comparable: {shown}"
        )
    _print(groups, as_json=arguments.json)
    return 0


def _connected(
    names: list[str], games: list[RatedGame], anchors: Mapping[str, float]
) -> Iterator[tuple[list[str], list[PairScore]]]:
    """Yield the players and games of each group of players with a common scale.

    Games connect players. Anchors connect groups, as their ratings are known.
    """
    numbers = {name: number for number, name in enumerate(names)}
    pairs = [(game.white, game.black) for game in games] + list(itertools.pairwise(anchors))
    met = {(numbers[first], numbers[second]) for first, second in pairs}
    for group in connected_groups(len(names), met):
        members = [names[number] for number in group]
        inside = set(members)
        yield members, group_pairs(members, [game for game in games if game.white in inside])


def _list_names(names: Sequence[str]) -> str:
    listed = ", ".join(names[:MAX_LISTED_NAMES])
    more = len(names) - MAX_LISTED_NAMES
    return f"{listed} and {more} more" if more > 0 else listed


def group_pairs(names: list[str], games: Iterable[RatedGame]) -> list[PairScore]:
    """Return the scores of all games, with both games of a pair combined in one PairScore."""
    numbers = {name: number for number, name in enumerate(names)}
    waiting: dict[tuple[tuple[str, ...], str, str], int] = {}
    found: list[PairScore] = []
    for game in games:
        first, second = numbers[game.white], numbers[game.black]
        index = None
        if game.pair is not None:
            index = waiting.pop((game.pair, game.black, game.white), None)
            if index is None:
                waiting[game.pair, game.white, game.black] = len(found)
        if index is None:
            found.append(PairScore(first, second, (game.white_score,)))
        else:
            found[index] = PairScore(second, first, (*found[index].scores, 1 - game.white_score))
    return found


def _parse_anchor(text: str) -> tuple[str, float]:
    name, equals, elo = text.rpartition("=")
    try:
        if name and equals and abs(float(elo)) <= MAX_ELO:
            return name, float(elo)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(
        f"expected NAME=ELO, with an Elo from -{MAX_ELO} to {MAX_ELO}, not {text!r}"
    )


def _rated_game(game: PgnGame) -> RatedGame:
    """Return the players and the score. Raise PgnError if the game cannot be rated."""
    score = RESULT_SCORES.get(game.result)
    if score is None:
        raise PgnError("no result", kind="without a result")
    white, black = (unescape_tag_value(game.tags.get(side, "?")) for side in ("White", "Black"))
    if white == black == "?":
        raise PgnError("unknown players", kind="of unknown players")
    if white == black:
        raise PgnError("{} plays against itself", white, kind="of a player against itself")
    return RatedGame(white, black, score, _pair_of(game.tags))


def _pair_of(tags: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return a game's event and round, which identify its pair, or None without a round number.

    Kempelen's rounds end with the game's number in the pair, which is removed. Other match runners
    give both games of a pair the same round.
    """
    round_ = tags.get("Round", "?")
    if not re.search(r"\d", round_):
        return None
    ours = re.fullmatch(r"(\d+\.\d+-\d+\.\d+)\.[12]", round_)
    return tags.get("Event", "?"), ours[1] if ours else round_


def _print(groups: list[list[Rating]], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {**encode(rating), "group": number}
            for number, group in enumerate(groups, 1)
            for rating in group
        ]
        print(json.dumps(rows))
        return
    for number, group in enumerate(groups, 1):
        if len(groups) > 1:
            print(f"group {number}" if number == 1 else f"\ngroup {number}")
        table = PlainTable(box=None)
        table.add_column("player")
        for heading in ("Elo", "±", "points", "games", "drawn"):
            table.add_column(heading, justify="right")
        for r in group:
            error = f"{r.error:.0f}" if r.error < float("inf") else "-"
            drawn = f"{r.draws / r.games:.0%}" if r.games else ""
            table.add_row(r.name, f"{r.elo:+z.0f}", error, f"{r.points:g}", str(r.games), drawn)
        table_console().print(table)
