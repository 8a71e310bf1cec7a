import pytest

from agent.game import CHANCE
from agent.games import catalogue, game_state
from agent.games.game_state import GameState


def test_moves_and_movers_are_recorded_and_undone():
    state = GameState(catalogue.new_game("tic-tac-toe"))
    assert state.play("B2") == "b2"
    state.push(state.parse("a1"))
    assert (state.moves, state.movers, state.mover) == (["b2", "a1"], [0, 1], 0)
    assert "b2" not in state.legal_moves()
    with pytest.raises(ValueError, match="illegal move 'b2'"):
        state.play("b2")
    state.undo()
    assert (state.moves, state.movers, state.mover) == (["b2"], [0], 1)
    state.restart(catalogue.new_game("nim"))
    assert (state.moves, state.movers) == ([], [])


def test_chance_events_belong_to_the_last_player():
    state = GameState(catalogue.new_game("pig"))
    state.play("roll")
    assert state.mover == CHANCE
    state.play_chance_event(0.99)
    for text in ("hold", "roll", "1"):
        state.play(text)
    assert state.moves == ["roll", "6", "hold", "roll", "1"]
    assert state.movers == [0, 0, 0, 1, 1]


def test_length_is_limited(monkeypatch):
    monkeypatch.setattr(game_state, "MAX_PLIES", 2)
    state = GameState(catalogue.new_game("tic-tac-toe"))
    state.play("a1")
    assert not state.too_long
    state.play("a2")
    assert state.too_long
