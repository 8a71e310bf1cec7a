"""Choose a legal chess move when no engine is available."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbn]?")


def is_uci_move(text: str) -> bool:
    """Return whether a text has the form of a move in UCI notation. Legality is not checked."""
    return _MOVE.fullmatch(text) is not None


def choose_legal_move(
    fen: str | None, moves: Sequence[str], preferred: str = "", chess960: bool = False
) -> str | None:
    """Return `preferred` if it is legal, or else a mate, a promotion, a capture, or any move.

    Moves are in UCI notation or SAN. The position `fen` defaults to the standard start position.
    Return None if there is no legal move, or if the position or a move is invalid.
    """
    import chess

    from protocols.uci.parsing import UciError
    from protocols.uci.position import read_board, read_move

    def read(text: str) -> chess.Move:
        try:
            return read_move(board, text)
        except UciError:
            return board.parse_san(text)

    try:
        board = read_board(fen, chess960)
        for text in moves:
            board.push(read(text))
    except (UciError, ValueError):
        return None
    try:
        return board.uci(read(preferred))
    except ValueError:
        pass

    def value(move: chess.Move) -> int:
        captured = board.piece_type_at(move.to_square) if board.is_capture(move) else 0
        board.push(move)
        mates = board.is_checkmate()
        board.pop()
        return 100 * mates + 10 * (move.promotion or 0) + (captured or 0)

    best = max(board.legal_moves, key=value, default=None)
    return None if best is None else board.uci(best)
