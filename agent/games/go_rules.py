"""The rules of Go, with the fields and values of KataGo's JSON format.

Sources: `kata-set-rules` in KataGo's 'GTP Extensions', and the SGF FF[4] property RU.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

KO_RULES = ("SIMPLE", "POSITIONAL", "SITUATIONAL")
SCORING_RULES = ("AREA", "TERRITORY")
TAX_RULES = ("NONE", "SEKI", "ALL")
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
SGF_NAMES = ("Japanese", "Chinese", "AGA", "NZ", "GOE", "Tromp-Taylor")


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
    def territory(self) -> bool:
        """Whether territory and prisoners are counted, not area."""
        return self.scoring == "TERRITORY"

    @property
    def all_stones_live(self) -> bool:
        """Whether dead stones count as alive after two passes, so that they must be captured.

        False under territory scoring, where such captures would cost points.
        """
        return not (self.friendly_pass_ok or self.territory)

    def to_json_object(self) -> dict[str, Any]:
        """Return the ruleset as a JSON object in KataGo's format."""
        return {name: getattr(self, attribute) for name, (attribute, _) in FIELDS.items()}

    def __str__(self) -> str:
        return json.dumps(self.to_json_object(), separators=(",", ":"))

    @property
    def sgf_name(self) -> str:
        """Return the value of the SGF property RU, which is a name or KataGo's notation."""
        names = (name for name in SGF_NAMES if self == RULESETS[name.lower()])
        return next(names, self.katago_string)

    @property
    def katago_string(self) -> str:
        """Return the notation that KataGo writes in SGF files for rulesets without a name."""
        word = f"ko{self.ko}score{self.scoring}tax{self.tax}sui{self.suicide:d}"
        word += "button1" if self.has_button else ""
        word += "" if self.handicap_bonus_rule == "0" else f"whb{self.handicap_bonus_rule}"
        return word + ("fpok1" if self.friendly_pass_ok else "")


_CHINESE = Ruleset(ko="SIMPLE", suicide=False, handicap_bonus_rule="N")
_JAPANESE = Ruleset(
    ko="SIMPLE", scoring="TERRITORY", tax="SEKI", suicide=False, friendly_pass_ok=False
)
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

# The rules of games that choose none: positional superko, and area scoring with dead stones.
DEFAULT_RULES = Ruleset(suicide=False)


def handicap_bonus(handicap_bonus_rule: str, stones: int) -> int:
    """Return White's points for handicap stones, or 0 for fewer than two stones."""
    if stones < 2:
        return 0
    return {"0": 0, "N": stones, "N-1": stones - 1}[handicap_bonus_rule]
