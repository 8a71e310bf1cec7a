"""Test `kempelen lab learn`: the file, the plots, the output, and errors."""

import errno
import json
import os
import re

import pytest

from agent.games import catalogue
from agent.games.position_encoding import encoding_for
from agent.io.read_report import ReadReport
from kempelen.training import recorded_games
from kempelen.training.game_trainer import GameTrainer, GameTrainingSettings
from kempelen.training.recorded_games import read_examples
from kempelen.training.selfplay_batch import SelfPlaySettings

SMALL = ["--game", "tic-tac-toe", "--steps", "1", "--games", "2", "--playouts", "8"]


@pytest.mark.thorough
def test_learn_writes_a_network_that_alphazero_can_use(lab, tmp_path):
    file, picture = tmp_path / "t.learned", tmp_path / "curves.svg"
    status, out, err = lab("learn", *SMALL, "--neurons", "8", "-o", file, "--plot", picture)
    assert (status, err) == (0, "")
    assert out.startswith(f"{file}: 1 step, ")
    assert "move loss" in picture.read_text(encoding="utf-8")
    arguments = ["--game", "tic-tac-toe", "--json"]
    algorithm = f"alphazero+playouts=20+network={file}"
    status, out, _ = lab("run", *arguments, "--algorithm", algorithm)
    assert status == 0
    assert json.loads(out)["results"][0]["counts"]["leaves"] == 20


def test_json_reports_settings_and_history(lab, tmp_path):
    file = tmp_path / "w.learned"
    status, out, err = lab("learn", *SMALL, "--what", "weights", "-o", file, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["file"] == str(file)
    assert found["settings"]["neurons"] == []
    assert [each["move loss"] for each in found["history"]] == [0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--neurons", "8,x"], "argument --neurons: expected a whole number above 0, not 'x'"),
        (["-o", "nowhere/t.learned"], "nowhere/t.learned: folder nowhere does not exist"),
        (["--plot", "curves.txt"], "curves.txt: unknown picture format"),
        (["--evaluation", "mine.py:f"], "--evaluation: not allowed"),
        (["--steps", "0"], "argument --steps: expected a whole number above 0, not '0'"),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_invalid_arguments_are_rejected(lab, arguments, message):
    status, _, err = lab("learn", *SMALL, *arguments)
    assert status == 2
    assert message in err


def test_a_run_with_other_settings_is_refused_in_spanish(lab, tmp_path):
    file = tmp_path / "t.learned"
    assert lab("learn", *SMALL, "--neurons", "8", "-o", file)[0] == 0
    status, _, err = lab("learn", *SMALL, "--neurons", "9", "-o", file, "--lang", "es")
    assert status == 2
    assert "t.learned.run: tiene otros ajustes (neurons era [8], es [9]); usa otro con" in err


def test_full_disk_error_names_the_file(lab, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file = tmp_path / "t.learned"
    with monkeypatch.context() as changed:
        changed.setattr("agent.io.files.os.fsync", full)
        status, _, err = lab("learn", *SMALL, "--neurons", "8", "-o", file)
    assert status == 2
    assert err == f"kempelen lab: {file}.run: {os.strerror(errno.ENOSPC)}\n"
    assert [each.name for each in tmp_path.iterdir()] == ["t.learned.run.lock"]
    assert lab("learn", *SMALL, "--neurons", "8", "-o", file)[0] == 0


def test_file_of_another_kind_or_game_is_not_overwritten(lab, tmp_path):
    mine, other = tmp_path / "mine.py", tmp_path / "other.learned"
    mine.write_text("def evaluate(game): return 1\n")
    status, _, err = lab("learn", *SMALL, "-o", mine)
    assert (status, mine.read_text()) == (2, "def evaluate(game): return 1\n")
    assert "mine.py: not written by kempelen lab learn" in err
    small = ["--steps", "1", "--games", "2", "--playouts", "8", "--neurons", "8"]
    assert lab("learn", "--game", "nim", *small, "-o", other)[0] == 0
    before = other.read_bytes()
    (tmp_path / "other.learned.run").unlink()
    status, _, err = lab("learn", *SMALL, "-o", other)
    assert (status, other.read_bytes()) == (2, before)
    assert "was trained on nim (use another file with -o)" in err


GAMES = """# comments and blank lines are ignored

b2 a1 c2 a2 a3 c1 b3 b1 =0
b2 b1 a3 c1 a1 c3 a2
b2 a2 c3 a1 a3 b3 c1
b2 b2 a1
b2 a1
"""


def test_recorded_games_are_learned_first_and_each_stage_is_measured(lab, tmp_path):
    games, file = tmp_path / "games.txt", tmp_path / "t.learned"
    games.write_text(GAMES)
    given = [*SMALL, "--neurons", "16", "--games", games, "--match", "2", "-o", file]
    status, out, err = lab("learn", *given)
    assert status == 0
    assert err == (
        f"kempelen lab: {games}: read 3 games, skipped 2: game 4, move 2: illegal move 'b2' "
        "(legal moves: a3, b3, c3, a2, c2, a1, b1, c1); game 5, the result is missing\n"
    )
    assert "recorded games: 3 (0 held out), 22 positions learned" in out
    before, after = map(float, re.search("  value loss (.*) → (.*)", out).groups())
    assert after < before
    before, after = map(int, re.search("  moves predicted (.*)% → (.*)%", out).groups())
    assert after > before
    assert len(re.findall("/ 2$", out, re.MULTILINE)) == 2
    first = file.read_bytes()
    assert (tmp_path / "t.learned.games").exists()
    again = lab("learn", *given)  # the run is complete: the same stages from the checkpoint
    assert again[0] == 0
    assert again[1].splitlines()[2:] == out.splitlines()[2:]
    assert file.read_bytes() == first


@pytest.mark.thorough
def test_interrupted_run_after_recorded_games_makes_the_same_file(tmp_path):
    games = tmp_path / "games.txt"
    games.write_text(GAMES)
    settings = GameTrainingSettings(
        game="tic-tac-toe", options={}, steps=2, games=2, neurons=(8,), recorded="x",
        play=SelfPlaySettings(playouts=8),
    )  # fmt: skip

    def run(name, most):
        trainer = GameTrainer(settings)
        kind = catalogue.find("tic-tac-toe")
        examples = read_examples(games, kind, {}, trainer.encoding, ReadReport(), with_moves=True)
        for history in trainer.run(tmp_path / name, recorded=examples):
            if len(history) == most:
                return None
        return [part.tobytes() for layer in trainer.network({}).layers for part in layer]

    whole = run("whole.run", 9)
    assert run("parts.run", 0) is None
    assert run("parts.run", 1) is None
    assert run("parts.run", 9) == whole


@pytest.mark.thorough
def test_pgn_and_sgf_are_read(tmp_path):
    pgn, sgf = tmp_path / "games.pgn", tmp_path / "games.sgf"
    pgn.write_text('[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n[Result "*"]\n\n1. e4 *\n')
    sgf.write_text("(;GM[1]SZ[5]RE[W+3.5];B[cc];W[bb];B[])(;GM[1]SZ[9]RE[B+1];B[cc])")
    for file, game, options, values, moves in (
        (pgn, "chess", {}, [-1, 1, -1, 1], [20, 20, 19, 30]),
        (sgf, "go", {"size": 5}, [-1, 1, -1], [26, 25, 24]),
    ):
        kind, report = catalogue.find(game), ReadReport()
        encoding = encoding_for(kind.new(**options))
        (examples,) = read_examples(file, kind, options, encoding, report, with_moves=True)
        assert [example.value for example in examples] == values
        assert [len(example.moves) for example in examples] == moves
        assert all(sum(example.policy) == 1 for example in examples)
        assert report.skipped == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("games.txt", "b2 a1\n", "no usable games (game 1, the result is missing)"),
        ("games.txt", "\n# nothing\n", "no usable games (no games found)"),
        ("games.pgn", "1. e4 1-0", ".pgn files are games of chess, not of tic-tac-toe"),
        ("games.sgf", "(;GM[1])", ".sgf files are games of go, not of tic-tac-toe"),
    ],
)
def test_unusable_files_are_rejected(lab, tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    status, out, err = lab(
        "learn", *SMALL, "--games", tmp_path / name, "-o", tmp_path / "t.learned"
    )
    assert (status, out) == (2, "")
    assert message in err
    assert not (tmp_path / "t.learned").exists()


def test_reading_ends_after_enough_positions(tmp_path, monkeypatch):
    games = tmp_path / "games.txt"
    games.write_text(GAMES)
    monkeypatch.setattr(recorded_games, "MAX_POSITIONS", 10)
    kind = catalogue.find("tic-tac-toe")
    encoding = encoding_for(kind.new())
    found = read_examples(games, kind, {}, encoding, ReadReport(), with_moves=True)
    assert [len(examples) for examples in found] == [8, 7]
