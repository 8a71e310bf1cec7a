"""Positions of Go as arrays, seen from the side to move: what batched evaluations take."""

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
# What is kept of a position: stones, turn, komi, last move, moves.
_EncodedPosition = tuple[Stones, int, float, int | None, list[int]]


class _Go(Protocol):
    """A game of Go, as `agent.games.go` has it."""

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
    """Positions of Go on boards of one size.

    A point is row * width + column, both from 0 at the lower left, as A1 is; passing is
    width * height.

    stones: int8 (n, height, width), by row and column: 1 where the mover has a stone, -1 where the
    other side has one. turns: int64 (n,), 0 where Black is to move, 1 where White is. komi: float64
    (n,), what White gets. ko: int64 (n,), the point that the mover may not take back at once, -1 if
    there is none. last: int64 (n,), the last move, -1 if there was none. moves: int32 (n, most),
    the legal moves, passing among them, -1 beyond the last. counts: int64 (n,), how many there are.
    """

    stones: npt.NDArray[np.int8]
    turns: npt.NDArray[np.int64]
    komi: npt.NDArray[np.float64]
    ko: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    moves: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


def go_batch_evaluation(evaluation: Evaluation) -> BatchEvaluation:
    """Return a batched evaluation that takes a `GoBatch`."""

    def take(game: _Go, moves: list[int]) -> _EncodedPosition:
        return game.stones, game.turn, game.komi, game.last_move, moves

    def answer(taken: Sequence[_EncodedPosition]) -> tuple[Values, Priors | None]:
        return evaluate_batch(evaluation, _batch(taken))

    return BatchEvaluation(take, answer, evaluation.batch)


def batch_from_games(games: Sequence[_Go]) -> GoBatch:
    """Make a batch of games as they stand, on boards of one size."""
    return _batch(
        [(game.stones, game.turn, game.komi, game.last_move, game.moves()) for game in games]
    )


def _batch(taken: Sequence[_EncodedPosition]) -> GoBatch:
    shape = taken[0][0].shape
    points = np.array(shape.vertices)
    boards = np.array([stones.board for stones, *_ in taken])[:, points]
    turns = np.array([turn for _, turn, *_ in taken], np.int64)
    own = np.where(turns == 0, BLACK, WHITE)[:, None]
    stones = ((boards == own).astype(np.int8) - (boards == 3 - own)).astype(np.int8)
    counts = np.array([len(moves) for *_, moves in taken], np.int64)
    written = np.full((len(taken), int(counts.max())), NO_MOVE, np.int32)
    for row, (*_, moves) in enumerate(taken):
        written[row, : len(moves)] = [_encode_point(shape, move) for move in moves]
    return GoBatch(
        stones.reshape(-1, shape.height, shape.width),
        turns,
        np.array([komi for _, _, komi, *_ in taken], np.float64),
        np.array([_ko(stones) for stones, *_ in taken], np.int64),
        np.array([_encode_point(shape, last) for _, _, _, last, _ in taken], np.int64),
        written,
        counts,
    )


def _encode_point(shape: BoardShape, move: int | None) -> int:
    """Return a move of the plain game as a batch has it."""
    if move is None:
        return NO_POINT
    if move == PASS:
        return shape.width * shape.height
    column, row = shape.coordinates(move)
    return row * shape.width + column


def _ko(stones: Stones) -> int:
    return NO_POINT if stones.ko == NO_VERTEX else _encode_point(stones.shape, stones.ko)
