"""Test the manifests of files of positions and of their sources."""

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
        (5, "not a mapping"),
        ({"rules": 5}, "invalid entry 'rules'"),
        ({"scores": [1]}, "invalid entry 'scores'"),
        ({"evaluation": 3}, "invalid entry 'evaluation'"),
        ({"filters": 5}, "invalid entry 'filters'"),
        ({"filters": [5]}, "invalid entry 'filters'"),
        ({"scores": {"before": {"before": 5}}}, "invalid entry 'scores'"),
        ({"merged": [4]}, "invalid entry 'merged'"),
        ({"merged": [{"manifest": 4}]}, "not a mapping"),
    ],
)
def test_invalid_manifests_are_rejected(manifest: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        validate(manifest)
    assert validate(SHUFFLED) is SHUFFLED
