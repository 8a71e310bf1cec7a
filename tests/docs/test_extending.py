"""What the pages on writing things of one's own have their reader write, does what they say."""

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path

import chess
import pytest

from agent.evaluation import load
from protocols.gtp import protocol as gtp_protocol
from protocols.uci import protocol as uci_protocol
from tests import in_process
from tests.agent.games import test_all_games
from tests.agent.search import test_all_algorithms
from tests.docs.test_examples import KEMPELEN, pattern, talk
from tests.pages import ROOT, Page
from tests.protocols.gtp.conftest import EngineSession as GtpConversation
from tests.protocols.uci.conftest import EngineSession as UciConversation
from tests.transcripts import hold

EVALUATION = Page("docs/extend/evaluation.md")
GAME = Page("docs/extend/game.md")
ALGORITHM = Page("docs/extend/algorithm.md")
COMMAND = Page("docs/extend/command.md")
NETWORK = Page("docs/extend/network.md")
FolderOf = Callable[[Page], Path]

# Level; a bishop more; two bishops against two knights, for either side.
POSITIONS = {
    "4k3/8/8/3r4/8/8/3R4/4K3 w - - 0 1": 0,
    "4k3/8/8/8/8/8/8/2B1K3 w - - 0 1": 310,
    "1n2k1n1/8/8/8/8/8/8/2B1KB2 w - - 0 1": 60,
    "1n2k1n1/8/8/8/8/8/8/2B1KB2 b - - 0 1": -60,
}


@pytest.mark.thorough
def test_example_evaluations_return_expected_scores(folder_of: FolderOf) -> None:
    folder = folder_of(EVALUATION)
    plain = load("bishops.py:evaluate").python
    assert plain is not None
    assert {fen: plain(chess.Board(fen)) for fen in POSITIONS} == POSITIONS
    typed = ["setoption name Evaluation value fast_bishops.py:evaluate"]
    for fen in POSITIONS:
        typed += [f"position fen {fen}", "eval"]
    said = subprocess.run(
        [KEMPELEN, "uci"],
        input="\n".join([*typed, ""]), capture_output=True, text=True, cwd=folder, timeout=120,
    ).stdout  # fmt: skip
    shown = [line.split()[3] for line in said.splitlines() if "string evaluation" in line]
    whites = [value if " w " in fen else -value for fen, value in POSITIONS.items()]
    assert [round(100 * float(value)) for value in shown] == whites, said


@pytest.mark.thorough
def test_example_network_trains_and_plays(
    folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer positions than on the page, the network still learns."""
    folder = folder_of(NETWORK)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    played = (
        "train",
        "selfplay",
        "scored.bin",
        "--positions",
        3000,
        "--nodes",
        50,
        "--processes",
        1,
    )
    assert in_process.run(*played).returncode == 0
    run = subprocess.run(
        [sys.executable, "train.py"], capture_output=True, text=True, cwd=folder, timeout=120
    )
    assert run.returncode == 0, run.stderr
    numbers = re.fullmatch(r"mean error (\S+) without it (\S+)\n", run.stdout)
    assert numbers
    assert float(numbers[1]) < 0.9 * float(numbers[2])
    (session,) = NETWORK.having("session")
    lines = session.text.splitlines()
    typed = [
        line[2:].replace("network.py", f"{folder}/network.py")
        for line in lines
        if line.startswith("> ")
    ]
    elsewhere = folder / "elsewhere"  # a GUI starts engines in any folder
    elsewhere.mkdir()
    said = talk(elsewhere, ["setoption name OwnBook value false", *typed], "bestmove")
    assert "failed" not in said
    assert pattern([line for line in lines if not line.startswith("> ")]).search(said), said


def test_example_game_is_covered_by_tests() -> None:
    assert GAME.files()["chomp.py"] == (ROOT / "tests/data/games/chomp.py").read_text()
    assert test_all_games.CHOMP in test_all_games.GAMES


@pytest.mark.parametrize("name", [name for name in dir(test_all_algorithms.TestEveryExactAlgorithm)
                                  if name.startswith("test_")])  # fmt: skip
def test_example_algorithm_passes_exact_algorithm_tests(name: str, folder_of: FolderOf) -> None:
    folder_of(ALGORITHM)
    check = getattr(test_all_algorithms.TestEveryExactAlgorithm(), name)
    amount = {"thorough": False} if "thorough" in signature(check).parameters else {}
    games = {
        "test_equals_minimax_on_every_game": test_all_algorithms.WITHOUT_CHANCE,
        "test_equals_minimax_twice_with_every_ordering_technique": [
            "checkers",
            "chess",
            "tic-tac-toe",
        ],
    }
    for game in games.get(name, [None]):
        check("branch-and-bound", *([game] if game else []), **amount)


@pytest.mark.parametrize(
    ("module", "talking", "language"),
    [
        (gtp_protocol, GtpConversation, "gtp"),
        (uci_protocol, UciConversation, "uci"),
    ],
    ids=["gtp", "uci"],
)
def test_example_commands_answer_as_documented(
    module, talking, language, folder_of, monkeypatch
) -> None:  # type: ignore[no-untyped-def]
    folder = folder_of(COMMAND)
    monkeypatch.setattr(module, "COMMANDS", dict(module.COMMANDS))
    runpy.run_path(str(folder / f"{language}_command.py"))
    conversation = talking()
    (case,) = COMMAND.having(f"{language}-case")
    hold(case.text.splitlines(), conversation)
    assert (conversation.gtp if language == "gtp" else conversation.uci).close(20.0) is not False
