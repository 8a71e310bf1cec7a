"""Chess evaluations as C functions that the kernel can call."""

from collections.abc import Callable, Iterable
from typing import Any

import chess
import numpy as np

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.records import NO_SQUARE, Position, Worker
from agent.chess.board.rules import IS_STANDARD, NAME
from agent.chess.evaluation.nnue import network_function
from agent.chess.evaluation.nnue_accumulators import allocate_accumulators
from agent.chess.evaluation.nnue_format import NnueNetwork
from agent.chess.evaluation.variant_networks import has_own_network, read_own_network
from agent.evaluation_types import Evaluation, EvaluationError, network_file, require_integer
from agent.kernel.evaluators import CompiledEvaluator, Evaluator, PythonEvaluator, evaluate_root
from agent.kernel.intrinsics import U64
from agent.kernel.record import dtype_of, offset_of
from agent.kernel.scores import MAX_EVALUATION
from agent.kernel.user_evaluation import clamp_score, compile_evaluation

_POSITIONS = offset_of(Worker, "positions")
_PositionStruct: Any = np.ctypeslib.as_ctypes_type(dtype_of(Position))  # type: ignore[arg-type]
_POSITION_SIZE = dtype_of(Position).itemsize


def board_at(worker: int, ply: int, chess960: bool = False) -> chess.Board:
    """Return a board with the position at `ply`. `worker` is the address of a `Worker`."""
    position = _PositionStruct.from_address(worker + _POSITIONS + ply * _POSITION_SIZE)
    board = chess.Board(None, chess960=chess960)
    (
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.kings,
    ) = position.kinds
    white, black = position.sides
    board.occupied_co[chess.WHITE] = white
    board.occupied_co[chess.BLACK] = black
    board.occupied = white | black
    board.turn = position.turn == 0
    board.castling_rights = position.castling
    board.ep_square = None if position.en_passant == NO_SQUARE else position.en_passant
    board.halfmove_clock = position.halfmoves
    board.fullmove_number = position.fullmoves
    return board


class ChessEvaluator:
    """An evaluation function for kernel workers, with its neural network or None."""

    def __init__(self, evaluator: Evaluator, network: NnueNetwork | None = None) -> None:
        self.address = evaluator.address
        self._evaluator = evaluator
        self.network = network

    def attach(self, game: KernelBoard) -> None:
        """Make the worker in `game` use this evaluation. Drop accumulators of other networks."""
        game.worker.evaluate = U64(self.address)
        game.set_network(self.network, allocate_accumulators)

    def evaluate(self, game: KernelBoard) -> int:
        """Return the evaluation of the root position. The caller must then check `pop_error`."""
        self.attach(game)
        return evaluate_root(self._evaluator, game.address)

    def pop_error(self, games: Iterable[KernelBoard]) -> EvaluationError | None:
        """Return and clear the error that an evaluation raised in one of `games`, or None."""
        return self._evaluator.pop_error(game.worker for game in games)


def make_terms_evaluator() -> ChessEvaluator:
    """Return an evaluator for what a variant adds to the score of its network."""
    from agent.chess.evaluation import variant_evaluation  # lazy: compiled for variants only

    return ChessEvaluator(CompiledEvaluator(NAME, variant_evaluation.terms_function()))


def make_evaluator(
    evaluation: Evaluation, chess960: bool, on_error: Callable[[], None]
) -> ChessEvaluator:
    """Return an evaluator for `evaluation`. Raise `EvaluationError` if compilation fails.

    `on_error` is called after a Python evaluation has raised an exception. A variant has its own
    evaluation, and its own network or that of `evaluation`.
    """
    if not IS_STANDARD:
        from agent.chess.evaluation import variant_evaluation  # lazy: compiled for variants only

        own = CompiledEvaluator(NAME, variant_evaluation.variant_function)
        usable = evaluation.network
        if usable is not None and has_own_network(NAME):
            usable = read_own_network(NAME)
        if usable is None or usable.neurons != variant_evaluation.NEURONS:
            usable = None
        return ChessEvaluator(own, usable)
    if evaluation.python is not None:
        function = evaluation.python
        if evaluation.batch:
            from agent.games.chess_batch import as_board_evaluation  # lazy: rarely used

            function = as_board_evaluation(evaluation)

        def evaluate(worker: int, ply: int) -> int:
            value = require_integer(evaluation.name, function(board_at(worker, ply, chess960)))
            return min(max(value, -MAX_EVALUATION), MAX_EVALUATION)

        return ChessEvaluator(PythonEvaluator(evaluation.name, evaluate, on_error))
    network: NnueNetwork | None = evaluation.network
    if evaluation.jitted is not None:  # it may call the network
        compiled = compile_evaluation(evaluation.name, evaluation.jitted, Worker, clamp_score)
    elif network is not None:
        compiled = network_function(network.neurons)
    else:
        assert network_file(evaluation.name) is None, "network not loaded"
        from agent.chess.evaluation.handcrafted import handcrafted_function  # lazy: slow to load

        compiled = handcrafted_function
    return ChessEvaluator(CompiledEvaluator(evaluation.name, compiled), network)
