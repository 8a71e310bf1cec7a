"""`kempelen habits`: look into a file of games against opponents, and forget some of them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kempelen.console.terminal import print_error

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from agent.learning.opponent_game_record import GameRecord
    from agent.learning.opponent_profile import OpponentProfile

# Openings that are shown, and of how many half-moves.
MAX_OPENINGS = 10
OPENING_PLIES = 8
SIDES = ("first", "second")


def configure(parser: ArgumentParser) -> None:
    """Declare the actions and their arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def add(name: str, help_line: str) -> ArgumentParser:
        action = actions.add_parser(name, help=help_line, description=help_line)
        action.add_argument(
            "--file",
            type=Path,
            required=True,
            metavar="FILE",
            help="what the engine's option OpponentDatabase names",
        )
        return action

    show = add("show", "tell an opponent's habits, and what they change in our play")
    show.add_argument("name", metavar="NAME")
    show.add_argument("--game", help="default: chess, or what was played with him last")
    everybody = add("list", "list the opponents")
    forget = add("forget", "remove all games against an opponent")
    forget.add_argument("name", metavar="NAME")
    for action in (show, everybody, forget):
        action.add_argument("--json", action="store_true", help="print one JSON object")
    show.set_defaults(act=_show)
    everybody.set_defaults(act=_list)
    forget.set_defaults(act=_forget)


def run(arguments: Namespace) -> int:
    """Do what the action says; what goes wrong is said on standard error."""
    from agent.learning.opponent_database import OpponentDatabaseError

    file: Path = arguments.file
    try:
        if not file.exists():
            raise OpponentDatabaseError(
                f"there is no file {file}: OpponentDatabase names one, and a game makes it"
            )
        status: int = arguments.act(arguments)
    except OpponentDatabaseError as error:
        print_error(error, "kempelen habits")
        return 1
    return status


def _read(arguments: Namespace, name: str | None = None) -> list[GameRecord]:
    """Return the games of an opponent, or of all; OpponentDatabaseError if there is none of that name."""
    from agent.learning.opponent_database import OpponentDatabase, OpponentDatabaseError
    from agent.learning.opponent_game_record import is_same_name

    games = OpponentDatabase(arguments.file).read()
    found = [game for game in games if name is None or is_same_name(game.opponent, name)]
    if name is not None and not found:
        known = ", ".join(sorted({game.opponent for game in games})) or "nobody"
        raise OpponentDatabaseError(f"no opponent {name} in {arguments.file}; it knows {known}")
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
    said = {"name": arguments.name, "forgotten": count}
    print(json.dumps(said) if arguments.json else f"{count} games forgotten")
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
            f"no game of {kind} with {arguments.name}, but of {', '.join(sorted(set(kinds)))}"
        )
    habits = OpponentProfile([game for game in games if game.game == kind])
    said = _profile_as_json(habits)
    if arguments.json:
        print(json.dumps(said))
    else:
        _print(said)
    return 0


def _profile_as_json(habits: OpponentProfile) -> dict[str, Any]:
    """Return what is known of an opponent, as it is printed as JSON."""
    games = habits.games
    seconds = habits.mean_seconds()
    sides = {
        side: {
            "games": len(points := [game.points for game in games if game.side == number]),
            "points": round(sum(points), 1),
            "expected": round(habits.average_points[number], 3),
            "draw_value": habits.draw_value(number),
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
        for game, line in habits.openings(OPENING_PLIES)[:MAX_OPENINGS]
    ]
    return {
        "name": games[-1].opponent,
        "game": games[-1].game,
        "games": len(games),
        "sides": sides,
        "openings": openings,
        "time": {
            "seconds_a_move": None if seconds is None else round(seconds, 3),
            "runs_low": habits.in_time_trouble,
            "our_share": habits.time_factor(None),
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
            for name, phase in habits.phase_stats().items()
        },
        "repetitions": {
            "accepted": habits.repetitions_accepted,
            "declined": habits.repetitions_declined,
            "expected": round(habits.repetition_acceptance, 3),
        },
    }


def _print(said: dict[str, Any]) -> None:
    print(f"{said['name']}: {said['games']} games of {said['game']}")
    rows = [
        (side, each["games"], each["points"], f"{each['expected']:.2f}", each["draw_value"])
        for side, each in said["sides"].items()
    ]
    _print_table(("we move", "games", "points", "expected", "a draw is worth"), rows)
    print()
    rows = [
        (each["side"], each["games"], each["points"], each["moves"], each["name"])
        for each in said["openings"]
    ]
    _print_table(("we move", "games", "points", "his usual openings", ""), rows)
    print()
    rows = [
        (name, each["moves"], each["errors"], each["blunders"], each["centipawns_a_move"] or 0)
        for name, each in said["errors"].items()
    ]
    _print_table(("phase", "moves", "errors", "blunders", "centipawns lost a move"), rows)
    print()
    moves, clock = said["repetitions"], said["time"]
    took = clock["seconds_a_move"]
    print(f"repetitions: accepted {moves['accepted']}, declined {moves['declined']}")
    print("time: " + ("unknown" if took is None else f"{took:.2f} s a move"), end="")
    print(", runs low" if clock["runs_low"] else "")


def _print_table(headings: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    from rich.console import Console

    from kempelen.console.plain_table import PlainTable

    table = PlainTable(box=None)
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*map(str, row))
    Console(width=max(100, Console().width)).print(table)


def _san(game: GameRecord) -> str:
    """Return the first moves as people write them; as they are kept if they cannot be played."""
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
    """Return what the opening is called."""
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
