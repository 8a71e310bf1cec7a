"""Explain moves to learners: why a hint is good, and how good a move is.

A reason is a mapping with the `key` of a text of the page, and the values for its placeholders.
"""

from __future__ import annotations

from typing import Any

import chess

from agent.game import HasPatterns
from agent.games.checkers import Checkers
from agent.games.game_state import GameState
from agent.games.othello import Othello
from agent.games.stones import EMPTY, PASS
from agent.limits import Info, Mate
from kempelen.match.review.move_annotation import (
    MoveQuality,
    PositionEval,
    expected_from_info,
    move_loss,
    quality_of_loss,
)
from kempelen.web.play.boards import BoardGame, ChessGame, GoGame, PlayedGame

Reason = dict[str, Any]
MAX_LINE = 5  # moves of a best line in a hint
# Minimum expected outcome, from -1 to 1, of a game that counts as won.
_WON = 0.98
_VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}
_VALUES[chess.KING] = 100


def explain(board: PlayedGame, move: str, info: Info[str] | None) -> Reason | None:
    """Return the main reason for a legal move, or None.

    Moves may be played on `board` and undone.
    """
    if isinstance(board, ChessGame):
        return _explain_chess(board.board, chess.Move.from_uci(move), info)
    if isinstance(board, GoGame):
        return _explain_go(board, move)
    return _explain_board(board, move, info)


def best_line(board: PlayedGame, info: Info[str] | None) -> list[str]:
    """Return the first moves of the engine's line in the notation for users."""
    moves = info.pv[:MAX_LINE] if info is not None else ()
    if not isinstance(board, ChessGame):
        return list(moves)
    position = board.board.copy(stack=False)
    return [position.san_and_push(chess.Move.from_uci(move)) for move in moves]


def move_quality(
    before: Info[str], after: Info[str], move: str, *, same_mover: bool
) -> MoveQuality:
    """Classify a move as a review does, by searches before and after it."""
    return quality_of_loss(move_loss(_evaluate(before), _evaluate(after), move, same_mover))


def _evaluate(info: Info[str]) -> PositionEval:
    return PositionEval(expected_from_info(info), line=info.pv)


# Chess


def _explain_chess(board: chess.Board, move: chess.Move, info: Info[str] | None) -> Reason | None:
    if info is not None and isinstance(info.score, Mate) and info.score.moves > 0:
        return {"key": "why mate", "n": info.score.moves}
    after = board.copy(stack=False)
    after.push(move)
    if after.is_checkmate():
        return {"key": "why mate", "n": 1}
    if move.promotion is not None:
        return {"key": f"why promotes {chess.piece_name(move.promotion)}"}
    if board.is_capture(move):
        taken = board.piece_type_at(move.to_square) or chess.PAWN  # en passant
        return {"key": "why takes", "piece": chess.piece_name(taken)}
    us = board.turn
    # A castling move of Chess960 names the square of the rook.
    before, now = set(_hanging(board, us)), set(_hanging(after, us))
    if move.from_square in before and move.to_square not in now:
        return {"key": "why saves", **_named(board, move.from_square)}
    if protected := sorted(before - now, key=lambda at: -_value(board, at)):
        return {"key": "why protects", **_named(board, protected[0])}
    targets = [at for at in _hanging(after, not us) if at in after.attacks(move.to_square)]
    if move.to_square not in now and targets:
        target = max(targets, key=lambda at: _value(after, at))
        return {"key": "why attacks", **_named(after, target)}
    if after.is_check():
        return {"key": "why check"}
    if board.is_castling(move):
        return {"key": "why castles"}
    return None


def _hanging(board: chess.Board, colour: chess.Color) -> list[chess.Square]:
    """Return attacked pieces that are undefended or worth more than an attacker. Omit kings."""
    found = []
    for square, piece in board.piece_map().items():
        if piece.color != colour or piece.piece_type == chess.KING:
            continue
        attackers = [_value(board, at) for at in board.attackers(not colour, square)]
        defended = board.is_attacked_by(colour, square)
        if attackers and (not defended or min(attackers) < _VALUES[piece.piece_type]):
            found.append(square)
    return found


def _value(board: chess.Board, square: chess.Square) -> int:
    return _VALUES[board.piece_type_at(square) or chess.PAWN]


def _named(board: chess.Board, square: chess.Square) -> Reason:
    """Return the piece on a square, with the square if its player has several such pieces."""
    piece = board.piece_at(square)
    assert piece is not None
    named = {"piece": chess.piece_name(piece.piece_type)}
    if len(board.pieces(piece.piece_type, piece.color)) > 1:
        named["square"] = chess.square_name(square)
    return named


# Other games


def _explain_go(board: GoGame, text: str) -> Reason | None:
    vertex, stones, colour = board.vertex(text), board.game.stones, board.mover + 1
    if vertex == PASS:
        return {"key": "why pass"}
    if captured := stones.captured_by(vertex, colour).bit_count():
        return {"key": "why captures", "n": captured}
    near = [at for at in stones.shape.neighbours[vertex] if stones.board[at] != EMPTY]
    own = {stones.head[at] for at in near if stones.board[at] == colour}
    others = {stones.head[at] for at in near} - own

    def count(heads: set[int], liberties: int) -> int:
        found = [head for head in heads if stones.liberties[head].bit_count() == liberties]
        return sum(len(stones.chains[head]) for head in found)

    if saved := count(own, 1):
        return {"key": "why saves stones", "n": saved}
    if atari := count(others, 2):
        return {"key": "why atari", "n": atari}
    return {"key": "why connects"} if len(own) > 1 else None


def _explain_board(board: BoardGame, text: str, info: Info[str] | None) -> Reason | None:
    game, mover = board.game, board.mover
    discs = game.discs(mover).bit_count() if isinstance(game, Othello) else 0
    GameState.play(board, text)
    won = _has_won(board, mover)
    turned = game.discs(mover).bit_count() - discs - 1 if isinstance(game, Othello) else 0
    board.undo()
    if won:
        return {"key": "why wins"}
    if isinstance(game, HasPatterns) and _blocks(board, text):
        return {"key": "why blocks"}
    if info is not None and (info.expected_outcome or 0) >= _WON:
        return {"key": "why winning"}
    if isinstance(game, Checkers) and "x" in text:
        return {"key": "why takes men", "n": text.count("x")}
    if isinstance(game, Othello) and turned > 0:
        ends = "a1", f"a{game.size}"
        if text.replace(chr(ord("a") + game.size - 1), "a") in ends:
            return {"key": "why corner"}
        return {"key": "why turns", "n": turned}
    return None


def _has_won(board: BoardGame, player: int) -> bool:
    outcome = board.game.outcome()
    return outcome is not None and (-outcome if player else outcome) > 0


def _blocks(board: BoardGame, text: str) -> bool:
    """Return whether the opponent could win with this move if the player made another one."""
    mover = board.mover
    for other in board.legal_moves():
        GameState.play(board, other)
        won = False
        if other != text and board.mover == 1 - mover and text in board.legal_moves():
            GameState.play(board, text)
            won = _has_won(board, 1 - mover)
            board.undo()
        board.undo()
        if won:
            return True
    return False
