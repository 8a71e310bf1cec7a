"""Go rulesets in the notation of KataGo and SGF files.

Sources: `kata-set-rules` in KataGo's 'GTP Extensions', the SGF FF[4] property RU, and the names
that SGF editors write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

KO_RULES = ("SIMPLE", "POSITIONAL", "SITUATIONAL", "SPIGHT")
SCORING_RULES = ("AREA", "TERRITORY")
TAX_RULES = ("NONE", "SEKI", "ALL")
_MAX_KOMI = 1e6
HANDICAP_BONUSES = ("0", "N", "N-1")
# The fields of KataGo's JSON format: the attribute of Ruleset and its values.
FIELDS: dict[str, tuple[str, tuple[str | bool, ...]]] = {
    "friendlyPassOk": ("friendly_pass_ok", (False, True)),
    "hasButton": ("has_button", (False, True)),
    "ko": ("ko", KO_RULES),
    "scoring": ("scoring", SCORING_RULES),
    "suicide": ("suicide", (False, True)),
    "tax": ("tax", TAX_RULES),
    "whiteHandicapBonus": ("handicap_bonus_rule", HANDICAP_BONUSES),
}
# If several names stand for the same rules, the first name is written to SGF files.
SGF_NAMES = ("Japanese", "Chinese", "AGA", "NZ", "Tromp-Taylor")
SUPPORTED_RULES_TEXT = "area scoring, positional superko, no suicide"


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A Go ruleset with the fields of KataGo's JSON format."""

    ko: str = "POSITIONAL"
    scoring: str = "AREA"
    tax: str = "NONE"
    suicide: bool = True
    has_button: bool = False
    handicap_bonus_rule: str = "0"  # one of HANDICAP_BONUSES
    friendly_pass_ok: bool = True  # Players may pass without capturing dead stones.
    komi: float | None = None  # None: not defined by the ruleset

    @property
    def default_komi(self) -> float:
        """Return the komi for queries that do not specify one."""
        if self.komi is not None:
            return self.komi
        if self.territory:
            return 6.5
        return 7.0 if self.has_button else 7.5

    @property
    def is_supported(self) -> bool:
        """Return whether Kempelen implements these rules. The ko rule is not considered."""
        scored = self.scoring == "AREA" and self.tax == "NONE" and not self.has_button
        return scored and not self.suicide

    @property
    def territory(self) -> bool:
        return self.scoring == "TERRITORY"

    @property
    def as_played(self) -> Ruleset:
        """The rules as Kempelen plays them: with positional superko and without suicide."""
        return replace(self, ko="POSITIONAL", suicide=False, komi=None)

    def to_json_object(self) -> dict[str, Any]:
        """Return the ruleset as a JSON object in KataGo's format."""
        return {name: getattr(self, attribute) for name, (attribute, _) in FIELDS.items()}

    def __str__(self) -> str:
        return json.dumps(self.to_json_object(), separators=(",", ":"))

    @property
    def sgf_name(self) -> str:
        """Return the value of the SGF property RU, which is a name or KataGo's notation."""
        names = (name for name in SGF_NAMES if self == RULESETS[name.lower()].as_played)
        return next(names, self.katago_string)

    @property
    def katago_string(self) -> str:
        """Return the notation that KataGo writes in SGF files for rulesets without a name."""
        word = f"ko{self.ko}score{self.scoring}tax{self.tax}sui{self.suicide:d}"
        word += "button1" if self.has_button else ""
        word += "" if self.handicap_bonus_rule == "0" else f"whb{self.handicap_bonus_rule}"
        return word + ("fpok1" if self.friendly_pass_ok else "")


_CHINESE = Ruleset(ko="SIMPLE", suicide=False, handicap_bonus_rule="N")
_JAPANESE = Ruleset(ko="SIMPLE", scoring="TERRITORY", tax="SEKI", suicide=False)
_AGA = Ruleset(ko="SITUATIONAL", suicide=False, handicap_bonus_rule="N-1")
_NEW_ZEALAND = Ruleset(ko="SITUATIONAL")
RULESETS = {
    "tromp-taylor": Ruleset(friendly_pass_ok=False),
    "chinese": _CHINESE,
    "chinese-ogs": replace(_CHINESE, ko="POSITIONAL"),
    "chinese-kgs": replace(_CHINESE, ko="POSITIONAL"),
    "japanese": _JAPANESE,
    "korean": _JAPANESE,
    "stone-scoring": Ruleset(ko="SIMPLE", suicide=False, tax="ALL"),
    "ancient-area": Ruleset(ko="SIMPLE", suicide=False, tax="ALL"),
    "ancient-territory": Ruleset(
        "SIMPLE", "TERRITORY", "ALL", suicide=False, friendly_pass_ok=False
    ),
    "aga": _AGA,
    "bga": _AGA,
    "french": _AGA,
    "aga-button": replace(_AGA, has_button=True),
    "new-zealand": _NEW_ZEALAND,
    "nz": _NEW_ZEALAND,
    "goe": Ruleset(),
    "ing": Ruleset(),
}


def handicap_bonus(handicap_bonus_rule: str, stones: int) -> int:
    """Return White's points for handicap stones, or 0 for fewer than two stones."""
    if stones < 2:
        return 0
    return {"0": 0, "N": stones, "N-1": stones - 1}[handicap_bonus_rule]


def find_ruleset(name: str) -> Ruleset | None:
    """Return the ruleset called `name`, or None. Ignore spaces, hyphens and underscores."""
    return _RULESETS_BY_NORMALIZED_NAME.get(_normalized(name))


def _normalized(name: str) -> str:
    return re.sub(r"[-_ ]", "", name.lower())


_RULESETS_BY_NORMALIZED_NAME = {_normalized(name): rules for name, rules in RULESETS.items()}
# Additional names that occur in SGF files.
_SGF_ALIASES = {
    "china": "chinese",
    "cn": "chinese",
    "japan": "japanese",
    "jp": "japanese",
    "korea": "korean",
    "kr": "korean",
    "tt": "tromp-taylor",
    "inggoe": "ing",
}
_KATAGO_RULES_STRING = re.compile(
    rf"ko({'|'.join(KO_RULES)})score({'|'.join(SCORING_RULES)})tax({'|'.join(TAX_RULES)})sui([01])"
    rf"(?:button([01]))?(?:whb({'|'.join(reversed(HANDICAP_BONUSES))}))?(?:fpok([01]))?",
    re.IGNORECASE,
)


def read_sgf_rules(text: str) -> Ruleset | None:
    """Parse the SGF property RU. Return None if the ruleset is unknown."""
    text = text.strip()
    if match := _KATAGO_RULES_STRING.fullmatch(re.sub(r"\s", "", text)):
        ko, scoring, tax, suicide, has_button, handicap_bonus_rule, friendly_pass_ok = (
            match.groups()
        )
        return Ruleset(
            ko=ko.upper(),
            scoring=scoring.upper(),
            tax=tax.upper(),
            suicide=suicide == "1",
            has_button=has_button == "1",
            handicap_bonus_rule=(handicap_bonus_rule or "0").upper(),
            friendly_pass_ok=friendly_pass_ok == "1",
        )
    if text.startswith("{"):
        try:
            return read_ruleset(json.loads(text))
        except (ValueError, RecursionError):
            return None
    name = _normalized(re.sub(r"\brule(s|set)?\b", "", text, flags=re.IGNORECASE))
    return find_ruleset(_SGF_ALIASES.get(name, name))


def read_ruleset(value: object) -> Ruleset | None:
    """Return the ruleset for a name or a JSON object, or None if the value is invalid."""
    if isinstance(value, str):
        return find_ruleset(value)
    return _from_json_object(value) if isinstance(value, Mapping) else None


def _from_json_object(fields: Mapping[str, Any]) -> Ruleset | None:
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name == "komi" and _is_number(value):
            values["komi"] = float(value)
            continue
        attribute, choices = FIELDS.get("scoring" if name == "score" else name, ("", ()))
        value = value.upper() if isinstance(value, str) else value
        if not isinstance(value, str | bool) or value not in choices:
            return None
        values[attribute] = value
    if values.get("scoring") == "TERRITORY":
        values.setdefault("tax", "SEKI")
    return Ruleset(**values)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _MAX_KOMI  # False for NaN.
