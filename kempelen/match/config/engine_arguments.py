"""A player on the command line: `cmd=PROGRAM,name=NAME,option.Hash=64`."""

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


def has_limit(time: Mapping[str, Any]) -> bool:
    """Tell whether a time control's entries limit anything."""
    return any(value is not None for name, value in time.items() if name not in TOLERANCE_KEYS)


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
        engine["time"] = time_entries(clock, limits, "tc")
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


def time_entries(clock: str | None, limits: Mapping[str, Any], where: str) -> dict[str, Any]:
    given = {name: value for name, value in limits.items() if value is not None}
    if clock is None:
        return given
    try:
        return {**parse_clock(clock), **given}
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None
