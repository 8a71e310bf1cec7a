import itertools
import math

import numpy as np
import pytest

from kempelen.match.config.settings import MAX_ELO
from kempelen.match.rating.match_statistics import (
    NORMALIZED_ELO,
    elo_from_score,
    estimate_difference,
    estimate_strength,
    log_likelihood_ratio,
    score_from_elo,
    sprt_bounds,
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
def test_log_likelihood_ratio_matches_reference_values(counts, elo0, elo1, normalized, llr, within):
    value = log_likelihood_ratio(counts, elo0, elo1, normalized=normalized)
    assert value == pytest.approx(llr, abs=within)


def test_elo_from_games_matches_reference_values():
    measured = estimate_strength((96, 111, 136))
    assert measured.elo.value == pytest.approx(40.70, abs=0.005)
    assert measured.elo.error == pytest.approx(30.43, abs=0.005)
    assert measured.normalized.value == pytest.approx(49.77, abs=0.005)
    assert measured.normalized.error == pytest.approx(36.77, abs=0.005)
    assert measured.los == pytest.approx(0.9960, abs=0.00005)


def test_elo_from_pairs_matches_reference_values():
    measured = estimate_strength((13, 37, 50, 25, 3))
    assert measured.elo.value == pytest.approx(-43.658, abs=0.0005)
    assert measured.normalized.value == pytest.approx(-63.97, abs=0.005)


def test_sprt_bounds_match_reference_values():
    assert sprt_bounds(0.05, 0.05) == pytest.approx((-2.94444, 2.94444), abs=0.00001)


@pytest.mark.parametrize(
    "counts", [(1, 0, 0), (0, 0, 1), (0, 5, 0), (0, 0, 1, 0, 0), (0, 0, 0, 0, 9)]
)
@pytest.mark.parametrize("normalized", [True, False])
def test_few_results_give_finite_values(counts, normalized):
    measured = estimate_strength(counts)
    assert math.isfinite(measured.elo.value)
    assert math.isfinite(log_likelihood_ratio(counts, 0, 5, normalized=normalized))


def trinomial_log_likelihood(counts, elo):
    """Return the maximum likelihood given a normalised Elo, by trying all shares of draws."""
    ratio = elo / NORMALIZED_ELO
    draws = np.linspace(0, 1, 20_001)[1:-1]
    excess = ratio * np.sqrt((1 - draws) / 4 / (1 + ratio**2))  # of the mean over 1/2
    shares = np.array([(1 - draws) / 2 - excess, draws, (1 - draws) / 2 + excess])
    shares = shares[:, shares.min(axis=0) > 0]
    return (np.array(counts) @ np.log(shares)).max()


@pytest.mark.parametrize("elo1", [-1000, -250, 250, 500, 1000])
def test_log_likelihood_ratio_of_large_elo_is_exact(elo1):
    counts = (13, 37, 50)
    expected = trinomial_log_likelihood(counts, elo1) - trinomial_log_likelihood(counts, 0)
    value = log_likelihood_ratio(counts, 0, elo1, normalized=True)
    assert value == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("counts", [(10**10, 0, 0), (0, 10**10, 0), (1, 0, 0, 0, 10**10 - 1)])
@pytest.mark.parametrize("normalized", [True, False])
def test_extreme_results_give_finite_values(counts, normalized):
    assert math.isfinite(estimate_strength(counts).elo.value)
    for bounds in ((0, 2), (0, MAX_ELO), (-MAX_ELO, MAX_ELO)):
        assert math.isfinite(log_likelihood_ratio(counts, *bounds, normalized=normalized))


def test_swapping_sides_negates_log_likelihood_ratio():
    counts = (5, 20, 40, 30, 11)
    forward = log_likelihood_ratio(counts, -3, 7, normalized=True)
    reverse = log_likelihood_ratio(counts[::-1], -7, 3, normalized=True)
    assert forward == pytest.approx(-reverse)


def test_elo_and_score_are_inverse():
    for elo in (-700, -3, 0, 12, 400):
        assert elo_from_score(score_from_elo(elo)) == pytest.approx(elo)
    assert elo_from_score(0) == -math.inf
    assert elo_from_score(1) == math.inf


def test_strength_needs_at_least_one_result():
    assert log_likelihood_ratio((0, 0, 0), 0, 2, normalized=True) == 0
    with pytest.raises(ValueError, match="no results"):
        estimate_strength((0, 0, 0))


def outcomes_of_a_game(elo, draws):
    """Return the probabilities of a loss, a draw and a win; `draws`: share of possible draws."""
    score = score_from_elo(elo)
    drawn = 2 * draws * min(score, 1 - score)
    return np.array([1 - score - drawn / 2, drawn, score - drawn / 2])


def all_counts(outcomes, total):
    """Return all tuples of counts of `outcomes` outcomes with this total."""
    bars = itertools.combinations(range(total + outcomes - 1), outcomes - 1)
    edges = np.array([(-1, *each, total + outcomes - 1) for each in bars])
    return np.diff(edges, axis=1) - 1


def coverage(likelihoods, total, elo):
    """Return the coverage of the interval: exactly, or by simulation if there are many counts."""
    outcomes = len(likelihoods)
    if math.comb(total + outcomes - 1, outcomes - 1) < 25_000:
        counts = all_counts(outcomes, total)
        logs = np.array([math.lgamma(n + 1) for n in range(total + 1)])
        probabilities = np.exp(
            logs[total] - logs[counts].sum(axis=1) + counts @ np.log(likelihoods)
        )
    else:
        counts = np.random.default_rng(1).multinomial(total, likelihoods, 3000)
        probabilities = np.full(len(counts), 1 / len(counts))
    assert probabilities.sum() == pytest.approx(1)
    covered = 0.0
    for count, probability in zip(counts.tolist(), probabilities, strict=True):
        if probability > 1e-7:
            estimate = estimate_strength(count).elo
            covered += probability * (abs(estimate.value - elo) <= estimate.error)
    return covered


@pytest.mark.thorough(keep=8)
@pytest.mark.parametrize("elo", [0, 50, 200])
@pytest.mark.parametrize("draws", [0.3, 0.6])
@pytest.mark.parametrize("games", [2, 4, 10, 40, 200])
def test_confidence_interval_has_stated_coverage(elo, draws, games):
    game = outcomes_of_a_game(elo, draws)
    by_pairs = coverage(np.convolve(game, game), games // 2, elo)
    by_games = coverage(game, games, elo)
    for share in (by_pairs, by_games):
        assert share >= 0.9
        # With few games every outcome is likely, so the interval must include all.
        assert share <= 0.99 or games <= 10


def test_identical_pairs_have_nonzero_error():
    by_pairs, by_games = estimate_strength((0, 0, 8, 0, 0)).elo, estimate_strength((8, 0, 8)).elo
    assert (by_pairs.value, by_games.value) == (0, 0)
    assert 50 < by_pairs.error < by_games.error < 200
    errors = [estimate_strength((0, 0, pairs, 0, 0)).elo.error for pairs in (1, 2, 8, 100, 10_000)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 200
    assert errors[-1] < 1


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 1), (0, 0, 0, 1, 0), (0, 0, 1), (0, 0, 2)])
def test_one_pair_gives_large_error(counts):
    measured = estimate_strength(counts)
    assert measured.elo.value > 0
    assert measured.elo.value + 100 < measured.elo.error < 1000
    assert 0.5 < measured.los < 0.95


@pytest.mark.parametrize(("outcomes", "total"), [(5, 1), (5, 2), (5, 5), (5, 9), (3, 4), (3, 40)])
def test_likelihood_of_superiority_agrees_with_interval(outcomes, total):
    for counts in all_counts(outcomes, total).tolist():
        measured = estimate_strength(counts)
        includes_zero = abs(measured.elo.value) <= measured.elo.error
        confidence = max(measured.los, 1 - measured.los)
        assert confidence < 0.985 if includes_zero else confidence > 0.97


def test_difference_uses_pairs_unless_most_games_are_unpaired():
    assert estimate_difference((0, 0, 0, 0, 0), (0, 0, 0)) is None
    assert estimate_difference((0, 0, 0, 0, 0), (0, 1, 0)) == estimate_strength((0, 1, 0))
    assert estimate_difference((0, 0, 8, 0, 0), (8, 0, 8)) == estimate_strength((0, 0, 8, 0, 0))
    assert estimate_difference((0, 0, 8, 0, 0), (8, 0, 9)) == estimate_strength((0, 0, 8, 0, 0))
    assert estimate_difference((0, 0, 1, 0, 0), (1, 0, 4)) == estimate_strength((1, 0, 4))


def test_score_is_share_of_points():
    assert estimate_strength((0, 0, 0, 0, 3)).score == 1
    assert estimate_strength((1, 1, 2)).score == 0.625
