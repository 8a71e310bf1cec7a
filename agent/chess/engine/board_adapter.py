"""The agent's access to chess positions. This module does not import `chess` at run time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from agent.games.variants import variant_outcome
from agent.limits import Cp, Mate, Score

if TYPE_CHECKING:
    import chess

    from agent.agent import Searcher

ChessSearcher: TypeAlias = "Searcher[chess.Board, chess.Move]"


class BoardAdapter:
    """Implements `PositionAdapter` for `chess.Board`. The move stack is the game history."""

    def copy(self, position: chess.Board, /) -> chess.Board:
        return position.copy()

    def moves(self, position: chess.Board, /) -> Iterable[chess.Move]:
        return position.legal_moves

    def terminal_score(self, position: chess.Board, /) -> Score:
        outcome = variant_outcome(position)
        if outcome is not None:
            # A mate in one is the best score that can be reported without a move, as in antichess.
            return Mate(max(outcome, 0)) if outcome else Cp(0)
        return Mate(0) if position.is_check() else Cp(0)

    def follows(self, later: chess.Board, move: chess.Move, earlier: chess.Board, /) -> bool:
        if later.ply() != earlier.ply() + 2:
            return False
        moves_played = [*earlier.move_stack, move]
        if later.move_stack[:-1] == moves_played and later.root() == earlier.root():
            return True
        # Some GUIs send each position without the moves before it.
        board = earlier.copy(stack=False)
        board.push(move)
        replies = list(board.legal_moves)
        for reply in replies:
            board.push(reply)
            if board == later:
                return True
            board.pop()
        return False
