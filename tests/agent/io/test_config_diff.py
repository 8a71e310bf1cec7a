"""Descriptions of the differences between two configurations."""

from agent.io.config_diff import MAX_VALUE_LENGTH, describe_changes


def test_equal_descriptions_have_no_changes() -> None:
    assert describe_changes({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}) == []


def test_each_change_is_named_with_its_path() -> None:
    before = {"rules": {"nodes": 400, "plies": 8}, "evaluation": "handcrafted", "seed": 1}
    now = {"rules": {"nodes": 500, "plies": 8}, "seed": 1, "share": 0.5}
    assert describe_changes(before, now) == [
        "rules.nodes was 400, is 500",
        "evaluation was handcrafted, is not given",
        "share was not given, is 0.5",
    ]


def test_changed_list_item_is_named_by_position() -> None:
    before = {"merged": [{"digest": "a"}, {"digest": "b"}]}
    assert describe_changes(before, {"merged": [{"digest": "a"}, {"digest": "c"}]}) == [
        "merged 2.digest was b, is c"
    ]
    (clause,) = describe_changes(before, {"merged": []})
    assert clause.endswith("is []")


def test_long_values_are_shown_as_size_and_digest() -> None:
    openings = [f"opening {number}" for number in range(500)]
    (clause,) = describe_changes({"openings": openings}, {"openings": openings[::-1]})
    first, second = clause.removeprefix("openings was ").split(", is ")
    assert first.startswith("500 entries with digest ")
    assert second.startswith("500 entries with digest ")
    assert first != second
    (clause,) = describe_changes("a" * (MAX_VALUE_LENGTH + 1), "b", "name")
    assert clause.startswith(f"name was {MAX_VALUE_LENGTH + 1} characters with digest ")
