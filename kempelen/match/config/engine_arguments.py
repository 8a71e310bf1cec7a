"""Parse the value of `--engine`, for example `cmd=PROGRAM,name=NAME,option.Hash=64`."""

import re
from collections.abc import Mapping
from typing import Any

from agent.io.command_line import split_command_line
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.time_control import TOLERANCE_KEYS, parse_clock
from kempelen.match.engines.lab_agents import LAB_OPTIONS
from protocols.client.process import EngineError, find_program

ALIASES = {
    "cmd": "command",
    "args": "arguments",
    "dir": "directory",
    "proto": "protocol",
    "tc": "time",
    # Names in fastchess and cutechess.
    "st": "movetime",
    "plies": "depth",
}
LIMIT_NAMES = ("movetime", "nodes", "depth", "margin", "patience", "playouts")
# All valid keys of `--engine`, except option.NAME and env.NAME.
ENGINE_KEYS = {
    *("cmd", "args", "dir", "proto", "tc", "agent", "algorithm", *LAB_OPTIONS, "name"),
    *("restart", "start_limit", "ready_limit", "quit_limit", "book", "bookdepth", "ponder"),
    "timemargin",
    *LIMIT_NAMES,
}
ENGINE_HELP = (
    "add an engine: cmd=PROGRAM (arguments follow or are given by args=...), agent=chess for the "
    "built-in engine in this process, or proto=lab,algorithm=... for any algorithm on any game "
    "(options: playouts=, evaluation=FILE.py:FUNCTION, seed=; with algorithm=compiled also "
    "threads=, memory=). Other keys: args=..., name=..., dir=..., proto=uci|xboard|gtp|mqtt, "
    "option.NAME=VALUE, env.NAME=VALUE, tc=..., nodes=..., movetime=..., depth=..., margin=..., "
    "restart=auto|on|off, start_limit=SECONDS, book=FILE.bin (Polyglot), bookdepth=MOVES, "
    "ponder=true. Write a comma within a value as \\,"
)


def has_limit(time: Mapping[str, Any]) -> bool:
    """Return whether the time control limits a search. `margin` and `patience` are not limits."""
    return any(value is not None for name, value in time.items() if name not in TOLERANCE_KEYS)


def parse_entries(text: str, where: str) -> dict[str, str]:
    """Parse `name=value,name=value`.

    `where` is the prefix of error messages. Raise SettingsError if a part has no `=`, or if a name
    is given twice.
    """
    entries: dict[str, str] = {}
    for part in re.split(r"(?<!\\),", text) if text else ():
        name, equals, value = part.replace("\\,", ",").partition("=")
        if not equals or not name:
            raise SettingsError(f"{where}: invalid entry {part!r} (expected NAME=VALUE)")
        if name.strip() in entries:
            raise SettingsError(f"{where}: {name.strip()} is given twice")
        entries[name.strip()] = value
    return entries


def engine_entries(entries: Mapping[str, str]) -> dict[str, Any]:
    """Convert entries of `--engine` to fields of EngineSettings.

    Raise SettingsError if a key is unknown or the program is missing.
    """
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
        elif name == "timemargin":
            limits["margin"] = _milliseconds(value)
        elif name in LIMIT_NAMES:
            limits[name] = value
        elif name == "arguments":
            engine[name] = _split_words(value)
        else:
            engine[name] = value
    if clock is not None or limits:
        engine["time"] = time_entries(clock, limits, "tc")
    if "agent" in engine:
        engine.update(command=engine.pop("agent"), protocol="agent")
        engine.setdefault("name", "Kempelen")
    if "algorithm" in engine or engine.get("protocol") == "lab":
        _convert_lab_agent(engine)
    if not engine.get("command", "").strip():
        raise SettingsError("--engine: missing cmd=PROGRAM")
    if "arguments" not in engine and " " in engine["command"] and not _is_program(engine):
        engine["command"], *engine["arguments"] = _split_words(engine["command"])
    return engine


def _milliseconds(text: str) -> str:
    try:
        return str(float(text) / 1000)
    except ValueError:
        raise SettingsError(
            f"--engine: timemargin: invalid value {text!r} (milliseconds)"
        ) from None


def _split_words(text: str) -> list[str]:
    try:
        return split_command_line(text)
    except ValueError as error:
        raise SettingsError(f"--engine: {text}: {error}") from None


def _check_key(key: str) -> None:
    group, _, item = key.partition(".")
    if key in ENGINE_KEYS or ALIASES.get(key, key) in ALIASES.values():
        return
    if group in ("option", "env") and item:
        return
    known = ", ".join(sorted(ENGINE_KEYS | {"option.NAME", "env.NAME"}))
    if item and "options".startswith(group):
        hint = f"set an engine option with option.{item}=..."
    else:
        hint = f"expected one of: {known}; set an engine option with option.NAME=..."
    raise SettingsError(f"--engine: {key}: unknown key ({hint})")


def _convert_lab_agent(engine: dict[str, Any]) -> None:
    if "algorithm" not in engine:
        raise SettingsError("--engine: proto=lab requires algorithm=... (mcts, alpha-beta, ...)")
    engine.update(command=engine.pop("algorithm"), protocol="lab")
    for name in LAB_OPTIONS & engine.keys():
        engine["options"][name] = engine.pop(name)


def _is_program(engine: Mapping[str, Any]) -> bool:
    try:
        find_program(engine["command"], engine.get("directory"))
    except EngineError:
        return False
    return True


def time_entries(clock: str | None, limits: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return TimeControl fields from a clock such as 40/60+1 and `limits`, which take precedence.

    Raise SettingsError, with the prefix `where`, if the clock is invalid.
    """
    entries = {name: value for name, value in limits.items() if value is not None}
    if clock is None:
        return entries
    try:
        return {**parse_clock(clock), **entries}
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None
