import chess
import pytest

from protocols.uci.parsing import PositionCommand, UciError
from protocols.uci.position import (
    HISTORY_PLIES,
    MAX_GAME_PLIES,
    MAX_HALFMOVE_CLOCK,
    CurrentPosition,
    read_board,
)


def position(moves="", fen=None):
    return PositionCommand(fen, tuple(moves.split()))


def test_initial_position_is_starting_position():
    assert CurrentPosition().board.fen() == chess.STARTING_FEN


def test_extending_line_plays_only_new_moves():
    current = CurrentPosition()
    current.set(position("e2e4"))
    board = current.board
    current.set(position("e2e4 e7e5 g1f3"))
    assert current.board is board
    assert [move.uci() for move in board.move_stack] == ["e2e4", "e7e5", "g1f3"]


def test_only_end_of_long_history_is_kept(monkeypatch):
    """The memory of a long line is limited while it is handled, too."""
    current = CurrentPosition()
    shuffle = "g1f3 g8f6 f3g1 f6g8 "
    longest = 0

    def push(board, move, original=chess.Board.push):
        nonlocal longest
        original(board, move)
        longest = max(longest, len(board.move_stack))

    monkeypatch.setattr(chess.Board, "push", push)
    current.set(position(shuffle * HISTORY_PLIES))
    assert MAX_HALFMOVE_CLOCK <= len(current.board.move_stack) <= longest <= HISTORY_PLIES
    assert current.board.fullmove_number == 1 + 2 * HISTORY_PLIES
    current.set(position(shuffle * HISTORY_PLIES + "e2e4"))
    board = current.board
    current.set(position(shuffle * HISTORY_PLIES + "e2e4 e7e5"))
    assert current.board is board  # only the new move has been played
    assert board.peek() == chess.Move.from_uci("e7e5")


def test_moves_before_an_illegal_move_are_played():
    current = CurrentPosition()
    shuffle = " g8f6 g1f3 f6g8 f3g1" * HISTORY_PLIES
    for known in ("e2e4", "d2d4"):
        current.set(position(known))
        with pytest.raises(UciError, match=r"illegal move: 'e4e6' in .* b "):
            current.set(position("e2e4" + shuffle + " e4e6 e7e5"))
        assert current.board.ply() == 1 + 4 * HISTORY_PLIES
        current.set(position("e2e4" + shuffle + " e7e5"))
        assert current.board.peek() == chess.Move.from_uci("e7e5")


@pytest.mark.parametrize("moves", ["e2e4", "d2d4 d7d5", ""])
def test_different_line_replaces_move_history(moves):
    current = CurrentPosition()
    current.set(position("e2e4 e7e5"))
    current.set(position(moves))
    assert " ".join(move.uci() for move in current.board.move_stack) == moves


TOO_MANY = position("g1f3 g8f6 f3g1 f6g8 " * MAX_GAME_PLIES)


@pytest.mark.parametrize("bad", [position(fen="rubbish"), position("e2e4", "8/8 w"), TOO_MANY])
def test_no_older_position_replaces_a_refused_one(bad):
    current = CurrentPosition()
    current.set(position("e2e4"))
    with pytest.raises(UciError) as refusal:
        current.set(bad)
    with pytest.raises(UciError, match="no valid position") as later:
        _ = current.board
    assert str(refusal.value) in str(later.value)
    current.set(position("e2e4 c7c5"))
    assert len(current.board.move_stack) == 2


@pytest.mark.parametrize(
    ("fen", "accepted"),
    [
        ("4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K2R w KQ - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 w - e5 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 w", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 999999 0", "4k3/8/8/8/8/8/8/4K3 w - - 150 1"),
        ("4k3/8/8/8/8/8/8/4K3 w - - -1 -1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 w - - - -", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w qkQK - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b kKk - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R b Kk - 0 1"),
        ("4k3/8/8/8/8/QQQQQQQQ/QQQQQQQQ/QK6 b - - 0 1", None),
    ],
)
def test_minor_fen_errors_are_corrected(fen, accepted):
    assert read_board(fen).fen() == (accepted or fen)


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/8/4K3 x - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 w - - a b",
        "4k3/8/8/8/8/8/4K3 w - - 0 1",
        "9/8/8/8/8/8/8/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 w - - 0 1 extra",
        "\x00\ufffd",
    ],
)
def test_invalid_fen_is_rejected_with_reason(fen):
    with pytest.raises(UciError, match=r"invalid FEN: .{5,}") as error:
        read_board(fen)
    assert str(error.value).endswith(repr(fen))


def test_flip_mirrors_board():
    current = CurrentPosition()
    current.set(position("e2e4"))
    before = current.board.copy()
    current.flip()
    assert current.board == before.mirror()
    current.flip()
    assert current.board == before


def test_game_length_limit_is_enforced():
    shuffle = ("g1f3 g8f6 f3g1 f6g8 " * (MAX_GAME_PLIES // 4 + 1)).split()
    current = CurrentPosition()
    current.set(PositionCommand(None, tuple(shuffle[:MAX_GAME_PLIES])))
    assert current.board.ply() == MAX_GAME_PLIES
    with pytest.raises(UciError, match="too many moves"):
        current.set(PositionCommand(None, tuple(shuffle[: MAX_GAME_PLIES + 1])))
