"""Baseline evaluations for comparisons, such as `kempelen.training.baselines:material`."""

from typing import Any

import chess

from agent.evaluation import PAWN, QUEEN, count, evaluator, position_at

# Pawn, knight, bishop, rook and queen, in centipawns.
PIECE_VALUES = (100, 300, 300, 500, 900)


@evaluator
def material(worker: Any, ply: Any) -> Any:
    """Return the material balance in centipawns for the side to move."""
    position = position_at(worker, ply)
    own, enemy = position.sides[position.turn], position.sides[1 - position.turn]
    value = 0
    for kind in range(PAWN, QUEEN + 1):
        pieces = position.kinds[kind]
        value += PIECE_VALUES[kind] * (count(pieces & own) - count(pieces & enemy))
    return value


def plain_material(board: chess.Board) -> int:
    """Return the same value as `material`, computed in plain Python."""
    own = board.occupied_co[board.turn]
    kinds = board.pawns, board.knights, board.bishops, board.rooks, board.queens
    return sum(
        value * ((pieces & own).bit_count() - (pieces & ~own).bit_count())
        for value, pieces in zip(PIECE_VALUES, kinds, strict=True)
    )


def nothing(game: Any) -> int:
    """Return 0 for every position, so that a search sees only wins and losses."""
    return 0
