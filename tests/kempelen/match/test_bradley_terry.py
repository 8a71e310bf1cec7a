import itertools
import math
import random

import pytest

from kempelen.match.rating import bradley_terry as ratings_module
from kempelen.match.rating.bradley_terry import PairScore
from kempelen.match.rating.match_statistics import estimate_strength, score_from_elo


def rate(names, games, anchors=None):
    """Rate players by single games: (white, black, White's score)."""
    return ratings_module.rate(names, [PairScore(w, b, (score,)) for w, b, score in games], anchors)


def test_two_player_ratings_match_elo_of_score():
    games = [(0, 1, 1.0)] * 300 + [(1, 0, 0.5)] * 200 + [(1, 0, 1.0)] * 100
    first, second = rate(["A", "B"], games)
    elo = estimate_strength((100, 200, 300)).elo.value
    assert first.name == "A"
    assert (first.elo, second.elo) == pytest.approx((elo, -elo))
    assert (
        first.error == second.error == pytest.approx(estimate_strength((100, 200, 300)).elo.error)
    )
    assert (first.points, first.games, first.draws) == (400, 600, 200)


def test_true_strengths_are_recovered():
    generator = random.Random(5)
    truth = {"A": 150.0, "B": 60.0, "C": 0.0, "D": -210.0}
    names = list(truth)
    games = []
    for _ in range(2500):
        for white in range(4):
            for black in range(4):
                if white != black:
                    expected = score_from_elo(truth[names[white]] - truth[names[black]])
                    games.append((white, black, float(generator.random() < expected)))
    ratings = rate(names, games)
    assert [rating.name for rating in ratings] == names
    for rating in ratings:
        assert abs(rating.elo - truth[rating.name]) < 2 * rating.error
        assert 1 < rating.error < 10


def test_groups_are_connected_by_games_largest_group_first():
    met = [(1, 0), (4, 5), (5, 2), (6, 6)]
    assert ratings_module.connected_groups(7, met) == [[2, 4, 5], [0, 1], [3], [6]]


def test_one_sided_results_give_finite_ratings():
    ratings = rate(["A", "B"], [(0, 1, 1.0)] * 10)
    assert all(math.isfinite(rating.elo) for rating in ratings)
    assert ratings[0].elo > 300


def test_unbeaten_player_with_few_games_has_bounded_error():
    for games in (1, 2, 10):
        best, *others = rate(
            ["A", "B", "C"], [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 0.0), (1, 2, 1.0)] * games
        )
        assert best.name == "A"
        for rating in (best, *others):
            assert 100 < rating.error < 600


def test_two_player_ratings_use_pair_statistics():
    pairs = [PairScore(0, 1, (1.0, 0.0)), PairScore(1, 0, (0.0, 1.0))] * 4
    won = PairScore(1, 0, (0.5, 0.0))
    first, second = ratings_module.rate(["A", "B"], [*pairs, won])
    expected = estimate_strength((0, 0, 8, 1, 0)).elo
    assert (first.name, first.elo, first.error) == ("A", expected.value, expected.error)
    assert (second.elo, second.error) == (-expected.value, expected.error)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("pairs", [1, 2, 5, 20])
def test_rating_intervals_cover_true_ratings(pairs):
    truth = [100.0, 50.0, 0.0, -150.0]
    generator = random.Random(pairs)
    trials, covered = 150, [0] * len(truth)

    def game(first, second):
        expected = score_from_elo(truth[first] - truth[second])
        draw = min(expected, 1 - expected)
        return generator.choices(
            (0.0, 0.5, 1.0), (1 - expected - draw / 2, draw, expected - draw / 2)
        )

    for _ in range(trials):
        meetings = [
            PairScore(first, second, (*game(first, second), *game(first, second)))
            for first, second in itertools.combinations(range(len(truth)), 2)
            for _ in range(pairs)
        ]
        for rating in ratings_module.rate("0123", meetings):
            player = int(rating.name)
            covered[player] += abs(rating.elo - truth[player]) <= rating.error
    assert all(count / trials >= 0.9 for count in covered)
    assert pairs < 5 or sum(covered) / len(covered) / trials <= 0.99


def test_unconnected_player_has_infinite_rating_error():
    by_name = {r.name: r for r in rate(["A", "B", "C"], [(0, 1, 1.0), (1, 0, 1.0)])}
    assert by_name["A"].elo == pytest.approx(0, abs=1e-6)
    assert math.isinf(by_name["C"].error)


def test_anchors_keep_their_rating_and_set_the_scale():
    names = ["A", "B", "SF2400", "SF2800", "lonely", "friend"]
    games = [(0, 2, 1.0)] * 75 + [(2, 0, 1.0)] * 25 + [(0, 1, 1.0), (1, 0, 1.0)] * 50
    games += [(0, 3, 1.0)] * 24 + [(3, 0, 1.0)] * 76 + [(4, 5, 1.0), (5, 4, 1.0)]
    by_name = {r.name: r for r in rate(names, games, {"SF2400": 2400, "SF2800": 2800})}
    assert (by_name["SF2400"].elo, by_name["SF2400"].error) == (2400, 0)
    assert by_name["SF2800"].elo == pytest.approx(2800)
    assert by_name["A"].elo == pytest.approx(2595.5, abs=3)
    assert by_name["B"].elo == pytest.approx(by_name["A"].elo, abs=0.1)
    assert by_name["A"].error == pytest.approx(52, abs=6)
    assert by_name["B"].error > by_name["A"].error
    assert math.isinf(by_name["lonely"].error)


def test_anchored_opponent_shifts_rating_by_elo_of_score():
    games = [(0, 1, 1.0)] * 300 + [(1, 0, 0.5)] * 200 + [(1, 0, 1.0)] * 100
    first, _ = rate(["A", "B"], games, {"B": 1000})
    assert first.elo == pytest.approx(1000 + estimate_strength((100, 200, 300)).elo.value, abs=0.1)
