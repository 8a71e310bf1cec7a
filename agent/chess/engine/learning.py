"""How experience writes chess down. Importing this module imports no chess."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent.limits import Cp, Info, Mate

if TYPE_CHECKING:
    import chess

# Centipawns: by more than this an outcome surprises, and beyond this a game is as good as won.
SURPRISE_THRESHOLD = 60
WIN_VALUE = 1000


class ChessLearningAdapter:
    """Boards as EPD, moves as in UCI, values in centipawns, keys as Polyglot has them."""

    game = "chess engine"
    win_value = float(WIN_VALUE)

    def __init__(self, surprise: float = SURPRISE_THRESHOLD) -> None:
        self.surprise_threshold = surprise

    def copy(self, position: chess.Board, /) -> chess.Board:
        """Return the board with its last two moves."""
        return position.copy(stack=2)

    def position_key(self, position: chess.Board, /) -> str:
        """Write placement, side to move, castling rights, and what can be taken in passing."""
        return position.epd()

    def key_after(self, position: chess.Board, move: chess.Move, /) -> str:
        """Write the key of the position after a move."""
        from chess.polyglot import zobrist_hash

        board = position.copy(stack=False)
        board.push(move)
        return f"{zobrist_hash(board):016x}"

    def move_text(self, position: chess.Board, move: chess.Move, /) -> str:
        """Write a move as in UCI."""
        return move.uci()

    def moves_by_text(self, position: chess.Board, /) -> dict[str, chess.Move]:
        """Return the legal moves."""
        return {move.uci(): move for move in position.legal_moves}

    def find_reply(
        self, earlier: chess.Board, move: chess.Move, later: chess.Board, /
    ) -> str | None:
        """Return the move by which a board comes from an earlier one after a move of ours."""
        if later.turn != earlier.turn:
            return None
        if len(later.move_stack) >= 2 and later.move_stack[-2] == move:
            board = later.copy(stack=2)
            reply = board.pop()
            board.pop()
            return reply.uci() if board.epd() == earlier.epd() else None
        # Some front ends tell each position anew, without the moves before.
        board = earlier.copy(stack=False)
        if later.move_stack or not board.is_legal(move):
            return None
        board.push(move)
        wanted = later.epd()
        for reply in list(board.legal_moves):
            board.push(reply)
            if board.epd() == wanted:
                return reply.uci()
            board.pop()
        return None

    def search_value(self, info: Info[chess.Move], /) -> float:
        """Return the score in centipawns; a mate is a won game."""
        score = info.score
        if isinstance(score, Mate):
            return WIN_VALUE if score.moves > 0 else -WIN_VALUE
        return float(max(-WIN_VALUE, min(WIN_VALUE, score.value)))

    def with_value(self, info: Info[chess.Move], value: float, /) -> Info[chess.Move]:
        """Return what a search tells, with another score."""
        return replace(info, score=Cp(round(value)))
