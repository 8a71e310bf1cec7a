import json
import re
from pathlib import Path

import pytest

from agent.game import parse_move
from agent.games.grundy import Grundy
from agent.games.nim import Nim
from kempelen.lab import solve
from kempelen.lab.problems import SearchProblem

GRUNDY_LOST = {1, 2, 4, 7, 10}


def solved(lab, *arguments):
    status, out, err = lab("solve", *arguments, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def assert_wins(game, strategy, winner):
    """Follow every branch, by move names, to a final position that the winner has won."""
    if game.outcome() is not None:
        assert strategy == {}
        assert game.outcome() == (1 if winner == 0 else -1)
        return
    moves = {game.text(move): move for move in game.moves()}
    assert set(strategy) <= set(moves)
    assert len(strategy) == (1 if game.turn == winner else len(moves))
    for text, answer in strategy.items():
        game.play(moves[text])
        assert_wins(game, answer, winner)
        game.undo()


@pytest.mark.parametrize("counters", range(3, 11))
def test_grundy_winner_and_strategy_are_correct(lab, counters):
    found = solved(lab, "--game", "grundy", "--state", counters)
    winner = 1 if counters in GRUNDY_LOST else 0
    assert found["winner"] == winner
    assert_wins(Grundy(counters), found["strategy"], winner)


@pytest.mark.parametrize("heaps", ["1,2,3", "1,2,4", "3"])
@pytest.mark.parametrize("misere", ["true", "false"])
def test_nim_winner_and_strategy_are_correct(lab, heaps, misere):
    found = solved(lab, "--game", "nim", "--state", heaps, "--option", f"misere={misere}")
    game = Nim([int(heap) for heap in heaps.split(",")], misere == "true")
    assert found["winner"] == (1 if heaps == "1,2,3" else 0)
    assert_wins(game, found["strategy"], found["winner"])


def test_tic_tac_toe_is_a_draw(lab):
    status, out, _ = lab("solve", "--game", "tic-tac-toe")
    assert status == 0
    assert "value 0: draw" in out.splitlines()


def test_4x4_othello_is_lost_by_8(lab):
    found = solved(lab, "--game", "othello", "--size", "4")
    assert (found["value"], found["winner"]) == (-8, 1)


def test_position_with_the_second_player_to_move_is_solved(lab):
    found = solved(lab, "--game", "nim", "--state", "1,2,4", "--moves", "c1")
    assert found["winner"] == 0
    game = Nim([1, 2, 4])
    game.play(parse_move(game, "c1"))
    assert_wins(game, found["strategy"], 0)


def test_user_defined_game_is_solved(lab):
    chomp = Path(__file__).parents[2] / "data" / "games" / "chomp.py"
    found = solved(lab, "--game", f"{chomp}:Chomp", "--size", "2", "--option", "height=2")
    # On a square board, the move diagonal to the poisoned square wins: the rest is symmetric.
    assert (found["value"], found["line"][0]) == (1, "b2")
    assert set(found["strategy"]["b2"]) == {"a1", "b1", "a2"}


def test_strategy_tree_is_printed_in_spanish(lab):
    status, out, _ = lab("solve", "--game", "grundy", "--state", "7", "--lang", "es")
    assert status == 0
    assert "valor -1: el segundo jugador gana" in out
    assert "estrategia ganadora (13 posiciones):" in out
    assert out.count("gana\n") == 4
    assert "└── ● 3=2+1  gana" in out


def test_large_strategies_are_truncated(lab):
    _, out, _ = lab("solve", "--game", "nim", "--state", "1,2,4", "--branches", "5")
    assert out.count("●") + out.count("○") == 5
    assert "... 56 more (--branches)" in out


def test_the_strategy_can_be_drawn(lab, tmp_path):
    picture = tmp_path / "grundy.svg"
    assert lab("solve", "--game", "grundy", "--state", "8", "-o", picture)[0] == 0
    svg = picture.read_text(encoding="utf-8")
    assert svg.count('id="node-') == 14
    assert "8=7+1" in svg
    status, _, err = lab("solve", "--game", "nim", "--state", "5,6,7", "-o", picture)
    assert status == 2
    assert "too many to draw" in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--game", "pig"], 2, "pig: games of chance cannot be solved"),
        (["--game", "chess"], 2, "went too deep"),
        (["--game", "connect-four", "--nodes", "1000"], 1, ""),
        ([], 2, "one of the arguments --game --tree is required"),
    ],
)
def test_unsolvable_requests_are_reported(lab, arguments, status, message):
    done, _, err = lab("solve", *arguments)
    assert done == status
    assert message in err


def test_whole_tree_drawing_marks_the_strategy(lab, tmp_path):
    """All moves are drawn. The strategy has one move of the winner, and all of the opponent."""
    picture = tmp_path / "nim.svg"
    game = ["--game", "nim", "--size", "1,2"]
    assert lab("solve", *game, "-o", picture, "--full-tree")[0] == 0
    whole = picture.read_text(encoding="utf-8").count('id="node-')
    assert lab("solve", *game, "-o", picture)[0] == 0
    alone = picture.read_text(encoding="utf-8").count('id="node-')
    assert whole > alone
    found = solve.solve_position(SearchProblem("nim", Nim((1, 2)), lambda game: 0.0, 99))
    root = solve.strategy_tree(Nim((1, 2)), found, str, whole=True)
    marked = [node for node in root.iter_nodes() if node.is_principal]
    assert len(marked) == found.strategy.size() == alone
    for node in marked:
        below = [child for child in node.children if child.is_principal]
        winners = node.kind == "MAX"
        assert len(below) == (min(1, len(node.children)) if winners else len(node.children))
        assert not node.is_leaf or node.value == "1"
    status, _, err = lab("solve", "--game", "tic-tac-toe", "-o", picture, "--full-tree")
    assert status == 2
    assert "tree: more than" in err


@pytest.mark.parametrize(("game", "arcs"), [(Grundy(7), 2), (Grundy(8), 4), (Nim((1, 2)), 2)])
def test_whole_tree_has_values_positions_and_shared_nodes(game, arcs):
    """Each value follows from the children. A node whose position occurred before is linked."""
    found = solve.solve_position(SearchProblem("game", game, lambda game: 0.0, 99))
    root = solve.strategy_tree(game, found, str, whole=True)
    first = {}
    for node in root.iter_nodes():
        if node.children:
            best = max if node.kind == "MAX" else min
            assert int(node.value) == best(int(child.value) for child in node.children)
            key = node.kind, node.position
            assert node.shared == (first[key].label if key in first else None)
            first.setdefault(key, node)
        assert node.position
        loser = "MIN" if found.winner == 0 else "MAX"
        assert node.is_and == (node.kind == loser)
    assert int(root.value) == found.value
    merged = solve.strategy_tree(game, found, str, whole=True, merged=True)
    positions = [(node.kind, node.position) for node in merged.iter_nodes() if node.children]
    assert sorted(positions) == sorted(first)  # each position once
    assert any(node.shared is not None for node in merged.iter_nodes())


def test_whole_tree_is_drawn_with_arcs_and_links(lab, tmp_path):
    picture = tmp_path / "grundy.svg"
    assert lab("solve", "--game", "grundy", "--state", "7", "--full-tree", "-o", picture)[0] == 0
    svg = picture.read_text(encoding="utf-8")
    assert svg.count('id="and-arc"') == 2
    assert svg.count('id="shared"') > 3
    assert "3, 2, 2" in svg


def test_one_node_and_one_position_are_singular(lab):
    _, out, _ = lab("solve", "--game", "nim", "--state", "1")
    assert not re.search(r"\b1 (nodes|positions)", out)
