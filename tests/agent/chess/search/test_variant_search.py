"""The compiled search of variants."""

import random
import sys
from typing import Any

import pytest

from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.variants import variant_module
from agent.games.variants import VARIANTS, board_class, variant_outcome
from agent.limits import Limits, Mate
from tests.support import last_info

OTHERS = VARIANTS[1:]

# Wins in one move that are no checkmates, with the move.
WINS = {
    "kingofthehill": ("8/8/8/8/2K5/8/8/7k w - - 0 1", ("c4d4", "c4d5")),
    "3check": ("6k1/8/8/8/8/8/1p6/R3K3 w Q - 1+3 0 1", ("a1a8",)),
    "horde": ("8/8/8/8/8/1r6/8/1P2k3 b - - 0 1", ("b3b1",)),
    "racingkings": ("8/1K6/8/8/7k/8/8/8 w - - 0 1", ("b7a8", "b7b8", "b7c8")),
    "antichess": ("8/8/8/1p6/8/P1p5/8/8 w - - 0 1", ("a3a4",)),
    "atomic": ("3qk3/3ppp2/8/8/8/8/8/3RK3 w - - 0 1", ("d1d7",)),
    "crazyhouse": ("6rk/6pp/8/8/8/8/8/K7[N] w - - 0 1", ("N@f7",)),
}


def search_of(variant: str) -> Any:
    return variant_module(variant, "search.alphabeta_search").AlphaBetaSearch()


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("variant", OTHERS)
def test_search_finds_the_win_of_the_variant(variant: str) -> None:
    fen, moves = WINS[variant]
    board = board_class(variant)(fen)
    info = last_info(search_of(variant), board, Limits(depth=6))
    assert info.score == Mate(1)
    assert info.pv[0].uci() in moves


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("variant", OTHERS)
def test_search_plays_legal_games_to_their_end(variant: str, thorough: bool) -> None:
    """The lines are legal too, and end where the game does."""
    rng, search = random.Random(3), search_of(variant)
    for _ in range(8 if thorough else 2):
        search.new_game()
        board = board_class(variant)()
        while variant_outcome(board) is None and board.outcome(claim_draw=True) is None:
            info = last_info(search, board, Limits(nodes=400))
            line = board.copy(stack=False)
            for move in info.pv:
                assert move in line.legal_moves, (board.fen(), info)
                assert variant_outcome(line) is None, (board.fen(), info)
                line.push(move)
            if isinstance(info.score, Mate):
                assert variant_outcome(line) is not None or line.is_checkmate(), (board.fen(), info)
            board.push(rng.choice(list(board.legal_moves)) if board.ply() < 6 else info.pv[0])


def test_standard_chess_does_not_load_a_variant() -> None:
    assert AlphaBetaSearch.__module__ == "agent.chess.search.alphabeta_search"
    module = sys.modules[AlphaBetaSearch.__module__]
    assert module.KernelBoard.__module__ == "agent.chess.board.kernel_board"


def test_modules_of_a_variant_refer_to_each_other() -> None:
    records = variant_module("3check", "board.records")
    assert records is not variant_module("chess", "board.records")
    assert variant_module("3check", "board.attacks").Position is records.Position
    assert variant_module("3check", "board.lookup_tables").__name__.startswith("agent.chess.")
