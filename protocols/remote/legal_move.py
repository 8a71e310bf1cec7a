"""A legal move of chess, for whoever must answer and has no engine. Imports chess when asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbn]?")


def is_uci_move(text: str) -> bool:
    """Tell whether a text is a move, in coordinates, on some board."""
    return _MOVE.fullmatch(text) is not None


def choose_legal_move(
    fen: str | None, moves: Sequence[str], preferred: str = "", chess960: bool = False
) -> str | None:
    """Return the wanted move if it is legal, else a move that mates or captures most, else any.

    fen: None for the start position. moves, wanted: coordinates, or SAN. None if there is no
    legal move, or no such position.
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
        taken = board.piece_type_at(move.to_square) if board.is_capture(move) else 0
        board.push(move)
        mates = board.is_checkmate()
        board.pop()
        return 100 * mates + 10 * (move.promotion or 0) + (taken or 0)

    best = max(board.legal_moves, key=value, default=None)
    return None if best is None else board.uci(best)
