"""Invalid arguments give an error message, never a traceback."""

import json
import shlex
from pathlib import Path

import pytest

from tests import in_process

PGN = """[White "A"]
[Black "B"]
[Result "1-0"]

1. e4 1-0

[White "B"]
[Black "A"]
[Result "1-0"]

1. e4 1-0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text(PGN)
    Path("a.tst").write_text("10 name\n#? [.*]\n")
    Path("endless.yaml").write_text("[[.inf, .inf], [.inf, .inf]]")
    Path("tokens").write_bytes(b"\xff\xfe\x00")
    Path("each.yaml").write_text("each: [1, 2]\nengines: [{command: x}, {command: y}]\n")
    Path("nul.yaml").write_text('openings: {file: "a\\0b"}\nengines: [{command: x}]\n')
    return tmp_path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("perft 2000", "depth must be at most 100 (got 2000)"),
        ("match sprt 10 20 30 --elo1 9000", "elo0 and elo1 must be between -4000 and 4000"),
        ("match sprt 99999999999999999999999 1 1", "invalid counts: 99999999999999999999999 1 1"),
        ("match sprt 10 20 30 --elo1 nan", "elo0 must be less than elo1"),
        ("match ratings games.pgn --anchor A=nan", "an Elo from -10000 to 10000, not 'A=nan'"),
        ("match ratings games.pgn --anchor A=1e308", "an Elo from -10000 to 10000"),
        ("analyse games.pgn --nodes 9 --engine 'cmd=x \"y'", "No closing quotation"),
        ("train tune search --game go --nodes -5 nakade --pairs 1", "--nodes"),
        ("train tune search --game go nakade --state .", "is a folder"),
        ("serve --address tcp://a..b:7117 --insecure", "invalid address (expected "),
        ("serve --tokens tokens --new-token x", "tokens: line 1: invalid token"),
        ("serve --max-sessions-per-token 0", "--max-sessions-per-token: "),
        ("match each.yaml", "(expected entries for all engines)"),
        ("match nul.yaml", "(expected text without NUL)"),
        ("gtp --tree endless.yaml --size 5", "has neither --size nor --option"),
        ("suite a.tst --engine ''", "--engine: missing program"),
    ],
)
def test_invalid_command_lines_are_rejected(line: str, message: str) -> None:
    done = in_process.run(*shlex.split(line), text="")
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("action", ["run", "play"])
def test_infinite_values_are_printed_as_valid_json(action: str) -> None:
    done = in_process.run(
        *("lab", action, "--tree", "endless.yaml", "--json", "--algorithm", "minimax")
    )
    assert done.returncode == 0, done.stderr

    def refuse(word: str) -> None:
        raise ValueError(word)

    json.loads(done.stdout, parse_constant=refuse)


@pytest.mark.thorough
def test_tree_too_large_for_theory_is_searched() -> None:
    done = in_process.run(
        *("lab", "run", "--game", "go", "--size", 19, "--depth", 150, "--nodes", 100),
        *("--algorithm", "alpha-beta", "--json"),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["theory"] is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("match ratings games.pgn --anchor A=1000 --anchor A=1200", "--anchor: A is given twice"),
        ("match --game go --option komi=1 --option komi=2", "--option: komi is given twice"),
        ("match --game go --komi 1 --option komi=2", "--game: option komi is given twice"),
        ("match --game go --size 9 --option size=5", "--game: option size is given twice"),
        ("match --each tc=1,tc=2 --engine cmd=x", "--each: tc is given twice"),
        ("lab solve --game nim --option a=1 --option a=2", "--option: a is given twice"),
        ("gtp --set nakade=0.7 --set nakade=0.8", "--set: nakade is given twice"),
        ("lichess --option Hash=1 --option Hash=2", "--option: Hash is given twice"),
        ("web --evaluation a=b.py:c --evaluation a=d.py:e", "--evaluation: a is given twice"),
        ("web --engine 'a=uci b' --engine 'a=uci c'", "--engine: a is given twice"),
        (
            "train data rescore a -o b --engine c --option Hash=1 --option Hash=2",
            "--option: Hash is given twice",
        ),
    ],
)
def test_name_given_twice_is_rejected(line: str, message: str) -> None:
    done = in_process.run(*shlex.split(line), text="")
    assert done.returncode == 2, done.stderr
    assert message in done.stderr


def test_different_names_and_equal_values_are_accepted() -> None:
    done = in_process.run("match", "ratings", "games.pgn", "--anchor", "A=1", "--anchor", "B=1")
    assert done.returncode == 0, done.stderr
