"""How two descriptions of a run differ, in words: what a refusal to go on with a file names."""

import hashlib
import json
from typing import Any

MAX_VALUE_LENGTH = 100  # characters of a value that is shown as it is


def describe_changes(before: Any, now: Any, name: str = "") -> list[str]:
    """Return a clause for each entry that differs, such as "rules.nodes was 400, is 500".

    before, now: as JSON has them. name: of what both describe, in front of those of its entries.
    """
    if before == now:
        return []
    if isinstance(before, dict) and isinstance(now, dict):
        entries = dict.fromkeys([*before, *now])
        parts = [(f"{name}.{each}", before.get(each), now.get(each)) for each in entries]
    elif _are_comparable_lists(before, now):
        numbered = enumerate(zip(before, now, strict=True), 1)
        parts = [(f"{name} {number}", *pair) for number, pair in numbered]
    else:
        return [f"{name} was {_format_value(before)}, is {_format_value(now)}"]
    return [
        clause
        for part, old, new in parts
        for clause in describe_changes(old, new, part.removeprefix("."))
    ]


def _are_comparable_lists(before: object, now: object) -> bool:
    """Tell whether both are lists of as many descriptions."""
    if not (isinstance(before, list) and isinstance(now, list)) or len(before) != len(now):
        return False
    return all(isinstance(each, dict) for each in [*before, *now])


def _format_value(value: object) -> str:
    """Return a value, or what tells a long one from another."""
    if value is None:
        return "not given"
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if len(text) <= MAX_VALUE_LENGTH:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
    size = f"{len(value)} entries" if isinstance(value, list | dict) else f"{len(text)} characters"
    return f"{size} with digest {digest}"
