"""An unknown variant of chess, in every command that takes one."""

import pytest

from agent.games.variants import VARIANTS
from tests import in_process

EXPECTED = f"variant: unknown 'losers' (expected one of: {', '.join(VARIANTS)})"
MATCH = """
variant: losers
time: {nodes: 10}
engines:
- {name: A, command: x}
- {name: B, command: y}
"""
PGN = '[Variant "Losers"]\n\n1. e4 *\n'


@pytest.mark.parametrize(
    "words",
    [
        "match --variant losers --nodes 10 --engine cmd=x --engine cmd=y",
        "match match.yaml",
        "train selfplay made --variant losers",
        "train tune variant games --variant losers -o made",
        "perft 1 --variant losers",
    ],
)
def test_unknown_variant_is_named(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "match.yaml").write_text(MATCH)
    done = in_process.run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.rstrip().endswith(f": {EXPECTED}")
    assert [path.name for path in tmp_path.iterdir()] == ["match.yaml"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("analyse games.pgn -o made.pgn", "game 1, unsupported variant Losers"),
        ("book build games.pgn -o made.bin", "no move was selected (1 left out)"),
    ],
)
def test_game_of_unknown_variant_is_rejected(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.pgn").write_text(PGN)
    done = in_process.run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.rstrip().endswith(message)
    assert [path.name for path in tmp_path.iterdir()] == ["games.pgn"]
