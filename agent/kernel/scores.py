"""How searches of compiled games write scores: whole numbers, from the side to move.

A win is MATE less the plies to it, so that a nearer one is better; a loss is the negative. All else
is an evaluation, in hundredths of a pawn or of a game's own unit.
"""

from agent.limits import Cp, Mate, Score

MAX_PLY = 128  # plies from the root that a search can reach
MATE = 32000  # minus the ply of the mate
MATE_BOUND = MATE - 2 * MAX_PLY  # scores beyond are mates
INFINITE = MATE + 1
MAX_EVALUATION = 29000  # evaluations are clamped to this
NO_EVALUATION = -INFINITE


def score_of(value: int) -> Score:
    """Turn a kernel's score into centipawns or moves to mate."""
    if value >= MATE_BOUND:
        return Mate((MATE - value + 1) // 2)
    if value <= -MATE_BOUND:
        return Mate(-((MATE + value) // 2))
    return Cp(value)
