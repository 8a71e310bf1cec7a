import pytest

from protocols.gtp.clocks import LEAST, SideTime, TimeSystem, from_time_settings


def test_overtime_of_no_stones_is_no_limit():
    assert from_time_settings(0, 1, 0).unlimited
    assert from_time_settings(60, 0, 5) == TimeSystem(60)


def test_absolute_time_lasts_for_the_game():
    clock = SideTime(TimeSystem(300))
    for _ in range(200):
        clock.spend(clock.for_move(40))
    assert clock._main > 0


@pytest.mark.parametrize("moves_left", [None, 8, 40, 150])
def test_more_moves_to_come_means_less_for_each(moves_left):
    clock = SideTime(TimeSystem(300))
    assert LEAST < clock.for_move(moves_left) <= 300 * 0.2
    assert clock.for_move(200) < clock.for_move(20)


def test_an_increment_is_used():
    assert SideTime(TimeSystem(10, increment=5)).for_move(40) > SideTime(TimeSystem(10)).for_move(
        40
    )


def test_canadian_overtime_is_shared_out():
    clock = SideTime(TimeSystem(0, 30, stones=10))
    assert 2.5 < clock.for_move(40) < 3
    for _ in range(9):
        clock.spend(2)
    assert 11 < clock.for_move(40) < 12
    clock.spend(2)
    assert 2.5 < clock.for_move(40) < 3


def test_byo_yomi_gives_each_move_a_period():
    clock = SideTime(TimeSystem(1, 10, periods=3))
    assert 9 < clock.for_move(40) < 10
    clock.spend(25)
    assert clock._count == 1
    assert 9 < clock.for_move(40) < 10


def test_the_front_end_knows_better():
    clock = SideTime(TimeSystem(300, 30, stones=10))
    clock.set_left(6, 2)
    assert 2.5 < clock.for_move(40) < 3
    clock.set_left(100, 0)
    assert clock.for_move(10) > 5
