"""Histograms of the scores, results, pieces and plies of positions."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import BLACK_TO_MOVE
from agent.chess.evaluation.nnue_format import MAX_PIECES
from kempelen.training.dataset import Dataset
from kempelen.training.dataset_blocks import Packed
from kempelen.training.packed_positions import game_plies, piece_counts

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SCORE_STEP = 10  # centipawns
MAX_SCORE = 3000  # larger scores are counted in the last bin
MAX_PLIES = 400  # later plies are counted in the last bin
MAX_PHASE = 24
QUANTILES = 0.05, 0.5, 0.95
# Weights by piece type: pawn to king, then a rook with castling rights.
_PHASES = np.array([0, 1, 1, 2, 4, 0, 2, 0], np.int64)
_PIECE_TYPE_MASK = np.uint64(7)
_NEWTON_STEPS = 50
_UNIT = 100  # centipawns per unit of the logistic regression


@dataclass(frozen=True, slots=True)
class WinProbabilityCurve:
    """The win probability 1 / (1 + exp((middle - score) / scale)) of a score in centipawns."""

    middle: float
    scale: float


def _round_to_steps(values: npt.ArrayLike, step: int) -> Counts:
    # Halves are rounded up, so that all bins are equally wide.
    steps: Counts = np.floor(np.asarray(values) / step + 0.5).astype(np.int64)
    return steps


def _zeros(*shape: int) -> Counts:
    return np.zeros(shape, np.int64)


@dataclass
class PositionStatistics:
    """Histograms of positions, indexed by the counted value.

    Scores and results are for the side to move, and outcomes are for White. Results and outcomes
    are in the order loss, draw, win.
    """

    games: int = 0
    scores: Counts = field(
        default_factory=lambda: _zeros(2 * MAX_SCORE // SCORE_STEP + 1, 3)
    )  # [score step from -MAX_SCORE, result]
    outcomes: Counts = field(default_factory=lambda: _zeros(3))
    pieces: Counts = field(default_factory=lambda: _zeros(MAX_PIECES + 1))
    phases: Counts = field(default_factory=lambda: _zeros(MAX_PHASE + 1))  # 24 with all pieces
    plies: Counts = field(default_factory=lambda: _zeros(MAX_PLIES + 1))
    depths: Counts = field(default_factory=lambda: _zeros(256))

    def add(self, positions: Packed) -> None:
        results = np.sign(positions["result"]).astype(np.int64) + 1
        steps = _round_to_steps(positions["score"], SCORE_STEP)
        n_steps = MAX_SCORE // SCORE_STEP
        cells = (np.clip(steps, -n_steps, n_steps) + n_steps) * 3 + results
        self.scores += np.bincount(cells, minlength=self.scores.size).reshape(-1, 3)
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
        return int(self.outcomes.sum())

    @property
    def centipawns(self) -> Floats:
        """The score in centipawns for each row of `scores`."""
        return np.arange(-MAX_SCORE, MAX_SCORE + 1, SCORE_STEP, dtype=np.float64)

    def results_by_score(self, width: int) -> tuple[Floats, Floats, Counts]:
        """Return the centre, mean result (0 to 1) and number of positions of each score interval.

        `width` is the width of the intervals in centipawns. Empty intervals are omitted.
        """
        intervals = _round_to_steps(self.centipawns, width)
        interval_numbers, rows = np.unique(intervals, return_inverse=True)
        counts = _zeros(len(interval_numbers), 3)
        np.add.at(counts, rows, self.scores)
        non_empty = counts.sum(axis=1) > 0
        totals = counts.sum(axis=1)[non_empty]
        means = (counts[non_empty, 2] + counts[non_empty, 1] / 2) / totals
        return interval_numbers[non_empty] * float(width), means, totals

    def fit_scale(self) -> float | None:
        """Return the scale with which 1 / (1 + exp(-score / scale)) best predicts the results.

        Newton's method minimises the cross-entropy, without the bins for scores beyond `MAX_SCORE`.
        Return None if there are too few results, or if higher scores do not predict better results.
        """
        scores = self.centipawns[1:-1]
        counts = self.scores[1:-1]
        totals = counts.sum(axis=1)
        points = counts[:, 2] + counts[:, 1] / 2
        slope, converged = 0.0, False
        for _ in range(_NEWTON_STEPS):
            expected = 1 / (1 + np.exp(-np.clip(scores * slope, -40, 40)))
            gradient = float((scores * (points - totals * expected)).sum())
            curvature = float((scores**2 * totals * expected * (1 - expected)).sum())
            if curvature <= 0:
                break
            step = gradient / curvature
            slope += step
            if converged := bool(abs(step) <= 1e-9 * abs(slope)):
                break
        return 1 / slope if converged and _is_plausible_slope(slope) else None

    def fit_winning_curve(self) -> WinProbabilityCurve | None:
        """Return the `WinProbabilityCurve` that best predicts the wins of both sides.

        Newton's method fits the logistic regression, without the bins for scores beyond
        `MAX_SCORE`. Return None if there are too few results, or if higher scores do not predict
        more wins.
        """
        scores = self.centipawns[1:-1] / _UNIT
        losses, _, wins = self.scores[1:-1].T.astype(np.float64)
        totals = self.scores[1:-1].sum(axis=1)
        inputs = np.stack([np.ones(2 * len(scores)), np.concatenate([scores, -scores])])
        totals, won = np.concatenate([totals, totals]), np.concatenate([wins, losses])
        weights, converged = np.zeros(2), False
        for _ in range(_NEWTON_STEPS):
            expected = 1 / (1 + np.exp(-np.clip(weights @ inputs, -40, 40)))
            gradient = inputs @ (won - totals * expected)
            curvature = (inputs * (totals * expected * (1 - expected))) @ inputs.T
            if np.linalg.matrix_rank(curvature) < 2:
                return None
            step = np.linalg.solve(curvature, gradient)
            weights += step
            if converged := bool(np.abs(step).max() <= 1e-9 * np.abs(weights).max()):
                break
        level, slope = weights
        if not converged or not _is_plausible_slope(slope / _UNIT):
            return None
        curve = WinProbabilityCurve(float(-level / slope * _UNIT), float(_UNIT / slope))
        return curve if abs(curve.middle) <= MAX_SCORE else None


def _is_plausible_slope(slope: float) -> bool:
    return 1 / MAX_SCORE <= slope <= 1 / SCORE_STEP


def game_phases(positions: Packed) -> Counts:
    """Return the game phase of each position, from 0 (pawn endings) to 24 (all pieces).

    Knights and bishops of both sides count 1, rooks 2, and queens 4.
    """
    phases = np.zeros(len(positions), np.int64)
    for square_index in range(16):
        # Unused entries look like pawns, which count 0.
        phases += _PHASES[
            positions["pieces"] >> np.uint64(4 * square_index) & _PIECE_TYPE_MASK
        ].sum(axis=1)
    return np.minimum(phases, MAX_PHASE)


def count_positions(dataset: Dataset) -> PositionStatistics:
    statistics = PositionStatistics(games=dataset.games)
    for positions in dataset.blocks():
        statistics.add(positions)
    return statistics


def quantiles(counts: Counts) -> list[int]:
    """Return the indices of the QUANTILES of a histogram, or -1 for each if it is empty."""
    total = counts.sum()
    if not total:
        return [-1 for _ in QUANTILES]
    return [int(place) for place in np.searchsorted(np.cumsum(counts), np.array(QUANTILES) * total)]
