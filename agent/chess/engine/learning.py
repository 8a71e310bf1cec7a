from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent.limits import Cp, Info, Mate

if TYPE_CHECKING:
    import chess

SURPRISE_THRESHOLD = 60  # centipawns between the expected and the actual value
WIN_VALUE = 1000  # centipawns that count as a won game


class ChessLearningAdapter:
    """Implements `LearningAdapter` for chess.

    Positions are stored as EPD, moves in UCI notation, values in centipawns, and keys as Polyglot
    hashes.
    """

    game = "chess engine"
    win_value = float(WIN_VALUE)

    def __init__(self, surprise: float = SURPRISE_THRESHOLD) -> None:
        self.surprise_threshold = surprise

    def copy(self, position: chess.Board, /) -> chess.Board:
        """Copy the board with only the last two moves of its history."""
        return position.copy(stack=2)

    def position_key(self, position: chess.Board, /) -> str:
        return position.epd()

    def key_after(self, position: chess.Board, move: chess.Move, /) -> str:
        """Return the hexadecimal Polyglot hash of the position after `move`."""
        from chess.polyglot import zobrist_hash

        board = position.copy(stack=False)
        board.push(move)
        return f"{zobrist_hash(board):016x}"

    def move_text(self, position: chess.Board, move: chess.Move, /) -> str:
        return move.uci()

    def moves_by_text(self, position: chess.Board, /) -> dict[str, chess.Move]:
        return {move.uci(): move for move in position.legal_moves}

    def find_reply(
        self, earlier: chess.Board, move: chess.Move, later: chess.Board, /
    ) -> str | None:
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
        """Return the score in centipawns, limited to ±WIN_VALUE. Mates count as ±WIN_VALUE."""
        score = info.score
        if isinstance(score, Mate):
            return WIN_VALUE if score.moves > 0 else -WIN_VALUE
        return float(max(-WIN_VALUE, min(WIN_VALUE, score.value)))

    def with_value(self, info: Info[chess.Move], value: float, /) -> Info[chess.Move]:
        return replace(info, score=Cp(round(value)))
