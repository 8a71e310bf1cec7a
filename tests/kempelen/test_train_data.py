"""`kempelen train data`: output, pictures and errors."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest
from matplotlib.image import imread

from kempelen.cli import EXIT_BROKEN_PIPE
from tests import in_process
from tests.kempelen.training.test_dataset_operations import GAMES, content, write

FULL = os.strerror(errno.ENOSPC)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "source")


def positions_of(path: Path) -> int:
    return len(content(path))


def test_show_prints_the_same_as_selfplay_show(source: Path) -> None:
    shown = in_process.run("train", "data", "show", source)
    assert shown.returncode == 0
    assert shown.stdout == in_process.run("train", "selfplay", source, "--show").stdout
    found = json.loads(in_process.run("train", "data", "show", source, "--json").stdout)
    assert found == {
        "engine": "none",
        "openings": 2,
        "seed": 1,
        "positions": positions_of(source),
        "games": GAMES,
        "format": "positions",
        "bytes": source.stat().st_size,
        "damaged_bytes": 0,
    }


def test_show_lists_the_sources_of_a_merged_file(source: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", 40, seed=2)
    merged = tmp_path / "merged"
    assert in_process.run("train", "data", "merge", source, other, "-o", merged).returncode == 0
    shown = in_process.run("train", "data", "show", merged, source)
    assert f"{merged}\nmerged\n  file               source\n" in shown.stdout
    assert "  file               other\n" in shown.stdout
    assert "  openings           2\n" in shown.stdout
    assert f"\n\n{source}\n" in shown.stdout


def test_convert_writes_each_format_with_the_same_positions(source: Path, tmp_path: Path) -> None:
    made, back = tmp_path / "made", tmp_path / "back"
    done = in_process.run("train", "data", "convert", source, "-o", made)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{made}: {positions_of(source)} positions of {GAMES} games\n"
    shown = in_process.run("train", "data", "show", made)
    assert "format             games\n" in shown.stdout
    words = ("train", "data", "convert", made, "-o", back, "--format", "positions", "--json")
    done = in_process.run(*words)
    assert json.loads(done.stdout)["left_out"] == 0
    assert content(back).tobytes() == content(made).tobytes() == content(source).tobytes()
    again = in_process.run("train", "data", "convert", source, "-o", made)
    assert again.returncode == 0
    assert in_process.run("train", "data", "convert", source, "-o", source).returncode == 2


@pytest.mark.parametrize("action", ["merge", "shuffle", "filter"])
def test_files_made_of_games_store_games(action: str, source: Path, tmp_path: Path) -> None:
    made, derived = tmp_path / "made", tmp_path / "derived"
    assert in_process.run("train", "data", "convert", source, "-o", made).returncode == 0
    words = ["--max-score", "30000"] if action == "filter" else []
    done = in_process.run("train", "data", action, made, "-o", derived, *words)
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(in_process.run("train", "data", "show", derived, "--json").stdout)
    assert (shown["format"], shown["positions"]) == ("games", positions_of(source))


def test_commands_report_the_written_positions(source: Path, tmp_path: Path) -> None:
    merged, shuffled, chosen = (tmp_path / name for name in ("merged", "shuffled", "chosen"))
    every = positions_of(source)
    done = in_process.run("train", "data", "merge", source, source, "-o", merged)
    text = f"{every} positions of {2 * GAMES} games; {every} left out (duplicates)"
    assert done.stdout == f"{merged}: {text}\n"
    done = in_process.run("train", "data", "shuffle", source, "-o", shuffled, "--seed", 7, "--json")
    assert json.loads(done.stdout) == {
        "file": str(shuffled),
        "games": GAMES,
        "positions": every,
        "left_out": 0,
    }
    done = in_process.run("train", "data", "filter", source, "-o", chosen, "--max-score", 400)
    assert done.stdout.startswith(f"{chosen}: {positions_of(chosen)} positions of {GAMES} games; ")
    parts = tmp_path / "training", tmp_path / "validation"
    done = in_process.run("train", "data", "split", source, "-o", *parts, "--share", "0.2")
    assert done.stdout.splitlines() == [
        f"{parts[0]}: {positions_of(parts[0])} positions of {GAMES * 4 // 5} games",
        f"{parts[1]}: {positions_of(parts[1])} positions of {GAMES // 5} games",
    ]


def test_merge_reports_damage_and_uses_the_rest(source: Path, tmp_path: Path) -> None:
    data = bytearray(source.read_bytes())
    data[-100] ^= 255
    source.write_bytes(data)
    done = in_process.run("train", "data", "merge", source, "-o", tmp_path / "merged")
    assert done.returncode == 0
    assert f"{source}: " in done.stderr
    assert "their games are skipped" in done.stderr


@pytest.mark.parametrize("action", ["merge", "shuffle"])
def test_full_disk_error_names_the_file(
    action: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, FULL)

    made = tmp_path / "made"
    with monkeypatch.context() as changed:
        changed.setattr(os, "fsync", full)
        done = in_process.run("train", "data", action, source, "-o", made)
    assert done.returncode == 2
    assert done.stderr == f"kempelen train data: {made}: {FULL}\n"
    assert in_process.run("train", "data", action, source, "-o", made).returncode == 0


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_stdout_write_error_does_not_name_a_data_file(source: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    with open("/dev/full", "w") as full:
        assert into(full, "show", source) == (
            1,
            f"kempelen train data: [Errno {errno.ENOSPC}] {FULL}\n",
        )
        status, said = into(full, "merge", source, "-o", made)
    assert (status, str(made) in said, positions_of(made)) == (1, False, positions_of(source))
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as closed:
        assert into(closed, "statistics", source, "--json") == (EXIT_BROKEN_PIPE, "")


def into(output: TextIO, *words: object) -> tuple[int, str]:
    """Run a process with its output to a file; return its status and errors."""
    command = [sys.executable, "-m", "kempelen.cli", "train", "data", *map(str, words)]
    run = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=120)
    return run.returncode, run.stderr


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_statistics_are_printed_and_drawn(source: Path, tmp_path: Path, suffix: str) -> None:
    picture = tmp_path / f"drawn.{suffix}"
    done = in_process.run("train", "data", "statistics", source, "--plot", picture)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"positions    {positions_of(source)} of {GAMES} games\n")
    assert done.stdout.endswith(f"\n{picture}\n")
    if suffix == "png":
        drawn = imread(picture)
        assert drawn.shape[0] > 500
        assert drawn.std() > 0.05
    assert picture.stat().st_size > 5000


def test_statistics_are_printed_as_json(source: Path) -> None:
    found = json.loads(
        in_process.run("train", "data", "statistics", source, source, "--json").stdout
    )
    every = 2 * positions_of(source)
    assert found["positions"] == every
    for name in ("results", "white_results", "pieces", "phases", "plies", "depths"):
        assert sum(found[name].values()) == every
    assert sum(each["positions"] for each in found["scores"]) == every
    assert found["scale"] is None or found["scale"] > 0
    assert found["winning"] is None or found["winning"]["scale"] > 0


@pytest.mark.thorough(keep=5)
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["show", "{}/none"], "none: No such file or directory"),
        (["show", "{}"], "Is a directory"),
        (["show", "{}/letter"], "letter: not a file of positions"),
        (["statistics", "{}/empty"], "no positions"),
        (
            ["statistics", "{}/source", "--plot", "{}/drawn.txt"],
            "unknown picture format (expected .svg",
        ),
        (["statistics", "{}/source", "--plot", "{}/none/x.png"], "none does not exist"),
        (["statistics", "{}/s.png", "--plot", "{}/s.png"], "is an input file"),
        (["merge", "{}/source", "-o", "{}/source"], "is an input file"),
        (["merge", "{}/source", "-o", os.devnull], "not a regular file"),
        (["merge", "{}/source", "-o", "{}/none/merged"], "its folder does not exist"),
        (["merge", "{}/source", "-o", "{}/letter"], "letter: not a file of positions"),
        (
            ["split", "{}/source", "-o", "{}/a", "{}/a"],
            "a: given for two outputs",
        ),
        (["split", "{}/source", "-o", "{}/a", "{}/source"], "is an input file"),
        (["filter", "{}/source", "-o", "{}/a"], "missing filter"),
        (
            ["rescore", "{}/source", "-o", "{}/a", "--engine", "none"],
            "add --depth, --nodes or both",
        ),
        (["shuffle", "{}/source", "-o", "{}/none/a"], "its folder does not exist"),
        (["check", "{}/none"], "No such file or directory"),
    ],
)
def test_invalid_arguments_are_rejected(words: list[str], reason: str, tmp_path: Path) -> None:
    write(tmp_path / "source")
    write(tmp_path / "empty", 0)
    (tmp_path / "letter").write_text("Dear diary\n" * 100)
    write(tmp_path / "s.png")
    done = in_process.run("train", "data", *(word.replace("{}", str(tmp_path)) for word in words))
    assert done.returncode == 2
    assert done.stderr.startswith("kempelen train data: ")
    assert reason in done.stderr
    assert not done.stdout
    assert {each.name for each in tmp_path.glob("*[!k]")} == {
        *("source", "empty", "letter", "s.png")
    }


@pytest.mark.parametrize("share", ["0", "1", "x", "1/0", "nan", "-0.5", "1e-99999999"])
def test_invalid_shares_are_rejected(share: str, tmp_path: Path) -> None:
    words = "train", "data", "split", "source", "-o", "a", "b", f"--share={share}"
    done = in_process.run(*words)
    assert done.returncode == 2
    assert "expected a fraction between 0 and 1" in done.stderr


@pytest.mark.parametrize("option", ["Hash", "=3", "Hash=3\nquit"])
def test_invalid_engine_options_are_rejected(option: str) -> None:
    words = (
        "train",
        "data",
        "rescore",
        "a",
        "-o",
        "b",
        "--engine",
        "c",
        "--nodes",
        1,
        "--option",
        option,
    )
    done = in_process.run(*words)
    assert done.returncode == 2
    assert "expected NAME=VALUE" in done.stderr


def test_statistics_report_damage(source: Path) -> None:
    content = bytearray(source.read_bytes())
    content[-50] ^= 1
    source.write_bytes(content)
    done = in_process.run("train", "data", "statistics", source)
    assert done.returncode == 0
    assert "their games are skipped" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_file_name_that_is_not_utf8_is_escaped(source: Path) -> None:
    merged = os.fsencode(source) + b"\xff"
    line = [sys.executable, "-m", "kempelen.cli", "train", "data", "merge", source, "-o", merged]
    strict = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(line, env=strict, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{source}\\udcff: {positions_of(source)} positions of ")


def test_show_and_check_are_mutually_exclusive(source: Path) -> None:
    done = in_process.run("train", "selfplay", source, "--show", "--check", 2)
    assert done.returncode == 2
    assert "not allowed with argument" in done.stderr
