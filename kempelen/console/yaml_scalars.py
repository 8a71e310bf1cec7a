"""YAML as a user means it: a plain word keeps its text, whatever YAML would make of it.

YAML reads `on` and `no` as booleans, 1:30 as 90, 1.10 as 1.1 and 2024-01-01 as a date. Which of
that is meant only the setting says that it is written for.
"""

from __future__ import annotations

import datetime
from typing import Any

import yaml

from agent.io import safe_yaml

_TYPES = ("bool", "int", "float", "timestamp")


class PlainScalar(str):
    """A word without quotes. value: what YAML takes it for, which is another type than text."""

    __slots__ = ("value",)
    value: bool | int | float | datetime.date

    def __new__(cls, text: str, value: bool | int | float | datetime.date) -> PlainScalar:
        """Make a word of its text and what YAML takes it for."""
        word = super().__new__(cls, text)
        word.value = value
        return word

    def plain(self) -> bool | int | float | str:
        """Return what YAML takes it for where that is the same thing, otherwise the text."""
        if isinstance(self.value, bool):
            return self.value
        try:
            if isinstance(self.value, int | float) and float(self) == self.value:
                return self.value
        except ValueError:
            pass
        return str(self)


def load(text: str) -> Any:
    """Return what a document holds. Raises YamlError."""
    return safe_yaml.load(text, _Loader)


def read(path: str) -> Any:
    """Return what a file holds. Raises YamlError, and OSError where there is no such file."""
    return safe_yaml.read(path, _Loader)


def plain(data: Any) -> Any:
    """Return data without words, for what knows nothing of them."""
    if isinstance(data, PlainScalar):
        return data.plain()
    if isinstance(data, dict):
        return {plain(key): plain(item) for key, item in data.items()}
    if isinstance(data, list):
        return [plain(item) for item in data]
    return data


class _Loader(yaml.SafeLoader):
    """The safe loader, which keeps the text of words."""


def _construct_scalar(loader: _Loader, node: yaml.ScalarNode) -> PlainScalar:
    return PlainScalar(node.value, yaml.SafeLoader.yaml_constructors[node.tag](loader, node))


for _name in _TYPES:
    _Loader.add_constructor(f"tag:yaml.org,2002:{_name}", _construct_scalar)
