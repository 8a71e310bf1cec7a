"""What later searches of a game say of an earlier position: the returns of TD(lambda).

A search of a thousand nodes sees a few plies; those of the moves that follow have seen what came
of it. Each position's score is mixed with what the next one of its game was found to be worth,
which is mixed with that after it, and so on: Sutton 1988; with searches' scores TD-Leaf(lambda),
Baxter, Tridgell and Weaver 1998.
"""

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import BLACK_TO_MOVE
from kempelen.training.dataset import Packed
from kempelen.training.packed_positions import game_plies

MAX_RETURN = 30_000  # centipawns
_MIN_PROBABILITY = 1e-12  # which a score can still mean


def lambda_returns(game: Packed, trace_decay: float, scale: float) -> npt.NDArray[np.int16]:
    """Return what each position of a game is worth to whoever is to move, in centipawns.

    game: positions in the order they were played, some of which may be missing. trace_decay: the
    share that a position leaves to what follows, for each ply until the next one that was kept;
    the last keeps its own score. scale: the centipawns that mean a chance of 73%, as chances are
    what is mixed.
    """
    signs = np.where(game["state"] >= BLACK_TO_MOVE, -1.0, 1.0)
    searched = 0.5 + 0.5 * np.tanh(signs * game["score"] / scale / 2)
    later_shares = trace_decay ** np.maximum(np.diff(game_plies(game)), 1)
    found = searched.copy()
    value = float(searched[-1]) if len(game) else 0.0
    for i, share in reversed(list(enumerate(later_shares.tolist()))):
        value = (1 - share) * float(searched[i]) + share * value
        found[i] = value
    within = np.clip(found, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
    scores = np.clip(signs * scale * np.log(within / (1 - within)), -MAX_RETURN, MAX_RETURN)
    whole: npt.NDArray[np.int16] = np.rint(scores).astype(np.int16)
    return whole
