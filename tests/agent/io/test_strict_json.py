"""JSON from an untrusted source: numbers are bounded, and all errors are ValueErrors."""

from datetime import date

import pytest

from agent.io.strict_json import MAX_NUMBER, loads, loads_object, quote_value


@pytest.mark.parametrize(
    "text",
    ["9" * 400, "-" + "9" * 400, "9" * 5000, "1e31", "1e999", "NaN", "Infinity", "-Infinity"],
)
def test_numbers_that_could_overflow_are_invalid(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - also of int, for very long numbers
        loads(f'{{"cp": {text}}}')
    assert loads_object(f'{{"cp": {text}}}') is None


def test_other_numbers_keep_their_value_and_type() -> None:
    found = loads(f"[0, -7, {2**63}, 0.5, -1e20, {MAX_NUMBER}]")
    assert found == [0, -7, 2**63, 0.5, -1e20, MAX_NUMBER]
    assert [type(number) for number in found] == [int] * 3 + [float] * 3


def test_deep_nesting_is_invalid() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        loads("[" * 100_000)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x", "'x'"),
        ("a\nb", r"'a\nb'"),
        (True, "true"),
        (None, "null"),
        (9.5, "9.5"),
        ([1, "x"], '[1, "x"]'),
        ({"a": None}, '{"a": null}'),
        (date(2024, 3, 1), '"2024-03-01"'),
        ("x" * 200, "'" + "x" * 98 + "…"),
    ],
)
def test_values_in_messages_are_shown_as_json(value: object, shown: str) -> None:
    assert quote_value(value) == shown
