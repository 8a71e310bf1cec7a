"""TD(lambda) targets, which correct the score of a position by later scores in the same game.

The target of a position is a weighted mean of its own score and the target of the next position
(Sutton 1988). With search scores, the method is called TD-Leaf(lambda) (Baxter, Tridgell and Weaver
1998).
"""

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import BLACK_TO_MOVE
from kempelen.training.dataset_blocks import Packed
from kempelen.training.packed_positions import game_plies

MAX_RETURN = 30_000  # centipawns
_MIN_PROBABILITY = 1e-12  # smallest probability with a finite score


def lambda_returns(game: Packed, trace_decay: float, scale: float) -> npt.NDArray[np.int16]:
    """Return the lambda-return of each position, in centipawns for the side to move.

    Scores are averaged as win probabilities. The last position keeps its score.

    `game` holds positions in game order, and may have gaps.
    `trace_decay` is lambda. A next position n plies later has the weight lambda ** n.
    `scale` is the score in centipawns at which the win probability is 73%.
    """
    signs = np.where(game["state"] >= BLACK_TO_MOVE, -1.0, 1.0)
    probabilities = 0.5 + 0.5 * np.tanh(signs * game["score"] / scale / 2)
    later_shares = trace_decay ** np.maximum(np.diff(game_plies(game)), 1)
    returns = probabilities.copy()
    value = float(probabilities[-1]) if len(game) else 0.0
    for i, share in reversed(list(enumerate(later_shares.tolist()))):
        value = (1 - share) * float(probabilities[i]) + share * value
        returns[i] = value
    within = np.clip(returns, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
    scores = np.clip(signs * scale * np.log(within / (1 - within)), -MAX_RETURN, MAX_RETURN)
    rounded: npt.NDArray[np.int16] = np.rint(scores).astype(np.int16)
    return rounded
