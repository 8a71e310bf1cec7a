"""Move annotations of given evaluations, without an engine."""

from dataclasses import replace

import pytest

from agent.limits import Cp, Mate
from kempelen.match.review.move_annotation import (
    MoveQuality,
    PositionEval,
    ReviewedMove,
    centipawn_loss,
    eval_from_score,
    expected_score,
    first_player_view,
    move_accuracy,
    move_loss,
    move_stats,
    quality_of_loss,
    with_hindsight,
)


def test_score_loss_counts_more_in_even_positions():
    assert expected_score(Cp(0)) == 0.5
    assert (expected_score(Mate(3)), expected_score(Mate(0))) == (1.0, 0.0)
    even = expected_score(Cp(0)) - expected_score(Cp(-150))
    decided = expected_score(Cp(1000)) - expected_score(Cp(850))
    assert even > 0.1 > 0.02 > decided
    assert expected_score(Cp(10**9)) > 0.999
    assert expected_score(Cp(-(10**9))) < 0.001


@pytest.mark.parametrize(
    ("loss", "grade"),
    [
        (None, MoveQuality.GOOD),
        (0.0499, MoveQuality.GOOD),
        (0.05, MoveQuality.INACCURACY),
        (0.1, MoveQuality.MISTAKE),
        (0.15, MoveQuality.BLUNDER),
        (1.0, MoveQuality.BLUNDER),
    ],
)
def test_moves_are_graded_by_expected_score_loss(loss, grade):
    assert quality_of_loss(loss) is grade


def test_loss_of_move_is_drop_in_expected_score():
    before = eval_from_score(Cp(0), ("e2e4", "e7e5"), 9, 100)
    after = PositionEval(0.9)
    assert move_loss(before, after, "g2g4", same_mover=False) == pytest.approx(0.4)
    assert move_loss(before, after, "g2g4", same_mover=True) == 0.0
    assert move_loss(before, after, "e2e4", same_mover=False) == 0.0  # the engine's best move


def test_assessment_is_shown_from_first_players_view():
    position_eval = eval_from_score(Mate(-2), (), 9, 100)
    assert first_player_view(position_eval, 1) == {
        "expected": 1.0,
        "cp": None,
        "mate": 2,
        "lead": None,
    }
    assert first_player_view(PositionEval(0.3, lead=-4.5), 0)["lead"] == -4.5
    assert first_player_view(None, 0) == {}


def test_later_mate_score_corrects_earlier_assessment():
    quiet = eval_from_score(Cp(0), ("x",), 9, 100)
    evals = [quiet, quiet, eval_from_score(Mate(-2), (), 9, 100)]
    start, before, after = with_hindsight(evals, ("blunders", "sees"), (1, 0, 1))
    assert (before.expected, before.mate, before.line) == (1.0, 3, ("sees",))
    assert (start, after) == (quiet, evals[2])
    assert move_loss(start, before, "blunders", same_mover=False) == 0.5
    noise = [quiet, PositionEval(0.46)]
    assert with_hindsight(noise, ("y",), (0, 1)) == noise
    assert with_hindsight([quiet, None], ("y",), (0, 1)) == [quiet, None]
    won = with_hindsight([quiet, PositionEval(0.9, lead=9.0)], ("pass",), (0, 0))
    assert won[0].lead == 9.0


def test_tallies_exclude_unjudged_moves():
    moves = [
        ReviewedMove(1, 1, 0, "e4", loss=0.0),
        ReviewedMove(2, 1, 1, "e5", loss=0.3, grade=MoveQuality.BLUNDER),
        ReviewedMove(3, 2, 0, "f3", loss=None),
    ]
    first, second = move_stats(moves)
    assert (first.moves, first.loss, first.blunders) == (1, 0.0, 0)
    assert (second.moves, second.loss, second.blunders) == (1, 0.3, 1)
    assert move_stats([])[0].loss is None
    assert move_stats([])[0].accuracy is None


def test_centipawn_loss_is_limited_to_ten_pawns():
    won, lost = eval_from_score(Mate(3), ("a",), 9, 100), eval_from_score(Cp(1500), (), 9, 100)
    assert centipawn_loss(won, lost, "b", same_mover=False) == 2000
    assert centipawn_loss(won, lost, "b", same_mover=True) == 0
    assert centipawn_loss(won, lost, "a", same_mover=False) == 0  # the engine's best move
    assert centipawn_loss(won, PositionEval(0.5), "b", same_mover=False) is None


@pytest.mark.parametrize(("loss", "accuracy"), [(0.0, 100), (0.05, 79.8), (0.5, 8.5), (1.0, 0)])
def test_accuracy_of_move_follows_lichess(loss, accuracy):
    assert move_accuracy(loss) == pytest.approx(accuracy, abs=0.1)


def test_accuracy_of_game_is_mean_of_weighted_and_harmonic_mean():
    values = [(0.0, 0.5), (0.0, 0.5), (0.2, 0.3), (0.0, 0.3)]
    moves = [
        ReviewedMove(ply + 1, ply // 2 + 1, ply % 2, "x", loss=loss, expected=expected)
        for ply, (loss, expected) in enumerate(values)
    ]
    first, second = move_stats(moves, 0.5)
    # Windows of two positions: the weights of the first player's moves are 0.5 and 10.
    bad = move_accuracy(0.2)
    weighted, harmonic = (0.5 * 100 + 10 * bad) / 10.5, 2 / (1 / 100 + 1 / bad)
    assert first.accuracy == pytest.approx((weighted + harmonic) / 2)
    assert second.accuracy == pytest.approx(100, abs=0.001)


def test_accuracy_weighs_moves_by_up_to_eight_positions():
    expected = [0.5] * 40 + [0.9] * 40
    moves = [
        ReviewedMove(ply + 1, ply + 1, 0, "x", loss=0.1 if ply in (20, 46) else 0.0, expected=value)
        for ply, value in enumerate(expected)
    ]
    late, early = (
        move_stats([*moves[:ply], replace(moves[ply], loss=0.0), *moves[ply + 1 :]], 0.5)[0]
        for ply in (20, 46)
    )
    assert late.accuracy < early.accuracy  # the evaluation changes near the later move
