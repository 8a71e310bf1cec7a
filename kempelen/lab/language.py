"""Format and translate the output of the `kempelen lab` commands (English or Spanish)."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from math import inf, isinf, nextafter
from typing import Any

from agent.search.search import ValueMeaning
from agent.search.terminal_scoring import utility
from kempelen.console.translation import LANGUAGES, translate
from kempelen.lab.localized_parser import OPTION

Translator = Callable[[str], str]

# The largest finite float: the lower bound of a null window at infinity.
BELOW_INFINITY = nextafter(inf, 0)

# Moves of the built-in games whose notation is an English word.
MOVE_WORDS = ("bet", "hold", "liar", "pass", "roll")


def configure(parser: ArgumentParser, *, default: str) -> None:
    parser.add_argument(
        OPTION,
        choices=LANGUAGES,
        default=default,
        help="output language (default: en)",
    )


def translator(name: str) -> Translator:
    """Return a function that translates English labels into the language `name` ("en" or "es")."""
    return str if name == "en" else partial(translate, language=name)


def translate_move(text: str, translate: Translator) -> str:
    """Translate a move whose notation is an English word, such as "pass", for display."""
    return translate(text) if text in MOVE_WORDS else text


def parse_move(text: str, translate: Translator) -> str:
    """Convert a translated move, such as Spanish "pasar", back to the game's notation."""
    if translate is str:
        return text
    return {translate(word): word for word in MOVE_WORDS}.get(text.lower(), text)


def json_value(value: Any, *, decided: bool = False) -> Any:
    """Convert a value to JSON data recursively, with infinite floats as text and -0.0 as 0.

    If `decided` is true, a float that encodes a win or loss is replaced by its utility.
    """
    if isinstance(value, dict):
        return {key: json_value(each, decided=decided) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(each, decided=decided) for each in value]
    if not isinstance(value, float):
        return value
    if isinf(value):
        return format_value(value)
    end = utility(value) if decided else None
    return value + 0.0 if end is None else end


def format_value(value: float, digits: int = 4, translate: Translator = str) -> str:
    """Format a search value with `digits` significant digits, or as ∞, WIN or LOSS."""
    if abs(value) == inf:
        return "∞" if value > 0 else "-∞"
    if abs(value) == BELOW_INFINITY:
        return "∞-" if value > 0 else "-∞+"
    decides = utility(value)
    if decides is not None:
        return format_outcome(decides, translate)
    return f"{value + 0.0:.{digits}g}"  # adding 0.0 turns -0.0 into 0


def format_outcome(utility: float, translate: Translator) -> str:
    word = translate("WIN" if utility > 0 else "LOSS")
    return word if abs(utility) == 1 else f"{word} {utility:.4g}"


def format_result(
    value: float, decided: bool, meaning: ValueMeaning, translate: Translator = str
) -> str:
    """Format the value of a search so that its meaning can be seen.

    `≥` marks a lower bound, `≈` an estimate, `mean=` a mean reward. A win or loss that is not
    `decided` only tells whether the value is above 0.
    """
    if decided:
        return format_outcome(value, translate)
    if meaning == "win or loss":
        return ">0" if value > 0 else "≤0"
    text = format_value(value, translate=translate)
    marks = {"lower bound": "≥", "estimate": "≈", "mean reward": f"{translate('mean')}="}
    return marks.get(meaning, "") + text


def counted(number: int, one: str, many: str, translate: Translator) -> str:
    """Return a number with a translated noun, such as "1 node" or "2 nodes"."""
    return f"{number} {translate(one if number == 1 else many)}"


def format_window(alpha: float, beta: float, translate: Translator = str) -> str:
    """Format a search window as "(alpha, beta)", or a null window as "(a, a+)" or "(b-, b)"."""
    is_null = alpha != beta and nextafter(alpha, inf) == beta
    low, high = format_value(alpha, translate=translate), format_value(beta, translate=translate)
    if is_null and len(repr(alpha)) <= len(repr(beta)):
        return f"({low}, {low}+)"
    return f"({high}-, {high})" if is_null else f"({low}, {high})"


def format_label(path: tuple[Any, ...]) -> str:
    """Format a node's path of child numbers, such as "1.2.1", or "ε" for the root."""
    return ".".join(map(str, path)) or "ε"
