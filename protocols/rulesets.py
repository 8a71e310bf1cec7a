"""Read Go rulesets: names, KataGo's JSON, and the names and notations in SGF files.

Sources: `kata-set-rules` in KataGo's 'GTP Extensions', the SGF FF[4] property RU, and the names
that SGF editors write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.games.go_rules import (
    FIELDS,
    HANDICAP_BONUSES,
    KO_RULES,
    RULESETS,
    SCORING_RULES,
    TAX_RULES,
    Ruleset,
)

MAX_SHOWN_LENGTH = 60
_MAX_KOMI = 1e6


class RulesError(ValueError):
    """Raised if rules are unknown or cannot be played. The message names the wrong value."""


def find_ruleset(name: str) -> Ruleset | None:
    """Return the ruleset called `name`, or None. Ignore spaces, hyphens and underscores."""
    return _RULESETS_BY_NORMALIZED_NAME.get(_normalized(name))


def _normalized(name: str) -> str:
    return re.sub(r"[-_ ]", "", name.lower())


_RULESETS_BY_NORMALIZED_NAME = {
    **{_normalized(name): rules for name, rules in RULESETS.items()},
    "ancientchinese": RULESETS["stone-scoring"],
}
# Additional names that occur in SGF files.
_SGF_ALIASES = {
    "china": "chinese",
    "cn": "chinese",
    "chn": "chinese",
    "中国": "chinese",
    "中國": "chinese",
    "중국": "chinese",
    "japan": "japanese",
    "jp": "japanese",
    "jpn": "japanese",
    "일본": "japanese",
    "日本": "japanese",
    "日本棋院": "japanese",
    "korea": "korean",
    "kr": "korean",
    "kor": "korean",
    "한국": "korean",
    "韓国": "korean",
    "韩国": "korean",
    "tt": "tromp-taylor",
    "inggoe": "ing",
}
# "rules", "ruleset", "rules of Go", and the same in Chinese, Japanese and Korean.
_RULES_WORD = re.compile(
    r"\brule(s|set)?\b|(?:围棋|圍棋|囲碁|바둑)?(?:规则|規則|规约|規約|ルール|규칙|룰)",
    re.IGNORECASE,
)
# A part of KataGo's notation, such as `koSIMPLE`. The groups are the fields of its JSON format.
_KATAGO_PART = re.compile(
    rf"komi(?P<komi>-?[0-9]+(?:\.[0-9]+)?)|ko(?P<ko>{'|'.join(KO_RULES)})"
    rf"|scor(?:e|ing)(?P<scoring>{'|'.join(SCORING_RULES)})|tax(?P<tax>{'|'.join(TAX_RULES)})"
    rf"|sui(?P<suicide>[01])|button(?P<hasButton>[01])|fpok(?P<friendlyPassOk>[01])"
    rf"|whb(?P<whiteHandicapBonus>{'|'.join(reversed(HANDICAP_BONUSES))})",
    re.IGNORECASE,
)


def read_sgf_rules(text: str) -> Ruleset | None:
    """Parse the SGF property RU. Return None if the ruleset is unknown or cannot be played."""
    try:
        return replace(read_rules_text(text), komi=None)
    except RulesError:
        name = _normalized(_RULES_WORD.sub("", text.strip()))
        return find_ruleset(_SGF_ALIASES.get(name, name))


def read_rules_text(text: str) -> Ruleset:
    """Parse a ruleset's name, KataGo's JSON or KataGo's notation. Raise `RulesError`."""
    text = text.strip()
    if text.startswith("{"):
        try:
            return read_ruleset(json.loads(text))
        except RulesError:
            raise
        except (ValueError, RecursionError):
            raise RulesError("invalid JSON in rules") from None
    if rules := _read_katago_parts(re.sub(r"\s", "", text)):
        return rules
    rules_by_name = find_ruleset(text)
    if rules_by_name is None:
        raise RulesError(
            f"unknown rules: {shortened(text)} (expected one of: {', '.join(RULESETS)}; or JSON)"
        )
    return rules_by_name


def _read_katago_parts(text: str) -> Ruleset | None:
    """Parse KataGo's notation, in which any part may be missing. Return None for other texts."""
    fields: dict[str, Any] = {}
    komi = None
    position = 0
    while match := _KATAGO_PART.match(text, position):
        name = str(match.lastgroup)
        if name == "komi":
            komi = float(match[name])
        else:
            is_switch = True in FIELDS[name][1]
            fields[name] = match[name] == "1" if is_switch else match[name]
        position = match.end()
    if not text or position < len(text):
        return None
    return _ruleset(fields, komi)


def read_ruleset(value: object) -> Ruleset:
    """Return the ruleset for a text or a JSON object. Raise `RulesError` if it is invalid.

    Missing fields have KataGo's defaults: those of Tromp-Taylor, and no points in seki under
    territory scoring.
    """
    if isinstance(value, str):
        return read_rules_text(value)
    if not isinstance(value, Mapping):
        raise RulesError("invalid rules (expected a name or a JSON object)")
    fields = dict(value)
    komi = fields.pop("komi", None)
    if komi is not None and not _is_number(komi):
        raise RulesError(f"komi: invalid value {shortened(json.dumps(komi))} (expected a number)")
    return _ruleset(fields, None if komi is None else float(komi))


def _ruleset(fields: Mapping[str, Any], komi: float | None) -> Ruleset:
    scoring = fields.get("scoring", fields.get("score"))
    if isinstance(scoring, str) and scoring.upper() == "TERRITORY":
        fields = {"tax": "SEKI", **fields}
    return replace(with_fields(RULESETS["tromp-taylor"], fields), komi=komi)


def with_fields(rules: Ruleset, fields: Mapping[str, Any]) -> Ruleset:
    """Return the rules with new JSON fields, or raise `RulesError` if a field is invalid."""
    for field, value in fields.items():
        name = "scoring" if field == "score" else field  # KataGo accepts both names.
        if name not in FIELDS:
            raise RulesError(
                f"unknown rule: {shortened(str(name))} (expected one of: {', '.join(FIELDS)})"
            )
        attribute, choices = FIELDS[name]
        key = value.upper() if isinstance(value, str) else value
        if not isinstance(key, str | bool) or key not in choices:
            expected = " or ".join(map(json.dumps, choices))
            raise RulesError(
                f"{name}: unsupported value {shortened(json.dumps(value))} (expected {expected})"
            )
        change: dict[str, Any] = {attribute: key}
        rules = replace(rules, **change)
    return _require_playable(rules)


def _require_playable(rules: Ruleset) -> Ruleset:
    if rules.has_button and rules.territory:
        raise RulesError("hasButton: not supported with scoring TERRITORY (expected AREA)")
    return rules


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _MAX_KOMI  # False for NaN.


def shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_LENGTH else f"{text[:MAX_SHOWN_LENGTH]}..."
