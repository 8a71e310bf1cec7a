"""The README's examples do what the README says."""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kempelen import match
from tests import in_process

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
FILES = {name: text for language, name, text in BLOCKS if language == "python"}
TRANSCRIPTS = [text for language, _, text in BLOCKS if language == "uci"]
GTP = [text for language, _, text in BLOCKS if language == "gtp"]
CONSOLES = [text for language, _, text in BLOCKS if language == "console"]
MEASUREMENTS = (Path(__file__).parents[1] / "benchmarks" / "README.md").read_text()
MATCHES = re.findall(
    r"^kempelen match .*$|`kempelen match [^`]*--engine[^`]*`",
    README.replace("\\\n", "") + MEASUREMENTS,
    re.MULTILINE,
)
KEMPELEN = Path(sys.executable).with_name("kempelen")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder, with the README's files in it, which is the working folder."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
        monkeypatch.delitem(sys.modules, Path(name).stem, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pattern(lines: list[str]) -> re.Pattern[str]:
    """Match the lines; `...` stands for any text in a line, and alone for any lines."""
    parts = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in lines
    ]
    return re.compile("".join(parts))


def talk(folder: Path, typed: list[str], until: str) -> str:
    """Type lines to the engine, the last one when a line that starts with `until` has come."""
    engine = subprocess.Popen(
        [KEMPELEN, "uci"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder
    )
    assert engine.stdin
    assert engine.stdout
    engine.stdin.writelines(line + "\n" for line in typed[:-1])
    engine.stdin.flush()
    output = ""
    for line in engine.stdout:
        output += line
        if line.startswith(until):
            break
    return output + engine.communicate(typed[-1], timeout=60)[0]


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda text: text.splitlines()[0])
def test_transcript(transcript: str, folder: Path) -> None:
    lines = transcript.splitlines()
    typed = [line[2:] for line in lines if line.startswith("> ")]
    shown = [line for line in lines if not line.startswith("> ")]
    output = talk(folder, typed, "bestmove")
    assert pattern(shown).search(output), output


@pytest.mark.parametrize("transcript", GTP, ids=lambda text: text.splitlines()[0])
def test_gtp(transcript: str, folder: Path) -> None:
    command, *lines = transcript.splitlines()
    typed = "".join(line[2:] + "\n" for line in lines if line.startswith("> "))
    shown = [line for line in lines if not line.startswith("> ")]
    arguments = shlex.split(command.removeprefix("$ kempelen "))
    run = in_process.run(*arguments, text=typed)
    assert (run.returncode, run.stderr) == (0, "")
    said = [line for line in run.stdout.splitlines() if line]
    assert pattern(shown).fullmatch("".join(f"{line}\n" for line in said)), run.stdout


@pytest.mark.parametrize("console", CONSOLES, ids=lambda text: text.splitlines()[0])
def test_console(console: str, folder: Path) -> None:
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        program, *arguments = shlex.split(command)
        assert program == "kempelen"
        run = in_process.run(*arguments)
        assert run.returncode == 0, run.stderr
        assert pattern(shown).fullmatch(run.stdout), run.stdout


@pytest.mark.parametrize("line", MATCHES)
def test_matches_are_complete(line: str) -> None:
    parser = argparse.ArgumentParser()
    match.configure(parser)
    settings = match.settings_from(parser.parse_args(shlex.split(line.strip("`"))[2:]))
    assert len(settings.engines) == 2


def test_play_with_python_chess(folder: Path) -> None:
    path = f"{KEMPELEN.parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [sys.executable, "play.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        env={**os.environ, "PATH": path},
    )
    assert run.returncode == 0, run.stderr
    assert re.fullmatch(r"[a-h][1-8][a-h][1-8]\n", run.stdout)


def test_compiled_evaluation(folder: Path) -> None:
    typed = [
        "setoption name Evaluation value fast_eval.py:pieces",
        "position fen 4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1",
        "eval",
        "quit",
    ]
    output = talk(folder, typed, "info string evaluation")
    assert "evaluation +0.00" in output


def test_every_file_that_is_named_exists() -> None:
    root = Path(__file__).parents[1]
    for name in re.findall(r"`((?:agent|benchmarks|notebooks|scripts|tests)/[\w/.-]+)`", README):
        assert (root / name).exists(), name


def test_the_game_is_the_one_that_the_tests_play() -> None:
    assert FILES["chomp.py"] == (Path(__file__).parent / "data/games/chomp.py").read_text()


def test_read_positions(folder: Path) -> None:
    played = ("selfplay", "positions.bin", "--positions", 500, "--nodes", 50)
    assert in_process.run(*played, "--processes", 1).returncode == 0
    run = subprocess.run(
        [sys.executable, "read.py"], capture_output=True, text=True, cwd=folder, check=True
    )
    assert len(run.stdout.split()) > 5
