"""Answers to exercises: how they are written, and how they are marked.

An answer is text: parts of one form, between spaces, commas or semicolons. Each part has one
normal way to be written, in which answers and keys are compared. The page of exercises reads by
the same patterns, which therefore say nothing that Python and JavaScript read differently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf, isfinite

# The longest answer that is looked at.
MAX_ANSWER_LENGTH = 4000
LABEL = r"(ε|root|ra[ií]z|e|[0-9]{1,3}(?:[.][0-9]{1,3}){0,30})"
MINUS = "\u2212"
NUMBER = rf"([-+{MINUS}]?(?:∞|inf|oo|[0-9]{{1,5}}(?:[.][0-9]{{1,5}})?))"
SPACE = r"[ \t\r\n\f\v\u00a0]*"
SEPARATORS = r"[ \t\r\n\f\v\u00a0,;]*"
END_OF_PART = r"(?=[ \t\r\n\f\v\u00a0,;]|$)"
SIGN_ALIASES = {"<=": "≤", "=<": "≤", ">=": "≥", "=>": "≥"}


@dataclass(frozen=True)
class Form:
    """How the parts of an answer are written, in lower case, and how normally.

    pattern: with a group a field. fields: what each is, a label, number, sign or word.
    """

    pattern: str
    fields: tuple[str, ...]
    normal: str


FORMS = {
    "labels": Form(LABEL + END_OF_PART, ("label",), "{0}"),
    "values": Form(
        LABEL + SPACE + "[=:]" + SPACE + NUMBER + END_OF_PART, ("label", "number"), "{0}={1}"
    ),
    "bounds": Form(
        LABEL + SPACE + "(<=|=<|≤|>=|=>|≥)" + SPACE + NUMBER + END_OF_PART,
        ("label", "sign", "number"),
        "{0}{1}{2}",
    ),
    "states": Form(
        f"[(]{SPACE}{LABEL}{SPACE},{SPACE}([vs]){SPACE},{SPACE}{NUMBER}{SPACE}[)]",
        ("label", "word", "number"),
        "({0}, {1}, {2})",
    ),
}


@dataclass(frozen=True)
class Mark:
    """What an answer is worth: `points` of `parts`.

    wrong: parts that are not in the key, or where order counts the first that is out of place.
    """

    right: bool
    points: int
    parts: int
    wrong: tuple[str, ...] = ()


def parse_parts(form: str, text: str) -> tuple[str, ...]:
    """Return the parts of an answer as they are written normally.

    Raises ValueError, naming the place, for what is not of the form.
    """
    if len(text) > MAX_ANSWER_LENGTH:
        raise ValueError(f"the answer is too long: write {MAX_ANSWER_LENGTH} characters at most")
    text = text.lower()
    shape = FORMS[form]
    pattern, separators = re.compile(shape.pattern), re.compile(SEPARATORS)
    found: list[str] = []
    place = _end_of_separators(separators, text, 0)
    while place < len(text):
        match = pattern.match(text, place)
        if match is None:
            raise ValueError(f"{text[place : place + 20]!r} cannot be read")
        fields = zip(shape.fields, match.groups(), strict=True)
        found.append(shape.normal.format(*(_normalise(kind, each) for kind, each in fields)))
        place = _end_of_separators(separators, text, match.end())
    return tuple(found)


def format_number(value: float) -> str:
    """Write a number as answers have it."""
    if not isfinite(value):
        return "∞" if value > 0 else "-∞"
    return str(int(value)) if value == int(value) else repr(float(value))


def mark_answer(key: tuple[str, ...], answer: tuple[str, ...], *, ordered: bool) -> Mark:
    """Compare an answer with the key, both written normally.

    Where order counts, the points are those before the first part that is out of place; elsewhere
    a part that the key has not takes a point away.
    """
    if ordered:
        same = 0
        for mine, theirs in zip(key, answer, strict=False):
            if mine != theirs:
                break
            same += 1
        return Mark(answer == key, same, len(key), answer[same : same + 1])
    given = tuple(dict.fromkeys(answer))
    wrong = tuple(each for each in given if each not in key)
    points = max(0, len(given) - 2 * len(wrong))
    return Mark(set(given) == set(key), points, len(key), wrong)


def _end_of_separators(separators: re.Pattern[str], text: str, place: int) -> int:
    """Return where the separators that begin at a place end."""
    match = separators.match(text, place)
    return match.end() if match else place


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
