from functools import cache, reduce
from itertools import combinations_with_replacement
from operator import xor

import pytest

from agent.games.nim import Nim, evaluate


def mover_wins(heaps, misere):
    @cache
    def wins(key):
        game = Nim(key, misere)
        outcome = game.outcome()
        if outcome is not None:
            return outcome == 1
        found = False
        for move in game.moves():
            game.play(move)
            found = found or not wins(tuple(sorted(game.heaps)))
            game.undo()
        return found

    return wins(tuple(sorted(heaps)))


@pytest.mark.parametrize("misere", [False, True])
def test_evaluation_agrees_with_exhaustive_search(misere):
    for heaps in combinations_with_replacement(range(6), 3):
        assert (evaluate(Nim(heaps, misere)) > 0) == mover_wins(heaps, misere)


def test_mover_loses_exactly_when_the_heaps_xor_to_0():
    for heaps in combinations_with_replacement(range(6), 3):
        assert mover_wins(heaps, misere=False) == bool(reduce(xor, heaps))


def test_taking_last_wins_normally_and_loses_in_misere():
    for misere, utility in ((False, 1), (True, -1)):
        game = Nim([1], misere)
        game.play(next(game.moves()))
        assert game.outcome() == utility
        game.undo()
        assert game.heaps == [1]


def test_symmetric_key_ignores_the_order_of_the_heaps():
    assert Nim([3, 0, 1]).symmetric_key() == Nim([1, 3]).symmetric_key()
    assert Nim([3, 1]).key() != Nim([1, 3]).key()


def test_writes_heaps_and_moves_as_text():
    game = Nim([3, 0, 1])
    assert str(game) == "a |||\nb\nc |"
    assert [game.text(move) for move in game.moves()] == ["a1", "a2", "a3", "c1"]


def test_rejects_a_negative_heap():
    with pytest.raises(ValueError, match="-1"):
        Nim([2, -1])
