"""The chess adapter for position learning. This module imports `chess` only when it is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent.limits import Cp, Info, Mate

if TYPE_CHECKING:
    import chess

SURPRISE_THRESHOLD = 60  # centipawns between the expected and the actual value
WIN_VALUE = 1000  # centipawns that count as a won game


class ChessLearningAdapter:
    """The chess adapter for position learning.

    Positions are stored as EPD, moves in UCI notation, and values in centipawns. Keys are Zobrist
    keys as defined by Polyglot.
    """

    game = "chess engine"
    win_value = float(WIN_VALUE)

    def __init__(self, surprise: float = SURPRISE_THRESHOLD) -> None:
        self.surprise_threshold = surprise

    def copy(self, position: chess.Board, /) -> chess.Board:
        """Return a copy of the board that keeps only the last two moves."""
        return position.copy(stack=2)

    def position_key(self, position: chess.Board, /) -> str:
        """Return the EPD: pieces, side to move, castling rights and en passant square."""
        return position.epd()

    def key_after(self, position: chess.Board, move: chess.Move, /) -> str:
        """Return the hexadecimal Zobrist key of the position after `move`."""
        from chess.polyglot import zobrist_hash

        board = position.copy(stack=False)
        board.push(move)
        return f"{zobrist_hash(board):016x}"

    def move_text(self, position: chess.Board, move: chess.Move, /) -> str:
        return move.uci()

    def moves_by_text(self, position: chess.Board, /) -> dict[str, chess.Move]:
        """Return a dictionary of the legal moves with their UCI notation as keys."""
        return {move.uci(): move for move in position.legal_moves}

    def find_reply(
        self, earlier: chess.Board, move: chess.Move, later: chess.Board, /
    ) -> str | None:
        """Return the reply to `move` that leads from `earlier` to `later`, or None."""
        if later.turn != earlier.turn:
            return None
        if len(later.move_stack) >= 2 and later.move_stack[-2] == move:
            board = later.copy(stack=2)
            reply = board.pop()
            board.pop()
            return reply.uci() if board.epd() == earlier.epd() else None
        # Some GUIs send each position without the moves before it.
        board = earlier.copy(stack=False)
        if later.move_stack or not board.is_legal(move):
            return None
        board.push(move)
        later_epd = later.epd()
        for reply in list(board.legal_moves):
            board.push(reply)
            if board.epd() == later_epd:
                return reply.uci()
            board.pop()
        return None

    def search_value(self, info: Info[chess.Move], /) -> float:
        """Return the score in centipawns.

        It is limited to WIN_VALUE, which is also the value of a mate.
        """
        score = info.score
        if isinstance(score, Mate):
            return WIN_VALUE if score.moves > 0 else -WIN_VALUE
        return float(max(-WIN_VALUE, min(WIN_VALUE, score.value)))

    def with_value(self, info: Info[chess.Move], value: float, /) -> Info[chess.Move]:
        """Return a copy of `info` with `value` as its score in centipawns."""
        return replace(info, score=Cp(round(value)))
