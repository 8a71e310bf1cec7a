"""The changelog has the form it names, and its newest release is this version."""

import re
from datetime import date

from kempelen import __version__
from tests.pages import Page

HEADINGS = re.findall(r"^## (.*)$", Page("CHANGELOG.md").text, re.MULTILINE)


def test_unreleased_section_comes_first() -> None:
    assert HEADINGS[0] == "Unreleased"


def test_newest_release_matches_package_version() -> None:
    assert HEADINGS[1].partition(" - ")[0] == __version__


def test_releases_are_sorted_by_number_and_date() -> None:
    releases = [heading.split(" - ") for heading in HEADINGS[1:]]
    numbers = [tuple(map(int, number.split("."))) for number, _ in releases]
    assert all(len(number) == 3 for number in numbers)
    assert numbers == sorted(set(numbers), reverse=True)
    days = [date.fromisoformat(day) for _, day in releases]
    assert days == sorted(days, reverse=True)
