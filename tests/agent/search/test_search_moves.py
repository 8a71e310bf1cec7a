"""Searches restricted to given root moves."""

import pytest

from agent.games import catalogue
from agent.games.go import Go
from agent.games.stones import PASS
from agent.games.tic_tac_toe import TicTacToe
from agent.limits import Limits
from agent.search.defaults import make_search
from agent.search.searcher import GameSearcher


def best(searcher, game, *moves):
    limits = Limits(depth=3, nodes=3000, search_moves=tuple(moves))
    return list(searcher.search(game, limits, 9))[-1].pv[0]


@pytest.mark.parametrize("algorithm", ["mcts", "alpha-beta", "pvs", "mtd-f", "sss-star", "minimax"])
def test_only_requested_root_moves_are_played(algorithm):
    """Also after searches of other moves, whose table entries would suggest better ones."""
    game = TicTacToe()
    search = make_search(algorithm, game, catalogue.find("tic-tac-toe").evaluate, 1, 200)
    searcher = GameSearcher(search)
    moves = list(game.moves())
    assert best(searcher, game) in moves
    assert best(searcher, game, moves[1]) == moves[1]
    assert best(searcher, game, moves[3], moves[5]) in (moves[3], moves[5])
    assert best(searcher, game, moves[7]) == moves[7]
    assert best(searcher, game) in moves


def test_requested_moves_may_fill_eyes_or_pass():
    """A move into an own eye, which the tree normally omits."""
    game = Go(3, komi=0)
    for text in ("A2", "B1", "B2"):
        column, row = "ABC".index(text[0]), int(text[1]) - 1
        game.play_as(0, game.stones.shape.vertex(column, row))
    game.set_turn(0)
    eye = game.stones.shape.vertex(0, 0)
    assert eye not in game.candidate_moves()
    searcher = GameSearcher(make_search("mcts", game, catalogue.find("go").evaluate, 1, 50))
    assert best(searcher, game, eye) == eye
    assert best(searcher, game, PASS) == PASS
