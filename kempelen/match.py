"""`kempelen match`: engines against each other, everything on the command line."""

import argparse
import re
from collections.abc import Mapping
from typing import Any

from agent.border.command_line import split_command_line
from agent.games import catalogue
from kempelen.console import print_error
from kempelen.game_options import options_for, read_option
from kempelen.running import configure_run, run_tournament
from protocols.client.process import EngineError, find_program
from tournament.formats import Format
from tournament.game_settings import CHESS
from tournament.lab_agents import LAB_OPTIONS
from tournament.settings import OpeningOrder, Settings, parse_settings
from tournament.time_control import TOLERANCE_KEYS, parse_clock
from tournament.values import SettingsError

ALIASES = {
    "cmd": "command",
    "args": "arguments",
    "dir": "directory",
    "proto": "protocol",
    "tc": "time",
}
# The entries of a player, besides option.NAME and env.NAME.
ENGINE_KEYS = {
    *("cmd", "args", "dir", "proto", "tc", "agent", "algorithm", *LAB_OPTIONS, "name"),
    *("restart", "start_limit", "ready_limit", "quit_limit"),
    *("movetime", "nodes", "depth", "margin", "patience", "playouts"),
}
LIMIT_NAMES = ("movetime", "nodes", "depth", "margin", "patience", "playouts")
ENGINE_HELP = (
    "a player: cmd=PROGRAM (with its arguments, or these by args=...), or agent=chess for our own "
    "in this process, or proto=lab,algorithm=... for any algorithm on any game (with playouts=, "
    "evaluation=FILE.py:FUNCTION, seed=, and of algorithm=compiled threads=, memory=), with any of "
    "args=..., name=..., dir=..., proto=uci|xboard|gtp|mqtt, "
    "option.NAME=VALUE, env.NAME=VALUE, tc=..., nodes=..., movetime=..., depth=..., margin=..., "
    "restart=auto|on|off, start_limit=SECONDS; a comma within a value is written \\,"
)


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
    if arguments.tc is None and not _has_limit(time):
        for engine in engines:
            if not _has_limit(engine.get("time", {})):
                raise SettingsError(
                    f"no time control: add --tc, --movetime, --nodes or --depth (--playouts for "
                    f"agents of the lab), or tc=..., movetime=..., nodes=... or depth=... to "
                    f"--engine {engine.get('name') or engine['command']}"
                )
    data = {
        "game": game_entries(arguments),
        "engines": engines,
        "time": _time_entries(arguments.tc, time, "--tc") or None,
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


def _has_limit(time: Mapping[str, Any]) -> bool:
    """Tell whether a time control's entries limit anything."""
    return any(value is not None for name, value in time.items() if name not in TOLERANCE_KEYS)


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


def parse_entries(text: str, where: str) -> dict[str, str]:
    """Return the entries of `name=value,name=value`."""
    entries = {}
    for part in re.split(r"(?<!\\),", text) if text else ():
        name, equals, value = part.replace("\\,", ",").partition("=")
        if not equals or not name:
            raise SettingsError(f"{where}: write name=value, not {part!r}")
        entries[name.strip()] = value
    return entries


def engine_entries(entries: Mapping[str, str]) -> dict[str, Any]:
    """Return an engine's command-line entries as EngineSettings has them."""
    for key in entries:
        _check_key(key)
    engine: dict[str, Any] = {"options": {}, "environment": {}}
    limits: dict[str, str] = {}
    clock = None
    for key, value in entries.items():
        name = ALIASES.get(key, key)
        group, dot, item = name.partition(".")
        if dot and group == "option":
            engine["options"][item] = value
        elif dot and group == "env":
            engine["environment"][item] = value
        elif name == "time":
            clock = value
        elif name in LIMIT_NAMES:
            limits[name] = value
        elif name == "arguments":
            engine[name] = _split_words(value)
        else:
            engine[name] = value
    if clock is not None or limits:
        engine["time"] = _time_entries(clock, limits, "tc")
    if "agent" in engine:
        engine.update(command=engine.pop("agent"), protocol="agent")
        engine.setdefault("name", "Kempelen")
    if "algorithm" in engine or engine.get("protocol") == "lab":
        _convert_lab_agent(engine)
    if not engine.get("command", "").strip():
        raise SettingsError("--engine: cmd=PROGRAM is missing")
    if "arguments" not in engine and " " in engine["command"] and not _is_program(engine):
        engine["command"], *engine["arguments"] = _split_words(engine["command"])
    return engine


def _split_words(text: str) -> list[str]:
    """Split text as a shell does; SettingsError for a quotation that does not end."""
    try:
        return split_command_line(text)
    except ValueError as error:
        raise SettingsError(f"--engine: {text}: {error}") from None


def _check_key(key: str) -> None:
    """Raise SettingsError for an entry that there is not, in the words of the command line."""
    group, _, item = key.partition(".")
    if key in ENGINE_KEYS or ALIASES.get(key, key) in ALIASES.values():
        return
    if group in ("option", "env") and item:
        return
    known = ", ".join(sorted(ENGINE_KEYS | {"option.NAME", "env.NAME"}))
    if item and "options".startswith(group):
        hint = f"an option of the engine is option.{item}=..."
    else:
        hint = f"possible are {known}; an option of the engine is option.NAME=..."
    raise SettingsError(f"--engine: {key}: unknown; {hint}")


def _convert_lab_agent(engine: dict[str, Any]) -> None:
    """Turn the entries of an agent of the lab into those of EngineSettings."""
    if "algorithm" not in engine:
        raise SettingsError("--engine: proto=lab needs algorithm=..., such as mcts or alpha-beta")
    engine.update(command=engine.pop("algorithm"), protocol="lab")
    for name in LAB_OPTIONS & engine.keys():
        engine["options"][name] = engine.pop(name)


def _is_program(engine: Mapping[str, Any]) -> bool:
    try:
        find_program(engine["command"], engine.get("directory"))
    except EngineError:
        return False
    return True


def _time_entries(clock: str | None, limits: Mapping[str, Any], where: str) -> dict[str, Any]:
    given = {name: value for name, value in limits.items() if value is not None}
    if clock is None:
        return given
    try:
        return {**parse_clock(clock), **given}
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None
