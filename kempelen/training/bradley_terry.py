"""Learn the strengths of Go move features by minorisation-maximisation (MM).

Each position is a competition that the played move won against all other legal moves. The strength
of a move is the product of the strengths of its features (Coulom, 'Computing Elo ratings of move
patterns in the game of Go', 2007). As a prior, each feature also wins and loses `prior` games
against an opponent of strength 1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agent.games.go import Go, parse_size
from agent.go.features import (
    CODE_COUNT,
    FEATURE_COLUMNS,
    FEATURE_COUNT,
    FEATURE_INDEX,
    NEIGHBOURHOOD,
)
from agent.go.pattern_weights import OTHERS, canonical_codes
from kempelen.training.go_selfplay import GoGame

# One in VALIDATION_INTERVAL games is held out for validation.
VALIDATION_INTERVAL = 8
_NEUTRAL_FEATURE = 0  # fills columns without a feature; its strength is 1
_RARE_FEATURE = 1  # shared by all rare neighbourhoods
_FIRST_CODE = 2


@dataclass(frozen=True)
class Comparisons:
    """Positions with the features of their legal moves.

    `features` has one row for each legal move of each position. A row holds the indices of the
    move's features, where a negative index means no feature. For each position, `first` holds the
    row of its first legal move, and `chosen` the row of the played move.
    """

    features: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class PredictionQuality:
    """The quality of move predictions.

    `log_likelihood` is the mean logarithm of the predicted probability of the played move. `top_1`
    and `top_5` are the fractions of positions where the played move ranks first or among the
    first five.
    """

    log_likelihood: float
    top_1: float
    top_5: float


@dataclass(frozen=True)
class PatternFit:
    """The fitted weights of features and of 3x3 neighbourhoods.

    `features` maps names of features to weights, and `patterns` maps hexadecimal codes of
    neighbourhoods to weights. `history` holds the (training, validation) quality after each
    iteration.
    """

    features: dict[str, float]
    patterns: dict[str, float]
    history: list[tuple[PredictionQuality, PredictionQuality]]


def game_comparisons(
    games: Sequence[GoGame], size: int | str, komi: float
) -> Iterator[Comparisons]:
    """Replay each game, and yield its positions except those of the random opening."""
    from agent.go.feature_extraction import extract_features
    from agent.go.kernel_board import KernelBoard, to_kernel_move

    board = KernelBoard()
    width, height = parse_size(size)
    max_moves = width * height + 1
    moves = np.zeros(max_moves, np.int64)
    features_of_moves = np.zeros((max_moves, FEATURE_COLUMNS), np.int64)
    for game in games:
        board.load(Go(size, komi))
        rows: list[npt.NDArray[np.int32]] = []
        first, chosen, total = [], [], 0
        for ply, move in enumerate(game.moves):
            if ply >= game.opening:
                n_moves = extract_features(board.worker, moves, features_of_moves)
                (matches,) = np.nonzero(moves[:n_moves] == to_kernel_move(move))
                if len(matches) and n_moves > 1:
                    rows.append(features_of_moves[:n_moves].astype(np.int32))
                    first.append(total)
                    chosen.append(total + int(matches[0]))
                    total += n_moves
            board.play(move)
        features = np.concatenate([np.zeros((0, FEATURE_COLUMNS), np.int32), *rows])
        yield Comparisons(features, np.array(first, np.int64), np.array(chosen, np.int64))


def concatenate(parts: Sequence[Comparisons]) -> Comparisons:
    offsets = np.cumsum([0, *(len(part.features) for part in parts)])
    pairs = list(zip(parts, offsets, strict=False))
    return Comparisons(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.first + offset for part, offset in pairs]),
        np.concatenate([part.chosen + offset for part, offset in pairs]),
    )


class BradleyTerryModel:
    """A Bradley-Terry model of feature strengths.

    All 3x3 neighbourhoods that occur fewer than `rare` times share one strength.
    """

    def __init__(self, training: Comparisons, rare: int, prior: float) -> None:
        self._prior = prior
        counts = np.bincount(canonical_codes()[_codes(training)], minlength=CODE_COUNT)
        self.codes = np.nonzero(counts >= rare)[0]
        self._names = list(FEATURE_INDEX)
        self._feature_numbers = np.full(FEATURE_COUNT, _RARE_FEATURE, np.int32)
        by_code = np.full(CODE_COUNT, _RARE_FEATURE, np.int32)
        by_code[self.codes] = np.arange(len(self.codes)) + _FIRST_CODE
        self._feature_numbers[:CODE_COUNT] = by_code[canonical_codes()]
        first = _FIRST_CODE + len(self.codes)
        for number, name in enumerate(self._names, first):
            self._feature_numbers[FEATURE_INDEX[name]] = number
        self.strengths = np.ones(first + len(self._names))
        self._training = self._to_model_features(training)

    def _to_model_features(self, moves: Comparisons) -> Comparisons:
        numbers = np.where(
            moves.features < 0, _NEUTRAL_FEATURE, self._feature_numbers[moves.features]
        )
        return Comparisons(numbers.astype(np.int32), moves.first, moves.chosen)

    def mm_step(self) -> None:
        """Perform one step of minorisation-maximisation, one feature column at a time."""
        moves, strengths = self._training, self.strengths
        position = np.repeat(
            np.arange(len(moves)), np.diff(moves.first, append=len(moves.features))
        )
        products = strengths[moves.features].prod(axis=1)
        for column in range(FEATURE_COLUMNS):
            numbers = moves.features[:, column]
            totals = np.add.reduceat(products, moves.first)
            opponents = products / strengths[numbers] / totals[position]
            expected_wins = np.bincount(numbers, opponents, len(strengths))
            wins = np.bincount(numbers[moves.chosen], minlength=len(strengths))
            old = strengths.copy()
            present = np.unique(numbers)
            present = present[present != _NEUTRAL_FEATURE]
            strengths[present] = (wins[present] + self._prior) / (
                expected_wins[present] + 2 * self._prior / (old[present] + 1)
            )
            products *= (strengths / old)[numbers]

    def quality(self, moves: Comparisons | None = None) -> PredictionQuality:
        """Return the prediction quality on `moves`, or on the training positions by default."""
        moves = self._training if moves is None else self._to_model_features(moves)
        if not len(moves):
            return PredictionQuality(0.0, 0.0, 0.0)
        products = self.strengths[moves.features].prod(axis=1)
        totals = np.add.reduceat(products, moves.first)
        won = products[moves.chosen]
        lengths = np.diff(moves.first, append=len(moves.features))
        better = products > np.repeat(won, lengths)
        equal = products == np.repeat(won, lengths)
        # Tied moves get their mean rank.
        before = np.add.reduceat(better + 0.5 * equal, moves.first) - 0.5
        return PredictionQuality(
            float(np.log(won / totals).mean()),
            float((before < 1).mean()),
            float((before < 5).mean()),
        )

    def weights(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return log strengths by feature name, and by hexadecimal code of the neighbourhood."""
        weights = [round(float(weight), 3) for weight in np.log(self.strengths)]
        patterns = {OTHERS: weights[_RARE_FEATURE]}
        for number, code in enumerate(self.codes, _FIRST_CODE):
            patterns[f"{code:x}"] = weights[number]
        first = _FIRST_CODE + len(self.codes)
        return dict(zip(self._names, weights[first:], strict=True)), patterns


def _codes(moves: Comparisons) -> npt.NDArray[np.int32]:
    codes = moves.features[:, NEIGHBOURHOOD]
    return codes[codes >= 0]


def fit(
    training: Comparisons, validation: Comparisons, iterations: int, rare: int, prior: float
) -> Iterator[PatternFit]:
    """Fit the model, and yield the weights after each iteration."""
    model = BradleyTerryModel(training, rare, prior)
    history = []
    for _ in range(iterations):
        model.mm_step()
        history.append((model.quality(), model.quality(validation)))
        features, patterns = model.weights()
        yield PatternFit(features, patterns, history)
