"""The rules of Go that a session can be told to keep: how the end is scored, and what White gets.

Positional superko always holds, suicide is always forbidden. The names, and the fields of the
JSON, are those of KataGo's 'GTP extensions'.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from protocols.gtp.values import GtpError
from protocols.rulesets import NAMED, Ruleset, named, read_sgf_rules

LONGEST_VALUE = 60


@dataclass(frozen=True, slots=True)
class GoRules:
    """What is in force.

    territory: territory and prisoners are scored, not area. seki_taxed: what is empty beside a
    seki is no territory. bonus: the points that White gets for a handicap of N stones. friendly:
    both may pass over dead stones; else all stones count as they stand in the end.
    """

    territory: bool = False
    seki_taxed: bool = False
    bonus: str = "0"
    friendly: bool = True

    @property
    def ruleset(self) -> Ruleset:
        """The same in KataGo's terms."""
        return Ruleset(
            scoring="TERRITORY" if self.territory else "AREA",
            tax="SEKI" if self.seki_taxed else "NONE",
            suicide=False,
            bonus=self.bonus,
            friendly=self.friendly,
        )

    @property
    def sgf(self) -> str:
        """What SGF's RU calls them: the name under which they are read as they are.

        Where there is none they are written as KataGo does.
        """
        names = (name for name in SGF_NAMES if self == _of(NAMED[name.lower()]))
        return next(names, self.ruleset.in_a_word)

    def __str__(self) -> str:
        return json.dumps(self.ruleset.fields(), separators=(",", ":"))


USUAL_RULES = GoRules()
# Of several that are the same here the first is written.
SGF_NAMES = ("Japanese", "Chinese", "AGA", "NZ", "Tromp-Taylor")
# Of each field: what is played, and as what its values are understood.
_PLAYED: dict[str, dict[Any, dict[str, Any]]] = {
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
        if (whole := _whole(fields)) is not None:
            return _named(text, whole)
        others = {name: value for name, value in fields.items() if name != "tax"}
        found = with_fields(USUAL_RULES, others)
        return with_fields(found, {"tax": fields.get("tax", "SEKI" if found.territory else "NONE")})
    rules = named(text)
    if rules is None:
        known = ", ".join(name for name, each in NAMED.items() if _refusal(each) is None)
        raise GtpError(f"no rules {_shown(text)}; there are {known}, and KataGo's JSON")
    return _named(text, rules)


def _named(text: str, rules: Ruleset) -> GoRules:
    if reason := _refusal(rules):
        raise GtpError(f"no rules {_shown(text)}: {reason}")
    return _of(rules)


def _whole(fields: Mapping[str, Any]) -> Ruleset | None:
    """Return the rules with a name whose whole object this is, if any are.

    Of such, as of the name, it is known that other kos and suicide are not played here.
    """
    given = {
        "scoring" if name == "score" else name: value.upper() if isinstance(value, str) else value
        for name, value in fields.items()
    }
    return next((rules for rules in NAMED.values() if rules.fields() == given), None)


def rules_of_sgf(text: str) -> GoRules | None:
    """Return the rules that SGF's RU names; None if it names none, or some not played here."""
    rules = read_sgf_rules(text)
    return None if rules is None or _refusal(rules) else _of(rules)


def _of(rules: Ruleset) -> GoRules:
    """Return what is kept of rules that are played here."""
    return GoRules(rules.scoring == "TERRITORY", rules.tax == "SEKI", rules.bonus, rules.friendly)


def _refusal(rules: Ruleset) -> str | None:
    """Return why such rules are not played here; None if they are, with positional superko."""
    if rules.button:
        return "no button is played here"
    if rules.tax == "SEKI" and rules.scoring == "AREA":
        return "no tax is counted on area here"
    return "a tax on all groups is not counted here" if rules.tax == "ALL" else None


def with_fields(rules: GoRules, fields: Mapping[str, Any]) -> GoRules:
    """Return rules with some fields of the JSON set; GtpError for what is not played here."""
    for word, value in fields.items():
        name = "scoring" if word == "score" else word  # KataGo reads both
        if name not in _PLAYED:
            raise GtpError(f"no rule {_shown(name)}; there are {', '.join(_PLAYED)}")
        played = _PLAYED[name]
        key = value.upper() if isinstance(value, str) else value
        if not isinstance(key, (str, bool)) or key not in played:
            known = " or ".join(json.dumps(each) for each in played)
            raise GtpError(f"{name} {_shown(json.dumps(value))} is not played here, only {known}")
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


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
