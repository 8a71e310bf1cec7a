"""`kempelen opponents`: list, show and delete the games and models of opponents."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kempelen.console.terminal import print_error, print_text, table_console

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from agent.learning.opponent_game_record import GameRecord
    from agent.learning.opponent_profile import OpponentProfile

# Number of openings to show, and their length in plies.
MAX_OPENINGS = 10
OPENING_PLIES = 8
SIDES = ("first", "second")


def configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def add(name: str, help_line: str) -> ArgumentParser:
        action = actions.add_parser(name, help=help_line, description=help_line)
        action.add_argument(
            "--file",
            type=Path,
            required=True,
            metavar="FILE",
            help="file that the engine's UCI option HabitsFile names",
        )
        return action

    show = add("show", "show the model of an opponent, and its effect on our play")
    show.add_argument("name", metavar="NAME")
    show.add_argument(
        "--game", help="game (default: chess, or the last game played with the opponent)"
    )
    everybody = add("list", "list the opponents")
    forget = add("forget", "delete all games against an opponent")
    forget.add_argument("name", metavar="NAME")
    for action in (show, everybody, forget):
        action.add_argument("--json", action="store_true", help="print one JSON object")
    show.set_defaults(act=_show)
    everybody.set_defaults(act=_list)
    forget.set_defaults(act=_forget)


def run(arguments: Namespace) -> int:
    from agent.learning.opponent_database import OpponentDatabaseError

    file: Path = arguments.file
    try:
        if not file.exists():
            raise OpponentDatabaseError(
                f"{file}: file does not exist (a game with the option HabitsFile creates it)"
            )
        status: int = arguments.act(arguments)
    except OpponentDatabaseError as error:
        print_error(error, "kempelen opponents")
        return 1
    return status


def _read(arguments: Namespace, name: str | None = None) -> list[GameRecord]:
    from agent.learning.opponent_database import OpponentDatabase, OpponentDatabaseError
    from agent.learning.opponent_game_record import is_same_name

    games = OpponentDatabase(arguments.file).read()
    found = [game for game in games if name is None or is_same_name(game.opponent, name)]
    if name is not None and not found:
        known = ", ".join(sorted({game.opponent for game in games})) or "none"
        raise OpponentDatabaseError(
            f"{name}: unknown opponent in {arguments.file} (expected one of: {known})"
        )
    return found


def _list(arguments: Namespace) -> int:
    points: defaultdict[str, list[float]] = defaultdict(list)
    for game in _read(arguments):
        points[game.opponent].append(game.points)
    rows = [
        {"name": name, "games": len(each), "points": round(sum(each), 1)}
        for name, each in sorted(points.items(), key=lambda pair: -len(pair[1]))
    ]
    if arguments.json:
        print(json.dumps({"opponents": rows}))
        return 0
    _print_table(("name", "games", "our points"), [tuple(row.values()) for row in rows])
    return 0


def _forget(arguments: Namespace) -> int:
    from agent.learning.opponent_database import OpponentDatabase

    _read(arguments, arguments.name)
    count = OpponentDatabase(arguments.file).forget(arguments.name)
    result = {"name": arguments.name, "forgotten": count}
    print(json.dumps(result) if arguments.json else f"{count} games deleted")
    return 0


def _show(arguments: Namespace) -> int:
    from agent.learning.opponent_database import OpponentDatabaseError
    from agent.learning.opponent_game_record import CHESS
    from agent.learning.opponent_profile import OpponentProfile

    games = _read(arguments, arguments.name)
    kinds = [game.game for game in games]
    kind = arguments.game or (CHESS if CHESS in kinds else kinds[-1])
    if kind not in kinds:
        raise OpponentDatabaseError(
            f"{arguments.name}: no games of {kind} "
            f"(expected one of: {', '.join(sorted(set(kinds)))})"
        )
    profile = OpponentProfile([game for game in games if game.game == kind])
    result = _profile_as_json(profile)
    if arguments.json:
        print(json.dumps(result))
    else:
        _print(result)
    return 0


def _profile_as_json(profile: OpponentProfile) -> dict[str, Any]:
    games = profile.games
    seconds = profile.mean_seconds()
    sides = {
        side: {
            "games": len(points := [game.points for game in games if game.side == number]),
            "points": round(sum(points), 1),
            "expected": round(profile.average_points[number], 3),
            "draw_value": profile.draw_value(number),
        }
        for number, side in enumerate(SIDES)
    }
    openings = [
        {
            "side": SIDES[game.side],
            "moves": _san(game),
            "name": _opening_name(game),
            "games": line.games,
            "points": round(line.points, 1),
            "played_again": line.expected >= line.promising_threshold,
        }
        for game, line in profile.openings(OPENING_PLIES)[:MAX_OPENINGS]
    ]
    return {
        "name": games[-1].opponent,
        "game": games[-1].game,
        "games": len(games),
        "sides": sides,
        "openings": openings,
        "time": {
            "seconds_a_move": None if seconds is None else round(seconds, 3),
            "runs_low": profile.in_time_trouble,
            "our_share": profile.time_factor(None),
        },
        "errors": {
            name: {
                "moves": phase.move_count,
                "errors": phase.errors,
                "blunders": phase.blunders,
                "centipawns_a_move": round(phase.centipawn_loss / phase.move_count, 1)
                if phase.move_count
                else None,
            }
            for name, phase in profile.phase_stats().items()
        },
        "repetitions": {
            "accepted": profile.repetitions_accepted,
            "declined": profile.repetitions_declined,
            "expected": round(profile.repetition_acceptance, 3),
        },
    }


def _print(profile: dict[str, Any]) -> None:
    print_text(f"{profile['name']}: {profile['games']} games of {profile['game']}")
    rows = [
        (side, each["games"], each["points"], f"{each['expected']:.2f}", each["draw_value"])
        for side, each in profile["sides"].items()
    ]
    _print_table(("we move", "games", "points", "expected", "draw value"), rows)
    print()
    rows = [
        (each["side"], each["games"], each["points"], each["moves"], each["name"])
        for each in profile["openings"]
    ]
    _print_table(("we move", "games", "points", "frequent openings", ""), rows)
    print()
    rows = [
        (name, each["moves"], each["errors"], each["blunders"], each["centipawns_a_move"] or 0)
        for name, each in profile["errors"].items()
    ]
    _print_table(("phase", "moves", "errors", "blunders", "centipawns lost per move"), rows)
    print()
    moves, clock = profile["repetitions"], profile["time"]
    seconds = clock["seconds_a_move"]
    print(f"repetitions: accepted {moves['accepted']}, declined {moves['declined']}")
    print("time: " + ("unknown" if seconds is None else f"{seconds:.2f} s per move"), end="")
    print(", often in time trouble" if clock["runs_low"] else "")


def _print_table(headings: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    from kempelen.console.plain_table import PlainTable

    table = PlainTable(box=None)
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*map(str, row))
    table_console().print(table)


def _san(game: GameRecord) -> str:
    import chess

    from agent.learning.opponent_game_record import CHESS

    if game.game != CHESS:
        return " ".join(game.moves[:OPENING_PLIES])
    try:
        board = chess.Board(game.start or chess.STARTING_FEN)
        return board.variation_san(map(chess.Move.from_uci, game.moves[:OPENING_PLIES]))
    except ValueError:
        return " ".join(game.moves[:OPENING_PLIES])


def _opening_name(game: GameRecord) -> str:
    import chess

    from agent.learning.opponent_game_record import CHESS
    from openings import names
    from openings.book_common import BookError
    from openings.book_provider import SHIPPED_BOOK

    if game.start or game.game != CHESS:
        return ""
    board = chess.Board()
    try:
        for move in game.moves[:OPENING_PLIES]:
            board.push_uci(move)
        found = names.find_name(names.read(SHIPPED_BOOK.with_suffix(names.SUFFIX)), board)
    except (ValueError, BookError):
        return ""
    return str(found or "")
