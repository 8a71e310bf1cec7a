"""Test self-play files of Go, and the feature strengths learned from them."""

import json
from pathlib import Path

import numpy as np
import pytest

from agent.games.go import Go
from agent.games.stones import PASS
from agent.go.features import FEATURE_COLUMNS, FEATURE_INDEX, NO_FEATURE
from agent.go.pattern_weights import load
from agent.io.file_lock import lock_path
from kempelen.training.bradley_terry import Comparisons, fit
from kempelen.training.go_selfplay import (
    GoSelfPlayPlan,
    create_checked_player,
    format_game,
    generate,
    read,
)
from kempelen.training.workers import GamesError
from tests import in_process
from tests.systems import posix_only

PLAN = GoSelfPlayPlan(size=5, playouts=30, seed=4)
GAMES = 16


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file made by two processes."""
    path = tmp_path_factory.mktemp("played") / "games.txt"
    *_, last = generate(path, PLAN, "test", GAMES, 2)
    assert last == GAMES
    return path


@pytest.mark.thorough
def test_interrupted_selfplay_makes_same_games(played: Path, tmp_path: Path) -> None:
    manifest, games = read(played)
    assert manifest == PLAN.manifest("test")
    assert [game.number for game in games] == list(range(GAMES))
    assert len({game.moves for game in games}) > GAMES // 2
    assert {game.opening for game in games} == {4, 5}
    again = tmp_path / "again.txt"
    data = played.read_bytes()
    again.write_bytes(data[: data.index(b"\n5 ") + 9])  # killed during the sixth game
    assert list(generate(again, PLAN, "test", 7, 1)) == [5, 6, 7]
    assert data.startswith(again.read_bytes())


@pytest.mark.thorough
@posix_only("Windows does not let others remove an open file")
def test_games_file_removed_during_selfplay_is_written_again(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "removed.txt"
    for number in generate(path, PLAN, "test", 4, 1):
        if number in (0, 2):
            path.unlink()
    assert len(read(path)[1]) == 4
    assert played.read_bytes().startswith(path.read_bytes())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\n3 ", "\nx ", "line 5: invalid game"),
        ("\n3 ", "\n7 ", "line 5: invalid game .unexpected game number 7"),
        (" +1 ", " +9 ", "invalid result"),
        (" -1 ", " -1 zz", "invalid game"),
        ('"komi"', '"coma"', "not a file of Go self-play games"),
        ('"go"', '"chess"', "not a file of Go self-play games"),
    ],
)
def test_damaged_games_file_is_reported(
    played: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "games.txt"
    text = played.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(GamesError, match=message) as raised:
        read(path)
    assert str(path) in str(raised.value)


def test_games_with_other_settings_are_not_appended(played: Path) -> None:
    before = played.read_bytes()
    with pytest.raises(GamesError, match=r"has other settings \(playouts was 30, is 31\)"):
        list(generate(played, GoSelfPlayPlan(size=5, playouts=31, seed=4), "test", 20, 1))
    assert played.read_bytes() == before


def test_games_of_other_kernel_or_weights_are_not_appended(tmp_path: Path) -> None:
    manifest = PLAN.manifest("test")
    for name in ("kernel", "weights"):
        with pytest.raises(GamesError, match=f"{name} was another, is {manifest[name]}"):
            create_checked_player(PLAN, manifest | {name: "another"})
        path = tmp_path / name
        path.write_text(json.dumps(manifest | {name: "another"}) + "\n")
        with pytest.raises(GamesError, match=rf"has other settings \({name} was another"):
            next(generate(path, PLAN, "test", 1, 1))


def test_games_file_is_locked_by_one_process(played: Path) -> None:
    before = played.read_bytes()
    with (
        lock_path(str(played)),
        pytest.raises(GamesError, match="being written by another process"),
    ):
        next(generate(played, PLAN, "test", 20, 1))
    assert played.read_bytes() == before


def contests(chance: np.random.Generator, weights: dict[str, float], number: int) -> Comparisons:
    """Positions with eight moves and random features, whose winners follow the weights."""
    places = np.full((number * 8, FEATURE_COLUMNS), NO_FEATURE, np.int32)
    places[:, 0] = 0
    strengths = np.zeros(len(places))
    for column, (name, weight) in enumerate(weights.items(), FEATURE_COLUMNS - len(weights)):
        has = chance.random(len(places)) < 0.3
        places[has, column] = FEATURE_INDEX[name]
        strengths += has * weight
    first = np.arange(0, len(places), 8)
    noise = chance.gumbel(size=len(places))
    chosen = first + (strengths + noise).reshape(-1, 8).argmax(axis=1)
    return Comparisons(places, first, chosen)


@pytest.mark.thorough
def test_fit_recovers_feature_weights() -> None:
    weights = {"escapes": 2.0, "gives atari": 0.7, "passes": -1.5}
    chance = np.random.default_rng(6)
    training, validation = (contests(chance, weights, number) for number in (6000, 1000))
    *_, last = fit(training, validation, 15, 10, 1.0)
    for name, weight in weights.items():
        assert last.features[name] == pytest.approx(weight, abs=0.12)
    assert last.features["captures one"] == 0  # never there
    before, after = (last.history[at][1].log_likelihood for at in (0, -1))
    assert after > before > -np.log(8)
    gains = np.diff([learned.log_likelihood for learned, _ in last.history])
    assert (gains > -1e-9).all()  # MM never decreases the likelihood
    assert last.history[-1][1].top_1 > 0.3


def test_strong_prior_keeps_rare_features_near_neutral() -> None:
    chance = np.random.default_rng(6)
    few = contests(chance, {"escapes": 3.0}, 4)
    loose, tight = (list(fit(few, few, 15, 10, prior))[-1].features for prior in (0.1, 30.0))
    assert 0 < tight["escapes"] < 0.5 < loose["escapes"]


def test_tune_patterns_writes_loadable_weights(played: Path, tmp_path: Path) -> None:
    output, picture = tmp_path / "weights.json", tmp_path / "fit.svg"
    line = ["train", "tune", "patterns", played, "-o", output, "--iterations", 3, "--rare", 2]
    done = in_process.run(*line, "--json", "--plot", picture)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["games"] == GAMES
    assert -4 < found["training"]["log_likelihood"] < 0
    assert 0 < found["validation"]["top_1"] <= found["validation"]["top_5"] <= 1
    table = load(output)
    assert np.count_nonzero(table) > 100
    manifest = json.loads(output.read_text())["manifest"]
    assert manifest["sources"] == [PLAN.manifest("test")]
    assert "<svg" in picture.read_text()
    first = output.read_bytes()
    assert "in the first five in" in in_process.run(*line).stdout
    assert output.read_bytes() == first


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.txt", "-o", "w.json"], "missing.txt: No such file or directory"),
        (["{played}", "-o", "no/w.json"], "no/w.json: its folder does not exist"),
        (["{played}", "-o", "w.json", "--plot", "fit.txt"], "unknown picture format"),
        (["{few}", "-o", "w.json"], "8 or more games are required"),
    ],
)
def test_tune_patterns_reports_invalid_arguments(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    few = tmp_path / "few.txt"
    few.write_text("".join(played.read_text().splitlines(keepends=True)[:3]))
    done = in_process.run(
        "train", "tune", "patterns", *(w.format(played=played, few=few) for w in words)
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "w.json").exists()


def test_selfplay_command_plays_and_shows_go_games(tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    line = [
        "train",
        "selfplay",
        path,
        "--game",
        "go",
        "--size",
        5,
        "--playouts",
        20,
        "--processes",
        1,
    ]
    done = in_process.run(*line, "--games", 2, "--json")
    assert json.loads(done.stdout) == {"file": str(path), "games": 2}
    shown = in_process.run("train", "selfplay", path, "--game", "go", "--show", "--json")
    assert json.loads(shown.stdout)["playouts"] == 20
    refused = in_process.run(*line, "--games", 3, "--seed", 9)
    assert refused.returncode == 2
    assert "has other settings (seed was 1, is 9)" in refused.stderr
    wrong = in_process.run(*line, "--size", "0x13")
    assert wrong.returncode == 2
    assert "WIDTHxHEIGHT such as 9x13, not '0x13'" in wrong.stderr
    checked = in_process.run("train", "selfplay", path, "--game", "go", "--check")
    opened = in_process.run(*line, "--openings", "x.epd")
    assert (opened.returncode, "--openings is only for chess" in opened.stderr) == (2, True)
    assert (checked.returncode, "--check is only for chess" in checked.stderr) == (2, True)


@pytest.mark.thorough
def test_patterns_are_learned_from_rectangular_board_games(tmp_path: Path) -> None:
    path, output = tmp_path / "games.txt", tmp_path / "weights.json"
    line = ["train", "selfplay", path, "--game", "go", "--size", "4x7", "--playouts", 20]
    played = in_process.run(*line, "--processes", 1, "--games", 8)
    assert played.returncode == 0, played.stderr
    manifest, games = read(path)
    assert manifest["size"] == "4x7"
    shape = Go("4x7").stones.shape
    rows = {shape.coordinates(move)[1] for game in games for move in game.moves if move != PASS}
    assert {0, 6} <= rows
    first = path.read_text().splitlines()[1]
    assert format_game(games[0], "4x7") == first
    done = in_process.run("train", "tune", "patterns", path, "-o", output, "--iterations", 1)
    assert done.returncode == 0, done.stderr
    path.write_text(path.read_text().replace('"4x7"', '"7x4"'))
    assert (
        "line 2: invalid game"
        in in_process.run("train", "tune", "patterns", path, "-o", output).stderr
    )
