"""The rules of Go that a session can be told to keep: how the end is scored, and what White gets.

Positional superko always holds, suicide is always forbidden. The names, and the fields of the
JSON, are those of KataGo's 'GTP extensions'.
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
    """What is in force.

    territory: territory and prisoners are scored, not area. seki_taxed: what is empty beside a
    seki is no territory. bonus: the points that White gets for a handicap of N stones. friendly:
    both may pass over dead stones; else all stones count as they stand in the end.
    """

    territory: bool = False
    seki_taxed: bool = False
    handicap_bonus_rule: str = "0"
    friendly_pass_ok: bool = True

    @property
    def ruleset(self) -> Ruleset:
        """The same in KataGo's terms."""
        return Ruleset(
            scoring="TERRITORY" if self.territory else "AREA",
            tax="SEKI" if self.seki_taxed else "NONE",
            suicide=False,
            handicap_bonus_rule=self.handicap_bonus_rule,
            friendly_pass_ok=self.friendly_pass_ok,
        )

    @property
    def sgf_name(self) -> str:
        """What SGF's RU calls them: the name under which they are read as they are.

        Where there is none they are written as KataGo does.
        """
        names = (name for name in SGF_NAMES if self == _from_ruleset(RULESETS[name.lower()]))
        return next(names, self.ruleset.katago_string)

    def __str__(self) -> str:
        return json.dumps(self.ruleset.to_json_object(), separators=(",", ":"))


DEFAULT_RULES = GoRules()
# Of several that are the same here the first is written.
SGF_NAMES = ("Japanese", "Chinese", "AGA", "NZ", "Tromp-Taylor")
# Of each field: what is played, and as what its values are understood.
_SUPPORTED_VALUES: dict[str, dict[Any, dict[str, Any]]] = {
    "ko": {"POSITIONAL": {}},
    "suicide": {False: {}},
    "hasButton": {False: {}},
    "scoring": {"AREA": {"territory": False}, "TERRITORY": {"territory": True}},
    "tax": {"NONE": {"seki_taxed": False}, "SEKI": {"seki_taxed": True}},
    "whiteHandicapBonus": {each: {"bonus": each} for each in ("0", "N-1", "N")},
    "friendlyPassOk": {True: {"friendly": True}, False: {"friendly": False}},
}


def read_rules(text: str) -> GoRules:
    """Return the rules of a name or of KataGo's JSON; GtpError for what is not played here."""
    if text.lstrip().startswith("{"):
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            raise GtpError("these rules are no JSON") from None
        if (whole := _find_identical_ruleset(fields)) is not None:
            return _require_supported(text, whole)
        others = {name: value for name, value in fields.items() if name != "tax"}
        found = with_fields(DEFAULT_RULES, others)
        return with_fields(found, {"tax": fields.get("tax", "SEKI" if found.territory else "NONE")})
    rules = find_ruleset(text)
    if rules is None:
        known = ", ".join(
            name for name, each in RULESETS.items() if _unsupported_reason(each) is None
        )
        raise GtpError(f"no rules {_shortened(text)}; there are {known}, and KataGo's JSON")
    return _require_supported(text, rules)


def _require_supported(text: str, rules: Ruleset) -> GoRules:
    if reason := _unsupported_reason(rules):
        raise GtpError(f"no rules {_shortened(text)}: {reason}")
    return _from_ruleset(rules)


def _find_identical_ruleset(fields: Mapping[str, Any]) -> Ruleset | None:
    """Return the rules with a name whose whole object this is, if any are.

    Of such, as of the name, it is known that other kos and suicide are not played here.
    """
    given = {
        "scoring" if name == "score" else name: value.upper() if isinstance(value, str) else value
        for name, value in fields.items()
    }
    return next((rules for rules in RULESETS.values() if rules.to_json_object() == given), None)


def rules_from_sgf(text: str) -> GoRules | None:
    """Return the rules that SGF's RU names; None if it names none, or some not played here."""
    rules = read_sgf_rules(text)
    return None if rules is None or _unsupported_reason(rules) else _from_ruleset(rules)


def _from_ruleset(rules: Ruleset) -> GoRules:
    """Return what is kept of rules that are played here."""
    return GoRules(
        rules.scoring == "TERRITORY",
        rules.tax == "SEKI",
        rules.handicap_bonus_rule,
        rules.friendly_pass_ok,
    )


def _unsupported_reason(rules: Ruleset) -> str | None:
    """Return why such rules are not played here; None if they are, with positional superko."""
    if rules.has_button:
        return "no button is played here"
    if rules.tax == "SEKI" and rules.scoring == "AREA":
        return "no tax is counted on area here"
    return "a tax on all groups is not counted here" if rules.tax == "ALL" else None


def with_fields(rules: GoRules, fields: Mapping[str, Any]) -> GoRules:
    """Return rules with some fields of the JSON set; GtpError for what is not played here."""
    for word, value in fields.items():
        name = "scoring" if word == "score" else word  # KataGo reads both
        if name not in _SUPPORTED_VALUES:
            raise GtpError(f"no rule {_shortened(name)}; there are {', '.join(_SUPPORTED_VALUES)}")
        played = _SUPPORTED_VALUES[name]
        key = value.upper() if isinstance(value, str) else value
        if not isinstance(key, (str, bool)) or key not in played:
            known = " or ".join(json.dumps(each) for each in played)
            raise GtpError(
                f"{name} {_shortened(json.dumps(value))} is not played here, only {known}"
            )
        rules = replace(rules, **played[key])
    if rules.seki_taxed and not rules.territory:
        raise GtpError("tax SEKI is not played here with scoring AREA, only with TERRITORY")
    return rules


def with_field(rules: GoRules, name: str, text: str) -> GoRules:
    """Return rules with one field set, as it is written; GtpError for what is not played here."""
    switches = {"true": True, "false": False}
    if name in ("scoring", "score") and text.upper() == "AREA":
        rules = replace(rules, seki_taxed=False)  # which only territory knows
    return with_fields(rules, {name: switches.get(text.lower(), text)})


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_LENGTH else f"{text[:MAX_SHOWN_LENGTH]}..."
