"""Encode, decode and validate JSON payloads."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from agent.io import strict_json
from agent.io.strict_json import quote_value
from protocols.mqtt import topics

_BOUNDS = {
    "minimum": "must be at least",
    "maximum": "must be at most",
    "exclusiveMinimum": "must be above",
    "maxLength": "length must be at most",
    "minItems": "length must be at least",
    "maxItems": "length must be at most",
    "minProperties": "number of entries must be at least",
}


def encode(payload: Mapping[str, Any]) -> bytes:
    """Return a payload as compact JSON. Raise ValueError for infinite or NaN numbers."""
    return json.dumps(payload, separators=(",", ":"), allow_nan=False).encode()


def decode(data: object, max_bytes: int) -> dict[str, Any] | None:
    """Decode a JSON object. Return None if it is invalid or longer than `max_bytes`."""
    if not isinstance(data, bytes | bytearray) or len(data) > max_bytes:
        return None
    return strict_json.loads_object(data)


def find_error(definition: str, payload: Any) -> str:
    """Return the first violation of the schema's `definition`, or "" if the payload is valid."""
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator(definition)(payload)
    except JsonSchemaValueException as error:
        rule, expected, value = str(error.rule), error.rule_definition, error.value
        if rule == "oneOf":  # only at the top level of a definition
            choices = (f"{definition}/oneOf/{number}" for number in range(len(expected)))
            problems = filter(None, (find_error(choice, payload) for choice in choices))
            return " or ".join(problems) or "ambiguous value"
        return _place(error.name or "") + _problem(rule, expected, value)
    return ""


@cache
def _validator(definition: str) -> Callable[[Any], Any]:
    import fastjsonschema

    schema = {**json.loads(topics.schema_text()), "$ref": f"#/$defs/{definition}"}
    compiled: Callable[[Any], Any] = fastjsonschema.compile(schema, use_default=False)
    return compiled


def _place(name: str) -> str:
    """Return the position of a value such as `data.moves[1]` for an error message."""
    parts = re.findall(r"\.([^.\[]*)|\[(\d{1,9})\]", name)
    return "".join(f"{key}: " if key else f"[{int(index or 0) + 1}] " for key, index in parts)


def _problem(rule: str, expected: Any, value: Any) -> str:
    shown = quote_value(value)
    match rule:
        case "type":
            names = [expected] if isinstance(expected, str) else expected
            return f"must be {' or '.join(names)} (got {shown})"
        case "enum":
            return f"invalid value {shown} (expected one of: {', '.join(map(str, expected))})"
        case "required":
            return f"missing {', '.join(name for name in expected if name not in value)}"
        case "pattern":
            return f"{shown} does not match {expected}"
    return f"{_BOUNDS[rule]} {expected}"
