import pytest

from agent.game import find_move
from agent.games import catalogue as games
from agent.search.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.killer_memory import KillerMemory
from agent.search.ordering import Ordering


@pytest.mark.parametrize("name", ["checkers", "chess", "connect-four", "nim", "othello"])
def test_it_outlives_the_program(name, tmp_path):
    file = tmp_path / "killers.json"
    game, evaluate = games.new_game(name), games.evaluation(name)
    memory = KillerMemory()
    first = AlphaBeta(evaluate, AlphaBetaOptions(ordering=Ordering(refutations=memory)))
    value = first.search(game, 3).value
    memory.write(file)
    kept = KillerMemory.read(file)
    assert dict(kept) == dict(memory)
    second = AlphaBeta(evaluate, AlphaBetaOptions(ordering=Ordering(refutations=kept)))
    assert second.search(game, 3).value == value
    assert second.counts.nodes <= first.counts.nodes


def test_a_killer_is_known_in_the_next_game():
    game, evaluate = games.new_game("tic-tac-toe"), games.evaluation("tic-tac-toe")
    for text in ("a3", "b3", "a2"):
        game.play(find_move(game, text))
    memory = KillerMemory()
    nodes = []
    for _ in range(2):
        search = AlphaBeta(evaluate, AlphaBetaOptions(ordering=Ordering(refutations=memory)))
        search.search(game, 2, -1, 0.5)
        nodes.append(search.counts.nodes)
    game.play(find_move(game, "c3"))
    assert game.text(memory[game.key()]) == "a1"
    assert nodes[1] < nodes[0]


def test_the_oldest_are_forgotten():
    memory = KillerMemory(2)
    for key in ("a", "b", "a", "c"):
        memory[key] = 1
    assert list(memory) == ["a", "c"]
    with pytest.raises(ValueError, match="use 1 or more"):
        KillerMemory(0)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[["a"]]', '{"x": 1}', "[[{}, 1]]"])
def test_a_file_of_something_else_is_refused(tmp_path, text):
    file = tmp_path / "killers.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"killers\.json holds no killer moves"):
        KillerMemory.read(file)


def test_what_cannot_be_kept_is_refused(tmp_path):
    memory = KillerMemory()
    memory[frozenset()] = 1
    with pytest.raises(ValueError, match="cannot be kept"):
        memory.write(tmp_path / "killers.json")
    assert not list(tmp_path.iterdir())
