"""Choose a legal chess move when no engine is available."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.games.variants import ChessRules, is_lost

if TYPE_CHECKING:
    import chess

_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbnk]?|[PNBRQ]@[a-h][1-8]")


def is_uci_move(text: str) -> bool:
    """Return whether a text has the form of a move in UCI notation. Legality is not checked."""
    return _MOVE.fullmatch(text) is not None


def choose_legal_move(
    fen: str | None, rules: ChessRules, moves: Sequence[str], preferred: str
) -> str | None:
    """Return `preferred` if it is legal, or else a mate, a promotion, a capture, or any move.

    Moves are in UCI notation or SAN. The position `fen` defaults to the start position.
    Return None if there is no legal move, or if the position or a move is invalid.
    """
    from protocols.uci.parsing import UciError
    from protocols.uci.position import read_board
    from protocols.xboard.parsing import find_move

    try:
        board = read_board(fen, rules)
    except UciError:
        return None
    for text in moves:
        if (played := find_move(board, text)) is None:
            return None
        board.push(played)

    def value(move: chess.Move) -> int:
        captured = board.piece_type_at(move.to_square) if board.is_capture(move) else 0
        board.push(move)
        mates = is_lost(board)
        board.pop()
        return 100 * mates + 10 * (move.promotion or 0) + (captured or 0)

    move = find_move(board, preferred) or max(board.legal_moves, key=value, default=None)
    return None if move is None else board.uci(move)
