import json
import subprocess
import sys

from openings.advisor import SHIPPED_BOOK


def book(*arguments):
    command = [sys.executable, "-m", "kempelen.cli", "book", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)


def test_build_merge_prune_and_show(tmp_path):
    (tmp_path / "a.yaml").write_text("- {moves: e4 e5, weight: 30}\n- {moves: d4}\n", "utf-8")
    built, merged, pruned = (tmp_path / f"{name}.bin" for name in ("a", "merged", "pruned"))
    assert book("build", tmp_path / "a.yaml", "-o", built).returncode == 0
    assert book("merge", built, SHIPPED_BOOK, "-o", merged).returncode == 0
    assert book("prune", merged, "-o", pruned, "--best", 1).returncode == 0
    found = json.loads(book("show", "--book", merged, "--json").stdout)
    assert [(row["san"], row["share"]) for row in found["moves"]] == [("e4", 0.75), ("d4", 0.25)]
    found = json.loads(book("show", "1. e4", "--book", pruned, "--json").stdout)
    assert [row["san"] for row in found["moves"]] == ["e5"]


def test_show_names_the_opening():
    done = book("show", "1.e4", "c5", "2.Nf3")
    assert done.returncode == 0
    assert "Sicilian Defence" in done.stdout


def test_mistakes_are_told(tmp_path):
    done = book("show", "--book", tmp_path / "none.bin")
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.bin" in done.stderr
    done = book("show", "e5")
    assert done.returncode == 2
    assert "illegal move 'e5'" in done.stderr


def test_check_finds_the_losing_move(tmp_path):
    (tmp_path / "a.yaml").write_text("- {moves: e4 f6 d4 g5 Nc3}\n", "utf-8")
    built = tmp_path / "a.bin"
    book("build", tmp_path / "a.yaml", "-o", built)
    done = book("check", built, "--depth", 3, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert [each["line"] for each in found["losing"]] == ["1. e4 f6 2. d4 g5"]
    assert found["illegal"] == found["unreachable"] == 0
