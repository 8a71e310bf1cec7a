import chess
from chess.polyglot import zobrist_hash

from agent.chess.engine.learning import ChessLearningAdapter
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.learning.learned_move import LearnedMove
from agent.limits import Cp, Limits


def find(search, board, depth=6):
    search.clear_stop()
    return list(search.search(board.copy(), Limits(depth=depth)))[-1]


def learned_moves(board, move, value, depth):
    after = board.copy()
    after.push_uci(move)
    key = f"{zobrist_hash(after):016x}"
    assert key == ChessLearningAdapter().key_after(board, chess.Move.from_uci(move))
    return {key: LearnedMove("chess engine", board.epd(), move, key, "", 0, value, depth)}, (key,)


def test_lesson_affects_search_unless_search_is_deeper():
    board = chess.Board()
    plain, taught = AlphaBetaSearch(1), AlphaBetaSearch(1)
    before = find(plain, board)
    line = board.copy()
    line.push(before.pv[0])
    reply = before.pv[1].uci()
    # A reply that the search considers equal, but that has lost according to the learned move.
    taught.set_learned_moves(*learned_moves(line, reply, -900, 40))
    after = find(taught, board)
    assert after.pv[:2] != before.pv[:2] or after.score.value > before.score.value + 100
    # An entry of a shallow search does not change a deeper search.
    shallow = AlphaBetaSearch(1)
    shallow.set_learned_moves(*learned_moves(line, reply, -900, 2))
    score = find(shallow, board).score
    assert isinstance(score, Cp)
    assert abs(score.value - before.score.value) < 60


def test_new_game_clears_lessons_from_hash_table():
    board, search = chess.Board(), AlphaBetaSearch(1)
    plain = find(search, board)
    line = board.copy()
    line.push(plain.pv[0])
    search.set_learned_moves(*learned_moves(line, plain.pv[1].uci(), -900, 40))
    search.new_game()
    again = find(search, board)
    assert (again.nodes, again.pv, again.score) == (plain.nodes, plain.pv, plain.score)
