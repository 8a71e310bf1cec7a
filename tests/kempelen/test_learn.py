import json

import pytest

from agent.learning.learned_move import LearnedMove
from agent.learning.learned_move_database import LearnedMoveDatabase
from tests.in_process import run


def lesson(move, found, **more):
    return LearnedMove("chess engine", "start w", move, "after", "e7e5", 30.0, found, 8, **more)


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "one.db", tmp_path / "two.db"]
    LearnedMoveDatabase(paths[0]).add([lesson("e2e4", -170.0), lesson("a2a3", 130.0)])
    LearnedMoveDatabase(paths[1]).add([lesson("e2e4", -70.0, times=3)])
    return paths


def test_show_lists_the_lessons(files):
    done = run("learn", "show", *files)
    assert (done.returncode, done.stderr) == (0, "")
    first, header, refuted, *_ = done.stdout.splitlines()
    assert first.endswith("one.db: 2 moves, 1 refutations, played 2 times, used 0 times")
    assert header.split()[-4:] == ["predicted", "found", "times", "used"]
    assert refuted.split() == [
        "chess",
        "engine",
        "start",
        "w",
        "e2e4",
        "e7e5",
        "30",
        "-170",
        "1",
        "0",
    ]
    done = run("learn", "show", "--json", "--rows", "1", "--game", "chess engine", *files)
    one, two = json.loads(done.stdout)["files"]
    assert (one["count"], one["refutations"], len(one["lessons"])) == (2, 1, 1)
    assert two["lessons"][0]["times"] == 3
    none = run("learn", "show", "--json", "--position", "elsewhere", files[0])
    assert json.loads(none.stdout)["files"][0]["count"] == 0


def test_experience_is_merged_and_pruned(files, tmp_path):
    merged = tmp_path / "merged.db"
    done = run("learn", "merge", *files, "-o", merged)
    assert (done.returncode, done.stdout) == (0, f"{merged}: 2 of 3 moves\n")
    known = {each.move: each for each in LearnedMoveDatabase(merged).read_all()}
    assert (known["e2e4"].found, known["e2e4"].times) == (-95, 4)
    again = run("learn", "merge", *files, "-o", merged)
    assert again.returncode == 2
    assert "already exists" in again.stderr
    done = run("learn", "prune", "--keep", "1", "--json", merged)
    assert json.loads(done.stdout) == {"files": [{"file": str(merged), "gone": 1, "count": 1}]}
    assert [each.move for each in LearnedMoveDatabase(merged).read_all()] == ["e2e4"]


@pytest.mark.parametrize("action", [["show"], ["merge", "-o", "new.db"], ["prune", "--keep", "1"]])
def test_damaged_or_missing_file_is_reported(action, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("no database at all\n" * 100)
    for file, message in (("text", "file is damaged"), ("none", "does not exist")):
        done = run("learn", *action, files[0], file)
        assert (done.returncode, done.stdout) == (2, "")
        assert file in done.stderr
        assert message in done.stderr
    assert len(LearnedMoveDatabase(files[0]).read_all()) == 2
    assert not (tmp_path / "new.db").exists()
