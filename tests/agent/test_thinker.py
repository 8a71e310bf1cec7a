import time
from math import inf

import pytest

from agent.game import find_move
from agent.games import catalogue
from agent.games.go import Go
from agent.games.pig import Pig
from agent.games.tic_tac_toe import TicTacToe
from agent.search.catalogue import algorithms
from agent.thinker import (
    MCTS,
    Plan,
    Thinker,
    Thought,
    default_algorithm,
    draw_event,
    make_search,
)
from agent.threads.latch import Latch


def thinker(game, name, game_name):
    reports = []
    search = make_search(name, game, catalogue.evaluation(game_name), seed=1)
    return Thinker(search, reports.append), reports


@pytest.mark.parametrize("name", [MCTS, *algorithms()])
def test_every_algorithm_takes_the_win_in_time(name):
    game = TicTacToe()
    for text in ("a3", "a2", "b3", "b2"):
        game.play(find_move(game, text))
    before = game.key()
    thinks, reports = thinker(game, name, "tic-tac-toe")
    thought = thinks.think(game, Plan(seconds=20.0, playouts=500), Latch())
    assert game.text(thought.move) == "c3"
    assert game.key() == before
    assert reports == []


def plies_to_win(game, winner):
    """The plies until the winner has won against the longest defence; infinite if he does not."""
    outcome = game.outcome()
    if outcome is not None:
        return 0 if outcome == (-1 if winner else 1) else inf
    plies = []
    for move in list(game.moves()):
        game.play(move)
        plies.append(1 + plies_to_win(game, winner))
        game.undo()
    return min(plies) if game.turn == winner else max(plies)


@pytest.mark.parametrize("name", ["alpha-beta", "alpha-beta+table", "pvs", "mtd-f", "sss-star"])
def test_wins_as_quickly_as_can_be_and_remembers_how(name):
    """X wins after O has taken an edge: every move of X brings the end nearer, whatever O does."""
    game = TicTacToe()
    for text in ("b2", "b3"):
        game.play(find_move(game, text))
    thinks, _ = thinker(game, name, "tic-tac-toe")
    asked = 0

    def play_on():
        nonlocal asked
        plies = plies_to_win(game, 0)
        if game.turn == 0:
            asked += 1
            game.play(thinks.think(game, Plan(seconds=60.0), Latch()).move)
            assert plies_to_win(game, 0) == plies - 1
            play_on()
            game.undo()
        elif plies:
            for move in list(game.moves()):
                game.play(move)
                play_on()
                game.undo()

    play_on()
    assert asked > 10


@pytest.mark.parametrize("name", [MCTS, "alpha-beta"])
def test_stops_at_once_with_a_legal_move(name):
    game = Go(19)
    thinks, _ = thinker(game, name, "go")
    stop = Latch()
    stop.set()
    began = time.monotonic()
    assert thinks.think(game, Plan(), stop).move in game.moves()
    assert time.monotonic() - began < 30


def test_time_ends_the_search():
    game = Go(9)
    thinks, _ = thinker(game, MCTS, "go")
    began = time.monotonic()
    thinks.think(game, Plan(seconds=0.1), Latch())
    assert 0.1 <= time.monotonic() - began < 20


def test_listeners_hear_the_best_moves_first():
    heard = []
    game = Go(5)
    thinks, _ = thinker(game, MCTS, "go")
    thought = thinks.think(game, Plan(playouts=300), Latch(), heard.append)
    assert heard[-1][0] == thought
    assert [entry.visits for entry in heard[-1]] == sorted(
        (entry.visits for entry in heard[-1]), reverse=True
    )
    assert sum(entry.visits for entry in heard[-1]) == 300


def test_defaults():
    assert default_algorithm(Go(5)) == MCTS
    assert default_algorithm(TicTacToe()) == "alpha-beta"
    assert default_algorithm(Pig()) == "expectiminimax"
    with pytest.raises(ValueError, match="expectiminimax does"):
        make_search("alpha-beta", Pig(), lambda game: 0)


def test_chance_draws_by_probability():
    game = Pig()
    game.play("roll")
    assert [draw_event(game, number / 6 + 0.01) for number in range(6)] == list("123456")
    assert draw_event(game, 1.0) == "6"


def test_what_is_not_written_suits_the_game():
    game, evaluate = TicTacToe(), catalogue.evaluation("tic-tac-toe")
    assert make_search("alpha-beta", game, evaluate).table is not None
    assert make_search("alpha-beta+killers", game, evaluate).table is None
    assert make_search("mcts", game, evaluate).solver
    assert not make_search("mcts+solver=false", game, evaluate).solver
    assert make_search("mcts", Go(5), catalogue.evaluation("go")).rave > 0
    assert make_search("mcts", catalogue.new_game("tree"), lambda tree: 0).scale == 16


def test_playouts_that_are_written_are_the_most():
    game = Go(5)
    thinks, _ = thinker(game, "mcts+playouts=40", "go")
    for most, plan in ((40, Plan()), (15, Plan(playouts=15))):
        heard = []
        thinks.think(game, plan, Latch(), heard.append)
        assert sum(entry.visits for entry in heard[-1]) == most


def test_what_leaves_no_choice_is_played_at_once():
    game = TicTacToe()
    for text in ("b2", "a3", "c3", "a1", "a2", "c2", "b3", "b1"):
        game.play(find_move(game, text))
    thinks, _ = thinker(game, "minimax", "tic-tac-toe")
    assert thinks.think(game, Plan(), Latch()) == Thought(0, 0.0, (find_move(game, "c1"),))
