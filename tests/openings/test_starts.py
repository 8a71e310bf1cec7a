from pathlib import Path

import chess

import openings
from openings import starts


def test_lines_are_openings_for_matches(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(
        "- moves: e4\n  eco: B00\n  name: King's\n  lines:\n  - moves: e5\n  - moves: g5?\n",
        "utf-8",
    )
    assert starts.read([file]) == [starts.Start(chess.STARTING_FEN, ("e2e4", "e7e5"), "B00 King's")]


def test_the_shipped_repertoire_gives_many():
    found = starts.read([Path(openings.__file__).parent])
    assert len({start.moves for start in found}) > 500
