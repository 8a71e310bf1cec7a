"""Fit the weights of the hand-written evaluation by Texel's tuning method.

The fit minimises the cross-entropy between 1 / (1 + exp(-evaluation / scale)) and a weighted mean
of the game result and the search score (Österlund, 'Texel's tuning method', 2014). The scale is
fitted to the initial weights and then fixed, so that a centipawn keeps its meaning. Search scores
have a separate scale, because they may come from another engine.

Search scores exceed the static evaluation by a nearly constant amount, because the right to move
is an advantage. The fit includes a constant for this amount instead of the tempo weight. If the
initial tempo weight is zero, it is fitted to the game results afterwards.

The fit returns the weights with the lowest validation loss, and ends after PATIENCE iterations
without an improvement.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agent.chess.evaluation.terms import TERM_OFFSETS
from agent.chess.evaluation.weights import WEIGHTS, Term
from kempelen.training.dataset import Dataset
from kempelen.training.dataset_blocks import DatasetError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = npt.NDArray[np.float64]

CHUNK = 1 << 15  # positions per trace call
# Positions with a larger lead are omitted, because they are usually won with any weights.
MAX_SCORE = 600  # centipawns
MATERIAL = (100, 300, 300, 500, 900)  # textbook values from pawn to queen
# Near the fifty-move rule, engine scores may shrink independently of the position.
MAX_HALFMOVE_CLOCK = 16  # halfmoves
PATIENCE = 40  # iterations without improvement before the fit ends
# Minimum validation positions to compare weights, and positions per parameter for a meaningful fit.
MIN_VALIDATION_POSITIONS, MIN_POSITIONS_PER_NUMBER = 200, 20
# Regularization: total loss added for a change of one weight by 1 centipawn.
REGULARIZATION = 2e-3


@dataclass(frozen=True)
class TracedPositions:
    """Positions with the coefficient of each weight, for the side to move."""

    counts: "csr_matrix"  # (positions, weights)
    middlegame: Floats  # weight of the middlegame, 0 to 1
    endgame: Floats
    scores: Floats  # search scores in centipawns
    results: Floats  # win 1, draw 1/2, loss 0

    def evaluate(self, weights: Floats) -> Floats:
        """Return evaluations in centipawns, for weights with a middlegame and an endgame column."""
        middlegame, endgame = (self.counts @ weights).T
        evaluations: Floats = self.middlegame * middlegame + self.endgame * endgame
        return evaluations


@dataclass(frozen=True)
class Fit:
    """The fitted weights in centipawns, and the losses before and after the fit."""

    weights: dict[str, Term]
    scale: float
    positions: int
    iteration: int  # number of the iteration with these weights
    initial_loss: float  # mean cross-entropy on the validation games
    final_loss: float

    @property
    def improved(self) -> bool:
        return self.final_loss < self.initial_loss


def start_weights() -> Floats:
    """Return the current weights as an array of shape (weights, 2)."""
    return np.array([pair for term in WEIGHTS.values() for pair in term.values], float)


def material_weights() -> Floats:
    """Return weights that evaluate only material, for a fit from scratch."""
    weights = np.zeros_like(start_weights())
    first = TERM_OFFSETS["material"]
    weights[first : first + len(MATERIAL)] = np.array(MATERIAL)[:, None]
    return weights


def check_size(training: TracedPositions, validation: TracedPositions) -> str:
    """Return a warning if there are few positions, otherwise "".

    Raise DatasetError if there are too few validation positions.
    """
    positions, held_out = len(training.scores), len(validation.scores)
    n_parameters = start_weights().size
    if held_out < MIN_VALIDATION_POSITIONS:
        raise DatasetError(
            f"too few positions: {held_out} of {positions + held_out} are for validation (at least "
            f"{MIN_VALIDATION_POSITIONS} are needed; play more games)"
        )
    if positions < MIN_POSITIONS_PER_NUMBER * n_parameters:
        return (
            f"only {positions} positions for {n_parameters} parameters "
            f"(recommended: at least {MIN_POSITIONS_PER_NUMBER * n_parameters})"
        )
    return ""


def read_sample(dataset: Dataset, part: int, limit: int) -> TracedPositions:
    """Trace up to `limit` random positions with the compiled kernel.

    Positions with a large score, a high halfmove clock or a phase weight of zero are skipped. Raise
    DatasetError if no positions are left.
    """
    from scipy.sparse import csr_matrix, vstack

    from agent.chess.evaluation.evaluation_trace import trace

    counts, middlegame, endgame, scores, results = [], [], [], [], []
    remaining = limit
    for batch in dataset.batches(CHUNK, part, seed=1):
        informative = (np.abs(batch["score"]) <= MAX_SCORE) & (
            batch["halfmoves"] <= MAX_HALFMOVE_CLOCK
        )
        chosen = batch[informative][:remaining]
        remaining -= len(chosen)
        traces = trace(chosen)
        has_weight = traces.middlegame + traces.endgame > 0
        chosen = chosen[has_weight]
        counts.append(csr_matrix(traces.counts[has_weight], dtype=np.float32))
        middlegame.append(traces.middlegame[has_weight])
        endgame.append(traces.endgame[has_weight])
        scores.append(chosen["score"].astype(float))
        results.append((chosen["result"] + 1) / 2)
        if not remaining:
            break
    if not sum(map(len, scores)):
        raise DatasetError("too few positions (play at least a few hundred games)")
    return TracedPositions(
        vstack(counts, format="csr"),
        np.concatenate(middlegame),
        np.concatenate(endgame),
        np.concatenate(scores),
        np.concatenate(results),
    )


def expected_score(centipawns: Floats, scale: float) -> Floats:
    """Convert evaluations in centipawns to expected scores from 0 to 1."""
    return 1 / (1 + np.exp(-np.clip(centipawns / scale, -30, 30)))


def cross_entropy(evaluations: Floats, targets: Floats, scale: float) -> float:
    """Return the mean cross-entropy between the targets and the predicted scores."""
    exponents = np.clip(evaluations / scale, -30, 30)
    return float(np.mean(np.logaddexp(0, exponents) - targets * exponents))


def fit_scale(evaluations: Floats, results: Floats) -> float:
    """Return the scale with which the evaluations best predict the results."""
    from scipy.optimize import minimize_scalar

    result: Any = minimize_scalar(
        lambda scale: cross_entropy(evaluations, results, scale),
        bounds=(50, 1000),
        method="bounded",
    )
    return float(result.x)


def fit_constant(evaluations: Floats, targets: Floats, scale: float) -> float:
    """Return the constant to add to the evaluations so that they best predict the targets."""
    from scipy.optimize import minimize_scalar

    result: Any = minimize_scalar(
        lambda constant: cross_entropy(evaluations + constant, targets, scale),
        bounds=(-MAX_SCORE, MAX_SCORE),
        method="bounded",
    )
    return float(result.x)


def fit(
    training: TracedPositions,
    validation: TracedPositions,
    iterations: int,
    result_share: float,
    report: Callable[[int, float], None] = lambda iteration, loss: None,
    start: Floats | None = None,
) -> Fit:
    """Fit all weights except the tempo to `training`, and validate them on `validation`.

    `result_share` is the weight of the game result in the targets, from 0 to 1. `report` receives
    the number and the training loss of each iteration. `start` defaults to the current weights.
    """
    from scipy.optimize import minimize

    start = start_weights() if start is None else start
    scale = fit_scale(training.evaluate(start), training.results)
    score_scale = fit_scale(training.scores, training.results)
    targets = _targets(training, score_scale, result_share)
    held_out = _targets(validation, score_scale, result_share)
    # Rarely used weights would converge slowly, so each is scaled by the size of its counts.
    squares = np.sqrt(np.asarray(training.counts.power(2).mean(axis=0)).ravel())
    units = 1 / np.maximum(squares, 1e-3)[:, None]
    units[TERM_OFFSETS["tempo"]] = 0
    transposed = training.counts.T.tocsr()
    size = len(targets)
    prior = REGULARIZATION / size
    iteration, best = 0, _Iterate(0, start, np.inf)

    def judge(weights: Floats) -> float:
        evaluations = validation.evaluate(weights)
        # A constant offset must not affect the loss, so each set of weights gets its best constant.
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
        nonlocal iteration, best
        iteration += 1
        report(iteration, float(intermediate_result.fun))
        change = intermediate_result.x[1:].reshape(-1, 2) * units
        weights = np.rint(start + change)
        loss = judge(weights)
        if loss < best.loss:
            best = _Iterate(iteration, weights, loss)
        elif iteration - best.number >= PATIENCE:
            raise StopIteration

    minimize(
        objective,
        np.zeros(1 + start.size),
        jac=True,
        method="L-BFGS-B",
        callback=after_iteration,
        # A single weight hardly changes the mean loss, so only the iteration limit ends the fit.
        options={"maxiter": iterations, "maxfun": 2 * iterations, "gtol": 0.0, "ftol": 0.0},
    )
    initial_loss = judge(start)
    tempo = TERM_OFFSETS["tempo"]
    if not start[tempo].any():
        tempo_weight = fit_constant(training.evaluate(best.weights), training.results, scale)
        best.weights[tempo] = np.rint(tempo_weight)
    return Fit(
        weights=_named(best.weights),
        scale=scale,
        positions=size,
        iteration=best.number,
        initial_loss=initial_loss,
        final_loss=best.loss if best.number else initial_loss,
    )


class _Iterate(NamedTuple):
    """The weights after an iteration, and their validation loss."""

    number: int
    weights: Floats
    loss: float


def _targets(sample: TracedPositions, score_scale: float, result_share: float) -> Floats:
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
    """Return the source code of agent/chess/evaluation/weights.py with the given weights."""
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
