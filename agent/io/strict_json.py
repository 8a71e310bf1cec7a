"""JSON from an untrusted source. Invalid input raises only ValueError."""

import json
from math import isfinite
from typing import Any


def loads(text: str | bytes | bytearray) -> Any:
    """Parse JSON. Raise ValueError for invalid JSON, infinite or NaN numbers and deep nesting."""
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def loads_object(text: str | bytes | bytearray) -> dict[str, Any] | None:
    """Parse a JSON object as in `loads`. Return None if it is invalid."""
    try:
        value = loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"invalid number: {text}")
    return number
