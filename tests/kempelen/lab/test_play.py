"""Test `kempelen lab play`: games, and what a killer memory learns from them."""

import json

import pytest


def test_a_killer_memory_learns_from_surprises(lab, tmp_path):
    memory = f"alpha-beta+killer_memory={tmp_path / 'killers.db'}"
    arguments = ["--game", "connect-four", "--depth", "2", "--algorithm", f"{memory},alpha-beta"]
    status, out, err = lab("play", *arguments, "--games", "6", "--json")
    assert (status, err) == (0, "")
    games = [json.loads(line) for line in out.splitlines()]
    learned = [[lesson for move in game["moves"] for lesson in move["lessons"]] for game in games]
    first = [*learned[0], *games[0]["after"]][0]
    assert abs(first["found"] - first["predicted"]) > 0.01
    assert not any(move["known"] for move in games[0]["moves"])
    assert any(move["known"] for move in games[2]["moves"])
    assert [move["move"] for move in games[0]["moves"]] != [
        move["move"] for move in games[-2]["moves"]
    ]
    without = lab("play", *arguments[:-1], "alpha-beta", "--games", "3", "--json")[1]
    bare = [json.loads(line)["moves"] for line in without.splitlines()]
    assert bare[0] == bare[1] == bare[2]


def test_play_prints_learned_surprises_in_spanish(lab, tmp_path):
    memory = f"alpha-beta+killer_memory={tmp_path / 'killers.db'}"
    arguments = ["--game", "connect-four", "--depth", "2", "--algorithm", f"{memory},alpha-beta"]
    status, out, err = lab("play", *arguments, "--games", "4", "--lang", "es")
    assert (status, err) == (0, "")
    assert "sorpresa: " in out
    assert "conocida por experiencia" in out
    assert out.splitlines()[-1].endswith(" / 4 puntos")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--game", "pig"], "pig: games of chance are not supported by lab play"),
        (["--game", "nim", "--algorithm", "pvs,scout,mtd-f"], "3 algorithms (expected one or two)"),
    ],
)
def test_invalid_games_and_algorithms_are_rejected(lab, arguments, message):
    status, out, err = lab("play", *arguments)
    assert (status, out) == (2, "")
    assert message in err
