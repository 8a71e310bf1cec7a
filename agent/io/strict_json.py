"""JSON from an untrusted source. Invalid input raises only ValueError."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from agent.io.sanitize import MAX_NAME_LENGTH, sanitize_line

# Larger numbers are invalid: no quantity in a message comes close, and calculations with numbers up
# to this limit do not overflow.
MAX_NUMBER = 1e30
MAX_SHOWN_LENGTH = 40  # characters of an invalid number in a message


def _parse_number(kind: Callable[[str], float], text: str) -> float:
    number = kind(text)
    if not -MAX_NUMBER <= number <= MAX_NUMBER:  # also if it is NaN
        raise ValueError(f"invalid number: {text[:MAX_SHOWN_LENGTH]}")
    return number


_parse_real = partial(_parse_number, float)


def loads(text: str | bytes | bytearray) -> Any:
    """Parse JSON. Raise ValueError for invalid JSON, numbers beyond MAX_NUMBER and deep nesting."""
    try:
        return json.loads(
            text,
            parse_constant=_parse_real,
            parse_float=_parse_real,
            parse_int=partial(_parse_number, int),
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def loads_object(text: str | bytes | bytearray) -> dict[str, Any] | None:
    """Parse a JSON object as in `loads`. Return None if it is invalid."""
    try:
        value = loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def quote_value(value: object, max_length: int = MAX_NAME_LENGTH) -> str:
    """Return a value from JSON or YAML as one printable line: text in quotes, the rest as JSON."""
    shown = repr(str(value)) if isinstance(value, str) else json.dumps(value, default=str)
    return sanitize_line(shown, max_length)
