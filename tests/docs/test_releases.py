"""The changelog has the form it names, and its newest release is this version."""

import re
from datetime import date

from kempelen import __version__
from tests.pages import Page

HEADINGS = re.findall(r"^## (.*)$", Page("CHANGELOG.md").text, re.MULTILINE)


def test_what_is_not_released_comes_first() -> None:
    assert HEADINGS[0] == "Unreleased"


def test_the_newest_release_is_this_version() -> None:
    assert HEADINGS[1].partition(" - ")[0] == __version__


def test_releases_have_a_number_and_a_day_the_newest_first() -> None:
    releases = [heading.split(" - ") for heading in HEADINGS[1:]]
    numbers = [tuple(map(int, number.split("."))) for number, _ in releases]
    assert all(len(number) == 3 for number in numbers)
    assert numbers == sorted(set(numbers), reverse=True)
    days = [date.fromisoformat(day) for _, day in releases]
    assert days == sorted(days, reverse=True)
