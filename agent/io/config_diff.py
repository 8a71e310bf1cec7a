import hashlib
import json
from typing import Any

from agent.io.message import Message

MAX_VALUE_LENGTH = 100  # characters; longer values are shown as a digest


def describe_changes(before: Any, now: Any, name: str = "") -> list[str]:
    """Compare two JSON values, and return messages such as "rules.nodes was 400, is 500".

    `name` is a prefix for the names of entries.
    """
    if before == now:
        return []
    if isinstance(before, dict) and isinstance(now, dict):
        keys = dict.fromkeys([*before, *now])
        parts = [(f"{name}.{key}", before.get(key), now.get(key)) for key in keys]
    elif _are_comparable_lists(before, now):
        numbered = enumerate(zip(before, now, strict=True), 1)
        parts = [(f"{name} {number}", *pair) for number, pair in numbered]
    else:
        return [Message("{} was {}, is {}", name, _format_value(before), _format_value(now))]
    return [
        clause
        for part, old, new in parts
        for clause in describe_changes(old, new, part.removeprefix("."))
    ]


def _are_comparable_lists(before: object, now: object) -> bool:
    if not (isinstance(before, list) and isinstance(now, list)) or len(before) != len(now):
        return False
    return all(isinstance(item, dict) for item in [*before, *now])


def _format_value(value: object) -> str:
    if value is None:
        return "not given"
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if len(text) <= MAX_VALUE_LENGTH:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
    size = f"{len(value)} entries" if isinstance(value, list | dict) else f"{len(text)} characters"
    return f"{size} with digest {digest}"
