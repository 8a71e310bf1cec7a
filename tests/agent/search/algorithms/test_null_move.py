import chess

from agent.games import catalogue as games
from agent.games.plain_chess import PlainChess, evaluate
from agent.search.algorithms.alpha_beta import AlphaBeta
from agent.search.algorithms.null_move import NullMove
from agent.search.move_ordering import Ordering
from agent.search.terminal_scoring import TerminalScoring
from tests.support import searching

MATES = TerminalScoring(win=32_000, ply_penalty=1)
# White is a rook up without any threat against it.
QUIET = "4k3/ppp2ppp/8/8/8/8/PPP2PPP/R3K3 w - - 0 1"


def search(kind, fen, depth, **window):
    found = searching(
        kind,
        lambda game: evaluate(game.board),
        ending=MATES,
        continuation=True,
        ordering=Ordering(ratings=True),
    )
    game = PlainChess(chess.Board(fen))
    value = found.search(game, depth, **window).value
    assert game.board.fen() == chess.Board(fen).fen()
    return value, found.counts.nodes


def test_saves_nodes_when_the_mover_is_ahead():
    value, nodes = search(AlphaBeta, QUIET, 4, alpha=99, beta=100)
    null_value, null_nodes = search(NullMove, QUIET, 4, alpha=99, beta=100)
    assert value >= 100
    assert null_value >= 100
    assert null_nodes < nodes / 2


def test_finds_mates():
    assert search(NullMove, "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", 4)[0] == 32_000 - 3


def test_null_move_is_disabled_in_check_and_pawn_endgames():
    assert PlainChess(chess.Board(QUIET)).allows_null_move()
    assert not PlainChess(chess.Board("4k3/p7/8/8/8/8/P7/4K3 w - - 0 1")).allows_null_move()
    assert not PlainChess(chess.Board("4k3/8/8/8/8/8/4r3/R3K3 w - - 0 1")).allows_null_move()


def test_equals_alpha_beta_in_games_without_passing():
    evaluation = games.evaluation("tic-tac-toe")
    game = games.new_game("tic-tac-toe")
    null, plain = NullMove(evaluation), AlphaBeta(evaluation)
    assert null.search(game, 5) == plain.search(game, 5)
    assert null.counts == plain.counts
