"""The Go rules of a session, in the notation of KataGo's 'GTP extensions'.

Positional superko always applies, and suicide is always illegal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from protocols.gtp.messages import GtpError
from protocols.rulesets import FIELDS, RULESETS, Ruleset, find_ruleset, read_sgf_rules

MAX_SHOWN_LENGTH = 60
# Area scoring without dead stones.
DEFAULT_RULES = Ruleset(suicide=False)
# The supported values of each JSON field.
_SUPPORTED_VALUES: dict[str, tuple[str | bool, ...]] = {
    "ko": ("POSITIONAL",),
    "suicide": (False,),
    "hasButton": (False,),
    "scoring": ("AREA", "TERRITORY"),
    "tax": ("NONE", "SEKI"),
    "whiteHandicapBonus": ("0", "N-1", "N"),
    "friendlyPassOk": (True, False),
}


def read_rules(text: str) -> Ruleset:
    """Parse a ruleset's name or KataGo's JSON, or raise `GtpError` if the rules are unsupported."""
    if text.lstrip().startswith("{"):
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            raise GtpError("invalid JSON in rules") from None
        if (identical := _find_identical_ruleset(fields)) is not None:
            return _require_supported(text, identical)
        # `tax` comes last, because its default depends on the scoring.
        other_fields = {name: value for name, value in fields.items() if name != "tax"}
        rules = with_fields(DEFAULT_RULES, other_fields)
        return with_fields(rules, {"tax": fields.get("tax", "SEKI" if rules.territory else "NONE")})
    ruleset = find_ruleset(text)
    if ruleset is None:
        names = ", ".join(
            name for name, each in RULESETS.items() if _unsupported_reason(each) is None
        )
        raise GtpError(f"unknown rules: {_shortened(text)} (expected one of: {names}; or JSON)")
    return _require_supported(text, ruleset)


def _require_supported(text: str, rules: Ruleset) -> Ruleset:
    if reason := _unsupported_reason(rules):
        raise GtpError(f"unsupported rules: {_shortened(text)}: {reason}")
    return rules.as_played


def _find_identical_ruleset(fields: Mapping[str, Any]) -> Ruleset | None:
    normalized = {
        "scoring" if name == "score" else name: value.upper() if isinstance(value, str) else value
        for name, value in fields.items()
    }
    return next(
        (rules for rules in RULESETS.values() if rules.to_json_object() == normalized), None
    )


def rules_from_sgf(text: str) -> Ruleset | None:
    """Parse the SGF property RU. Return None if the rules are unknown or unsupported."""
    rules = read_sgf_rules(text)
    return None if rules is None or _unsupported_reason(rules) else rules.as_played


def _unsupported_reason(rules: Ruleset) -> str | None:
    if rules.has_button:
        return "button Go is not supported"
    if rules.tax == "SEKI" and not rules.territory:
        return "tax SEKI is not supported with scoring AREA"
    return "tax ALL is not supported" if rules.tax == "ALL" else None


def with_fields(rules: Ruleset, fields: Mapping[str, Any]) -> Ruleset:
    """Return the rules with new JSON fields, or raise `GtpError` if a field is unsupported."""
    for field, value in fields.items():
        name = "scoring" if field == "score" else field  # KataGo accepts both names.
        if name not in _SUPPORTED_VALUES:
            raise GtpError(
                f"unknown rule: {_shortened(name)} (expected one of: "
                f"{', '.join(_SUPPORTED_VALUES)})"
            )
        supported = _SUPPORTED_VALUES[name]
        key = value.upper() if isinstance(value, str) else value
        if not isinstance(key, str | bool) or key not in supported:
            values = " or ".join(map(json.dumps, supported))
            raise GtpError(
                f"{name}: unsupported value {_shortened(json.dumps(value))} (expected {values})"
            )
        change: dict[str, Any] = {FIELDS[name][0]: key}
        rules = replace(rules, **change)
    if rules.tax == "SEKI" and not rules.territory:
        raise GtpError("tax SEKI is not supported with scoring AREA (expected TERRITORY)")
    return rules


def with_field(rules: Ruleset, name: str, text: str) -> Ruleset:
    """Return a copy of the rules with one JSON field set from text, or raise `GtpError`."""
    switches = {"true": True, "false": False}
    if name in ("scoring", "score") and text.upper() == "AREA":
        rules = replace(rules, tax="NONE")  # tax applies to territory scoring only
    return with_fields(rules, {name: switches.get(text.lower(), text)})


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_LENGTH else f"{text[:MAX_SHOWN_LENGTH]}..."
