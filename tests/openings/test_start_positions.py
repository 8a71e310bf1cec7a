from pathlib import Path

import chess
import pytest

import openings
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.settings import OpeningSettings
from kempelen.match.game.openings import load_openings
from openings import start_positions


def test_repertoire_lines_become_match_openings(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(
        "- moves: e4\n  eco: B00\n  name: King's\n  lines:\n  - moves: e5\n  - moves: g5?\n",
        "utf-8",
    )
    assert start_positions.read([file]) == [
        start_positions.StartPosition(chess.STARTING_FEN, ("e2e4", "e7e5"), "B00 King's")
    ]


def test_shipped_repertoire_has_many_openings():
    found = start_positions.read([Path(openings.__file__).parent])
    assert len({start.moves for start in found}) > 500


def test_match_openings_load_from_repertoire_file(tmp_path):
    file = tmp_path / "mine.yaml"
    text = (Path(__file__).parents[2] / "openings" / "french.yaml").read_text("utf-8")
    file.write_text(text, "utf-8")
    found = load_openings(OpeningSettings(file=str(file)))
    assert found == start_positions.read([file])
    assert len(found) > 50
    file.write_text("nonsense: [", "utf-8")
    with pytest.raises(SettingsError, match=r"mine\.yaml"):
        load_openings(OpeningSettings(file=str(file)))
