"""The profile of an opponent, computed from made-up games."""

import pytest

from agent.learning.opponent_game_record import GameRecord
from agent.learning.opponent_profile import (
    MAX_DRAW_VALUE,
    TIME_TROUBLE_FACTOR,
    WINNING_LINE_TIME_FACTOR,
    OpponentProfile,
)

FALL = ("e2e4", "e7e5", "g1f3", "d8g5", "f3g5")
OTHER = ("d2d4", "d7d5", "c2c4", "e7e6", "b1c3")


def game(points: float, moves: tuple[str, ...] = OTHER, side: int = 0, **values) -> GameRecord:
    return GameRecord("Ann", moves, side, points, **values)


def test_winning_line_is_repeated() -> None:
    profile = OpponentProfile([game(0.0), game(0.0), game(1.0, FALL)])
    assert profile.find_line("", 0, ()).proven_move == "e2e4"
    assert profile.find_line("", 0, FALL[:2]).proven_move == "g1f3"
    assert profile.find_line("", 0, OTHER[:2]).proven_move is None
    assert profile.find_line("", 1, ()) is None
    assert profile.find_line("", 0, ("a2a3",)) is None


def test_winning_line_is_dropped_after_losses() -> None:
    profile = OpponentProfile([game(1.0, FALL), *[game(0.0, FALL)] * 5])
    assert profile.find_line("", 0, ()).proven_move is None


def test_book_prefers_moves_with_good_results() -> None:
    profile = OpponentProfile([*[game(1.0, FALL)] * 3, *[game(0.0)] * 3])
    line = profile.find_line("", 0, ())
    assert line.weight_factor("e2e4") > 1.5
    assert line.weight_factor("d2d4") < 0.5
    assert line.weight_factor("c2c4") == 1.0


def test_moves_are_penalized_after_several_bad_results() -> None:
    assert OpponentProfile([game(0.0)]).find_line("", 0, ()).penalties == {}
    profile = OpponentProfile([*[game(0.0)] * 4, *[game(1.0, FALL)] * 4])
    penalties = profile.find_line("", 0, ()).penalties
    assert set(penalties) == {"d2d4"}
    assert 0 < penalties["d2d4"] <= 60


def test_forfeits_count_only_as_results() -> None:
    forfeits = [game(0.0, forfeit=True)] * 4
    profile = OpponentProfile([*forfeits, *[game(1.0, FALL)] * 4])
    line = profile.find_line("", 0, ())
    assert (line.children["d2d4"].games, line.children["d2d4"].points) == (4, 0.0)
    assert profile.average_points[0] == 0.5
    assert line.penalties == {}
    assert line.weight_factor("d2d4") == 1.0
    assert OpponentProfile(forfeits).draw_value(0) > 50
    won = OpponentProfile([game(1.0, FALL, forfeit=True)] * 4)
    assert won.time_factor(won.find_line("", 0, FALL)) == 1.0
    assert won.find_line("", 0, ()).proven_move is None


def test_draw_worth_follows_past_results() -> None:
    assert OpponentProfile([game(0.0)] * 3).draw_value(0) == 0  # too few games
    assert 50 < OpponentProfile([game(0.0)] * 5).draw_value(0) <= MAX_DRAW_VALUE
    assert -MAX_DRAW_VALUE <= OpponentProfile([game(1.0)] * 5).draw_value(0) < -50
    assert OpponentProfile([game(0.0)] * 5).draw_value(1) == 0
    # Draws by repetition do not count as results of playing on.
    drawn = [game(0.5, repeated=True)] * 50
    assert OpponentProfile([*[game(0.0)] * 5, *drawn]).draw_value(0) > 50


def test_acceptance_rate_follows_past_repetitions() -> None:
    assert OpponentProfile([]).repetition_acceptance == 0.25
    assert OpponentProfile([game(0.5, accepted=4)] * 4).repetition_acceptance > 0.8
    assert OpponentProfile([game(0.5, declined=4)] * 4).repetition_acceptance < 0.1


def test_less_time_is_used_in_trap_lines_and_time_trouble() -> None:
    fallen = OpponentProfile([game(1.0, FALL)] * 3)
    assert fallen.time_factor(fallen.find_line("", 0, FALL)) == WINNING_LINE_TIME_FACTOR
    assert fallen.time_factor(None) == 1.0
    low = OpponentProfile([game(0.5, lowest=0.02), game(0.5, lowest=0.5)] * 2)
    assert low.time_factor(None) == TIME_TROUBLE_FACTOR
    assert OpponentProfile([game(0.5, lowest=0.5)] * 9).time_factor(None) == 1.0


def test_errors_are_counted_by_game_phase() -> None:
    # Our score rises by 100 over the opponent's second move, and by 300 over a late one.
    scores = (0, 100, 100, *[100] * 20, 400)
    profile = OpponentProfile([game(1.0, OTHER, scores=scores, endgame=40)])
    phases = profile.phase_stats()
    assert (phases["opening"].errors, phases["opening"].blunders) == (1, 0)
    assert (phases["endgame"].errors, phases["endgame"].blunders) == (1, 1)
    assert phases["middlegame"].errors == 0
    assert sum(phase.move_count for phase in phases.values()) == len(scores) - 1
    assert (
        OpponentProfile([game(1.0, OTHER, side=1, scores=(0, None, 500))])
        .phase_stats()["opening"]
        .move_count
        == 0
    )


def test_openings_are_listed_by_frequency() -> None:
    profile = OpponentProfile([game(1.0, FALL), game(0.0), game(0.5)])
    (first, line), (second, _) = profile.openings(5)
    assert (first.moves, line.games, line.points) == (OTHER, 2, 0.5)
    assert second.moves == FALL


def test_average_seconds_per_move_is_computed() -> None:
    assert OpponentProfile([game(0.5)]).mean_seconds() is None
    assert OpponentProfile(
        [game(0.5, seconds=(1.0, 2.0)), game(0.5, seconds=(3.0,))]
    ).mean_seconds() == pytest.approx(2.0)
