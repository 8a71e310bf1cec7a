import json
import re
from unittest.mock import Mock

import pytest

from agent.search.catalogue import ALIASES, REMARKS, algorithms
from kempelen.console.translation import translate


def results(lab, *arguments):
    status, out, err = lab("run", *arguments, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_run_compares_algorithms_with_theory(lab):
    found = results(
        lab, "--game", "random-tree", "--size", "3", "--depth", "4",
        "--algorithm", "minimax,alpha-beta,mtd-f",
    )  # fmt: skip
    assert found["theory"] == {
        "branching": 3, "depth": 4, "all_leaves": 81, "least_leaves": 17,
        "inner_nodes": 40, "leaves_a_node": pytest.approx(2.025), "random_order_leaves": 27,
        "branching_factor": pytest.approx(2.148, abs=0.001),
    }  # fmt: skip
    minimax, alpha_beta, mtd = found["results"]
    assert minimax["counts"]["leaves"] == 81
    assert minimax["value"] == alpha_beta["value"] == mtd["value"]
    assert 17 <= alpha_beta["counts"]["leaves"] < 81


@pytest.mark.parametrize("action", [["run"], ["step", "--text"]])
def test_finished_position_has_a_value_but_no_theory(lab, tmp_path, action):
    leaf = tmp_path / "leaf.yaml"
    leaf.write_text("5")
    ended = ["--game", "tic-tac-toe", "--moves", "a1 b1 a2 b2 a3"]
    for given, value in ((["--tree", leaf], "5"), (ended, "LOSS")):
        status, out, err = lab(*action, *given, "--algorithm", "alpha-beta")
        assert (status, err) == (0, "")
        assert value in out
        assert "theory" not in out


def test_formulas_are_printed_with_the_counts(lab):
    tree = ["--game", "random-tree", "--size", "3", "--depth", "6", "--algorithm", "minimax"]
    counts = results(lab, *tree)["results"][0]["counts"]
    _, out, _ = lab("run", *tree)
    above = counts["nodes"] - counts["leaves"]
    assert above == (3**6 - 1) // 2 == 364
    assert f"(b^d - 1) / (b - 1) = {above} inner nodes, 2.003 leaves per inner node" in out
    assert "(b - 1 = 2)" in out
    assert f"b^(3d/4) = {3**4.5:.6g} leaves (random order)" in out
    _, out, _ = lab("run", "--game", "nim", "--size", "1", "--algorithm", "minimax")
    assert "(b^d - 1) / (b - 1) = 1 inner node, 1 leaf per inner node" in out
    assert "Pearl R = 1, R^d = 1" in out


def test_each_level_of_deepening_is_shown(lab):
    game = ["--game", "connect-four", "--depth", "4", "--algorithm", "alpha-beta", "--deepen"]
    (found,) = results(lab, *game)["results"]
    alone = [results(lab, *game[:3], str(depth), *game[4:6])["results"][0] for depth in range(1, 5)]
    assert [level["depth"] for level in found["levels"]] == [1, 2, 3, 4]
    assert [level["value"] for level in found["levels"]] == [each["value"] for each in alone]
    assert [level["move"] for level in found["levels"]] == [each["move"] for each in alone]
    nodes = [level["nodes"] for level in found["levels"]]
    assert nodes == sorted(nodes)
    assert nodes[-1] == found["counts"]["nodes"]
    assert not found["stopped"]
    _, out, _ = lab("run", *game)
    assert "last completed depth: 4; best move: " in out
    _, out, _ = lab("run", *game, "--nodes", str(nodes[2] + 5))
    assert "last completed depth: 3 (stopped by a limit); best move: " in out
    _, out, _ = lab("run", *game, "--nodes", "1")
    assert "no iteration was completed" in out
    (whole,) = results(lab, "--game", "nim", "--size", "1,2", *game[2:3], "50", *game[4:])[
        "results"
    ]
    assert len(whole["levels"]) < 6
    assert not whole["stopped"]


def test_algorithms_are_compared_on_several_positions(lab):
    arguments = ["--game", "tic-tac-toe", "--depth", "3", "--algorithm", "minimax,pvs"]
    found = results(lab, *arguments, "--positions", "4")
    assert [each["position"] for each in found["results"]] == [1, 1, 2, 2, 3, 3, 4, 4]
    for one, other in zip(found["results"][::2], found["results"][1::2], strict=True):
        assert one["value"] == other["value"]
    leaves = {each["counts"]["leaves"] for each in found["results"][::2]}
    assert len(leaves) > 1
    again = results(lab, *arguments, "--positions", "4")
    for one, other in zip(found["results"], again["results"], strict=True):
        assert one["counts"] == other["counts"]


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_table_has_a_row_for_each_algorithm_and_the_theory(lab, language):
    status, out, _ = lab("run", "--game", "tic-tac-toe", "--depth", "2", "--lang", language)
    assert status == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[2 : 2 + len(algorithms())]] == list(algorithms())
    heading = (
        ["algoritmo", "valor", "jugada"] if language == "es" else ["algorithm", "value", "move"]
    )
    assert lines[1].split()[:3] == heading
    assert "minimax b^d = " in out


def test_search_techniques_are_enabled_by_options(lab):
    found = results(
        lab, "--game", "connect-four", "--depth", "5",
        "--algorithm", "alpha-beta,alpha-beta+table+killers+history,uct+playouts=50",
    )  # fmt: skip
    plain, refined, uct = found["results"]
    assert plain["value"] == refined["value"]
    assert refined["counts"]["nodes"] < plain["counts"]["nodes"]
    assert refined["counts"]["table_hits"] > 0
    assert uct["counts"]["leaves"] == 50


RAW = "def f(g):\n    return g.open_lines(g.turn) - g.open_lines(1 - g.turn)\n"


def test_wins_are_distinguished_from_evaluations(lab, tmp_path):
    """Many positions have E = X - O = 1, the value of a win. Wins must outrank all of them."""
    file = tmp_path / "raw.py"
    file.write_text(RAW)
    arguments = ["--game", "tic-tac-toe", "--depth", "1", "--evaluation", f"{file}:f"]
    won = results(lab, *arguments, "--moves", "a3 b3 a2 c3")["results"]
    assert {(each["move"], each["value"]) for each in won} == {("a1", 1)}
    assert {each["algorithm"] for each in won if not each["decided"]} == {
        "alphazero",
        "uct",
        "ucb1",
    }
    even = results(lab, *arguments, "--algorithm", "minimax,alpha-beta")["results"]
    assert [(each["value"], each["decided"]) for each in even] == [(4, False)] * 2
    _, out, _ = lab("run", *arguments, "--moves", "a3 b3 a2 c3", "--algorithm", "minimax")
    assert out.splitlines()[2].split()[:3] == ["minimax", "WIN", "a1"]
    _, out, _ = lab("run", *arguments, "--algorithm", "minimax")
    assert out.splitlines()[2].split()[:3] == ["minimax", "4", "b2"]
    _, out, _ = lab(
        "run", "--game", "othello", "--size", "4", "--depth", "99", "--algorithm", "pvs"
    )
    assert "LOSS -8" in out.splitlines()[2]


def test_table_has_an_evaluations_column(lab):
    game = ["--game", "connect-four", "--depth", "5", "--algorithm", "alpha-beta+successors"]
    counts = results(lab, *game)["results"][0]["counts"]
    assert (counts["leaves"], counts["evaluations"]) == (513, 2375)
    _, out, _ = lab("run", *game)
    heading, row = (line.split() for line in out.splitlines()[1:3])
    assert row[heading.index("evaluations")] == "2375"
    pruned = results(lab, *game, "--beam", "4")["results"][0]["counts"]
    assert pruned["evaluations"] > pruned["leaves"]


def test_pruned_game_counts_only_evaluations_of_the_search(lab):
    """The theory enumerates moves of the game too, 200 times."""
    game = ["--game", "connect-four", "--depth", "5", "--beam", "4", "--algorithm"]
    minimax, pvs, again = (
        results(lab, *game, each)["results"] for each in ("minimax,pvs", "pvs", "pvs,minimax")
    )
    assert {each["counts"]["evaluations"] for each in (minimax[0], again[1])} == {232}
    assert pvs[0]["counts"] == minimax[1]["counts"] == again[0]["counts"]


def test_pearl_estimate_below_the_minimum_is_not_shown(lab):
    """R^d is asymptotic; at two plies it is below the minimum."""
    tree = ["--game", "random-tree", "--size", "3", "--algorithm", "alpha-beta"]
    _, out, _ = lab("run", *tree, "--depth", "2")
    assert "R^d =" not in out
    assert "Pearl R = 2.148 (valid for deep trees only; here R^d is below the minimum)" in out
    _, out, _ = lab("run", *tree, "--depth", "6")
    assert "Pearl R = 2.148, R^d = 98." in out


def test_node_and_time_limits_stop_the_search(lab):
    status, out, _ = lab(
        "run", "--game", "othello", "--depth", "9", "--algorithm", "minimax,uct", "--nodes", "300"
    )
    assert status == 0
    minimax, uct = (line.split() for line in out.splitlines()[2:4])
    assert minimax[1] == "stopped"
    assert minimax[4] == uct[5] == "300"
    found = results(
        lab, "--game", "othello", "--depth", "30", "--algorithm", "minimax", "--movetime", "0.05"
    )
    assert found["results"][0]["value"] is None


def test_user_evaluation_is_used(lab, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def corner(game):\n    return game.open_lines(1 - game.turn) / 100\n")
    arguments = ["--game", "tic-tac-toe", "--depth", "1", "--algorithm", "minimax"]
    found = results(lab, *arguments, "--evaluation", f"{file}:corner")
    # X chooses the square that keeps all 8 lines open for X.
    assert found["results"][0]["value"] == -0.08
    status, _, err = lab("run", *arguments, "--evaluation", f"{file}:corners")
    assert status == 2
    assert "unknown function 'corners' (defined: corner" in err


def test_failing_evaluation_is_reported(lab, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def broken(game):\n    return 1 / 0\n")
    status, _, err = lab("run", "--game", "nim", "--depth", "1", "--evaluation", f"{file}:broken")
    assert status == 2
    assert "broken failed: ZeroDivisionError: division by zero (mine.py, line 2)" in err


def test_chance_games_run_only_algorithms_that_support_them(lab):
    found = results(lab, "--game", "pig", "--depth", "2", "--seed", "1")
    able = ["alphazero", "expectiminimax", "ucb1", "uct"]
    assert [each["algorithm"] for each in found["results"]] == able
    assert found["theory"] is None


@pytest.mark.thorough
def test_board_patterns_improve_move_ordering(lab):
    plain, ordered = results(
        lab, "--game", "connect-four", "--depth", "5", "--algorithm", "negamax,alpha-beta+patterns"
    )["results"]
    assert plain["value"] == ordered["value"]
    bare = results(lab, "--game", "connect-four", "--depth", "5", "--algorithm", "alpha-beta")
    assert ordered["counts"]["leaves"] < bare["results"][0]["counts"]["leaves"]


def test_leaves_are_extended_after_a_value_swing(lab):
    arguments = ["--game", "tic-tac-toe", "--depth", "3", "--algorithm"]
    names = ["alpha-beta", "alpha-beta+swing=0.3", "alpha-beta+swing=0.3+beyond=4"]
    found = results(lab, *arguments, ",".join(names))["results"]
    deepest = [each["counts"]["seldepth"] for each in found]
    assert deepest == [3, 5, 7]


def test_fold_and_factor_reduce_the_leaves(lab):
    arguments = ["--game", "tic-tac-toe", "--depth", "3", "--algorithm", "minimax"]
    whole, folded, pruned = (
        results(lab, *arguments, *more)["results"][0]["counts"]["leaves"]
        for more in ([], ["--symmetry"], ["--beam", "3"])
    )
    # There are 9 * 8 * 7 sequences, 66 of them distinct; 3 moves at the root, then 2, 1 and 1.
    assert (whole, folded, pruned) == (504, 66, 4)


def test_progressive_deepening_searches_the_chosen_depths(lab):
    arguments = ["--game", "tic-tac-toe", "--algorithm", "minimax", "--depth"]
    counts = [
        results(lab, *arguments, depth, *more)["results"][0]["counts"]["leaves"]
        for depth, *more in (("4", "--deepen"), ("4", "--deepen", "odd"), ("4", "--deepen", "even"))
    ]
    assert counts == [9 + 72 + 504 + 3024, 9 + 504, 72 + 3024]
    found = results(lab, *arguments, "9", "--deepen", "--nodes", "700")["results"][0]
    assert (found["counts"]["nodes"], found["value"]) == (700, 1 / 3)  # three levels take 678
    assert results(lab, "--game", "tree", "--algorithm", "minimax", "--deepen")["results"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--game", "nim", "--algorithm", "alpha-beta+patterns"], "Nim has no patterns"),
        (["--game", "nim", "--algorithm", "alpha-beta+beyond=2"], "use swing=VALUE"),
        (["--game", "nim", "--algorithm", "pvs+swing=0"], "swing must be a value above 0"),
        (["--game", "nim", "--algorithm", "pvs+killer_memory"], "must be a file name"),
        (
            ["--game", "nim", "--algorithm", "pvs+surprise=0.1"],
            "surprise requires killer_memory=FILE",
        ),
        (["--game", "chess", "--symmetry"], "--symmetry: chess has no symmetries"),
        (["--game", "nim", "--deepen", "even", "--depth", "1"], "no even depth up to 1"),
    ],
)
def test_unsupported_techniques_are_rejected(lab, arguments, message):
    status, _, err = lab("run", *arguments)
    assert status == 2
    assert message in err


SMALL = "[[[3,5],[2,9]],[[0,1],[7,4]]]"


@pytest.fixture
def small_tree(tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    return file


@pytest.mark.parametrize("depth", [[], ["--depth", "1000"], ["--depth", "3"]])
def test_depth_of_a_tree_is_its_height(lab, small_tree, depth):
    """NegaScout 1 compares the depth with the maximum: it does not search leaves again."""
    arguments = ["--tree", small_tree, *depth, "--algorithm", "negascout-1"]
    found = results(lab, *arguments)
    assert found["depth"] == 3
    assert found["results"][0]["counts"]["leaves"] == 6
    assert found["results"][0]["counts"]["researches"] == 0
    assert f"{small_tree}, depth 3" in lab("run", *arguments)[1]


def test_value_column_marks_what_the_value_means(lab, small_tree):
    algorithms = "alpha-beta,bns,b-star,and-or,minimax-two-valued,uct,null-move"
    _, out, _ = lab("run", "--tree", small_tree, "--algorithm", algorithms)
    values = {line.split()[0]: line.split()[1] for line in out.splitlines()[2:9]}
    assert values.pop("uct").startswith("mean=0.")
    assert values == {
        "alpha-beta": "5", "bns": "≥2", "b-star": "≥5", "and-or": ">0", "minimax-two-valued": ">0",
        "null-move": "5",
    }  # fmt: skip
    meanings = [each["meaning"] for each in results(
        lab, "--tree", small_tree, "--algorithm", algorithms
    )["results"]]  # fmt: skip
    assert meanings == [
        "exact", "lower bound", "lower bound", "win or loss", "win or loss", "mean reward", "exact",
    ]  # fmt: skip
    assert "media=0." in lab("run", "--tree", small_tree, "--algorithm", "uct", "--lang", "es")[1]
    _, out, _ = lab("run", "--game", "chess", "--depth", "2", "--algorithm", "null-move")
    assert re.search(r"^null-move +≈", out, re.M)


def test_values_of_different_meanings_are_not_called_equal(lab):
    arguments = ["--game", "nim", "--size", "1,2", "--positions", "2", "--depth", "9"]
    _, out, _ = lab("run", *arguments, "--algorithm", "minimax,negamax,uct")
    assert re.search(r"^negamax +2/2", out, re.M)
    assert re.search(r"^uct +0/2", out, re.M)


def test_null_move_without_null_moves_is_said_to_be_alpha_beta(lab, small_tree, tmp_path):
    remark = "null-move: this game has no null move, so the search is plain alpha-beta"
    game = ["--game", "nim", "--size", "1,2", "--depth", "4", "--algorithm", "null-move"]
    for action in ("run", "trace", "play"):
        status, out, err = lab(action, *game)
        assert (status, err) == (0, "")
        assert remark in out.splitlines()
    step = lab("step", *game, "--text")[1]
    assert "This game has no null move, so the search is plain alpha-beta." in step
    picture = tmp_path / "tree.svg"
    lab("draw", *game, "-o", picture)
    assert remark in picture.read_text(encoding="utf-8")
    for action in ("run", "trace"):
        out = lab(action, "--game", "chess", "--depth", "1", "--algorithm", "null-move")[1]
        assert "plain alpha-beta" not in out
        assert "plain alpha-beta" not in lab(action, *game[:-1], "alpha-beta")[1]


def test_names_that_are_easily_confused_are_explained_where_they_are_listed(lab):
    for name, option in (("mcts", "en"), ("ucb1", "es"), ("bns", "en"), ("sss-star-mtd", "es")):
        listed = lab("--help", "--lang", option)[1].splitlines()
        (line,) = [line for line in listed if line.startswith(f"  {name}: ")]
        assert line == translate(f"  {name}: {REMARKS[name]}", option)
    known = {*algorithms(), *ALIASES}
    assert set(REMARKS) <= known
    for names in ("alpha-beta alpha-beta-hard", "sss-star sss-star-mtd", "mcts uct ucb1",
                  "minimax-two-valued and-or", "bns", "pvs negascout-1 negascout-2"):  # fmt: skip
        assert set(names.split()) <= set(REMARKS)


@pytest.mark.parametrize("action", [["run"], ["trace"], ["play"], ["solve"]])
def test_error_in_a_game_of_the_user_is_reported_with_its_line(lab, tmp_path, action):
    file = tmp_path / "mine.py"
    file.write_text(
        "from agent.games.nim import Nim\n\n\nclass Mine(Nim):\n    def moves(self):\n"
        "        if self.heaps[0] < 2:\n            return {}[self.heaps[0]]\n"
        "        return list(super().moves())\n"
    )
    status, _, err = lab(*action, "--game", f"{file}:Mine")
    assert status == 2
    assert err == "kempelen lab: KeyError: 1 (mine.py, line 7)\n"


def test_defect_of_the_program_is_not_hidden(lab, monkeypatch):
    monkeypatch.setattr("kempelen.lab.problems.load_game_evaluation", Mock(side_effect=KeyError))
    with pytest.raises(KeyError):
        lab("solve", "--game", "nim")


def test_null_window_sss_star_has_the_leaves_of_sss_star_on_trees_only(lab, tmp_path):
    file = tmp_path / "tree.yaml"
    file.write_text("[[[3, 5], [2, 9]], [[0, 1], [7, 4]]]")
    names = ["--algorithm", "sss-star,sss-star-mtd"]
    one, other = (
        each["counts"]["leaves"] for each in results(lab, "--tree", file, *names)["results"]
    )
    assert one == other == 6
    nim = ["--game", "nim", "--size", "3,4,5", "--depth", "3"]
    one, other = (each["counts"]["leaves"] for each in results(lab, *nim, *names)["results"])
    assert one > other
    assert "on trees" in REMARKS["sss-star-mtd"]
