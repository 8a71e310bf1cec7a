"""What positions are like: counts of scores, results, pieces and plies, taken block by block."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import BLACK_TO_MOVE
from agent.chess.evaluation.nnue_features import MAX_PIECES
from kempelen.training.dataset import Dataset, Packed
from kempelen.training.packed_positions import game_plies, piece_counts

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SCORE_STEP = 10  # centipawns
MAX_SCORE = 3000  # greater ones are counted there
MAX_PLIES = 400  # and later
MAX_PHASE = 24
_PHASES = np.array([0, 1, 1, 2, 4, 0, 2, 0], np.int64)  # of pawn to king, and of a castling rook
_PIECE_TYPE_MASK = np.uint64(7)
_NEWTON_STEPS = 50
_UNIT = 100  # centipawns: what scores are counted in where they are weighed beside a constant


@dataclass(frozen=True, slots=True)
class WinningCurve:
    """The chance to win at a score is 1 / (1 + exp((middle - score) / scale)); in centipawns."""

    middle: float
    scale: float


def _round_to_steps(values: npt.ArrayLike, step: int) -> Counts:
    """Return values in whole steps, halves upwards, so that as many values come to each."""
    steps: Counts = np.floor(np.asarray(values) / step + 0.5).astype(np.int64)
    return steps


def _zeros(*shape: int) -> Counts:
    return np.zeros(shape, np.int64)


@dataclass
class PositionStatistics:
    """Counts of positions, each array by its index.

    Scores and results are those of the side to move; `outcomes` are White's. Results are in the
    order loss, draw, win.
    """

    games: int = 0
    scores: Counts = field(
        default_factory=lambda: _zeros(2 * MAX_SCORE // SCORE_STEP + 1, 3)
    )  # [nearest step from -LARGEST_SCORE, result]
    outcomes: Counts = field(default_factory=lambda: _zeros(3))
    pieces: Counts = field(default_factory=lambda: _zeros(MAX_PIECES + 1))
    phases: Counts = field(default_factory=lambda: _zeros(MAX_PHASE + 1))  # 24 with all pieces
    plies: Counts = field(default_factory=lambda: _zeros(MAX_PLIES + 1))
    depths: Counts = field(default_factory=lambda: _zeros(256))

    def add(self, positions: Packed) -> None:
        """Count more positions."""
        results = np.sign(positions["result"]).astype(np.int64) + 1
        steps = _round_to_steps(positions["score"], SCORE_STEP)
        most = MAX_SCORE // SCORE_STEP
        places = (np.clip(steps, -most, most) + most) * 3 + results
        self.scores += np.bincount(places, minlength=self.scores.size).reshape(-1, 3)
        black = positions["state"] >= BLACK_TO_MOVE
        self.outcomes += np.bincount(np.where(black, 2 - results, results), minlength=3)
        for counts, values in (
            (self.pieces, piece_counts(positions)),
            (self.phases, game_phases(positions)),
            (self.plies, game_plies(positions)),
            (self.depths, positions["depth"].astype(np.int64)),
        ):
            counts += np.bincount(np.minimum(values, len(counts) - 1), minlength=len(counts))

    @property
    def positions(self) -> int:
        """How many have been counted."""
        return int(self.outcomes.sum())

    @property
    def centipawns(self) -> Floats:
        """The score that each row of `scores` counts."""
        return np.arange(-MAX_SCORE, MAX_SCORE + 1, SCORE_STEP, dtype=np.float64)

    def results_by_score(self, width: int) -> tuple[Floats, Floats, Counts]:
        """Return the middle of each interval of scores, the mean result there and its positions.

        width: of the intervals, in centipawns; the mean result is from 0 to 1, and intervals
        without positions are left out.
        """
        intervals = _round_to_steps(self.centipawns, width)
        names, places = np.unique(intervals, return_inverse=True)
        counts = _zeros(len(names), 3)
        np.add.at(counts, places, self.scores)
        there = counts.sum(axis=1) > 0
        totals = counts.sum(axis=1)[there]
        means = (counts[there, 2] + counts[there, 1] / 2) / totals
        return names[there] * float(width), means, totals

    def fit_scale(self) -> float | None:
        """Return the scale at which 1 / (1 + exp(-score / scale)) foretells results best.

        It is the one with the least cross-entropy, by Newton's method, which from 0 comes nearer
        with each step. Scores at the ends, which are not told from greater ones, are left out.
        None if higher scores do not foretell better results, or as few results as there are tell
        no scale.
        """
        scores = self.centipawns[1:-1]
        counts = self.scores[1:-1]
        totals = counts.sum(axis=1)
        points = counts[:, 2] + counts[:, 1] / 2
        slope, settled = 0.0, False
        for _ in range(_NEWTON_STEPS):
            expected = 1 / (1 + np.exp(-np.clip(scores * slope, -40, 40)))
            gradient = float((scores * (points - totals * expected)).sum())
            curvature = float((scores**2 * totals * expected * (1 - expected)).sum())
            if curvature <= 0:
                break
            step = gradient / curvature
            slope += step
            if settled := bool(abs(step) <= 1e-9 * abs(slope)):
                break
        return 1 / slope if settled and _is_plausible_slope(slope) else None

    def fit_winning_curve(self) -> WinningCurve | None:
        """Return the curve by which scores foretell wins best, as `WinningCurve` has it.

        It has the least cross-entropy for the wins of both sides, of whom the one to move has the
        score and the other its negative: a logistic regression, by Newton's method. Scores at the
        ends, which are not told from greater ones, are left out. None if higher scores do not
        foretell more wins, or as few results as there are tell no curve.
        """
        scores = self.centipawns[1:-1] / _UNIT
        losses, _, wins = self.scores[1:-1].T.astype(np.float64)
        totals = self.scores[1:-1].sum(axis=1)
        inputs = np.stack([np.ones(2 * len(scores)), np.concatenate([scores, -scores])])
        totals, won = np.concatenate([totals, totals]), np.concatenate([wins, losses])
        weights, settled = np.zeros(2), False
        for _ in range(_NEWTON_STEPS):
            expected = 1 / (1 + np.exp(-np.clip(weights @ inputs, -40, 40)))
            gradient = inputs @ (won - totals * expected)
            curvature = (inputs * (totals * expected * (1 - expected))) @ inputs.T
            if np.linalg.matrix_rank(curvature) < 2:
                return None
            step = np.linalg.solve(curvature, gradient)
            weights += step
            if settled := bool(np.abs(step).max() <= 1e-9 * np.abs(weights).max()):
                break
        level, slope = weights
        if not settled or not _is_plausible_slope(slope / _UNIT):
            return None
        curve = WinningCurve(float(-level / slope * _UNIT), float(_UNIT / slope))
        return curve if abs(curve.middle) <= MAX_SCORE else None


def _is_plausible_slope(slope: float) -> bool:
    """Tell whether scores of that slope, 1 / centipawns, are neither all alike nor all decided."""
    return 1 / MAX_SCORE <= slope <= 1 / SCORE_STEP


def game_phases(positions: Packed) -> Counts:
    """Return how many pieces are left, weighed: 24 at the start and at most, 0 in pawn endings.

    Knights and bishops count 1, rooks 2 and queens 4, those of both sides.
    """
    phases = np.zeros(len(positions), np.int64)
    for place in range(16):
        # Where no piece is left, there stands a pawn's number.
        phases += _PHASES[positions["pieces"] >> np.uint64(4 * place) & _PIECE_TYPE_MASK].sum(
            axis=1
        )
    return np.minimum(phases, MAX_PHASE)


def count_positions(dataset: Dataset) -> PositionStatistics:
    """Count all positions of the files."""
    found = PositionStatistics(games=dataset.games)
    for positions in dataset.blocks():
        found.add(positions)
    return found


def quantiles(counts: Counts, shares: tuple[float, ...] = (0.05, 0.5, 0.95)) -> list[int]:
    """Return the indices up to which such shares of what is counted lie; -1 of nothing."""
    total = counts.sum()
    if not total:
        return [-1 for _ in shares]
    return [int(place) for place in np.searchsorted(np.cumsum(counts), np.array(shares) * total)]
