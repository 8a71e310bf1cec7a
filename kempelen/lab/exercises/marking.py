"""Parse and mark answers to exercises.

An answer is a list of parts in one format, separated by spaces, commas or semicolons. The HTML page
uses the same regular expressions, so they must mean the same in JavaScript.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf, isfinite

from agent.io.message import Message

RULE = (
    "Each correct part is one point. Each part beyond the number in the key costs one point. "
    "In an order, missing or additional parts do not spoil those after them."
)
# Maximum length of an answer in characters.
MAX_ANSWER_LENGTH = 4000
LABEL = r"(ε|root|ra[ií]z|e|[0-9]{1,3}(?:[.][0-9]{1,3}){0,30})"
MINUS = "\u2212"
NUMBER = rf"([-+{MINUS}]?(?:∞|inf|oo|[0-9]{{1,5}}(?:[.][0-9]{{1,5}})?))"
SPACE = r"[ \t\r\n\f\v\u00a0]*"
SEPARATORS = r"[ \t\r\n\f\v\u00a0,;]*"
END_OF_PART = r"(?=[ \t\r\n\f\v\u00a0,;]|$)"
SIGN_ALIASES = {"<=": "≤", "=<": "≤", ">=": "≥", "=>": "≥", MINUS: "-"}


@dataclass(frozen=True)
class AnswerFormat:
    """The format of one part of an answer, which is converted to lower case before matching.

    `pattern` is a regular expression with one group per field. `fields` holds the type of each
    field: "label", "number", "sign" or "word". `normal` is the format string of the normal form.
    """

    pattern: str
    fields: tuple[str, ...]
    normal: str


BETWEEN = SPACE + "," + SPACE
FORMS = {
    "labels": AnswerFormat(LABEL + END_OF_PART, ("label",), "{0}"),
    "values": AnswerFormat(
        LABEL + SPACE + "[=:]" + SPACE + NUMBER + END_OF_PART, ("label", "number"), "{0}={1}"
    ),
    "bounds": AnswerFormat(
        LABEL + SPACE + "(<=|=<|≤|>=|=>|≥)" + SPACE + NUMBER + END_OF_PART,
        ("label", "sign", "number"),
        "{0}{1}{2}",
    ),
    "states": AnswerFormat(
        f"[(]{SPACE}{LABEL}{SPACE},{SPACE}([vs]){SPACE},{SPACE}{NUMBER}{SPACE}[)]",
        ("label", "word", "number"),
        "({0}, {1}, {2})",
    ),
    "tests": AnswerFormat(
        LABEL + SPACE + "(>=|=>|≥|>)" + SPACE + NUMBER + SPACE + f"([-+{MINUS}])" + END_OF_PART,
        ("label", "sign", "number", "sign"),
        "{0}{1}{2}{3}",
    ),
    "windows": AnswerFormat(
        f"{LABEL}{SPACE}[(]{SPACE}{NUMBER}{BETWEEN}{NUMBER}{SPACE}[)]",
        ("label", "number", "number"),
        "{0}({1}, {2})",
    ),
    "passes": AnswerFormat(
        NUMBER + SPACE + "[=:]" + SPACE + NUMBER + END_OF_PART, ("number", "number"), "{0}={1}"
    ),
    "fractions": AnswerFormat(
        LABEL + SPACE + "[=:]" + SPACE + NUMBER + SPACE + "/" + SPACE + NUMBER + END_OF_PART,
        ("label", "number", "number"),
        "{0}={1}/{2}",
    ),
    "intervals": AnswerFormat(
        f"{LABEL}{SPACE}[=:]{SPACE}\\[{SPACE}{NUMBER}{BETWEEN}{NUMBER}{SPACE}\\]",
        ("label", "number", "number"),
        "{0}=[{1}, {2}]",
    ),
    "terms": AnswerFormat(
        "([a-z])" + SPACE + "[=:]" + SPACE + NUMBER + END_OF_PART, ("word", "number"), "{0}={1}"
    ),
}


@dataclass(frozen=True)
class Mark:
    """The mark of an answer: `points` out of a maximum of `parts`.

    `wrong` holds the parts that are not in the key. If order counts, it holds only the first part
    that is out of order.
    """

    right: bool
    points: int
    parts: int
    wrong: tuple[str, ...] = ()


def parse_parts(form: str, text: str) -> tuple[str, ...]:
    """Split an answer into its parts and normalize them.

    `form` is a key of `FORMS`. Raise ValueError if the answer is too long or a part is invalid.
    """
    if len(text) > MAX_ANSWER_LENGTH:
        raise ValueError(Message("answer: too long (at most {} characters)", MAX_ANSWER_LENGTH))
    text = text.lower()
    spec = FORMS[form]
    pattern, separators = re.compile(spec.pattern), re.compile(SEPARATORS)
    parts: list[str] = []
    offset = _end_of_separators(separators, text, 0)
    while offset < len(text):
        match = pattern.match(text, offset)
        if match is None:
            raise ValueError(Message("invalid answer {!r}", text[offset : offset + 20]))
        fields = zip(spec.fields, match.groups(), strict=True)
        parts.append(spec.normal.format(*(_normalise(kind, field) for kind, field in fields)))
        offset = _end_of_separators(separators, text, match.end())
    return tuple(parts)


def format_number(value: float) -> str:
    if not isfinite(value):
        return "∞" if value > 0 else "-∞"
    return str(int(value)) if value == int(value) else repr(float(value))


def mark_answer(key: tuple[str, ...], answer: tuple[str, ...], *, ordered: bool) -> Mark:
    """Compare an answer with the key, both in normal form, by the rule in `RULE`.

    If order counts, the correct parts are the longest part of the key that the answer contains in
    this order, so that one missing or additional part does not spoil the parts after it.
    """
    if ordered:
        n_equal = 0
        while n_equal < min(len(key), len(answer)) and key[n_equal] == answer[n_equal]:
            n_equal += 1
        n_right, wrong = _common_length(key, answer), answer[n_equal : n_equal + 1]
    else:
        answer = tuple(dict.fromkeys(answer))
        wrong = tuple(part for part in answer if part not in key)
        n_right = len(answer) - len(wrong)
    points = max(0, n_right - max(0, len(answer) - len(key)))
    return Mark(n_right == len(key) == len(answer), points, len(key), wrong)


def _common_length(key: tuple[str, ...], answer: tuple[str, ...]) -> int:
    """Return the length of the longest common subsequence."""
    lengths = [0] * (len(answer) + 1)
    for expected in key:
        previous = lengths.copy()
        for index, actual in enumerate(answer):
            lengths[index + 1] = (
                previous[index] + 1
                if expected == actual
                else max(previous[index + 1], lengths[index])
            )
    return lengths[-1]


def _end_of_separators(separators: re.Pattern[str], text: str, offset: int) -> int:
    match = separators.match(text, offset)
    return match.end() if match else offset


def _normalise(field: str, text: str) -> str:
    if field == "label":
        return text if text[0].isdigit() else "ε"
    if field == "sign":
        return SIGN_ALIASES.get(text, text)
    if field == "word":
        return text.upper()
    sign = -1 if text[0] in f"-{MINUS}" else 1
    text = text.lstrip(f"-+{MINUS}")
    return format_number(sign * (inf if text in ("∞", "inf", "oo") else float(text)))
