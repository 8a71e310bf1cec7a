"""Scores of compiled searches, which are integers from the point of view of the side to move.

The score of a win is MATE minus its distance in plies. The score of a loss is the negative of the
winner's score. All other scores are evaluations in hundredths of a pawn, or of the game's own unit.
"""

from agent.limits import Cp, Mate, Score

MAX_PLY = 128  # maximum distance from the root
MATE = 32000  # score of a mate at ply 0
MATE_BOUND = MATE - 2 * MAX_PLY  # scores from here on are mates
INFINITE = MATE + 1
MAX_EVALUATION = 29000  # evaluations are clamped to this
NO_EVALUATION = -INFINITE


def score_of(value: int) -> Score:
    """Convert the score of a compiled search to centipawns or to a mate distance in moves.

    Distances are rounded up: in antichess, the loser can make the last move.
    """
    if value >= MATE_BOUND:
        return Mate((MATE - value + 1) // 2)
    if value <= -MATE_BOUND:
        return Mate(-((MATE + value + 1) // 2))
    return Cp(value)
