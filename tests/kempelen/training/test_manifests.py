"""What files of positions say of themselves, and of the files that they were made of."""

import pytest

from kempelen.training.manifests import origins, validate, with_opening_counts

PLAYED = {"engine": "1", "rules": {"nodes": 9}, "evaluation": "nnue", "openings": ["a", "b"]}
SCORED = PLAYED | {"scores": {"engine": "Stockfish 15.1", "nodes": 1}}
MERGED = {"merged": [{"file": "a", "manifest": PLAYED}, {"file": "b", "manifest": SCORED}]}
SHUFFLED = {"shuffled": [{"file": "c", "manifest": MERGED}], "filters": []}


def test_origins_are_found_in_nested_manifests() -> None:
    assert [*origins(PLAYED)] == [PLAYED]
    assert [*origins(SHUFFLED)] == [PLAYED, SCORED]
    scores = {"engine": "other", "nodes": 5}
    assert [*origins(SHUFFLED | {"scores": scores})] == [PLAYED | {"scores": scores}] * 2


def test_openings_are_counted_in_nested_manifests() -> None:
    (source,) = with_opening_counts(SHUFFLED)["shuffled"]
    assert [each["manifest"]["openings"] for each in source["manifest"]["merged"]] == [2, 2]
    assert with_opening_counts({"openings": []}) == {"openings": 0}


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (5, "it has no entries"),
        ({"rules": 5}, "its rules cannot be read"),
        ({"scores": [1]}, "its scores cannot be read"),
        ({"evaluation": 3}, "its evaluation cannot be read"),
        ({"filters": 5}, "its filters cannot be read"),
        ({"filters": [5]}, "its filters cannot be read"),
        ({"scores": {"before": {"before": 5}}}, "its scores cannot be read"),
        ({"merged": [4]}, "its merged cannot be read"),
        ({"merged": [{"manifest": 4}]}, "it has no entries"),
    ],
)
def test_invalid_manifests_are_rejected(manifest: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        validate(manifest)
    assert validate(SHUFFLED) is SHUFFLED
