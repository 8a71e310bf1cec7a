"""Perft of the kernel, compared with known counts of six positions and with Stockfish."""

import importlib.util
import random
import sys
from collections import Counter
from pathlib import Path

import chess
import pytest

from agent.chess.board.kernel_board import perft
from tests.external import program
from tests.perft_cases import KNOWN, SUITE, PerftCase

SCRIPT = Path(__file__).parents[4] / "scripts" / "generate_perft.py"
# The maximum number of leaves of depths counted in every run, and of those counted by Stockfish.
LEAVES = 10_000_000
LEAVES_LIVE = 100_000


def name_of(case: PerftCase) -> str:
    return case.name


@pytest.fixture(scope="module")
def generator():
    """The script that generates the file of positions."""
    spec = importlib.util.spec_from_file_location("generate_perft", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def referee(generator):
    with generator.Referee(program("stockfish")) as referee:
        yield referee


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("case", KNOWN, ids=name_of)
def test_perft_equals_known_counts(case: PerftCase) -> None:
    board = case.board()
    for depth, leaves in enumerate(case.leaves, 1):
        assert perft(board, depth) == leaves


@pytest.mark.thorough(keep=25)
@pytest.mark.parametrize("case", SUITE, ids=name_of)
def test_perft_equals_stockfish_counts(case: PerftCase) -> None:
    board = case.board()
    for depth, leaves in case.up_to(LEAVES):
        assert perft(board, depth) == leaves


@pytest.mark.thorough
@pytest.mark.parametrize("case", SUITE, ids=name_of)
def test_perft_equals_stockfish_counts_at_full_depth(case: PerftCase) -> None:
    board = case.board()
    for depth, leaves in case.beyond(LEAVES):
        assert perft(board, depth) == leaves


def test_suite_matches_its_generator_specification(generator) -> None:
    assert (len(SUITE), sum(case.chess960 for case in SUITE)) == (100, 30)
    assert len({case.fen for case in SUITE}) == 100
    kinds = {kind: (expected, belongs) for kind, expected, _, belongs in generator.CATEGORIES}
    counts = Counter()
    for case in SUITE:
        kind = case.name.rpartition(" ")[0]
        assert kinds[kind][1](case.board()), case
        counts[kind] += 1
    assert counts == {kind: expected for kind, (expected, _) in kinds.items()}


def test_installed_stockfish_confirms_suite_counts(referee) -> None:
    for case in SUITE:
        for depth, leaves in case.up_to(LEAVES_LIVE):
            assert referee.perft(case.board(), depth) == leaves, case


@pytest.mark.parametrize("seed", range(10))
def test_perft_equals_stockfish_in_random_games(seed: int, referee) -> None:
    """Every fifth position of a game is counted, with the game before it."""
    rng = random.Random(seed)
    board = chess.Board.from_chess960_pos(rng.randrange(960)) if seed % 2 else chess.Board()
    for ply in range(120):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(rng.choice(moves))
        if ply % 5 == 0 and not board.is_game_over():
            assert perft(board, 3) == referee.perft(board, 3), board.fen()
