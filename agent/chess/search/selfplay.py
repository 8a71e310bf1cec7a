"""Self-play games for training data.

The settings, the evaluation, the seed and the game number determine a game.
"""

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import chess
import numba
import numpy as np
import numpy.typing as npt

from agent.chess.board.bitboards import ALL_SQUARES
from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.movegen import ALL, generate, is_noisy
from agent.chess.board.packed_position import BLACK_TO_MOVE, PackedPosition, packed_dtype
from agent.chess.board.packing import pack, packed_type
from agent.chess.board.position import advance_root, is_insufficient_material, is_repetition
from agent.chess.board.records import FIFTY_MOVES, Worker, frame_at, position_at
from agent.chess.evaluation.evaluators import make_evaluator
from agent.chess.evaluation.loading import DEFAULT, load
from agent.chess.search.aspiration import aspiration_search
from agent.chess.search.selfplay_settings import (
    MAX_OPENING_ATTEMPTS,
    OpeningsError,
    SelfPlaySettings,
)
from agent.evaluation_types import Evaluation
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, Bits, int64, multiply_high
from agent.kernel.record import FixedArray, allocate, record
from agent.kernel.scores import MATE_BOUND, MAX_PLY
from agent.kernel.table_memory import TableMemory
from agent.kernel.transposition_table import GENERATIONS

_HARD_LIMIT = 20  # multiple of the soft node limit
_NO_LIMIT = 1 << 62
_REJECTED = -1


@record
class _SelfPlayState(SelfPlaySettings):
    random: Bits  # state of the random number generator
    move: int
    score: int
    depth: int


@kernel
def _random_below(play: _SelfPlayState, limit: int) -> int:
    """Return a random number from 0 to `limit - 1` (SplitMix64: Steele, Lea and Flood, 2014)."""
    play.random += U64(0x9E3779B97F4A7C15)
    bits = play.random
    bits = (bits ^ bits >> U64(30)) * U64(0xBF58476D1CE4E5B9)
    bits = (bits ^ bits >> U64(27)) * U64(0x94D049BB133111EB)
    return int64(multiply_high(bits ^ bits >> U64(31), U64(limit)))


@kernel
def _search_root(worker: Worker, play: _SelfPlayState) -> None:
    root, frame = position_at(worker, 0), frame_at(worker, 0)
    worker.root_count = generate(root, frame, 0, ALL, ALL_SQUARES, False)
    for i in range(worker.root_count):
        worker.root_moves[i] = frame.moves[i]
        worker.root_nodes[i] = 0
    worker.multipv_start = worker.root_index = 0
    worker.nodes = worker.seldepth = worker.stop = 0
    worker.best_move = worker.best_score = 0
    worker.node_limit = _NO_LIMIT  # the first iteration must complete to get a score
    worker.generation = (worker.generation + 1) % GENERATIONS
    play.move, play.score, play.depth = worker.root_moves[0], 0, 0
    depth = int64(0)
    while depth < MAX_PLY - 1 and worker.nodes < play.nodes:
        depth += 1
        score = aspiration_search(worker, depth, play.score)
        if worker.stop:
            return
        play.move, play.score, play.depth = worker.root_moves[0], score, depth
        worker.node_limit = _HARD_LIMIT * play.nodes


@kernel
def _outcome(worker: Worker) -> int:
    """Return 0 if the game continues, 1 if it is drawn, or 2 if the side to move is mated."""
    position = position_at(worker, 0)
    if generate(position, frame_at(worker, 0), 0, ALL, ALL_SQUARES, True) == 0:
        return 2 if position.checkers else 1
    if is_insufficient_material(position) or is_repetition(worker, 0):
        return 1
    return 1 if position.halfmoves >= FIFTY_MOVES else 0


@kernel
def _record(worker: Worker, positions: FixedArray[PackedPosition], ply: int) -> None:
    """Write the root position, without a score."""
    pack(positions[ply], position_at(worker, 0))
    positions[ply].score = 0
    positions[ply].depth = 0


@kernel
def _play_randomly(
    worker: Worker, play: _SelfPlayState, positions: FixedArray[PackedPosition], plies: int
) -> bool:
    for ply in range(plies):
        _record(worker, positions, ply)
        position, frame = position_at(worker, 0), frame_at(worker, 0)
        n = generate(position, frame, 0, ALL, ALL_SQUARES, False)
        if n == 0:
            return False
        advance_root(worker, int64(frame.moves[_random_below(play, n)]))
    return _outcome(worker) == 0


@kernel
def _is_quiet(worker: Worker, play: _SelfPlayState) -> bool:
    position = position_at(worker, 0)
    return (
        position.checkers == 0
        and not is_noisy(position, play.move)
        and abs(play.score) < MATE_BOUND
    )


@entry_point(int64(Worker, _SelfPlayState, numba.types.Array(packed_type, 1, "C")))
def _play(worker: Worker, play: _SelfPlayState, positions: FixedArray[PackedPosition]) -> int:
    """Play a game from the root position. Write all positions, and return their number.

    Return _REJECTED if the random opening moves end or decide the game.
    """
    random_plies = play.random_plies + _random_below(play, 2)
    if not _play_randomly(worker, play, positions, random_plies):
        return _REJECTED
    n = winning_plies = drawn_plies = result = 0  # winning_plies and result are for White
    for ply in range(random_plies, play.max_plies):
        _record(worker, positions, ply)
        n = ply + 1
        position = position_at(worker, 0)
        sign = 1 - 2 * position.turn
        outcome = _outcome(worker)
        if outcome:
            result = -sign if outcome == 2 else 0
            break
        _search_root(worker, play)
        if worker.failure:
            return 0
        if ply == random_plies and abs(play.score) > play.opening_limit:
            return _REJECTED
        if ply >= play.first_ply and _is_quiet(worker, play):
            positions[ply].score = play.score
            positions[ply].depth = play.depth

        # Adjudication of decided and drawn games.
        white_score = sign * play.score
        if white_score >= play.win_score:
            winning_plies = max(winning_plies, 0) + 1
        elif white_score <= -play.win_score:
            winning_plies = min(winning_plies, 0) - 1
        else:
            winning_plies = 0
        if abs(winning_plies) >= play.win_plies:
            result = 1 if winning_plies > 0 else -1
            break
        is_level = abs(white_score) <= play.draw_score and ply >= play.draw_ply
        drawn_plies = drawn_plies + 1 if is_level else 0
        if drawn_plies >= play.draw_plies:
            break
        advance_root(worker, play.move)
    for i in range(n):
        positions[i].result = -result if positions[i].state >= BLACK_TO_MOVE else result
    return n


class SelfPlay:
    """Plays self-play games, each identified by a number.

    Each game starts from a position that `draw_opening` returns, and some random moves. If
    `evaluation` is None, the default evaluation is used.
    """

    def __init__(
        self,
        rules: SelfPlaySettings,
        seed: int,
        draw_opening: Callable[[random.Random], chess.Board] = lambda _: chess.Board(),
        evaluation: Evaluation | None = None,
    ) -> None:
        self._rules = rules
        self._seed = seed
        self._draw_opening = draw_opening
        self._table = TableMemory(rules.hash)
        self._game = KernelBoard()
        self._evaluator = make_evaluator(evaluation or load(DEFAULT), False, self._stop)
        self._kept: Any = np.zeros(rules.max_plies, packed_dtype)
        self._play, _ = allocate(_SelfPlayState)

    def _stop(self) -> None:
        self._game.worker.stop = 1

    def play(self, number: int) -> npt.NDArray[np.void]:
        """Play game `number`, and return all its positions as `PackedPosition` records.

        Positions that are unsuitable for training have the depth 0. Raise `EvaluationError` if the
        user's evaluation fails. Raise `OpeningsError` if every tried opening ended or decided the
        game.
        """
        generator = random.Random(f"{self._seed}/{number}")
        for name, value in dataclasses.asdict(self._rules).items():
            setattr(self._play, name, value)
        for _ in range(MAX_OPENING_ATTEMPTS):
            opening = self._draw_opening(generator)
            self._play.random = U64(generator.getrandbits(64))
            self._prepare(opening)
            count = _play(self._game.worker, self._play, self._kept)
            error = self._evaluator.pop_error([self._game])
            if error is not None:
                raise error
            if count != _REJECTED:
                positions: npt.NDArray[np.void] = self._kept[:count].copy()
                return positions
        raise OpeningsError(
            f"openings: {MAX_OPENING_ATTEMPTS} attempts all ended or decided the game; "
            "use other openings or fewer random plies"
        )

    def _prepare(self, opening: chess.Board) -> None:
        """Clear the table and the histories, so that the game does not depend on earlier games."""
        self._table.clear()
        self._game = KernelBoard()
        self._game.load(opening)
        worker = self._game.worker
        worker.selective = 1
        self._evaluator.attach(self._game)
        self._table.attach_to(worker)
