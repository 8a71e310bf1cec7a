"""Game options on the command line."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable
from inspect import signature
from typing import Any

from agent.games.catalogue import GameType
from agent.io import safe_yaml
from agent.io.message import Message


def read_option(text: str) -> tuple[str, Any]:
    """Parse NAME=VALUE, and return the name and the parsed value."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ArgumentTypeError(Message("expected NAME=VALUE, not {!r}", text))
    return name, read_value(value)


def read_value(text: str) -> Any:
    """Parse a YAML value, or a list if it contains commas. Notations such as 0x13 stay text."""
    from kempelen.console import yaml_scalars

    try:
        written = f"[{text}]" if "," in text and not text.startswith("[") else text
        return yaml_scalars.plain(yaml_scalars.load(written))
    except safe_yaml.YamlError:
        return text


def options_for(
    kind: GameType, size: str | None, options: Iterable[tuple[str, Any]]
) -> dict[str, Any]:
    """Return the options of a game as keyword arguments. `size` is the game's first option.

    Raise ValueError if `size` is given but the game has no options, or an option is given twice.
    """
    values: dict[str, Any] = {}
    for name, value in options:
        if name in values:
            raise ValueError(Message("option {} is given twice", name))
        values[name] = value
    known = signature(kind.game_class).parameters
    if size is not None:
        sizes = [name for name, each in known.items() if each.kind is not each.KEYWORD_ONLY]
        if not sizes:
            raise ValueError(Message("game {} has no --size", kind.name))
        if (first := sizes[0]) in values:
            raise ValueError(Message("option {} is given twice", first))
        values[first] = read_value(size)
    for name in known.keys() & values.keys():
        if isinstance(known[name].default, tuple) and not isinstance(values[name], list):
            values[name] = [values[name]]  # for a single heap: `--size 3`
    return values
