"""The wording of the product follows its style rules, which `python -m tests.style` checks."""

import pytest

from tests.style import RULES, offences, offences_in

# Some are right: "he" of a person who wrote a paper.
MAX_OFFENCES = 30


def test_wording_follows_the_style_rules() -> None:
    found = offences()
    assert len(found) <= MAX_OFFENCES, "\n".join(
        f"{each.path}:{each.line}: {each.rule}: {each.text}" for each in found
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Tell whoever\nasks anew.", [1, 2]),
        ("the first\nline: so\n# many seconds", [3]),
        ("The engine answers; then he waits.", [1]),
        ("x: what it holds are none", [1]),
        ("a board of size 5 cannot be; use 4", [1]),
        ("The file cannot be read.", [1]),
        ("x.pgn cannot be read: permission denied", []),
        ("Raises OSError if the file cannot be read.", []),
        ("somewhere, something, renewed, this, then", []),
    ],
)
def test_offences_are_found_by_line(text: str, lines: list[int]) -> None:
    assert [each.line for each in sorted(offences_in(text))] == lines


def test_rules_are_named() -> None:
    assert len({each.rule for each in offences_in("whoever anew so long he are none")}) == 5
    assert len(RULES) == 6
