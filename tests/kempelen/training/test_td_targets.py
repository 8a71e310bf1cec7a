"""Test TD(lambda) returns, by hand and in training data."""

import math
from pathlib import Path

import numpy as np
import pytest

from agent.chess.board.packed_position import BLACK_TO_MOVE, packed_dtype
from agent.chess.search.selfplay_settings import SelfPlaySettings
from kempelen.training.dataset import TRAINING, Dataset, is_validation
from kempelen.training.dataset_blocks import Packed
from kempelen.training.network_data import load
from kempelen.training.network_settings import PositionFilter, Target
from kempelen.training.selfplay import SelfPlayPlan, generate
from kempelen.training.td_targets import MAX_RETURN, lambda_returns

SCALE = 400.0


def game(*plies_and_scores: tuple[int, int]) -> Packed:
    """Make the positions of a game; scores are from the mover's view."""
    made = np.zeros(len(plies_and_scores), packed_dtype)
    for record, (ply, score) in zip(made, plies_and_scores, strict=True):
        record["fullmoves"], record["score"] = ply // 2 + 1, score
        record["state"] = BLACK_TO_MOVE * (ply % 2)
    return made


def chance(score: float) -> float:
    """Return the winning probability of a score."""
    return 1 / (1 + math.exp(-score / SCALE))


def score_of(chance: float) -> int:
    """Return the score of a winning probability."""
    return round(SCALE * math.log(chance / (1 - chance)))


def test_return_mixes_own_score_and_next_score() -> None:
    """By hand: the next position is Black's, so its score has the opposite sign."""
    played = game((20, 100), (21, 300))
    expected = score_of(0.2 * chance(100) + 0.8 * chance(-300))
    assert lambda_returns(played, 0.8, SCALE).tolist() == [expected, 300]


def test_distant_next_position_counts_less() -> None:
    """Two plies between the positions are missing."""
    played = game((20, 100), (23, 300))
    share = 0.8**3
    expected = score_of((1 - share) * chance(100) + share * chance(-300))
    assert lambda_returns(played, 0.8, SCALE).tolist() == [expected, 300]


def test_return_includes_all_later_positions() -> None:
    """The value of the third position reaches the first through the second."""
    played = game((20, 0), (21, -200), (22, 400))
    second = 0.5 * chance(200) + 0.5 * chance(400)
    first = 0.5 * chance(0) + 0.5 * second
    assert lambda_returns(played, 0.5, SCALE).tolist() == [score_of(first), -score_of(second), 400]


@pytest.mark.parametrize("scores", [(), (7,), (5, -5, 30), (30_000, -30_000, 32_000)])
def test_lambda_of_zero_keeps_scores(scores: tuple[int, ...]) -> None:
    """Near certainty: scores beyond 27 times the scale have equal probabilities."""
    played = game(*((20 + i, score) for i, score in enumerate(scores)))
    most = min(MAX_RETURN, round(SCALE * math.log(1e12)))
    expected = [max(-most, min(score, most)) for score in scores]
    assert lambda_returns(played, 0.0, SCALE).tolist() == expected


def test_lambda_of_one_gives_last_score() -> None:
    """With a lambda of 1, only the last position counts."""
    played = game((20, 50), (21, 60), (24, 70))
    assert lambda_returns(played, 1.0, SCALE).tolist() == [70, -70, 70]


@pytest.mark.thorough
def test_training_data_uses_returns_as_scores(tmp_path: Path) -> None:
    """The targets are applied per game to the training part, and change only the scores."""
    path = tmp_path / "played.bin"
    plan = SelfPlayPlan(SelfPlaySettings(nodes=50, first_ply=10), seed=3)
    *_, played = generate(path, plan, "test", 1500)
    assert played.positions >= 1500
    everything = PositionFilter(first_ply=0, largest_score=30_000)
    found = load([str(path)], everything, Target(0.0, SCALE, 0.7)).training
    with Dataset(path) as dataset:
        plain = np.concatenate(list(dataset.blocks(TRAINING)))
        worth = np.concatenate(
            [
                lambda_returns(each.training, 0.7, SCALE)
                for number, each in dataset.iter_games()
                if not is_validation(np.array(number))
            ]
        )
    assert found["score"].tolist() == worth.tolist() != plain["score"].tolist()
    same = [name for name in packed_dtype.names or () if name != "score"]
    assert all((found[name] == plain[name]).all() for name in same)
