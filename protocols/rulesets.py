"""Rules of Go as KataGo and SGF files write them, and what of them is kept here.

Sources: `kata-set-rules` in KataGo's 'GTP Extensions'; the property RU of SGF FF[4], whose own
names are AGA, GOE, Japanese and NZ, and what programs write there.
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
SUPPORTED_RULES_TEXT = "area scoring, positional superko, no suicide"


@dataclass(frozen=True, slots=True)
class Ruleset:
    """One set of rules.

    bonus: what White gets for N handicap stones. friendly: both may pass over dead stones. komi:
    if they say one.
    """

    ko: str = "POSITIONAL"
    scoring: str = "AREA"
    tax: str = "NONE"
    suicide: bool = True
    has_button: bool = False
    handicap_bonus_rule: str = "0"
    friendly_pass_ok: bool = True
    komi: float | None = None

    @property
    def default_komi(self) -> float:
        """The komi where the query says none."""
        if self.komi is not None:
            return self.komi
        if self.scoring == "TERRITORY":
            return 6.5
        return 7.0 if self.has_button else 7.5

    @property
    def is_supported(self) -> bool:
        """Whether this engine counts by them, and its searches know all their moves.

        Ko apart: moves of a record may repeat a position, those of a search do not.
        """
        counted = self.scoring == "AREA" and self.tax == "NONE" and not self.has_button
        return counted and not self.suicide

    def to_json_object(self) -> dict[str, Any]:
        """Return the fields of KataGo's object."""
        return {
            "friendlyPassOk": self.friendly_pass_ok,
            "hasButton": self.has_button,
            "ko": self.ko,
            "scoring": self.scoring,
            "suicide": self.suicide,
            "tax": self.tax,
            "whiteHandicapBonus": self.handicap_bonus_rule,
        }

    @property
    def katago_string(self) -> str:
        """The rules as KataGo writes them into SGF files where they have no name."""
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
_CHOICES = {
    "ko": ("ko", KO_RULES),
    "score": ("scoring", SCORING_RULES),
    "scoring": ("scoring", SCORING_RULES),
    "tax": ("tax", TAX_RULES),
    "whiteHandicapBonus": ("bonus", HANDICAP_BONUSES),
}
_FLAGS = {"suicide": "suicide", "hasButton": "button", "friendlyPassOk": "friendly"}


def handicap_bonus(handicap_bonus_rule: str, stones: int) -> int:
    """Return the points that White gets beside komi for so many handicap stones.

    bonus: one of BONUS. A single stone is no handicap.
    """
    if stones < 2:
        return 0
    return {"0": 0, "N": stones, "N-1": stones - 1}[handicap_bonus_rule]


def find_ruleset(name: str) -> Ruleset | None:
    """Return the rules of a name, however its words are parted; None if there are none."""
    return _RULESETS_BY_NORMALIZED_NAME.get(_normalized(name))


def _normalized(name: str) -> str:
    return re.sub(r"[-_ ]", "", name.lower())


_RULESETS_BY_NORMALIZED_NAME = {_normalized(name): rules for name, rules in RULESETS.items()}
# What SGF files call them beside the names above.
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
    """Return the rules that an SGF file names in RU; None if it names none that are known."""
    text = text.strip()
    if found := _KATAGO_RULES_STRING.fullmatch(re.sub(r"\s", "", text)):
        ko, scoring, tax, suicide, has_button, handicap_bonus_rule, friendly_pass_ok = (
            found.groups()
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
    """Return the rules of that name, or of an object; None if they cannot be read."""
    if isinstance(value, str):
        return find_ruleset(value)
    return _from_json_object(value) if isinstance(value, Mapping) else None


def _from_json_object(fields: Mapping[str, Any]) -> Ruleset | None:
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if name in _CHOICES:
            key, choices = _CHOICES[name]
            if not isinstance(value, str) or value.upper() not in choices:
                return None
            found[key] = value.upper()
        elif name in _FLAGS:
            if not isinstance(value, bool):
                return None
            found[_FLAGS[name]] = value
        elif name == "komi" and _is_number(value):
            found["komi"] = float(value)
        else:
            return None
    if found.get("scoring") == "TERRITORY":
        found.setdefault("tax", "SEKI")
    return Ruleset(**found)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _MAX_KOMI  # which nan is not either
