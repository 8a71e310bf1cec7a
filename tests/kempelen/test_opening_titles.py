"""Opening names in Spanish."""

import re

import pytest

from kempelen.console.opening_titles import CONTEXT, translate_opening
from kempelen.match.records.game_record import opening_names
from tests.kempelen.message_templates import spanish

TITLES = sorted({each.title for each in opening_names().values()} - {""})


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Sicilian Defence", "Defensa siciliana"),
        (
            "Sicilian Defence: Najdorf Variation, English Attack",
            "Defensa siciliana: variante Najdorf, ataque inglés",
        ),
        ("Bird's Opening: From's Gambit", "Apertura Bird: gambito From"),
        ("Italian Game: Evans Gambit Declined", "Apertura italiana: gambito Evans rehusado"),
        ("Van't Kruijs Opening", "Apertura Van't Kruijs"),
        ("Giuoco Piano", "Giuoco Piano"),
    ],
)
def test_opening_is_named_in_spanish(title: str, expected: str) -> None:
    assert translate_opening(title, "es") == expected
    assert translate_opening(title, "en") == title


def test_no_english_word_is_left_in_any_opening() -> None:
    english = {
        word
        for each in spanish()
        if each.context == CONTEXT
        for word in set(re.findall(r"[\w'-]+", each.id))
        - set(re.findall(r"[\w'-]+", str(each.string)))
    }
    assert len(TITLES) > 400
    assert len(english) > 100
    left = {title: set(re.findall(r"[\w'-]+", translate_opening(title, "es"))) for title in TITLES}
    assert {title: words & english for title, words in left.items() if words & english} == {}


def test_every_translation_of_an_opening_is_used() -> None:
    parts = {part for title in TITLES for part in re.split(": |, ", title)}
    patterns = {f"{{}} {word}" for part in parts for _, _, word in [part.partition(" ")]}
    patterns |= {f"{{}} {part.split()[-1]}" for part in parts}
    used = {each.id for each in spanish() if each.context == CONTEXT}
    assert used - parts - patterns == set()
