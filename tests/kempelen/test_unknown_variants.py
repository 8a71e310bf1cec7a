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
    "words",
    [
        "analyse games.pgn -o made.pgn",
        "book build games.pgn -o made.bin",
        "lab learn --game chess --games games.pgn -o made.learned",
        "match --nodes 10 --engine algorithm=minimax --engine name=B,algorithm=minimax"
        " --openings games.pgn",
    ],
)
@pytest.mark.parametrize("name", ["Losers", "Antichess2", "Shogi"])
def test_game_of_unknown_variant_is_rejected(words, name, tmp_path, monkeypatch):
    """No command reads it as a game of chess."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.pgn").write_text(f'[Variant "{name}"]\n[Result "1-0"]\n\n1. e4 1-0\n')
    done = in_process.run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "game 1" in done.stderr
    assert f"unsupported variant {name}" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["games.pgn"]


@pytest.mark.parametrize("name", ["Shogi", "Atomic"])
def test_book_names_skipped_games_of_variants(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    game = '[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'
    (tmp_path / "games.pgn").write_text(f'[Variant "{name}"]\n{game}{game}')
    done = in_process.run("book", "build", "games.pgn", "-o", "made.bin", "--min-games", "1")
    assert done.returncode == 0
    assert f"games.pgn: read 1 game, skipped 1: game 1, unsupported variant {name}" in done.stderr
    assert "1 games, 1 games left out, 0 games damaged" in done.stdout
