from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.learning.learning_adapter import LearningAdapter
from agent.limits import Cp, Info, Mate

if TYPE_CHECKING:
    import chess

WIN_VALUE = 1000  # centipawns that count as a won game


class ChessLearningAdapter(LearningAdapter["chess.Board", "chess.Move"]):
    """A `LearningAdapter` for `chess.Board`.

    Positions are stored as EPD, moves in UCI notation, values in centipawns, and keys as Polyglot
    hashes.
    """

    game = "chess engine"
    surprise_threshold = 60  # centipawns between the expected and the actual value
    win_value = float(WIN_VALUE)

    def __init__(self) -> None:
        """Do nothing, because every position can be stored."""

    def copy(self, position: chess.Board) -> chess.Board:
        return position.copy(stack=2)

    def position_key(self, position: chess.Board) -> str:
        return position.epd()

    def key_after(self, position: chess.Board, move: chess.Move) -> str:
        """Return the hexadecimal Polyglot hash of the position after `move`."""
        from chess.polyglot import zobrist_hash

        board = position.copy(stack=False)
        board.push(move)
        return f"{zobrist_hash(board):016x}"

    def find_reply(self, earlier: chess.Board, move: chess.Move, later: chess.Board) -> str | None:
        if len(later.move_stack) < 2:  # some GUIs send each position without the moves before it
            return super().find_reply(earlier, move, later) if earlier.is_legal(move) else None
        board = later.copy(stack=2)
        reply = board.pop()
        return reply.uci() if board.pop() == move and board.epd() == earlier.epd() else None

    def search_value(self, info: Info[chess.Move]) -> float:
        """Return the score in centipawns, limited to ±WIN_VALUE. Mates count as ±WIN_VALUE."""
        score = info.score
        if isinstance(score, Mate):
            return WIN_VALUE if score.moves > 0 else -WIN_VALUE
        return float(max(-WIN_VALUE, min(WIN_VALUE, score.value)))

    def with_value(self, info: Info[chess.Move], value: float) -> Info[chess.Move]:
        return replace(info, score=Cp(round(value)))

    def _key(self, position: chess.Board) -> str:
        return position.epd()

    def _moves(self, position: chess.Board) -> Iterable[chess.Move]:
        return position.legal_moves

    def _play(self, position: chess.Board, move: chess.Move) -> None:
        position.push(move)

    def _undo(self, position: chess.Board) -> None:
        position.pop()
