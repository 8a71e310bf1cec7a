"""Test `kempelen lab play`: games, and what a killer memory learns from them."""

import json

import pytest

from agent.game import CHANCE, parse_move
from agent.games import catalogue


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


def replayed(game, moves):
    """Play the moves of a record; return the utility for the first player."""
    for move in moves:
        assert (move["player"] is None) == (game.turn == CHANCE)
        assert move["player"] in (None, game.turn)
        game.play(parse_move(game, move["move"]))
    return game.outcome()


@pytest.mark.parametrize(
    ("game", "options", "algorithm"),
    [
        ("pig", {"target": 12}, "expectiminimax,uct+playouts=20"),
        ("backgammon", {"state": "2+1/1"}, "expectiminimax"),
    ],
)
def test_games_of_chance_are_played_to_their_end(lab, game, options, algorithm):
    arguments = [f"--option={name}={value}" for name, value in options.items()]
    status, out, err = lab(
        "play", "--game", game, *arguments, "--depth", "1", "--algorithm", algorithm,
        "--games", "4", "--json",
    )  # fmt: skip
    assert (status, err) == (0, "")
    games = [json.loads(line) for line in out.splitlines()]
    assert len({json.dumps(each["moves"]) for each in games}) > 1
    for each in games:
        assert any(move["player"] is None for move in each["moves"])
        assert replayed(catalogue.new_game(game, **options), each["moves"]) == each["outcome"]


def test_games_of_chance_use_expectiminimax_and_the_seed(lab):
    arguments = ["play", "--game", "pig", "--size", "12", "--depth", "1"]
    first = lab(*arguments, "--seed", "1")
    assert first == lab(*arguments, "--seed", "1", "--algorithm", "expectiminimax")
    assert first != lab(*arguments, "--seed", "2")
    spanish = lab(*arguments, "--seed", "1", "--lang", "es")[1]
    assert "azar" in spanish
    assert "chance" not in spanish


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--game", "pig", "--algorithm", "pvs"], "pvs: games of chance are not supported"),
        (["--game", "nim", "--algorithm", "pvs,scout,mtd-f"], "3 algorithms (expected one or two)"),
    ],
)
def test_invalid_games_and_algorithms_are_rejected(lab, arguments, message):
    status, out, err = lab("play", *arguments)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("option", "heading"), [("en", "expected result"), ("es", "resultado esperado")]
)
def test_column_of_expected_results_is_not_headed_as_values(lab, tmp_path, option, heading):
    file = tmp_path / "tree.yaml"
    file.write_text("[[3, 5], [2, 9]]")
    lines = lab("play", "--tree", file, "--lang", option)[1].splitlines()
    assert heading in lines[1]
    assert lines[2].split() == ["1", "1", f"{1 - 0.25 / 3:.4g}"]
    assert lines[-1].split()[-1] == "3"
