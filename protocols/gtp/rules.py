"""The Go rules of a session, in the notation of KataGo's 'GTP extensions'.

Positional superko always applies, and suicide is always illegal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from protocols.gtp.messages import GtpError
from protocols.rulesets import RULESETS, Ruleset, find_ruleset, read_sgf_rules

MAX_SHOWN_LENGTH = 60


@dataclass(frozen=True, slots=True)
class GoRules:
    territory: bool = False  # territory scoring instead of area scoring
    seki_taxed: bool = False  # no points for eyes in a seki
    handicap_bonus_rule: str = "0"  # one of `protocols.rulesets.HANDICAP_BONUSES`
    friendly_pass_ok: bool = True  # remove dead stones before scoring

    @property
    def ruleset(self) -> Ruleset:
        return Ruleset(
            scoring="TERRITORY" if self.territory else "AREA",
            tax="SEKI" if self.seki_taxed else "NONE",
            suicide=False,
            handicap_bonus_rule=self.handicap_bonus_rule,
            friendly_pass_ok=self.friendly_pass_ok,
        )

    @property
    def sgf_name(self) -> str:
        """Return the value of the SGF property RU, which is a name or KataGo's notation."""
        names = (name for name in SGF_NAMES if self == _from_ruleset(RULESETS[name.lower()]))
        return next(names, self.ruleset.katago_string)

    def __str__(self) -> str:
        return json.dumps(self.ruleset.to_json_object(), separators=(",", ":"))


DEFAULT_RULES = GoRules()
# If several names stand for the same rules, the first name is written.
SGF_NAMES = ("Japanese", "Chinese", "AGA", "NZ", "Tromp-Taylor")
# The supported values of each JSON field, and the fields of GoRules that they set.
_SUPPORTED_VALUES: dict[str, dict[Any, dict[str, Any]]] = {
    "ko": {"POSITIONAL": {}},
    "suicide": {False: {}},
    "hasButton": {False: {}},
    "scoring": {"AREA": {"territory": False}, "TERRITORY": {"territory": True}},
    "tax": {"NONE": {"seki_taxed": False}, "SEKI": {"seki_taxed": True}},
    "whiteHandicapBonus": {each: {"handicap_bonus_rule": each} for each in ("0", "N-1", "N")},
    "friendlyPassOk": {
        True: {"friendly_pass_ok": True},
        False: {"friendly_pass_ok": False},
    },
}


def read_rules(text: str) -> GoRules:
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


def _require_supported(text: str, rules: Ruleset) -> GoRules:
    if reason := _unsupported_reason(rules):
        raise GtpError(f"unsupported rules: {_shortened(text)}: {reason}")
    return _from_ruleset(rules)


def _find_identical_ruleset(fields: Mapping[str, Any]) -> Ruleset | None:
    normalized = {
        "scoring" if name == "score" else name: value.upper() if isinstance(value, str) else value
        for name, value in fields.items()
    }
    return next(
        (rules for rules in RULESETS.values() if rules.to_json_object() == normalized), None
    )


def rules_from_sgf(text: str) -> GoRules | None:
    """Parse the SGF property RU. Return None if the rules are unknown or unsupported."""
    rules = read_sgf_rules(text)
    return None if rules is None or _unsupported_reason(rules) else _from_ruleset(rules)


def _from_ruleset(rules: Ruleset) -> GoRules:
    return GoRules(
        rules.scoring == "TERRITORY",
        rules.tax == "SEKI",
        rules.handicap_bonus_rule,
        rules.friendly_pass_ok,
    )


def _unsupported_reason(rules: Ruleset) -> str | None:
    if rules.has_button:
        return "button Go is not supported"
    if rules.tax == "SEKI" and rules.scoring == "AREA":
        return "tax SEKI is not supported with scoring AREA"
    return "tax ALL is not supported" if rules.tax == "ALL" else None


def with_fields(rules: GoRules, fields: Mapping[str, Any]) -> GoRules:
    """Return a copy of the rules with new JSON fields, or raise `GtpError` if unsupported."""
    for field, value in fields.items():
        name = "scoring" if field == "score" else field  # KataGo accepts both names.
        if name not in _SUPPORTED_VALUES:
            raise GtpError(
                f"unknown rule: {_shortened(name)} (expected one of: "
                f"{', '.join(_SUPPORTED_VALUES)})"
            )
        supported = _SUPPORTED_VALUES[name]
        key = value.upper() if isinstance(value, str) else value
        if not isinstance(key, (str, bool)) or key not in supported:
            values = " or ".join(map(json.dumps, supported))
            raise GtpError(
                f"{name}: unsupported value {_shortened(json.dumps(value))} (expected {values})"
            )
        rules = replace(rules, **supported[key])
    if rules.seki_taxed and not rules.territory:
        raise GtpError("tax SEKI is not supported with scoring AREA (expected TERRITORY)")
    return rules


def with_field(rules: GoRules, name: str, text: str) -> GoRules:
    """Return a copy of the rules with one JSON field set from text, or raise `GtpError`."""
    switches = {"true": True, "false": False}
    if name in ("scoring", "score") and text.upper() == "AREA":
        rules = replace(rules, seki_taxed=False)  # tax applies to territory scoring only
    return with_fields(rules, {name: switches.get(text.lower(), text)})


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_LENGTH else f"{text[:MAX_SHOWN_LENGTH]}..."
