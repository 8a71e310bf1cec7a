from pathlib import Path

import pytest

from agent.games import catalogue
from agent.games.playthrough import playthrough

FOLDER = Path(__file__).parents[2] / "data" / "playthroughs"


@pytest.mark.parametrize("name", catalogue.builtin_names())
def test_playthrough_matches_the_recording(name):
    file = FOLDER / f"{name}.txt"
    assert file.exists(), f"record one with: scripts/record-playthrough {name}"
    recorded = file.read_text(encoding="utf-8")
    moves = recorded.partition("\n")[0].removeprefix("moves: ").split()
    assert playthrough(catalogue.new_game(name), catalogue.evaluation(name), moves) == recorded
