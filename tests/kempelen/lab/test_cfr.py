"""Test `kempelen lab cfr` and `kempelen lab max-n`."""

import json
import re

import pytest

from kempelen.lab.cfr import measuring_points
from tests.kempelen.lab.test_spanish import assert_spanish


def test_kuhn_poker_is_solved(lab):
    status, out, err = lab("cfr", "--iterations", "2000", "--json")
    solved = json.loads(out)
    assert (status, err) == (0, "")
    assert solved["value"] == pytest.approx(-1 / 18, abs=1e-3)
    assert 0 < solved["exploitability"] < 0.001
    assert solved["curve"][0][0] == 1
    assert solved["curve"][-1] == [2000, solved["exploitability"], solved["value"]]
    assert solved["strategy"]["2: K bet"]["bet"] > 0.99


def test_steps_show_regrets_and_the_next_strategy(lab):
    status, out, _ = lab("cfr", "--iterations", "3", "--steps", "2")
    assert status == 0
    assert re.findall("iteration ([0-9]+)", out) == ["1", "2"]
    first = next(line for line in out.splitlines() if line.startswith("1: J  "))
    assert " ".join(first.split()) == (
        "1: J pass 0.500 bet 0.500 pass -0.417 bet -0.167 pass -0.125 bet 0.125 "
        "pass 0.000 bet 1.000"
    )


def test_exploitability_is_plotted(lab, tmp_path):
    picture = tmp_path / "curve.svg"
    status, _, err = lab("cfr", "--iterations", "30", "--plus", "--plot", picture)
    assert (status, err) == (0, "")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))
    assert {"kuhn-poker", "iterations", "exploitability"} <= set(texts)


def test_curve_is_measured_at_the_end_and_evenly_on_a_logarithmic_scale():
    assert list(measuring_points(1)) == [1]
    points = list(measuring_points(1000))
    assert points[:4] == [1, 2, 3, 4]
    assert points[-1] == 1000
    assert points == sorted(set(points))
    assert list(measuring_points(999))[-1] == 999


def test_own_game_with_hidden_information(lab, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("from agent.games.hidden.kuhn_poker import KuhnPoker as Mine\n")
    status, out, err = lab("cfr", "--game", f"{file}:Mine", "--iterations", "5")
    assert (status, err) == (0, "")
    assert "1: K pass bet" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--game", "nim"], "unknown game 'nim' (expected one of: kuhn-poker, liars-dice; or"),
        (["--game", "agent.games.pig:Pig"], "not a game with hidden information"),
        (["--game", "liars-dice", "--option", "sides=7"], "sides must be from 2 to 6 (got 7)"),
        (["--plot", "curve.txt"], "curve.txt: unknown picture format"),
    ],
)
def test_invalid_arguments_are_rejected(lab, arguments, message):
    status, out, err = lab("cfr", *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_max_n_prints_the_tree_with_the_values_of_all_players(lab):
    status, out, err = lab("max-n", "--coins", "1,3,2", "--players", "3")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "player 1  (2, 3, 1)"
    assert out.splitlines()[-3:] == ["values (2, 3, 1)", "best play: R R L", "11 nodes"]
    found = json.loads(lab("max-n", "--coins", "1,3,2", "--json")[1])
    assert found == {"values": [2, 3, 1], "line": ["R", "R", "L"], "nodes": 11}


def test_max_n_rejects_too_many_coins(lab):
    assert lab("max-n", "--coins", ",".join("1" * 17))[::2] == (
        2,
        "kempelen lab: coins: from 1 to 16 values (got 17)\n",
    )


def test_hidden_and_many_player_games_are_shown_in_spanish(lab):
    for arguments in (
        ["cfr", "--iterations", "3", "--steps", "1"],
        ["cfr", "--game", "liars-dice", "--option", "sides=2", "--iterations", "3"],
        ["max-n", "--coins", "1,3,2"],
    ):
        status, out, err = lab(*arguments, "--lang", "es")
        assert (status, err) == (0, "")
        assert_spanish(out.replace("kuhn-poker", "").replace("liars-dice", ""))


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ("def information(self): raise KeyError('oops')", "KeyError: 'oops' (mine.py, line 3)"),
        (
            "def chance_outcomes(self): return [('JQ', 0.7), ('QJ', 0.7)]",
            "chances must be at least 0 and add up to 1 (got [0.7, 0.7])",
        ),
        (
            "def outcome(self): return super().outcome() and float('nan')",
            "outcome must be a finite number (got nan)",
        ),
        (
            "def information(self): return ''\n"
            "    def moves(self): return super().moves()[self._deal == 'JQ' :]",
            "1: : positions with different legal moves",
        ),
        (
            "def outcome(self): return None\n"
            "    def moves(self): return super().moves() or ['bet']",
            "the search went too deep",
        ),
    ],
)
def test_errors_of_an_own_game_are_reported(lab, tmp_path, methods, message):
    file = tmp_path / "mine.py"
    file.write_text(
        "from agent.games.hidden.kuhn_poker import KuhnPoker\n"
        f"class Mine(KuhnPoker):\n    {methods}\n"
    )
    status, out, err = lab("cfr", "--game", f"{file}:Mine", "--iterations", "3")
    assert (status, out) == (2, "")
    assert message in err


def test_rules_say_that_the_players_take_turns_in_an_iteration(lab):
    _, out, _ = lab("cfr", "--iterations", "2", "--steps", "1")
    assert "the values of player 2 are against the next strategy of player 1" in out
    row = next(line for line in out.splitlines() if line.startswith("2: J pass"))
    assert " ".join(row.split()[7:11]) == "pass 0.000 bet 0.000"  # player 1 no longer passes with K
    assert re.search(r"^ +2 +0\.2708 +0$", out, re.MULTILINE)
