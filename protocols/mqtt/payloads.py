"""Encode, decode and validate JSON payloads.

Only the parts of JSON Schema that schema.json uses are implemented, to avoid a dependency.
"""

import json
import math
import re
import reprlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from protocols.mqtt import topics

Check = Callable[[Any, Any], str]


def encode(payload: Mapping[str, Any]) -> bytes:
    """Return a payload as compact JSON. Raise ValueError for infinite or NaN numbers."""
    return json.dumps(payload, separators=(",", ":"), allow_nan=False).encode()


def decode(data: object, max_bytes: int) -> dict[str, Any] | None:
    """Decode a JSON object. Return None if it is invalid or longer than `max_bytes`."""
    if not isinstance(data, bytes | bytearray) or len(data) > max_bytes:
        return None
    try:
        value = json.loads(data, parse_constant=_reject_constant, parse_float=_parse_finite)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def find_error(definition: str, payload: Any) -> str:
    """Return the first violation of the schema's `definition`, or "" if the payload is valid."""
    return _problem(_definitions()[definition], payload)


@cache
def _definitions() -> Mapping[str, Any]:
    definitions: Mapping[str, Any] = json.loads(topics.schema_text())["$defs"]
    return definitions


def _problem(schema: Mapping[str, Any], value: Any) -> str:
    for keyword, demand in schema.items():
        if keyword not in _ANNOTATIONS and (problem := _CHECKS[keyword](demand, value)):
            return problem
    return ""


def _reference(name: str, value: Any) -> str:
    return _problem(_definitions()[name.removeprefix("#/$defs/")], value)


def _all_of(schemas: list[Mapping[str, Any]], value: Any) -> str:
    return next((problem for schema in schemas if (problem := _problem(schema, value))), "")


def _one_of(schemas: list[Mapping[str, Any]], value: Any) -> str:
    problems = [_problem(schema, value) for schema in schemas]
    if problems.count("") == 1:
        return ""
    return " or ".join(filter(None, problems)) or "ambiguous value"


def _type(names: str | list[str], value: Any) -> str:
    expected = [names] if isinstance(names, str) else names
    if any(_TYPES[name](value) for name in expected):
        return ""
    return f"must be {' or '.join(expected)} (got {reprlib.repr(value)})"


def _enum(values: list[Any], value: Any) -> str:
    if any(value == allowed and type(value) is type(allowed) for allowed in values):
        return ""
    return f"invalid value {reprlib.repr(value)} (expected one of: {', '.join(map(str, values))})"


def _required(names: list[str], value: Any) -> str:
    missing = [name for name in names if isinstance(value, dict) and name not in value]
    return f"missing {', '.join(missing)}" if missing else ""


def _properties(schemas: Mapping[str, Mapping[str, Any]], value: Any) -> str:
    if isinstance(value, dict):
        for name, schema in schemas.items():
            if name in value and (problem := _problem(schema, value[name])):
                return f"{name}: {problem}"
    return ""


def _additional(schema: Mapping[str, Any], value: Any) -> str:
    """Check all values of an object. The schema never combines this with `properties`."""
    return _properties(dict.fromkeys(value, schema), value) if isinstance(value, dict) else ""


def _items(schema: Mapping[str, Any], value: Any) -> str:
    if isinstance(value, list):
        for index, item in enumerate(value, start=1):
            if problem := _problem(schema, item):
                return f"[{index}] {problem}"
    return ""


def _pattern(pattern: str, value: Any) -> str:
    if not isinstance(value, str) or re.search(pattern, value):
        return ""
    return f"{reprlib.repr(value)} does not match {pattern}"


def _bound(
    applies: Callable[[Any], bool],
    size: Callable[[Any], Any],
    fits: Callable[[Any, Any], bool],
    text: str,
) -> Check:
    """Return a check that compares a value's size with a bound from the schema.

    The check is skipped if `applies(value)` is false.
    """

    def check(bound: Any, value: Any) -> str:
        return f"{text} {bound}" if applies(value) and not fits(size(value), bound) else ""

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _identity(value: Any) -> Any:
    return value


def _at_least(size: Any, bound: Any) -> bool:
    return bool(size >= bound)


def _at_most(size: Any, bound: Any) -> bool:
    return bool(size <= bound)


def _above(size: Any, bound: Any) -> bool:
    return bool(size > bound)


_ANNOTATIONS = {"title", "description"}
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": _is_object,
    "array": _is_list,
    "string": _is_text,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
}
_CHECKS: Mapping[str, Check] = {
    "$ref": _reference,
    "allOf": _all_of,
    "oneOf": _one_of,
    "type": _type,
    "enum": _enum,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "pattern": _pattern,
    "minimum": _bound(_is_number, _identity, _at_least, "must be at least"),
    "maximum": _bound(_is_number, _identity, _at_most, "must be at most"),
    "exclusiveMinimum": _bound(_is_number, _identity, _above, "must be above"),
    "maxLength": _bound(_is_text, len, _at_most, "length must be at most"),
    "minItems": _bound(_is_list, len, _at_least, "length must be at least"),
    "maxItems": _bound(_is_list, len, _at_most, "length must be at most"),
    "minProperties": _bound(_is_object, len, _at_least, "number of entries must be at least"),
}


def _reject_constant(constant: str) -> None:
    raise ValueError(constant)


def _parse_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
