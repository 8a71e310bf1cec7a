"""The options of a game as they are written on the command line."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable
from inspect import signature
from typing import Any

from agent.games.catalogue import GameType
from agent.io import safe_yaml


def read_option(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; for argparse."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ArgumentTypeError(f"expected NAME=VALUE, not {text!r}")
    return name, read_value(value)


def read_value(text: str) -> Any:
    """Read a value as YAML, commas making a list; a number that YAML writes otherwise is text.

    So 0x13 is no hexadecimal number, but a board that cannot be.
    """
    from kempelen.console import yaml_scalars

    try:
        written = f"[{text}]" if "," in text and not text.startswith("[") else text
        return yaml_scalars.plain(yaml_scalars.load(written))
    except safe_yaml.YamlError:
        return text


def options_for(
    kind: GameType, size: str | None, options: Iterable[tuple[str, Any]]
) -> dict[str, Any]:
    """Return the options of a game; `size` is the first that it has, whatever its name.

    Raises ValueError if there is a size, but the game has no options.
    """
    fitting: dict[str, Any] = dict(options)
    known = signature(kind.game_class).parameters
    if size is not None:
        if not known:
            raise ValueError(f"game {kind.name} has no --size")
        fitting[next(iter(known))] = read_value(size)
    for name in known.keys() & fitting.keys():
        if isinstance(known[name].default, tuple) and not isinstance(fitting[name], list):
            fitting[name] = [fitting[name]]  # one heap
    return fitting
