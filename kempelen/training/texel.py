"""Texel's method: fit the weights of the hand-made evaluation to how games went.

The evaluation e of a position predicts the expected score 1 / (1 + exp(-e / scale)); the weights
are those that make the cross-entropy between predictions and targets least (Österlund, 'Texel's
tuning method', 2014). A target is a blend of the game's result and of what the search expected.
The scale is fitted to the weights before tuning and then kept, so that a centipawn stays one; the
search's scores, which may be another engine's, have a scale of their own.

A search finds what is good for the side to move, so its scores are above the evaluation by much
the same everywhere. A constant of the fit takes that up, and the weight of having the move stays;
where the start has none, it is what the results alone say.

The more iterations, the better the weights suit the positions they are fitted to, and from some
point on those of other games the worse. So the weights are those of the iteration that predicts
the validation games best, and the fit ends when a number of iterations have not bettered it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agent.chess.evaluation.terms import TERM_OFFSETS
from agent.chess.evaluation.weights import WEIGHTS, Term
from kempelen.training.dataset import Dataset, DatasetError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = npt.NDArray[np.float64]

CHUNK = 1 << 15  # positions that are traced at a time
# Positions with a greater lead teach little: whether they were won is a matter of technique.
MAX_SCORE = 600  # centipawns
MATERIAL = (100, 300, 300, 500, 900)  # pawn to queen: what a beginner is told
# With the fifty moves in sight, an engine's scores may shrink whatever is on the board.
MAX_HALFMOVE_CLOCK = 16  # halfmoves
PATIENCE = 40  # iterations that may pass without being the best yet
# So many validation positions are needed to tell better weights from worse, and so many positions
# a number that is fitted for the fit to be likely to find any.
MIN_VALIDATION_POSITIONS, MIN_POSITIONS_PER_NUMBER = 200, 20
REGULARIZATION = (
    2e-3  # loss, of all positions together, of a weight's distance from before: 1 centipawn
)


@dataclass(frozen=True)
class Sample:
    """Positions as the fit sees them, each from its side to move."""

    counts: "csr_matrix"  # (positions, weights)
    middlegame: Floats  # how much of the middlegame weights counts, 0 to 1
    endgame: Floats
    scores: Floats  # centipawns, of the search
    results: Floats  # 1, 1/2 or 0

    def evaluate(self, weights: Floats) -> Floats:
        """Return centipawns, given weights of shape (weights, 2)."""
        middlegame, endgame = (self.counts @ weights).T
        evaluations: Floats = self.middlegame * middlegame + self.endgame * endgame
        return evaluations


@dataclass(frozen=True)
class Fit:
    """The outcome of a fit: weights rounded to centipawns, and losses before and after."""

    weights: dict[str, Term]
    scale: float
    positions: int
    iteration: int  # of the weights
    initial_loss: float  # mean cross-entropy of the validation games
    final_loss: float

    @property
    def improved(self) -> bool:
        """Whether the weights predict the validation games better than those before."""
        return self.final_loss < self.initial_loss


def start_weights() -> Floats:
    """Return the weights there are, as (weights, 2)."""
    return np.array([pair for term in WEIGHTS.values() for pair in term.values], float)


def material_weights() -> Floats:
    """Return weights of nothing but material, for a fit that owes nothing to those there are."""
    weights = np.zeros_like(start_weights())
    first = TERM_OFFSETS["material"]
    weights[first : first + len(MATERIAL)] = np.array(MATERIAL)[:, None]
    return weights


def check_size(training: Sample, validation: Sample) -> str:
    """Return what is to be said of few positions; raise DatasetError if they are too few."""
    positions, held_out = len(training.scores), len(validation.scores)
    numbers = start_weights().size
    if held_out < MIN_VALIDATION_POSITIONS:
        raise DatasetError(
            f"too few positions: {held_out} in the games held out, of {positions + held_out}, and "
            f"{MIN_VALIDATION_POSITIONS} are needed to judge the weights; play more games"
        )
    if positions < MIN_POSITIONS_PER_NUMBER * numbers:
        return (
            f"{positions} positions are few for {numbers} numbers; "
            f"with {MIN_POSITIONS_PER_NUMBER * numbers} or more they can be told apart"
        )
    return ""


def read_sample(dataset: Dataset, part: int, limit: int, seed: int = 1) -> Sample:
    """Trace at most so many positions of a part, at random.

    Decided and aimless ones are left out, and those in which no weight counts.

    Needs the kernel. Raises DatasetError if there are none.
    """
    from scipy.sparse import csr_matrix, vstack

    from agent.chess.evaluation.evaluation_trace import trace

    counts, middlegame, endgame, scores, results = [], [], [], [], []
    left = limit
    for batch in dataset.batches(CHUNK, part, seed):
        telling = (np.abs(batch["score"]) <= MAX_SCORE) & (batch["halfmoves"] <= MAX_HALFMOVE_CLOCK)
        chosen = batch[telling][:left]
        left -= len(chosen)
        traces = trace(chosen)
        weighed = traces.middlegame + traces.endgame > 0
        chosen = chosen[weighed]
        counts.append(csr_matrix(traces.counts[weighed], dtype=np.float32))
        middlegame.append(traces.middlegame[weighed])
        endgame.append(traces.endgame[weighed])
        scores.append(chosen["score"].astype(float))
        results.append((chosen["result"] + 1) / 2)
        if not left:
            break
    if not sum(map(len, scores)):
        raise DatasetError("too few positions: play at least some hundred games")
    return Sample(
        vstack(counts, format="csr"),
        np.concatenate(middlegame),
        np.concatenate(endgame),
        np.concatenate(scores),
        np.concatenate(results),
    )


def expected_score(centipawns: Floats, scale: float) -> Floats:
    """Return the expected score of an evaluation."""
    return 1 / (1 + np.exp(-np.clip(centipawns / scale, -30, 30)))


def cross_entropy(evaluations: Floats, targets: Floats, scale: float) -> float:
    """Return the mean cross-entropy of targets and predictions."""
    exponents = np.clip(evaluations / scale, -30, 30)
    return float(np.mean(np.logaddexp(0, exponents) - targets * exponents))


def fit_scale(evaluations: Floats, results: Floats) -> float:
    """Return the scale with which evaluations predict results best."""
    from scipy.optimize import minimize_scalar

    found: Any = minimize_scalar(
        lambda scale: cross_entropy(evaluations, results, scale),
        bounds=(50, 1000),
        method="bounded",
    )
    return float(found.x)


def fit_constant(evaluations: Floats, targets: Floats, scale: float) -> float:
    """Return what, added to all evaluations, makes them predict the targets best."""
    from scipy.optimize import minimize_scalar

    found: Any = minimize_scalar(
        lambda constant: cross_entropy(evaluations + constant, targets, scale),
        bounds=(-MAX_SCORE, MAX_SCORE),
        method="bounded",
    )
    return float(found.x)


def fit(
    training: Sample,
    validation: Sample,
    iterations: int,
    result_share: float,
    report: Callable[[int, float], None] = lambda iteration, loss: None,
    start: Floats | None = None,
) -> Fit:
    """Fit all weights but that of having the move to one sample, and judge them by the other.

    result_share: of the game's result in the targets, 0 to 1; the rest is the scores'.
    report: called after each iteration with its number and the training loss.
    start: the weights to begin with, those there are if none are given.
    """
    from scipy.optimize import minimize

    start = start_weights() if start is None else start
    scale = fit_scale(training.evaluate(start), training.results)
    score_scale = fit_scale(training.scores, training.results)
    targets = _targets(training, score_scale, result_share)
    held_out = _targets(validation, score_scale, result_share)
    # Weights that hardly ever count would take many iterations: each is measured by its own size.
    squares = np.sqrt(np.asarray(training.counts.power(2).mean(axis=0)).ravel())
    units = 1 / np.maximum(squares, 1e-3)[:, None]
    units[TERM_OFFSETS["tempo"]] = 0
    transposed = training.counts.T.tocsr()
    size = len(targets)
    prior = REGULARIZATION / size
    done, best = 0, _Iterate(0, start, np.inf)

    def judge(weights: Floats) -> float:
        evaluations = validation.evaluate(weights)
        # What is common to all positions is no merit of weights: all have the best constant.
        constant = fit_constant(evaluations, held_out, scale)
        return cross_entropy(evaluations + constant, held_out, scale)

    def objective(flat: Floats) -> tuple[float, Floats]:
        change = flat[1:].reshape(-1, 2) * units
        evaluations = training.evaluate(start + change) + flat[0]
        error = (expected_score(evaluations, scale) - targets) / (scale * size)
        sides = np.column_stack([error * training.middlegame, error * training.endgame])
        gradient = np.asarray(transposed @ sides) + 2 * prior * change
        value = cross_entropy(evaluations, targets, scale) + prior * float(np.sum(change**2))
        return value, np.concatenate([[error.sum()], (gradient * units).ravel()])

    def after_iteration(intermediate_result: Any) -> None:
        nonlocal done, best
        done += 1
        report(done, float(intermediate_result.fun))
        change = intermediate_result.x[1:].reshape(-1, 2) * units
        weights = np.rint(start + change)
        judged = judge(weights)
        if judged < best.loss:
            best = _Iterate(done, weights, judged)
        elif done - best.number >= PATIENCE:
            raise StopIteration

    minimize(
        objective,
        np.zeros(1 + start.size),
        jac=True,
        method="L-BFGS-B",
        callback=after_iteration,
        # One weight hardly changes the mean loss of many positions: only iterations end the fit.
        options={"maxiter": iterations, "maxfun": 2 * iterations, "gtol": 0.0, "ftol": 0.0},
    )
    before = judge(start)
    tempo = TERM_OFFSETS["tempo"]
    if not start[tempo].any():
        moves = fit_constant(training.evaluate(best.weights), training.results, scale)
        best.weights[tempo] = np.rint(moves)
    return Fit(
        weights=_named(best.weights),
        scale=scale,
        positions=size,
        iteration=best.number,
        initial_loss=before,
        final_loss=best.loss if best.number else before,
    )


class _Iterate(NamedTuple):
    """Where a fit was after an iteration: the weights, and the loss of the validation games."""

    number: int
    weights: Floats
    loss: float


def _targets(sample: Sample, score_scale: float, result_share: float) -> Floats:
    searched = expected_score(sample.scores, score_scale)
    return result_share * sample.results + (1 - result_share) * searched


def _named(weights: Floats) -> dict[str, Term]:
    named = {}
    for name, term in WEIGHTS.items():
        first = TERM_OFFSETS[name]
        values = tuple((int(mg), int(eg)) for mg, eg in weights[first : first + len(term.values)])
        named[name] = term._replace(values=values)
    return named


def format_weights_module(weights: dict[str, Term]) -> str:
    """Return the text of agent/chess/evaluation/weights.py with these weights."""
    import inspect

    from agent.chess.evaluation import weights as module

    text = inspect.getsource(module)
    begin, end = "WEIGHTS = {\n", "}\n# fmt: on"
    head, rest = text.split(begin)
    return head + begin + "".join(map(_entry, weights.items())) + end + rest.split(end)[1]


def _entry(item: tuple[str, Term]) -> str:
    name, term = item
    lines = [
        f'    "{name}": Term(',
        f'        "{term.meaning}",',
        f"        {term.row},",
        "        (",
    ]
    for first in range(0, len(term.values), term.row):
        pairs = ", ".join(map(str, term.values[first : first + term.row]))
        lines.append(f"            {pairs},")
    return "\n".join([*lines, "        ),", "    ),", ""])
