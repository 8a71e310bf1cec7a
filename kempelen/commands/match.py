"""`kempelen match`: engines against each other, everything on the command line."""

import argparse
from typing import Any

from agent.games import catalogue
from kempelen.console.game_options import options_for, read_option
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import print_error
from kempelen.match.config.engine_arguments import (
    ENGINE_HELP,
    LIMIT_NAMES,
    engine_entries,
    has_limit,
    parse_entries,
    time_entries,
)
from kempelen.match.config.game_settings import CHESS
from kempelen.match.config.settings import OpeningOrder, Settings, parse_settings
from kempelen.match.pairing.formats import Format
from kempelen.match.tournament_run import configure_run, run_tournament


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--engine", action="append", default=[], metavar="SPEC", help=ENGINE_HELP)
    parser.add_argument("--each", metavar="SPEC", help="entries that every --engine begins with")
    parser.add_argument("--name", default="match", help="the tournament's name (default match)")
    time = parser.add_argument_group("time control (times in seconds)")
    time.add_argument("--tc", metavar="MOVES/BASE+INC", help="a clock, such as 10+0.1 or 40/60")
    time.add_argument("--movetime", type=float, help="seconds for each move")
    time.add_argument("--nodes", type=int, help="nodes for each move")
    time.add_argument("--depth", type=int, help="plies for each move")
    time.add_argument("--playouts", type=int, help="for each move of agents of the lab")
    time.add_argument("--margin", type=float, help="how late a move may come (default 0.02)")
    time.add_argument("--patience", type=float, help="when a search without clock is hung (60)")
    games = parser.add_argument_group("games")
    configure_game(games)
    games.add_argument("--format", choices=[str(f) for f in Format], default="round-robin")
    games.add_argument("--games", type=int, default=2, help="games of each pairing (default 2)")
    games.add_argument("--rounds", type=int, default=1, help="rounds (default 1)")
    games.add_argument("--seed", type=int, default=0, help="seed of the openings' order")
    games.add_argument("--chess960", action="store_true", help="play Chess960")
    games.add_argument(
        "--openings", metavar="FILE",
        help="EPD, FEN, PGN or YAML (default: built in); other games: text, a line of moves each",
    )  # fmt: skip
    games.add_argument("--order", choices=[str(o) for o in OpeningOrder], default="random")
    games.add_argument(
        "--plies", type=int,
        help="plies of each opening to use; in other games, how many are made at random (4)",
    )  # fmt: skip
    ends = parser.add_argument_group("adjudication and test")
    ends.add_argument("--draw", metavar="SPEC", help="movenumber=40,movecount=8,score=10")
    ends.add_argument("--resign", metavar="SPEC", help="movecount=3,score=600,twosided=false")
    ends.add_argument("--maxmoves", type=int, help="a draw after so many moves")
    ends.add_argument("--tables", metavar="DIR", help="Syzygy endgame tables")
    ends.add_argument(
        "--sprt",
        metavar="SPEC",
        help="elo0=0,elo1=2,alpha=0.05,beta=0.05,model=normalized|logistic",
    )
    configure_run(parser)


def configure_game(group: argparse._ArgumentGroup) -> None:
    """Declare the arguments that say what is played."""
    group.add_argument(
        "--game", default="chess", metavar="G", help="the game's name, or FILE.py:Class"
    )
    group.add_argument(
        "--size", "--state", metavar="VALUE",
        help="the game's first option, such as the size of its board",
    )  # fmt: skip
    group.add_argument("--komi", type=float, help="of Go (default 7.5)")
    group.add_argument(
        "--option", action="append", default=[], type=read_option, metavar="NAME=VALUE",
        help="another option of the game; may be repeated",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Play the match."""
    try:
        settings = settings_from(arguments)
    except SettingsError as error:
        print_error(error)
        return 2
    return run_tournament(settings, arguments)


def settings_from(arguments: argparse.Namespace) -> Settings:
    """Return the tournament that the arguments describe, or raise SettingsError."""
    each = parse_entries(arguments.each or "", "--each")
    time = {name: getattr(arguments, name) for name in LIMIT_NAMES}
    engines = [
        engine_entries({**each, **parse_entries(text, "--engine")}) for text in arguments.engine
    ]
    if arguments.tc is None and not has_limit(time):
        for engine in engines:
            if not has_limit(engine.get("time", {})):
                raise SettingsError(
                    f"no time control: add --tc, --movetime, --nodes or --depth (--playouts for "
                    f"agents of the lab), or tc=..., movetime=..., nodes=... or depth=... to "
                    f"--engine {engine.get('name') or engine['command']}"
                )
    data = {
        "game": game_entries(arguments),
        "engines": engines,
        "time": time_entries(arguments.tc, time, "--tc") or None,
        "openings": {
            "file": arguments.openings,
            "order": arguments.order,
            "plies": arguments.plies,
        },
        "adjudication": {
            "draw": arguments.draw and parse_entries(arguments.draw, "--draw"),
            "resign": arguments.resign and parse_entries(arguments.resign, "--resign"),
            "maxmoves": arguments.maxmoves,
            "tables": arguments.tables,
        },
        "sprt": arguments.sprt and parse_entries(arguments.sprt, "--sprt"),
    }
    for name in ("name", "format", "games", "rounds", "seed", "chess960"):
        data[name] = getattr(arguments, name)
    return parse_settings(data)


def game_entries(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the game as GameSettings has it."""
    if arguments.game == CHESS:
        if arguments.size is not None or arguments.komi is not None or arguments.option:
            raise SettingsError("--size, --komi and --option are of other games: add --game")
        return {}
    options = list(arguments.option)
    if arguments.komi is not None:
        options.append(("komi", arguments.komi))
    try:
        kind = catalogue.find(arguments.game)
        return {"name": arguments.game, "options": options_for(kind, arguments.size, options)}
    except ValueError as error:
        raise SettingsError(f"--game: {error}") from None
