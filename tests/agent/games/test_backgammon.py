"""Backgammon plays against an independent generator, and bear-off odds against exact values."""

from itertools import permutations
from random import Random

import pytest

from agent.game import CHANCE, parse_move
from agent.games.backgammon import BAR, OFF, ROLLS, Backgammon, ManStep, Roll, evaluate, plays
from agent.games.chance import draw_event
from agent.search.algorithms.expectiminimax import Expectiminimax


def rolled(state, high, low):
    game = Backgammon(state)
    game.play(Roll(high, low))
    return game


def texts(game):
    return {game.text(move) for move in game.moves()}


def positions_after(own, other, roll):
    """Return the positions after a roll, by trying every order of the dice and every man.

    Independent of the game: men are lists of points, numbered from the mover's side for both.
    """
    dice = (roll.high,) * 4 if roll.high == roll.low else (roll.high, roll.low)
    mine = sorted(point for point in range(1, 26) for _ in range(own[point]))
    theirs = sorted(25 - point for point in range(26) for _ in range(other[point]) if point)
    ends = set()  # the used dice in order, with the men after them
    for order in set(permutations(dice)):
        at = {((), tuple(mine), tuple(theirs))}
        while at:
            further = set()
            for used, men, foes in at:
                left = order[len(used) :]
                nexts = set()
                for man in set(men) if left else ():
                    end = man - left[0]
                    if 25 in men and man != 25:
                        continue
                    if end <= 0 and (max(men) > 6 or (end < 0 and man < max(men))):
                        continue
                    if end > 0 and foes.count(end) > 1:
                        continue
                    rest = list(men)
                    rest.remove(man)
                    after = tuple(sorted([*rest, end] if end > 0 else rest))
                    hit = tuple(sorted(0 if foe == end and end > 0 else foe for foe in foes))
                    nexts.add(((*used, left[0]), after, hit))
                ends |= nexts or {(used, men, foes)}
                further |= nexts
            at = further
    most = max(len(used) for used, _, _ in ends)
    longest = {end for end in ends if len(end[0]) == most}
    if most == 1:
        by_high = {end for end in longest if end[0] == (roll.high,)}
        longest = by_high or longest
    return {(men, foes) for _, men, foes in longest}


def men_after(own, other, play):
    mine = [point for point in range(1, 26) for _ in range(own[point])]
    theirs = [25 - point for point in range(1, 26) for _ in range(other[point])]
    for step in play:
        mine.remove(step.start)
        if step.end != OFF:
            mine.append(step.end)
            theirs = [0 if foe == step.end else foe for foe in theirs]
    return tuple(sorted(mine)), tuple(sorted(theirs))


@pytest.mark.thorough
def test_plays_equal_an_independent_move_generator():
    random = Random(5)
    seen = 0
    for _ in range(6):
        game = Backgammon()
        while game.outcome() is None:
            if game.turn == CHANCE:
                game.play(draw_event(game, random.random()))
                continue
            men, player, roll = game.state
            own, other = men[player], men[1 - player]
            found = list(plays(own, other, roll))
            made = {men_after(own, other, play) for play in found}
            assert made == positions_after(own, other, roll)
            assert len(made) == len(found)
            seen += 1
            game.play(random.choice(game.moves()))
    assert seen > 300


@pytest.mark.parametrize(
    ("men", "ways"),
    [("6+1", 15), ("5+2", 19), ("4+3", 17), ("4+2", 23), ("6+2", 13), ("5x2", 6), ("4x2", 11)],
)
def test_one_roll_bearoff_odds_match_the_tables(men, ways):
    game = Backgammon(f"{men}/1x2")  # the opponent bears off with any next roll
    value = Expectiminimax(evaluate).search(game, 2).value
    assert value == pytest.approx(2 * ways / 36 - 1)


def test_opening_roll_excludes_doubles():
    game = Backgammon()
    assert game.turn == CHANCE
    chances = dict(game.chance_outcomes())
    assert len(chances) == 15
    assert sum(chances.values()) == pytest.approx(1)
    game.play(Roll(3, 1))
    assert game.turn == 0
    game.play(parse_move(game, "8/5,6/5"))
    assert game.turn == CHANCE
    later = dict(game.chance_outcomes())
    assert len(later) == 21
    assert later[Roll(6, 6)] == pytest.approx(1 / 36)
    assert later[Roll(2, 1)] == pytest.approx(2 / 36)
    assert sum(later.values()) == pytest.approx(1)


def test_men_on_the_bar_enter_first():
    assert texts(rolled("bar+6x2/6x2", 6, 1)) == {"bar/24,24/18"}


def test_single_man_is_hit_and_goes_to_the_bar():
    game = rolled("6x2/20+1x2", 1, 1)
    game.play(parse_move(game, "6/5*,6/5,5/4(2)"))
    men = game.state.men
    assert men[0][4] == 2
    assert men[1][BAR] == 1


def test_passes_when_no_move_is_possible():
    game = rolled("bar/6x2+5x2+4x2+3x2+2x2+1x2", 6, 5)
    assert texts(game) == {"pass"}
    game.play(())
    assert game.turn == CHANCE
    assert game.state.player == 1


def test_higher_die_must_be_played_if_only_one_fits():
    # From 24 a six leads to 18 and a five to 19. From both the other die meets two enemy men.
    game = rolled("24/12x2+2x2", 6, 5)
    assert texts(game) == {"24/18"}


def test_higher_die_bears_off_only_from_the_highest_point():
    assert texts(rolled("5+2/1", 6, 1)) == {"5/off,2/1", "5/4,4/off"}
    assert texts(rolled("7+2/1", 6, 5)) == {"7/1,2/off", "7/2,2/off"}


def test_board_as_text():
    assert str(rolled("start", 3, 1)).splitlines() == [
        " 13  14  15  16  17  18 |  19  20  21  22  23  24",
        " 5O   .   .   .  3X   . |  5X   .   .   .   .  2O",
        " 12  11  10   9   8   7 |   6   5   4   3   2   1",
        " 5X   .   .   .  3O   . |  5O   .   .   .   .  2X",
        "bar: 0 O, 0 X; O to play 31",
    ]


def test_points_are_numbered_from_the_movers_side():
    game = Backgammon()
    for move in (Roll(3, 1), (ManStep(8, 5), ManStep(6, 5)), Roll(6, 4)):
        game.play(move)
    assert game.turn == 1
    assert "24/18,18/14" in texts(game)
    assert not any(text.startswith("24/20") for text in texts(game))  # the opponent's point 5


def test_evaluation_is_from_the_movers_view():
    ahead = Backgammon("6+1/6x3")
    assert evaluate(ahead) > 0
    ahead.play(Roll(2, 1))
    ahead.play(ahead.moves()[0])
    assert evaluate(ahead) < 0


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("7x", "invalid men '7x' .expected POINTxCOUNT"),
        ("0", "invalid men '0'"),
        ("26/1", "invalid men '26'"),
        ("6x16", "a player must have 1 to 15 men"),
        ("/6", "a player must have 1 to 15 men"),
        ("6/19", "both players have men on the same point"),
    ],
)
def test_rejects_invalid_positions(state, message):
    with pytest.raises(ValueError, match=message):
        Backgammon(state)


def test_roll_text_is_its_two_dice():
    game = Backgammon("race")
    assert [game.text(roll) for roll in game.moves()] == [f"{a}{b}" for a, b in ROLLS]
