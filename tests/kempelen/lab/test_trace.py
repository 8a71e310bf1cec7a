import json
import os
import re
import subprocess
import sys
from math import inf, nextafter
from pathlib import Path

import pytest

from agent.search.catalogue import algorithms
from kempelen.lab import language
from tests.agent.search import reference_traces

TREES = Path(__file__).parents[2] / "data" / "trees"
TREE = TREES / "sss_star.yaml"
ROWS = Path(__file__).parents[3] / "kempelen" / "lab" / "notes" / "sss_star.txt"


def test_sss_star_trace_matches_the_lecture_notes(lab):
    status, out, _ = lab("trace", "--algorithm", "sss-star", "--tree", TREE)
    rows = ROWS.read_text(encoding="utf-8").splitlines()
    assert status == 0
    assert out.splitlines() == [row.replace(" ", "  ", 1) for row in rows]
    assert len(rows) == 30
    assert out.splitlines()[13] == (
        "14  (2.1.2.1, S, 15), (2.1.1.1, S, 13), (1.1.2.1, S, 7), (1.1.1.1, S, 5)"
    )


def columns(out):
    """The rows as [number, node, player, step]."""
    return [line.split(maxsplit=3) for line in out.splitlines()[1:]]


def test_alpha_beta_prints_windows_values_and_cut_offs(lab, tmp_path):
    tree = tmp_path / "small.yaml"
    tree.write_text("[[3, 12], [2, 4]]")
    _, out, _ = lab("trace", "--tree", tree)
    assert [[cell.strip() for cell in row] for row in columns(out)] == [
        ["1", "ε", "MAX", "enter (-∞, ∞)"],
        ["2", "1", "MIN", "enter (-∞, ∞)"],
        ["3", "1.1", "MAX", "enter (-∞, ∞), evaluate 3"],
        ["4", "1.2", "MAX", "enter (-∞, 3), evaluate 12"],
        ["5", "1", "MIN", "return 3"],
        ["6", "2", "MIN", "enter (3, ∞)"],
        ["7", "2.1", "MAX", "enter (3, ∞), evaluate 2"],
        ["8", "2", "MIN", "cut-off by 2.1, return 2"],
        ["9", "ε", "MAX", "return 3"],
    ]


def test_null_windows_are_shown_with_adjacent_bounds(lab, tmp_path):
    tree = tmp_path / "small.yaml"
    tree.write_text("[[3, 12], [7, 9]]")
    _, out, _ = lab("trace", "--tree", tree, "--algorithm", "negascout-2")
    steps = [row[3].strip() for row in columns(out)]
    assert "enter (3, 4)" in steps  # adjacent integers
    assert "enter again (3, ∞)" in steps
    assert "enter (2, 3), evaluate 12" in steps
    tree.write_text("[[3.5, 12], [7, 9]]")
    _, out, _ = lab("trace", "--tree", tree, "--algorithm", "negascout-2")
    steps = [row[3].strip() for row in columns(out)]
    assert "enter (3.5, 3.5+)" in steps
    assert "enter (3.5-, 3.5), evaluate 12" in steps


def test_scout_trace_shows_its_tests_and_evaluations(lab, tmp_path):
    tree = tmp_path / "small.yaml"
    tree.write_text("[[3, 12], [7, 9]]")
    _, out, _ = lab("trace", "--tree", tree, "--algorithm", "scout", "--lang", "es")
    steps = [row[3].strip() for row in columns(out)]
    assert "entra TEST ≥ 3, evalúa 12, devuelve CIERTO" in steps
    assert "entra de nuevo EVAL" in steps


@pytest.mark.thorough(keep=4)
@pytest.mark.parametrize("name", algorithms())
@pytest.mark.parametrize("language", ["en", "es"])
def test_every_algorithm_has_a_trace(lab, name, language):
    status, out, err = lab("trace", "--tree", TREE, "--algorithm", name, "--lang", language)
    assert (status, err) == (0, "")
    assert len(out.splitlines()) > 5


def test_fail_hard_alpha_beta_leaf_returns_its_exact_value(lab, tmp_path):
    """A leaf returns its value, although the limit is 20."""
    tree = tmp_path / "small.yaml"
    tree.write_text("[[20, 23], [[25, 30], 19]]")
    _, out, _ = lab("trace", "--tree", tree, "--algorithm", "alpha-beta-hard", "--lang", "es")
    steps = [row[3].strip() for row in columns(out)]
    assert "entra (20, ∞), evalúa 25" in steps
    assert not any("evalúa" in step and "devuelve" in step for step in steps)


def test_json_marks_finished_games_as_decided(lab):
    game = ["--game", "tic-tac-toe", "--moves", "a3 b3 a2 c3", "--depth", "1", "--json"]
    events = [json.loads(line) for line in lab("trace", *game)[1].splitlines()]
    won = [event for event in events if event["event"] == "evaluated" and event["decided"]]
    assert [event["value"] for event in won] == [1]
    assert events[-1] == {
        "event": "returned", "label": [], "maximises": True, "value": 1, "remembered": False,
        "decided": True,
    }  # fmt: skip


def test_chance_game_trace_reports_a_larger_win_value(lab, tmp_path):
    file = tmp_path / "raw.py"
    file.write_text("def lead(g):\n    return 10 * g.state.rolled\n")
    arguments = ["--game", "pig", "--size", "10", "--algorithm", "expectiminimax", "--depth", "1"]
    arguments += ["--evaluation", f"{file}:lead"]
    _, out, _ = lab("trace", *arguments)
    assert "restart: win value 64" in out
    _, out, _ = lab("trace", *arguments, "--lang", "es")
    assert "empieza de nuevo: valor de ganar 64" in out


def test_moves_use_the_notation_of_the_game(lab):
    status, out, _ = lab("trace", "--game", "tic-tac-toe", "--moves", "b2 a1", "--depth", "1")
    assert status == 0
    moves = [line.split()[2] for line in out.splitlines()[2:-1]]
    assert moves == ["a3", "b3", "c3", "a2", "c2", "b1", "c1"]


def test_trace_shows_chance_nodes(lab):
    arguments = ["--game", "pig", "--algorithm", "expectiminimax", "--depth", "1", "--lang", "es"]
    status, out, _ = lab("trace", *arguments)
    rows = [line.split() for line in out.splitlines()[1:]]
    assert status == 0
    assert rows[0][2] == "MAX"
    # Only the root is expanded: below it are the die, its faces, and holding.
    assert [row[1] for row in rows if "azar" in row] == ["1", "1"]
    assert {row[2] for row in rows if row[1].startswith("1.")} == set("123456")


def test_null_move_is_traced_as_a_pass(lab):
    fen = "fen=4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1"
    arguments = ["--game", "chess", "--option", fen, "--depth", "3"]
    status, out, err = lab("trace", *arguments, "--algorithm", "null-move+reduction=1")
    assert (status, err) == (0, "")
    row = next(row for row in columns(out) if "cut-off" in row[3] and ".0," in row[3])
    passed = re.search(r"cut-off by (\S+\.0),", row[3])[1]
    assert any(line.split()[1:3] == [passed, "-"] for line in out.splitlines())


def test_json_has_one_event_per_line(lab):
    status, out, _ = lab("trace", "--tree", TREE, "--json")
    events = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert events[0] == {
        "event": "entered", "label": [], "maximises": True, "procedure": "value",
        "window": ["-∞", "∞"], "test": None, "again": False,
    }  # fmt: skip
    assert sum(event["event"] == "evaluated" for event in events) == 16


def test_stopped_search_shows_its_steps(lab):
    status, out, _ = lab("trace", "--tree", TREE, "--nodes", "5")
    assert status == 0
    assert len(out.splitlines()) == 7


@pytest.mark.thorough(keep=4)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tree", "nowhere.yaml"], "nowhere.yaml"),
        (["--algorithm", "sss"], "unknown algorithm 'sss' (expected one of: alpha-beta, "),
        (["--algorithm", "scout+table"], "scout: unknown option 'table'"),
        (["--algorithm", "uct+playouts=many"], "playouts must be an integer"),
        (["--algorithm", "uct+final=best"], "final must be one of visits, mean, ucb"),
        (["--algorithm", "pvs+table=small"], "table must be a number of entries, or have no value"),
        (["--algorithm", "pvs+killers=2"], "killers must be true or false, or have no value"),
        (["--algorithm", "pvs+preliminary"], "preliminary must be a positive number of plies"),
        (["--game", "chequers"], "unknown game 'chequers' (expected one of: "),
        (["--game", "nim", "--size", "3,-1"], "game nim: heap sizes must be at least 0 (got -1)"),
        (["--game", "othello", "--size", "5"], "board size must be even and at least 4 (got 5)"),
        (
            ["--game", "nim", "--option", "misery=true"],
            "unexpected keyword argument 'misery' (options: heaps, misere",
        ),
        (["--game", "nim", "--moves", "z9"], "illegal move 'z9'"),
        (
            ["--game", "pig"],
            "alpha-beta: games of chance are not supported (use expectiminimax or uct)",
        ),
        (["--evaluation", "nowhere.py:value"], "does not exist"),
        (["--option", "misere"], "expected NAME=VALUE"),
    ],
)
def test_invalid_arguments_are_rejected(lab, arguments, message):
    status, out, err = lab("trace", *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_output_is_utf8_on_a_latin1_terminal():
    done = subprocess.run(
        [sys.executable, "-m", "kempelen.cli", "lab", "trace", "--algorithm", "sss-star"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        timeout=120,
    )
    assert done.stdout.decode("utf-8").splitlines()[0] == "1  (ε, V, ∞)"


JUDGE = """
import numpy as np
from agent.evaluation import batched

@batched(size=4)
def judge(batch):
    return np.full(len(batch), 0.5), np.ones((len(batch), batch.width))
"""


@pytest.mark.parametrize("name", ["uct", "alphazero", "ucb1"])
def test_batch_evaluated_leaf_is_not_traced_as_a_simulation(lab, tmp_path, name):
    file = tmp_path / "judges.py"
    file.write_text(JUDGE)
    status, out, _ = lab(
        "trace", "--game", "tic-tac-toe", "--algorithm", f"{name}+playouts=6",
        "--evaluation", f"{file}:judge",
    )  # fmt: skip
    assert status == 0
    steps = [line.split(",", 1)[1].strip() for line in out.splitlines()[1:]]
    grown = "evaluate" if name == "ucb1" else "expand, evaluate"
    assert [step.partition(", reward")[0] for step in steps] == ["evaluate", *[grown] * 5]
    assert [step.partition("reward ")[2] for step in steps] == ["+0.25", *["-0.25"] * 5]


def test_bound_next_to_infinity_is_not_shown_as_win_or_loss(lab, tmp_path):
    """A null window at infinity, such as MTD's first one, and an infinite bound."""
    assert language.format_value(nextafter(inf, 0)) == "∞-"
    assert language.format_value(nextafter(-inf, 0)) == "-∞+"
    assert language.format_window(nextafter(-inf, 0), 5) == "(-∞+, 5)"
    for name in ("sss-star-mtd", "dual-star-mtd", "mtd-f"):
        _, out, _ = lab("trace", "--algorithm", name, "--tree", TREE)
        assert "e+" not in out
        assert "LOSS" not in out
        assert "WIN" not in out


def test_dual_star_rows_show_bounds_for_max(lab, tmp_path):
    """DUAL* starts with the least bound, and a leaf of 3 is solved with 3."""
    tree = tmp_path / "small.yaml"
    tree.write_text("[[3, 12], [2, 4]]")
    _, out, _ = lab("trace", "--tree", tree, "--algorithm", "dual-star")
    rows = out.splitlines()
    assert rows[0] == "1  (ε, V, -∞)"
    assert rows[1] == "2  (1, V, -∞)"
    assert "(1.1, S, 3)" in out
    assert rows[-1].endswith("(ε, S, 3)")
    _, out, _ = lab("trace", "--tree", tree, "--algorithm", "dual-star", "--json")
    listed = [event for event in map(json.loads, out.splitlines()) if event["event"] == "listed"]
    assert listed[0]["states"] == [[[], False, "-∞"]]
    assert listed[-1]["states"] == [[[], True, 3]]
    _, out, _ = lab("exercise", "--kind", "order", "--algorithm", "dual-star", "--solve")
    assert "(ε, V, -∞)" in out
    assert not re.search(r", S, -", out)


NAMED = """
name: N1
children:
- {name: N2, children: [{name: N4, value: 3}, 12]}
- {name: N3, children: [{value: 2}, {name: N7, value: 4}]}
"""


def test_names_of_nodes_are_shown(lab, tmp_path):
    tree = tmp_path / "named.yaml"
    tree.write_text(NAMED)
    _, out, _ = lab("trace", "--tree", tree)
    assert [row[1] for row in columns(out)] == [
        "N1", "N2", "N4", "1.2", "N2", "N3", "2.1", "N3", "N1",
    ]  # fmt: skip
    assert "cut-off by 2.1, return 2" in out
    _, out, _ = lab("trace", "--tree", tree, "--algorithm", "sss-star")
    assert out.splitlines()[:3] == ["1  (N1, V, ∞)", "2  (N2, V, ∞), (N3, V, ∞)",
                                    "3  (N4, V, ∞), (N3, V, ∞)"]  # fmt: skip
    _, out, _ = lab("trace", "--tree", tree, "--json")
    names = {
        tuple(event["label"]): event.get("name") for event in map(json.loads, out.splitlines())
    }
    assert names == {
        (): "N1", (1,): "N2", (1, 1): "N4", (1, 2): None, (2,): "N3", (2, 1): None,
    }  # fmt: skip
    _, out, _ = lab("trace", "--tree", tree, "--moves", "2")
    assert [row[1] for row in columns(out)] == ["N3", "1", "N7", "N3"]


def test_playout_to_the_maximum_depth_is_traced_with_its_evaluation(lab):
    arguments = ["--game", "tic-tac-toe", "--algorithm", "uct+playouts=5"]
    for depth, ending in (("2", "simulate 1 move, evaluate, reward"), ("9", "moves, reward")):
        _, out, _ = lab("trace", *arguments, "--depth", depth)
        assert len(re.findall(ending, out)) >= 3


def test_order_exercise_of_negascout_1_has_the_order_of_the_listing(lab):
    arguments = ["exercise", "--kind", "order", "--algorithm", "negascout-1", "--seed", "3"]
    _, out, _ = lab(*arguments, "--json")
    told = json.loads(out)
    log = reference_traces.Log()
    reference_traces.TRACES["negascout-1"](log, told["tree"])
    leaves = [".".join(map(str, each.label)) for each in log.entries if each.kind == "leaf"]
    assert told["key"] == leaves
    assert lab(*arguments, "--answer", " ".join(leaves))[0] == 0


def test_names_follow_the_order_of_heuristic_pruning(lab, tmp_path):
    file = tmp_path / "named.yaml"
    file.write_text(
        "{name: R, children: [{name: A, value: 2, children: [5, {name: x, value: 4}]}, "
        "{name: B, value: 3, children: [2, 7]}]}"
    )
    arguments = ["--tree", file, "--beam", "2"]
    _, out, _ = lab("trace", *arguments)
    rows = [row[1:3] for row in columns(out)]
    assert rows[1:8:2] == [["B", "2"], ["B", "2"], ["x", "2"], ["R", "MAX"]]
    _, out, _ = lab("step", *arguments, "--text")
    assert "the best move is A (1), with the value 4." in out
    picture = tmp_path / "tree.svg"
    lab("draw", *arguments, "-o", picture)
    names = re.findall(">(R|[ABx](?: h=[0-9])?)<", picture.read_text(encoding="utf-8"))
    assert names == ["R", "B h=3", "A h=2", "x"]


@pytest.mark.parametrize("name", ["uct", "ucb1", "alphazero"])
def test_uct_shows_the_value_of_a_single_leaf(lab, tmp_path, name):
    tree = tmp_path / "leaf.yaml"
    tree.write_text("5")
    status, out, _ = lab("trace", "--tree", tree, "--algorithm", name)
    assert status == 0
    assert [row[1:] for row in columns(out)] == [["ε", "MAX", "evaluate 5"]]


def test_uct_names_the_random_events_that_it_draws(lab):
    tree = "[{chances: [1/2, 1/2], children: [3, {name: low, value: 1}]}]"
    _, out, _ = lab("trace", "--tree", tree, "--algorithm", "uct+playouts=9", "--seed", "2")
    rows = columns(out)
    drawn = [row for row in rows if row[2] == "chance"]
    assert len(drawn) == 9
    assert {row[1] for row in drawn} == {"1"}
    assert {row[3] for row in drawn} == {"random event 1.1", "random event low"}
    # Each playout follows from the event before it.
    for event, playout in zip(rows[::2], rows[1::2], strict=True):
        assert event[3] == f"random event {playout[1]}"
    _, out, _ = lab("trace", "--tree", tree, "--algorithm", "uct+playouts=2", "--json")
    events = [json.loads(line) for line in out.splitlines()]
    assert {each["by"] for each in events if each["event"] == "drawn"} <= {1, 2}
    _, out, _ = lab("trace", "--tree", tree, "--algorithm", "uct+playouts=2", "--lang", "es")
    assert "suceso aleatorio" in out


def test_tree_may_be_given_directly(lab, tmp_path):
    tree = tmp_path / "small.yaml"
    tree.write_text("[[3, 12], [2, 4]]")
    for command in ("trace", "solve"):
        words = ["--algorithm", "alpha-beta"] if command == "trace" else []
        _, from_file, _ = lab(command, "--tree", tree, *words)
        status, given, err = lab(command, "--tree", " [[3, 12], [2, 4]]", *words)
        assert (status, err) == (0, "")
        assert given.replace("tree", "") == from_file.replace(str(tree), "")
    _, _, err = lab("trace", "--tree", "[[3, 12], [2, x]]")
    assert "tree: 2.2: invalid node 'x'" in err
    _, _, err = lab("trace", "--tree", "[[3, 12], [2")
    assert "tree: invalid YAML: " in err
    _, _, err = lab("trace", "--tree", "missing.yaml")
    assert "missing.yaml: could not read the file" in err
