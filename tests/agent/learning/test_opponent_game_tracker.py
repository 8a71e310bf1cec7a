"""Games are tracked through the requests and answers of a session."""

import chess

from agent.learning.opponent_game_record import REPORTED, RULES, SCORE, GameRecord
from agent.learning.opponent_game_tracker import GameTracker, repeating_moves
from agent.limits import Cp, Mate

EVEN = Cp(0)


def tracked(moves: str, ours: chess.Color = chess.WHITE, score=EVEN, fen=chess.STARTING_FEN, **at):
    """Track a game with these moves. Return the tracker. at: the opponent's clock by ply."""
    board = chess.Board(fen)
    tracker = None
    now = 0.0
    for move in map(chess.Move.from_uci, moves.split()):
        if board.turn == ours:
            tracker = tracker or GameTracker(board)
            now += 2.0
            tracker.record_position(board, at.get(f"ply{len(board.move_stack)}"), now)
            now += 1.0
            tracker.record_move(move, score, now)
        board.push(move)
    assert tracker is not None
    return tracker, board


def finished(*arguments, result: str = "", **options) -> GameRecord | None:
    tracker, _ = tracked(*arguments, **options)
    tracker.result = result
    return tracker.to_record("Ann")


SHUFFLE = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"
LONG = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1"


def test_checkmate_result_is_detected() -> None:
    game = finished("e2e4 e7e5 d1h5 b8c6 f1c4 a7a6 h5f7", score=Mate(1))
    assert game is None  # too short to be recorded
    moves = "e2e4 e7e5 d1h5 b8c6 f1c4 a7a6 a2a3 a6a5 h5f7"
    game = finished(moves, score=Mate(1))
    assert game is not None
    assert (game.points, game.known, game.side) == (1.0, RULES, 0)
    assert game.moves == tuple(moves.split())
    assert game.scores == (2000,) * 5
    assert game.seconds == (2.0,) * 4


def test_reported_result_overrides_score() -> None:
    for result, points in (("1-0", 1.0), ("0-1", 0.0), ("1/2-1/2", 0.5)):
        game = finished(LONG, score=Cp(-500), result=result)
        assert game is not None
        assert (game.points, game.known) == (points, REPORTED)
    as_black = finished(LONG, ours=chess.BLACK, result="1-0")
    assert as_black is not None
    assert (as_black.points, as_black.side) == (0.0, 1)


def test_unreported_result_is_estimated_from_last_score() -> None:
    for score, low, high in ((Cp(0), 0.5, 0.5), (Cp(400), 0.9, 0.99), (Mate(-3), 0.0, 0.0)):
        game = finished(LONG, score=score)
        assert game is not None
        assert game.known == SCORE
        assert low <= game.points <= high
    assert finished(LONG, score=None) is None


def test_accepted_and_declined_repetitions_are_counted() -> None:
    game = finished(f"{SHUFFLE} e2e4", result="1/2-1/2")
    assert game is not None
    assert (game.accepted, game.declined, game.points, game.repeated) == (3, 0, 0.5, True)
    game = finished("g1f3 g8f6 f3g1 e7e5 g1f3 b8c6 f3g1 c6b8 e2e4")
    assert game is not None
    assert (game.accepted, game.declined) == (1, 1)


def test_lowest_opponent_clock_is_recorded() -> None:
    game = finished(LONG, ply0=60.0, ply2=30.0, ply4=3.0, ply6=5.0)
    assert game is not None
    assert game.lowest == 0.05


def test_wrong_ponder_guess_is_discarded() -> None:
    tracker, board = tracked("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1")
    guess = board.copy()
    guess.push_uci("f6e4")
    assert tracker.continues_with(guess)
    tracker.record_position(guess, None, 90.0, guessed=True)
    tracker.record_move(chess.Move.from_uci("d2d4"), Cp(70), 91.0)
    board.push_uci("f8e7")
    assert tracker.continues_with(board)
    tracker.record_position(board, None, 92.0)
    tracker.record_move(chess.Move.from_uci("f1e1"), Cp(20), 93.0)
    game = tracker.to_record("Ann")
    assert game is not None
    assert game.moves[-2:] == ("f8e7", "f1e1")
    assert game.scores == (0, 0, 0, 0, 0, 20)


def test_analysis_time_is_not_counted_for_opponent() -> None:
    tracker, board = tracked(LONG)
    assert len(tracker.to_record("Ann").seconds) == 4
    tracker.ignore_thinking_time()
    board.push_uci("f8e7")
    tracker.record_position(board, None, 1000.0)
    assert len(tracker.to_record("Ann").seconds) == 4
    tracker.record_move(chess.Move.from_uci("f1e1"), EVEN, 1001.0)
    board.push_uci("f1e1")
    board.push_uci("b7b5")
    tracker.record_position(board, None, 1003.0)
    assert tracker.to_record("Ann").seconds[4:] == (2.0,)


def test_different_game_is_detected() -> None:
    tracker, _ = tracked(LONG)
    assert not tracker.continues_with(chess.Board())
    other = chess.Board()
    for move in ["d2d4", "d7d5", "c2c4", "e7e6", "b1c3", "g8f6", "c1g5", "f8e7", "e2e3", "e8g8"]:
        other.push_uci(move)
    assert not tracker.continues_with(other)


def test_game_with_engine_on_both_sides_is_not_recorded() -> None:
    tracker, board = tracked(LONG)
    tracker.record_position(board, None, 50.0)
    tracker.record_move(chess.Move.from_uci("f8e7"), Cp(0), 51.0)
    assert tracker.to_record("Ann") is None


def test_repeating_moves_are_found() -> None:
    board = chess.Board()
    for move in SHUFFLE.split()[:3]:
        assert not list(repeating_moves(board))
        board.push_uci(move)
    assert [move.uci() for move in repeating_moves(board)] == ["f6g8"]


def test_game_from_custom_position_is_recorded() -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    game = finished("a1a2 a8a7 a2a3 a7a6 a3a4 a6a5 h1h2 h8h7 h2h3", fen=fen)
    assert game is not None
    assert (game.start, game.side, game.endgame) == (fen, 0, 0)
