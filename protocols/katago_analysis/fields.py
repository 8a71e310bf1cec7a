"""Read and validate the fields of a query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from agent.io import strict_json

MAX_SHOWN_LENGTH = 200  # maximum length of an invalid value in a message
MAX_ID_LENGTH = 1000
PLAYERS = {"B": 0, "BLACK": 0, "W": 1, "WHITE": 1}
PAIRS_MESSAGE = 'Must be an array of pairs of the form: ["b" or "w", GTP board vertex]'


class QueryError(ValueError):
    """A query is invalid. `field` is the name of the invalid field, or None for other errors."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class FieldReader:
    """Reads and validates the fields of a query.

    The methods for a type raise `QueryError` with the given message if the value is invalid.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields
        self._read: set[str] = set()

    def __contains__(self, name: str) -> bool:
        self._read.add(name)
        return name in self._fields

    def get(self, name: str) -> Any:
        """Return the value of a field without validation, or None if the field is missing."""
        return self._fields[name] if name in self else None

    def unknown(self) -> list[str]:
        """Return the names of the fields that have not been read, which may be misspelt."""
        return [name for name in self._fields if name not in self._read]

    def integer(self, name: str, minimum: int, maximum: int, message: str) -> int:
        """Return the integer in a required field. The range is inclusive."""
        value = self.get(name)
        if not is_integer(value) or not minimum <= value <= maximum:
            raise QueryError(message, name)
        return int(value)

    def real(self, name: str, minimum: float, maximum: float, message: str) -> float:
        """Return the number in a required field. The range is inclusive."""
        value = self.get(name)
        if not is_number(value) or not minimum <= value <= maximum:
            raise QueryError(message, name)
        return float(value)

    def boolean(self, name: str) -> bool:
        """Return the boolean in a field, or False if the field is missing."""
        if name not in self:
            return False
        value = self.get(name)
        if not isinstance(value, bool):
            raise QueryError("Must be a boolean", name)
        return value

    def player(self, name: str) -> int:
        """Return the player in a required field, which is 0 (Black) or 1 (White)."""
        player = read_player(self.get(name))
        if player is None:
            raise QueryError('Must be "b" or "w"', name)
        return player

    def integers(self, name: str, message: str) -> list[int]:
        values = self.get(name)
        if not isinstance(values, list) or not all(map(is_integer, values)):
            raise QueryError(message, name)
        return values


def is_integer(value: object) -> bool:
    """Return whether a JSON value is an integer. Booleans are not integers."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def read_player(value: object) -> int | None:
    """Return 0 for "b" or "black", 1 for "w" or "white", or None if the value is invalid."""
    return PLAYERS.get(value.upper()) if isinstance(value, str) else None


def read_object(line: str) -> dict[str, Any]:
    """Parse a line as a JSON object. Raise `QueryError` if the line is invalid."""
    try:
        value = strict_json.loads(line)
    except ValueError as error:
        raise QueryError(
            f"{error} - could not parse input line as json request: {shortened(line)}"
        ) from None
    if not isinstance(value, dict):
        raise QueryError(
            f"Request line was valid json but was not an object, ignoring: {shortened(line)}"
        )
    return value


def read_id(fields: Mapping[str, Any]) -> str:
    """Return the id of a request. Raise `QueryError` if the id is missing or invalid."""
    name = fields.get("id")
    if not isinstance(name, str):
        raise QueryError('Request must have a string "id" field')
    if len(name) > MAX_ID_LENGTH:
        raise QueryError(f'"id" field too long (maximum {MAX_ID_LENGTH} characters)')
    return name


def shortened(value: object) -> str:
    """Return a JSON value as text for an error message, cut to MAX_SHOWN_LENGTH characters."""
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return text if len(text) <= MAX_SHOWN_LENGTH else text[:MAX_SHOWN_LENGTH] + "..."
