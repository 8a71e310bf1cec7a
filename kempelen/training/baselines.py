"""What an evaluation is compared with first: evaluations that know next to nothing.

They are named as a user's are, `kempelen.training.baselines:material`. Counting material is there compiled
and plain, so that an evaluation meets one that is called as it is itself.
"""

from typing import Any

import chess

from agent.evaluation import PAWN, QUEEN, count, evaluator, position_at

# Of a pawn, knight, bishop, rook and queen, in centipawns.
PIECE_VALUES = (100, 300, 300, 500, 900)


@evaluator
def material(worker: Any, ply: Any) -> Any:
    """Count the pieces of both sides."""
    position = position_at(worker, ply)
    own, enemy = position.sides[position.turn], position.sides[1 - position.turn]
    value = 0
    for kind in range(PAWN, QUEEN + 1):
        pieces = position.kinds[kind]
        value += PIECE_VALUES[kind] * (count(pieces & own) - count(pieces & enemy))
    return value


def plain_material(board: chess.Board) -> int:
    """Count the pieces of both sides, in plain Python."""
    own = board.occupied_co[board.turn]
    kinds = board.pawns, board.knights, board.bishops, board.rooks, board.queens
    return sum(
        worth * ((pieces & own).bit_count() - (pieces & ~own).bit_count())
        for worth, pieces in zip(PIECE_VALUES, kinds, strict=True)
    )


def nothing(game: Any) -> int:
    """Know nothing of a position, of whatever game: only its ends are worth something."""
    return 0
