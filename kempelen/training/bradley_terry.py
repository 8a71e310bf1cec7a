"""Strengths of the features of moves of Go, learned from games by minorisation-maximisation.

A position is a competition that the move played won against all others that were to be had; the
strength of a move is the product of those of its features. After Coulom, 'Computing Elo ratings of
move patterns in the game of Go' (2007). So that what is seen seldom stays near neutral, which is a
strength of 1, each feature also has won and lost `prior` times against that.
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

# Of so many games one is kept to judge by.
VALIDATION_INTERVAL = 8
_NEUTRAL_FEATURE = 0  # the feature of those that have none in a column: its strength is 1
_RARE_FEATURE = 1  # that of neighbourhoods seen seldom
_FIRST_CODE = 2


@dataclass(frozen=True)
class Comparisons:
    """Positions, each with the moves to be had. places: of their features, by move and column.

    first: of each position, its first move; chosen: the one that was played, counted from 0.
    """

    features: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.first)


@dataclass(frozen=True)
class PredictionQuality:
    """How well strengths foretell moves.

    log_likelihood: the mean of the logarithm of the probability of the move played; top_1, top_5:
    the share of positions where it is among so many that look best.
    """

    log_likelihood: float
    top_1: float
    top_5: float


@dataclass(frozen=True)
class PatternFit:
    """What was learned: weights by names and by codes in hexadecimal; see agent.go.pattern_weights.

    history: after each iteration how well training and validation positions are foretold.
    """

    features: dict[str, float]
    patterns: dict[str, float]
    history: list[tuple[PredictionQuality, PredictionQuality]]


def game_comparisons(
    games: Sequence[GoGame], size: int | str, komi: float
) -> Iterator[Comparisons]:
    """Describe the positions of each game in which a move was chosen, that is, not by chance."""
    from agent.go.feature_extraction import extract_features
    from agent.go.kernel_board import KernelBoard, to_kernel_move

    board = KernelBoard()
    width, height = parse_size(size)
    most = width * height + 1
    moves = np.zeros(most, np.int64)
    found = np.zeros((most, FEATURE_COLUMNS), np.int64)
    for game in games:
        board.load(Go(size, komi))
        rows: list[npt.NDArray[np.int32]] = []
        first, chosen, total = [], [], 0
        for ply, move in enumerate(game.moves):
            if ply >= game.opening:
                number = extract_features(board.worker, moves, found)
                (places,) = np.nonzero(moves[:number] == to_kernel_move(move))
                if len(places) and number > 1:
                    rows.append(found[:number].astype(np.int32))
                    first.append(total)
                    chosen.append(total + int(places[0]))
                    total += number
            board.play(move)
        features = np.concatenate([np.zeros((0, FEATURE_COLUMNS), np.int32), *rows])
        yield Comparisons(features, np.array(first, np.int64), np.array(chosen, np.int64))


def concatenate(parts: Sequence[Comparisons]) -> Comparisons:
    """Return the positions of several games as one."""
    offsets = np.cumsum([0, *(len(part.features) for part in parts)])
    pairs = list(zip(parts, offsets, strict=False))
    return Comparisons(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.first + offset for part, offset in pairs]),
        np.concatenate([part.chosen + offset for part, offset in pairs]),
    )


class BradleyTerryModel:
    """The strengths of features, that are learned: those of the rarer neighbourhoods are one.

    rare: a neighbourhood is rare that was to be had in fewer places.
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
        """Return moves with the numbers of features for their places."""
        numbers = np.where(
            moves.features < 0, _NEUTRAL_FEATURE, self._feature_numbers[moves.features]
        )
        return Comparisons(numbers.astype(np.int32), moves.first, moves.chosen)

    def mm_step(self) -> None:
        """Make one step of minorisation-maximisation, column by column."""
        moves, strengths = self._training, self.strengths
        position = np.repeat(
            np.arange(len(moves)), np.diff(moves.first, append=len(moves.features))
        )
        products = strengths[moves.features].prod(axis=1)
        for column in range(FEATURE_COLUMNS):
            numbers = moves.features[:, column]
            totals = np.add.reduceat(products, moves.first)
            others = products / strengths[numbers] / totals[position]
            met = np.bincount(numbers, others, len(strengths))
            won = np.bincount(numbers[moves.chosen], minlength=len(strengths))
            old = strengths.copy()
            there = np.unique(numbers)
            there = there[there != _NEUTRAL_FEATURE]
            strengths[there] = (won[there] + self._prior) / (
                met[there] + 2 * self._prior / (old[there] + 1)
            )
            products *= (strengths / old)[numbers]

    def quality(self, moves: Comparisons | None = None) -> PredictionQuality:
        """Tell how well other moves are foretold, or those that it learns from."""
        moves = self._training if moves is None else self._to_model_features(moves)
        if not len(moves):
            return PredictionQuality(0.0, 0.0, 0.0)
        products = self.strengths[moves.features].prod(axis=1)
        totals = np.add.reduceat(products, moves.first)
        won = products[moves.chosen]
        lengths = np.diff(moves.first, append=len(moves.features))
        better = products > np.repeat(won, lengths)
        equal = products == np.repeat(won, lengths)
        # Of moves that look the same any may come first.
        before = np.add.reduceat(better + 0.5 * equal, moves.first) - 0.5
        return PredictionQuality(
            float(np.log(won / totals).mean()),
            float((before < 1).mean()),
            float((before < 5).mean()),
        )

    def weights(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the weights of features by their names, and of neighbourhoods by their codes."""
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
    """Learn; yield what was learned after each iteration."""
    model = BradleyTerryModel(training, rare, prior)
    history = []
    for _ in range(iterations):
        model.mm_step()
        history.append((model.quality(), model.quality(validation)))
        features, patterns = model.weights()
        yield PatternFit(features, patterns, history)
