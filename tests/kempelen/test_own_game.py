"""The example game of the documentation: run, solved and drawn, from a file and an entry point."""

import shutil
import sys
from pathlib import Path

import pytest

from tests import in_process

CHOMP = Path(__file__).parents[1] / "data" / "games" / "chomp.py"


@pytest.fixture(params=["chomp.py:Chomp", "chomp:Chomp", "chomp"])
def kempelen(request, tmp_path, monkeypatch):
    """Run a command on the game in a user's folder, or of an entry point."""
    shutil.copy(CHOMP, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "chomp", raising=False)
    if request.param == "chomp":
        installed = tmp_path / "chomp-1.0.dist-info"
        installed.mkdir()
        (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: chomp\nVersion: 1.0\n")
        (installed / "entry_points.txt").write_text("[kempelen.games]\nchomp = chomp:Chomp\n")
        monkeypatch.syspath_prepend(tmp_path)

    def run(command, *arguments, text=""):
        words = [*command.split(), "--game", request.param, *arguments]
        done = in_process.run(*words, text=text)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.mark.thorough(keep=1)
def test_user_defined_game_is_played_over_gtp(kempelen):
    """On a square board the diagonal square next to the poisoned one wins, then mirrored moves."""
    conversation = {
        "genmove b": "= b2",
        "play w c1": "=",
        "showboard": "=\n#\n#\n##",
        "genmove black": "= a3",
        "play w b1": "=",
        "genmove B": "= a2",
        "gogui-rules_legal_moves": "= a1",
        "play w a1": "=",
        "gogui-rules_final_result": "= Black wins",
        "boardsize 5": "? unacceptable size",
    }
    text = "".join(f"{line}\n" for line in conversation)
    said = kempelen("gtp", "--size", "3", "--option", "height=3", text=text)
    assert said == "".join(f"{answer}\n\n" for answer in conversation.values())


@pytest.mark.thorough(keep=1)
def test_user_defined_game_is_run_solved_and_drawn(kempelen, tmp_path):
    algorithms = ["minimax", "alpha-beta", "sss-star", "mtd-f", "mcts+solver"]
    table = kempelen("lab run", "--algorithm", ",".join(algorithms)).splitlines()
    assert [line.split()[0] for line in table[2 : 2 + len(algorithms)]] == algorithms
    assert "the first player wins" in kempelen("lab solve")
    assert kempelen("lab draw", "--size", "2", "--depth", "3", "-o", "chomp.svg") == "chomp.svg\n"
    assert "b2" in (tmp_path / "chomp.svg").read_text(encoding="utf-8")
