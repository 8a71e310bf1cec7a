"""Go positions as arrays from the point of view of the side to move."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from agent.evaluation_types import Evaluation
from agent.games.batch_evaluation import BatchEvaluation
from agent.games.game_batch import PaddedMoves, Priors, Values, evaluate_batch
from agent.games.stones import BLACK, NO_VERTEX, PASS, WHITE, BoardShape, Stones

NO_POINT = NO_MOVE = -1
# Encoded position: stones, turn, komi, last move, legal moves.
_EncodedPosition = tuple[Stones, int, float, int | None, list[int]]


class _Go(Protocol):
    @property
    def stones(self) -> Stones: ...
    @property
    def turn(self) -> int: ...
    @property
    def last_move(self) -> int | None: ...
    def moves(self) -> list[int]: ...

    komi: float


@dataclass(frozen=True)
class GoBatch(PaddedMoves):
    """A batch of n Go positions on boards of equal size.

    On a board with `height` rows and `width` columns, a point is row * width + column. Rows and
    columns are counted from 0 at the lower left (A1). A pass is width * height.

    - `stones`: int8 (n, height, width), by row and column: 1 for a stone of the side to move, -1
      for a stone of the opponent, 0 for an empty point.
    - `turns`: int64 (n,), 0 if Black is to move, 1 if White is to move.
    - `komi`: float64 (n,), the number of points that White receives.
    - `ko`: int64 (n,), the point where the ko rule forbids a recapture, or -1.
    - `last`: int64 (n,), the last move, or -1.
    - `moves`: int32 (n, m), the legal moves including the pass, padded with -1. m is the largest
      number of legal moves in the batch.
    - `counts`: int64 (n,), the number of legal moves.
    """

    stones: npt.NDArray[np.int8]
    turns: npt.NDArray[np.int64]
    komi: npt.NDArray[np.float64]
    ko: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    moves: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


def go_batch_evaluation(evaluation: Evaluation) -> BatchEvaluation:
    """Convert a user's evaluation of `GoBatch` objects to a `BatchEvaluation`."""

    def encode(game: _Go, moves: list[int]) -> _EncodedPosition:
        return game.stones, game.turn, game.komi, game.last_move, moves

    def evaluate(positions: Sequence[_EncodedPosition]) -> tuple[Values, Priors | None]:
        return evaluate_batch(evaluation, _batch(positions))

    return BatchEvaluation(encode, evaluate, evaluation.batch)


def batch_from_games(games: Sequence[_Go]) -> GoBatch:
    """Convert the current positions of games to a batch. All boards must have equal size."""
    return _batch(
        [(game.stones, game.turn, game.komi, game.last_move, game.moves()) for game in games]
    )


def _batch(positions: Sequence[_EncodedPosition]) -> GoBatch:
    shape = positions[0][0].shape
    points = np.array(shape.vertices)
    boards = np.array([stones.board for stones, *_ in positions])[:, points]
    turns = np.array([turn for _, turn, *_ in positions], np.int64)
    own = np.where(turns == 0, BLACK, WHITE)[:, None]
    stones = ((boards == own).astype(np.int8) - (boards == 3 - own)).astype(np.int8)
    counts = np.array([len(moves) for *_, moves in positions], np.int64)
    encoded = np.full((len(positions), int(counts.max())), NO_MOVE, np.int32)
    for row, (*_, moves) in enumerate(positions):
        encoded[row, : len(moves)] = [_encode_point(shape, move) for move in moves]
    return GoBatch(
        stones.reshape(-1, shape.height, shape.width),
        turns,
        np.array([komi for _, _, komi, *_ in positions], np.float64),
        np.array([_ko(stones) for stones, *_ in positions], np.int64),
        np.array([_encode_point(shape, last) for _, _, _, last, _ in positions], np.int64),
        encoded,
        counts,
    )


def _encode_point(shape: BoardShape, move: int | None) -> int:
    if move is None:
        return NO_POINT
    if move == PASS:
        return shape.width * shape.height
    column, row = shape.coordinates(move)
    return row * shape.width + column


def _ko(stones: Stones) -> int:
    return NO_POINT if stones.ko == NO_VERTEX else _encode_point(stones.shape, stones.ko)
