"""`kempelen match`: play a match or a tournament, described by flags or by a YAML file."""

import argparse
import dataclasses
import json
import os
import re
from typing import Any

from agent.games import catalogue
from agent.games.variants import VARIANTS
from agent.machine import usable_cpus
from kempelen.console import interruption
from kempelen.console.argument_types import AppendNamed
from kempelen.console.game_options import options_for, read_option
from kempelen.console.old_names import add_alias
from kempelen.console.settings_codec import SettingsError, decode, encode
from kempelen.console.terminal import print_error, print_text
from kempelen.match.config.engine_arguments import (
    ENGINE_HELP,
    LIMIT_NAMES,
    engine_entries,
    has_limit,
    parse_entries,
    time_entries,
)
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import CHESS
from kempelen.match.config.run_settings import parse_cpus
from kempelen.match.config.settings import OpeningOrder, Settings, parse_settings
from kempelen.match.config.tournament_file import read_tournament
from kempelen.match.pairing.formats import Format
from kempelen.match.suites.uci_compliance import StepResult, check_compliance
from kempelen.match.tournament_run import configure_run, run_tournament
from protocols.client.process import EngineError

# Parsed names of the flags that describe the match. Each is None or [] unless it is given. They are
# not allowed together with a file.
DESCRIPTION_FLAGS = {
    **{name: f"--{name}" for name in ("engine", "each", "name", "tc", *LIMIT_NAMES)},
    "patience": "--timeout",
    **{name: f"--{name}" for name in ("game", "size", "komi", "option", "format", "games")},
    **{
        name: f"--{name}" for name in ("rounds", "seed", "chess960", "variant", "openings", "order")
    },
    **{name: f"--{name}" for name in ("noswap", "reverse", "seeds")},
    "plies": "--opening-plies",
    "start": "--opening-start",
    **{name: f"--{name}" for name in ("draw", "resign", "maxmoves", "tables", "sprt")},
}


# Flags that set fields of RunSettings. They may also be given together with FILE.yaml.
RUN_FLAGS = ("wait", "check_mate_pvs", "affinity")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = "kempelen match [FILE.yaml] [options]"
    parser.epilog = (
        "kempelen match ratings: rate the players of PGN files. kempelen match sprt: compute Elo "
        "and SPRT from the results of a match."
    )
    parser.add_argument(
        "file", nargs="?", metavar="FILE.yaml",
        help="YAML file that describes the tournament, in place of --engine and the flags for time "
        "control, games and adjudication; docs/guide/matches.md shows its entries",
    )  # fmt: skip
    parser.add_argument("--engine", action="append", default=[], metavar="SPEC", help=ENGINE_HELP)
    parser.add_argument("--each", metavar="SPEC", help="defaults for every --engine")
    parser.add_argument("--name", help="name of the tournament (default: match)")
    time = parser.add_argument_group("time control (in seconds)")
    time.add_argument(
        "--tc", metavar="MOVES/BASE+INC",
        help="clock, such as 10+0.1 or 40/60; hg60 is an hourglass; with inf, only the other "
        "limits apply, or the engine ends its searches itself",
    )  # fmt: skip
    time.add_argument("--movetime", type=float, help="seconds per move")
    time.add_argument("--nodes", type=int, help="nodes per move")
    time.add_argument("--depth", type=int, help="plies per move")
    time.add_argument("--playouts", type=int, help="playouts per move (agents of the lab)")
    time.add_argument(
        "--margin", type=float, help="time by which a move may be late (default: 0.02)"
    )
    timeout = time.add_argument(
        "--timeout", dest="patience", type=float,
        help="time after which a search without a clock is considered hung (default: 60)",
    )  # fmt: skip
    add_alias(time, "--patience", timeout)
    games = parser.add_argument_group("games")
    configure_game(games)
    games.add_argument(
        "--format", choices=[str(f) for f in Format], help="pairing system (default: round-robin)"
    )
    games.add_argument("--games", type=int, help="games per pairing (default: 2)")
    games.add_argument("--rounds", type=int, help="number of rounds (default: 1)")
    games.add_argument(
        "--seeds", type=int, metavar="N",
        help="in a gauntlet, the first N engines play against all others (default: 1)",
    )  # fmt: skip
    games.add_argument("--seed", type=int, help="random seed for the openings (default: 0)")
    games.add_argument(
        "--noswap", action="store_true", default=None,
        help="do not swap colours: the first engine of a pairing is always White, and each game "
        "has its own opening",
    )  # fmt: skip
    games.add_argument(
        "--reverse", action="store_true", default=None,
        help="begin each pairing with reversed colours",
    )  # fmt: skip
    games.add_argument("--chess960", action="store_true", default=None, help="play Chess960")
    games.add_argument(
        "--variant", metavar="NAME", help=f"play a variant: {', '.join(VARIANTS[1:])}"
    )
    games.add_argument(
        "--openings", metavar="FILE",
        help="file of openings: EPD, FEN, PGN or YAML (default: a built-in set); for other games a "
        "text file with the moves of an opening per line",
    )  # fmt: skip
    games.add_argument(
        "--order", choices=[str(o) for o in OpeningOrder],
        help="order of the openings (default: random)",
    )  # fmt: skip
    plies = games.add_argument(
        "--opening-plies", dest="plies", type=int,
        help="plies used from each opening; for other games, number of random plies (default: 4)",
    )  # fmt: skip
    add_alias(games, "--plies", plies)
    games.add_argument(
        "--opening-start", dest="start", type=int, metavar="N",
        help="number of the first opening that is used, in the given order (default: 1)",
    )  # fmt: skip
    ends = parser.add_argument_group("adjudication and test")
    ends.add_argument(
        "--draw",
        metavar="SPEC",
        help="draw rule, for example movenumber=40,movecount=8,score=10 (centipawns)",
    )
    ends.add_argument(
        "--resign",
        metavar="SPEC",
        help="resign rule, for example movecount=3,score=600,twosided=false (centipawns)",
    )
    ends.add_argument(
        "--maxmoves", type=int,
        help="number of moves after which a game is drawn, counted from its start position",
    )  # fmt: skip
    ends.add_argument(
        "--tables", metavar="PATHS",
        help=f"folder of Syzygy endgame tables, or several, separated by {os.pathsep!r}",
    )  # fmt: skip
    ends.add_argument(
        "--sprt",
        metavar="SPEC",
        help="stop when the SPRT decides: elo0=0,elo1=2,alpha=0.05,beta=0.05,"
        "model=normalized|logistic",
    )
    configure_run(parser)
    details = parser.add_argument_group("details of the run")
    details.add_argument(
        "--wait", type=int, metavar="MS",
        help="milliseconds to wait before the next game on a board (default: 0)",
    )  # fmt: skip
    details.add_argument(
        "--use-affinity", dest="affinity", type=_cpus, nargs="?", const=usable_cpus(),
        metavar="CPUS",
        help="bind the engines of each game to their own CPUs, of a list such as 3,5,7-11 "
        "(default: all; Linux only)",
    )  # fmt: skip
    details.add_argument(
        "--check-mate-pvs", action="store_true", default=None,
        help="report the first principal variation of each player in a game that does not show "
        "the mate of its score",
    )  # fmt: skip
    parser.add_argument(
        "--compliance", metavar="ENGINE",
        help="play no games, but check step by step that a UCI engine follows the protocol; ENGINE "
        "is a program with its arguments, or cmd=PROGRAM,... as for --engine; the exit status is 1 "
        "if a step fails",
    )  # fmt: skip


def _cpus(text: str) -> tuple[int, ...]:
    try:
        return parse_cpus(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"invalid CPU list {text!r} (expected, for example, 3,5,7-11)"
        ) from None


def configure_game(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--game", metavar="G", help="name of the game, or FILE.py:Class (default: chess)"
    )
    group.add_argument(
        "--size", "--state", metavar="VALUE",
        help="first option of the game, such as the size of its board",
    )  # fmt: skip
    group.add_argument("--komi", type=float, help="komi for Go (default: 7.5)")
    group.add_argument(
        "--option", action=AppendNamed, default=[], type=read_option, metavar="NAME=VALUE",
        help="another option of the game; may be repeated",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    if arguments.compliance is not None:
        return _run_compliance(arguments)
    try:
        settings = settings_from(arguments)
    except SettingsError as error:
        print_error(error)
        return 2
    return run_tournament(settings, arguments)


def settings_from(arguments: argparse.Namespace) -> Settings:
    """Return the settings in the YAML file or the flags. Raise SettingsError if one is invalid."""
    if arguments.file is None:
        settings = _settings_from_flags(arguments)
    elif given := _description_flags(arguments):
        raise SettingsError(
            f"{', '.join(given)}: not allowed with {arguments.file}, which describes the match"
        )
    else:
        settings = read_tournament(arguments.file)
    if arguments.affinity == ():
        raise SettingsError("--use-affinity: not supported on this system (Linux only)")
    given_run = {
        name: value for name in RUN_FLAGS if (value := getattr(arguments, name)) is not None
    }
    return dataclasses.replace(settings, run=dataclasses.replace(settings.run, **given_run))


def _description_flags(arguments: argparse.Namespace) -> list[str]:
    return [
        flag
        for name, flag in DESCRIPTION_FLAGS.items()
        if getattr(arguments, name) not in (None, [])
    ]


def _run_compliance(arguments: argparse.Namespace) -> int:
    """Return 0 if the engine passes all steps, 1 if it fails, or 2 if it cannot be checked."""

    def report(step: StepResult) -> None:
        if not arguments.json:
            detail = f": {step.detail}" if step.detail else ""
            print_text(f"{step.outcome:7} {step.number:2} {step.description}{detail}")

    try:
        engine = _compliance_engine(arguments)
        result = interruption.run(check_compliance(engine, report))
    except (SettingsError, EngineError) as error:
        print_error(error)
        return 2
    except KeyboardInterrupt:
        print_error("interrupted")
        return interruption.exit_status()
    if arguments.json:
        print(json.dumps({"passed": result.passed, **encode(result)}))
    else:
        name = result.name or engine.command
        print_text(f"{name}: {result.failures} of {len(result.steps)} steps failed")
    return 0 if result.passed else 1


def _compliance_engine(arguments: argparse.Namespace) -> EngineSettings:
    given = _description_flags(arguments) + ([arguments.file] if arguments.file else [])
    if given:
        raise SettingsError(f"{', '.join(given)}: not allowed with --compliance")
    text = arguments.compliance
    is_spec = re.match(r"[\w.]+=", text)
    entries = engine_entries(parse_entries(text, "--compliance") if is_spec else {"cmd": text})
    engine = decode(EngineSettings, entries)
    if engine.protocol is not EngineProtocol.UCI:
        raise SettingsError(f"--compliance: protocol must be uci (got {engine.protocol})")
    return engine


def _settings_from_flags(arguments: argparse.Namespace) -> Settings:
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
    openings = {name: getattr(arguments, name) for name in ("order", "plies", "start")}
    data = {
        "game": game_entries(arguments),
        "engines": engines,
        "time": time_entries(arguments.tc, time, "--tc") or None,
        "openings": {
            "file": arguments.openings,
            **{name: value for name, value in openings.items() if value is not None},
        },
        "adjudication": {
            "draw": arguments.draw and parse_entries(arguments.draw, "--draw"),
            "resign": arguments.resign and parse_entries(arguments.resign, "--resign"),
            "maxmoves": arguments.maxmoves,
            "tables": arguments.tables,
        },
        "sprt": arguments.sprt and parse_entries(arguments.sprt, "--sprt"),
    }
    plain = ("name", "format", "games", "rounds", "seeds", "seed", "noswap", "reverse")
    for name in (*plain, "chess960", "variant"):
        if (value := getattr(arguments, name)) is not None:
            data[name] = value
    return parse_settings(data)


def game_entries(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the flags as GameSettings fields, or {} for chess. Raise SettingsError if invalid."""
    if arguments.game in (None, CHESS):
        if arguments.size is not None or arguments.komi is not None or arguments.option:
            raise SettingsError("--size, --komi and --option are for other games: add --game")
        return {}
    options = list(arguments.option)
    if arguments.komi is not None:
        options.append(("komi", arguments.komi))
    try:
        kind = catalogue.find(arguments.game)
        return {"name": arguments.game, "options": options_for(kind, arguments.size, options)}
    except ValueError as error:
        raise SettingsError(f"--game: {error}") from None
