import math

import pytest

from tournament.statistics import (
    elo_of_score,
    log_likelihood_ratio,
    score_of_elo,
    sprt_bounds,
    strength,
)

LLR_ROWS = [
    ((2002, 72968, 180891, 74129, 2034), 0, 2, True, 3.22, 0.005),
    ((434, 4052, 8304, 4206, 492), 0, 4, True, 3.00, 0.005),
    ((13, 37, 50, 25, 3), 0, 4, True, -0.54912, 0.000005),
    ((115, 2196, 11328, 2317, 136), -0.25, 1.25, False, 2.94, 0.005),
    ((10789, 19328, 33806, 19402, 10543), -3, 1, False, 2.13107, 0.000005),
    ((39, 8843, 26675, 9240, 44), 0.5, 2.5, True, 2.94168, 0.000005),
    ((36027, 68692, 36433), 0, 2, True, 0.92, 0.005),
]


@pytest.mark.parametrize(("counts", "elo0", "elo1", "normalized", "llr", "within"), LLR_ROWS)
def test_log_likelihood_ratio(counts, elo0, elo1, normalized, llr, within):
    value = log_likelihood_ratio(counts, elo0, elo1, normalized=normalized)
    assert value == pytest.approx(llr, abs=within)


def test_elo_of_games():
    measured = strength((96, 111, 136))
    assert measured.elo.value == pytest.approx(40.70, abs=0.005)
    assert measured.elo.error == pytest.approx(30.43, abs=0.005)
    assert measured.normalized.value == pytest.approx(49.77, abs=0.005)
    assert measured.normalized.error == pytest.approx(36.77, abs=0.005)
    assert measured.los == pytest.approx(0.9960, abs=0.00005)


def test_elo_of_pairs():
    measured = strength((13, 37, 50, 25, 3))
    assert measured.elo.value == pytest.approx(-43.658, abs=0.0005)
    assert measured.normalized.value == pytest.approx(-63.97, abs=0.005)


def test_bounds():
    assert sprt_bounds(0.05, 0.05) == pytest.approx((-2.94444, 2.94444), abs=0.00001)


@pytest.mark.parametrize(
    "counts", [(1, 0, 0), (0, 0, 1), (0, 5, 0), (0, 0, 1, 0, 0), (0, 0, 0, 0, 9)]
)
@pytest.mark.parametrize("normalized", [True, False])
def test_few_results_give_finite_values(counts, normalized):
    measured = strength(counts)
    assert math.isfinite(measured.elo.value)
    assert math.isfinite(log_likelihood_ratio(counts, 0, 5, normalized=normalized))


def test_swapping_sides_swaps_the_sign():
    counts = (5, 20, 40, 30, 11)
    there = log_likelihood_ratio(counts, -3, 7, normalized=True)
    back = log_likelihood_ratio(counts[::-1], -7, 3, normalized=True)
    assert there == pytest.approx(-back)


def test_elo_and_score_are_inverse():
    for elo in (-700, -3, 0, 12, 400):
        assert elo_of_score(score_of_elo(elo)) == pytest.approx(elo)
    assert elo_of_score(0) == -math.inf
    assert elo_of_score(1) == math.inf


def test_nothing_played():
    assert log_likelihood_ratio((0, 0, 0), 0, 2, normalized=True) == 0
    with pytest.raises(ValueError, match="no results"):
        strength((0, 0, 0))
