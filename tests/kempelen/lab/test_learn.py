"""Test `kempelen lab learn`: the file, the plots, the output, and errors."""

import errno
import json
import os

import pytest

SMALL = ["--game", "tic-tac-toe", "--steps", "1", "--games", "2", "--playouts", "8"]


@pytest.mark.thorough
def test_learn_writes_a_network_that_alphazero_can_use(lab, tmp_path):
    file, picture = tmp_path / "t.learned", tmp_path / "curves.svg"
    status, out, err = lab("learn", *SMALL, "--neurons", "8", "-o", file, "--plot", picture)
    assert (status, err) == (0, "")
    assert out.startswith(f"{file}: 1 steps, ")
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
    assert "t.learned.run: tiene otros ajustes (neurons era [8], es [9]); use otro con" in err


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
