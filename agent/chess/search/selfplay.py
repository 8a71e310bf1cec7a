"""Whole games of self-play in one call of the kernel, for training data.

Nothing that the engine needs to play imports this module: it is compiled on the first self-play.
A game follows from its rules, evaluation and seed alone, so it can be played again.
"""

import dataclasses
import random
from collections.abc import Sequence
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
from agent.chess.search.selfplay_settings import OpeningsError, SelfPlaySettings
from agent.evaluation_types import Evaluation
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, Bits, int64, multiply_high
from agent.kernel.record import FixedArray, allocate, record
from agent.kernel.scores import MATE_BOUND, MAX_PLY
from agent.kernel.table_memory import TableMemory
from agent.kernel.transposition_table import GENERATIONS

_HARD_LIMIT = 20  # times the soft limit of nodes
_NO_LIMIT = 1 << 62
_REJECTED = -1
_MAX_OPENING_ATTEMPTS = 1000  # to find an opening that does not end or decide the game


@record
class _SelfPlayState(SelfPlaySettings):
    """The rules of a game, and what its last search found."""

    random: Bits  # state of the generator
    move: int
    score: int
    depth: int


@kernel
def _random_below(play: _SelfPlayState, limit: int) -> int:
    """Draw a number (SplitMix64: Steele, Lea and Flood, 2014)."""
    play.random += U64(0x9E3779B97F4A7C15)
    bits = play.random
    bits = (bits ^ bits >> U64(30)) * U64(0xBF58476D1CE4E5B9)
    bits = (bits ^ bits >> U64(27)) * U64(0x94D049BB133111EB)
    return int64(multiply_high(bits ^ bits >> U64(31), U64(limit)))


@kernel
def _search_root(worker: Worker, play: _SelfPlayState) -> None:
    """Search the root position, which has a legal move: sets play.move, score and depth."""
    root, frame = position_at(worker, 0), frame_at(worker, 0)
    worker.root_count = generate(root, frame, 0, ALL, ALL_SQUARES, False)
    for i in range(worker.root_count):
        worker.root_moves[i] = frame.moves[i]
        worker.root_nodes[i] = 0
    worker.multipv_start = worker.root_index = 0
    worker.nodes = worker.seldepth = worker.stop = 0
    worker.best_move = worker.best_score = 0
    worker.node_limit = _NO_LIMIT  # without a first iteration there is no score
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
    """Return 0 as long as the game goes on, 1 where it is drawn, 2 where the mover is mated."""
    position = position_at(worker, 0)
    if generate(position, frame_at(worker, 0), 0, ALL, ALL_SQUARES, True) == 0:
        return 2 if position.checkers else 1
    if is_insufficient_material(position) or is_repetition(worker, 0):
        return 1
    return 1 if position.halfmoves >= FIFTY_MOVES else 0


@kernel
def _play_randomly(worker: Worker, play: _SelfPlayState, plies: int) -> bool:
    """Make random moves; return False if the game ended."""
    for _ in range(plies):
        position, frame = position_at(worker, 0), frame_at(worker, 0)
        n = generate(position, frame, 0, ALL, ALL_SQUARES, False)
        if n == 0:
            return False
        advance_root(worker, int64(frame.moves[_random_below(play, n)]))
    return _outcome(worker) == 0


@kernel
def _is_quiet(worker: Worker, play: _SelfPlayState) -> bool:
    """Tell whether the root can be judged as it stands: no check, nothing to take, no mate."""
    position = position_at(worker, 0)
    return (
        position.checkers == 0
        and not is_noisy(position, play.move)
        and abs(play.score) < MATE_BOUND
    )


@entry_point(int64(Worker, _SelfPlayState, numba.types.Array(packed_type, 1, "C")))
def _play(worker: Worker, play: _SelfPlayState, kept: FixedArray[PackedPosition]) -> int:
    """Play from the root position to the end; write what is kept, and return how many.

    Returns _REJECTED, having kept nothing, if the random opening ends or decides the game.
    """
    random_plies = play.random_plies + _random_below(play, 2)
    if not _play_randomly(worker, play, random_plies):
        return _REJECTED
    n = lead = level = result = 0  # result is White's
    for ply in range(random_plies, play.max_plies):
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
            pack(kept[n], position)
            kept[n].score = play.score
            kept[n].depth = play.depth
            n += 1

        ahead = sign * play.score
        if ahead >= play.win_score:
            lead = max(lead, 0) + 1
        elif ahead <= -play.win_score:
            lead = min(lead, 0) - 1
        else:
            lead = 0
        if abs(lead) >= play.win_plies:
            result = 1 if lead > 0 else -1
            break
        level = level + 1 if abs(ahead) <= play.draw_score and ply >= play.draw_ply else 0
        if level >= play.draw_plies:
            break
        advance_root(worker, play.move)
    for i in range(n):
        kept[i].result = -result if kept[i].state >= BLACK_TO_MOVE else result
    return n


class SelfPlay:
    """Plays games by their numbers."""

    def __init__(
        self,
        rules: SelfPlaySettings,
        seed: int,
        openings: Sequence[chess.Board] = (),
        evaluation: Evaluation | None = None,
    ) -> None:
        """Take what all games share.

        openings: where games begin, before their random plies; the start position if none.
        evaluation: the default one without it.
        """
        self._rules = rules
        self._seed = seed
        self._openings = openings or (chess.Board(),)
        self._table = TableMemory(rules.hash)
        self._game = KernelBoard()
        self._evaluator = make_evaluator(evaluation or load(DEFAULT), False, self._stop)
        self._kept: Any = np.zeros(rules.max_plies, packed_dtype)
        self._play, _ = allocate(_SelfPlayState)

    def _stop(self) -> None:
        self._game.worker.stop = 1

    def play(self, number: int) -> npt.NDArray[np.void]:
        """Play one game; return the positions kept of it, packed.

        Raises EvaluationError if the user's evaluation fails, and OpeningsError if no opening
        will do.
        """
        generator = random.Random(f"{self._seed}/{number}")
        for name, value in dataclasses.asdict(self._rules).items():
            setattr(self._play, name, value)
        for _ in range(_MAX_OPENING_ATTEMPTS):
            opening = self._openings[generator.randrange(len(self._openings))]
            self._play.random = U64(generator.getrandbits(64))
            self._prepare(opening)
            count = _play(self._game.worker, self._play, self._kept)
            error = self._evaluator.pop_error([self._game])
            if error is not None:
                raise error
            if count != _REJECTED:
                kept: npt.NDArray[np.void] = self._kept[:count].copy()
                return kept
        raise OpeningsError(
            f"of {_MAX_OPENING_ATTEMPTS} openings none left a game to play: choose others or fewer random plies"
        )

    def _prepare(self, opening: chess.Board) -> None:
        """Forget all earlier games, so that each follows from its number alone."""
        self._table.clear()
        self._game = KernelBoard()
        self._game.load(opening)
        worker = self._game.worker
        worker.selective = 1
        self._evaluator.attach(self._game)
        self._table.attach_to(worker)
