"""A YAML loader that keeps the original text of unquoted scalars.

YAML 1.1 reads `on` and `no` as booleans, 1:30 as 90, 1.10 as 1.1, and 2024-01-01 as a date. The
type of each setting decides whether the text or the YAML value is used.
"""

from __future__ import annotations

import datetime
from typing import Any

import yaml

from agent.io import safe_yaml

_TYPES = ("bool", "int", "float", "timestamp")


class UnquotedScalar(str):
    """The text of an unquoted scalar that YAML reads as `value`: a boolean, a number or a date."""

    __slots__ = ("value",)
    value: bool | int | float | datetime.date

    def __new__(cls, text: str, value: bool | int | float | datetime.date) -> UnquotedScalar:
        word = super().__new__(cls, text)
        word.value = value
        return word

    def plain(self) -> bool | int | float | str:
        """Return the YAML value if it means the same as the text, otherwise the text."""
        if isinstance(self.value, bool):
            return self.value
        try:
            if isinstance(self.value, int | float) and float(self) == self.value:
                return self.value
        except ValueError:
            pass
        return str(self)


def load(text: str) -> Any:
    """Parse a YAML document. Raise YamlError if it is invalid."""
    return safe_yaml.load(text, _Loader)


def read(path: str) -> Any:
    """Parse a YAML file. Raise YamlError or OSError on failure."""
    return safe_yaml.read(path, _Loader)


def plain(data: Any) -> Any:
    """Return `data` with `UnquotedScalar.plain` applied to all scalars."""
    if isinstance(data, UnquotedScalar):
        return data.plain()
    if isinstance(data, dict):
        return {plain(key): plain(item) for key, item in data.items()}
    if isinstance(data, list):
        return [plain(item) for item in data]
    return data


class _Loader(yaml.SafeLoader):
    """A safe YAML loader that represents unquoted scalars as UnquotedScalar."""


def _construct_scalar(loader: _Loader, node: yaml.ScalarNode) -> UnquotedScalar:
    return UnquotedScalar(node.value, yaml.SafeLoader.yaml_constructors[node.tag](loader, node))


for _name in _TYPES:
    _Loader.add_constructor(f"tag:yaml.org,2002:{_name}", _construct_scalar)
