"""How a player reads chess positions. Importing this module imports no chess."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from agent.limits import Cp, Mate, Score

if TYPE_CHECKING:
    import chess

    from agent.agent import Agent, MoveProvider, Searcher

ChessAdvisor: TypeAlias = "MoveProvider[chess.Board, chess.Move]"
ChessAgent: TypeAlias = "Agent[chess.Board, chess.Move]"
ChessSearcher: TypeAlias = "Searcher[chess.Board, chess.Move]"


class BoardAdapter:
    """Reads a `chess.Board`, whose moves so far are the game."""

    def copy(self, position: chess.Board, /) -> chess.Board:
        """Return the same position, with the moves that led to it."""
        return position.copy()

    def moves(self, position: chess.Board, /) -> Iterable[chess.Move]:
        """Generate the legal moves."""
        return position.legal_moves

    def terminal_score(self, position: chess.Board, /) -> Score:
        """Return the score of mate or stalemate."""
        return Mate(0) if position.is_check() else Cp(0)

    def follows(self, later: chess.Board, move: chess.Move, earlier: chess.Board, /) -> bool:
        """Tell whether a position comes from an earlier one by a move of ours and one reply."""
        if later.ply() != earlier.ply() + 2:
            return False
        played = [*earlier.move_stack, move]
        if later.move_stack[:-1] == played and later.root() == earlier.root():
            return True
        # Some front ends tell each position anew, without the moves before.
        board = earlier.copy(stack=False)
        board.push(move)
        replies = list(board.legal_moves)
        for reply in replies:
            board.push(reply)
            if board == later:
                return True
            board.pop()
        return False
