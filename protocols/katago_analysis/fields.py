"""The fields of one query, read one by one; what is wrong with one is named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

# Of what a user wrote, as much as this is shown to him.
MAX_SHOWN_LENGTH = 200
MAX_ID_LENGTH = 1000
PLAYERS = {"B": 0, "BLACK": 0, "W": 1, "WHITE": 1}
PAIRS_MESSAGE = 'Must be an array of pairs of the form: ["b" or "w", GTP board vertex]'


class QueryError(ValueError):
    """A query cannot be answered; field: the one that is wrong, if it is one."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class Fields:
    """The fields of a query. Those that were asked for are known, all others a typo perhaps.

    Each method raises QueryError for a value that cannot be.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields
        self._known: set[str] = set()

    def __contains__(self, name: str) -> bool:
        self._known.add(name)
        return name in self._fields

    def get(self, name: str) -> Any:
        """Return a field's value as it is; None where it is not given."""
        return self._fields[name] if name in self else None

    def unknown(self) -> list[str]:
        """Return the fields that nobody has asked for."""
        return [name for name in self._fields if name not in self._known]

    def integer(self, name: str, minimum: int, maximum: int, message: str) -> int:
        """Return a whole number between two, the ends included; it must be given."""
        value = self.get(name)
        if not is_integer(value) or not minimum <= value <= maximum:
            raise QueryError(message, name)
        return int(value)

    def real(self, name: str, minimum: float, maximum: float, message: str) -> float:
        """Return a number between two, the ends included; it must be given."""
        value = self.get(name)
        if not is_number(value) or not minimum <= value <= maximum:
            raise QueryError(message, name)
        return float(value)

    def boolean(self, name: str) -> bool:
        """Return a truth value, false where it is not given."""
        if name not in self:
            return False
        value = self.get(name)
        if not isinstance(value, bool):
            raise QueryError("Must be a boolean", name)
        return value

    def player(self, name: str) -> int:
        """Return a player; he must be given."""
        player = read_player(self.get(name))
        if player is None:
            raise QueryError('Must be "b" or "w"', name)
        return player

    def integers(self, name: str, message: str) -> list[int]:
        """Return a list of whole numbers; it must be given."""
        values = self.get(name)
        if not isinstance(values, list) or not all(map(is_integer, values)):
            raise QueryError(message, name)
        return values


def is_integer(value: object) -> bool:
    """Tell whether a value of JSON is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Tell whether a value of JSON is a number that can be calculated with."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def read_player(value: object) -> int | None:
    """Return the player who is written so, if one is."""
    return PLAYERS.get(value.upper()) if isinstance(value, str) else None


def read_object(line: str) -> dict[str, Any]:
    """Return the object of a line; raise QueryError for any other line."""
    try:
        value = json.loads(line, parse_constant=_reject_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise QueryError(
            f"{why} - could not parse input line as json request: {shortened(line)}"
        ) from None
    if not isinstance(value, dict):
        raise QueryError(
            f"Request line was valid json but was not an object, ignoring: {shortened(line)}"
        )
    return value


def read_id(fields: Mapping[str, Any]) -> str:
    """Return the id of a request; raise QueryError if it has none."""
    name = fields.get("id")
    if not isinstance(name, str):
        raise QueryError('Request must have a string "id" field')
    if len(name) > MAX_ID_LENGTH:
        raise QueryError(f'The "id" field is longer than {MAX_ID_LENGTH} characters')
    return name


def shortened(value: object) -> str:
    """Return what a user wrote, or its beginning."""
    words = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return words if len(words) <= MAX_SHOWN_LENGTH else words[:MAX_SHOWN_LENGTH] + "..."


def _finite(text: str) -> float:
    """Return a number; raise ValueError for one that is too large to be written again."""
    number = float(text)
    return number if isfinite(number) else _reject_number(text)


def _reject_number(text: str) -> float:
    raise ValueError(f"{text} is no number")
