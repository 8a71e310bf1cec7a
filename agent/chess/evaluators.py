"""Evaluations of chess as the kernel calls them."""

from collections.abc import Callable
from typing import Any

import chess
import numpy as np

from agent.chess.handcrafted import handcrafted_function
from agent.chess.records import NO_SQUARE, Position, Worker
from agent.compiled.evaluators import CompiledEvaluator, Evaluator, PythonEvaluator
from agent.compiled.record import dtype_of, offset_of
from agent.compiled.scores import MAX_EVALUATION
from agent.compiled.user_evaluation import compile_evaluation, whole_score
from agent.evaluation import Evaluation, whole

_POSITIONS = offset_of(Worker, "positions")
_PositionStruct: Any = np.ctypeslib.as_ctypes_type(dtype_of(Position))  # type: ignore[arg-type]
_POSITION_SIZE = dtype_of(Position).itemsize


def board_at(worker: int, ply: int, chess960: bool = False) -> chess.Board:
    """Make a board of the position at `ply` of the worker at that address."""
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


def make_evaluator(
    evaluation: Evaluation, chess960: bool, on_error: Callable[[], None]
) -> Evaluator:
    """Make the C function of an evaluation, compiling it if need be.

    Raises EvaluationError if it cannot be compiled.
    """
    if evaluation.python is not None:
        function = evaluation.python

        def evaluate(worker: int, ply: int) -> int:
            value = whole(evaluation.name, function(board_at(worker, ply, chess960)))
            return min(max(value, -MAX_EVALUATION), MAX_EVALUATION)

        return PythonEvaluator(evaluation.name, evaluate, on_error)
    if evaluation.jitted is None:
        return CompiledEvaluator(evaluation.name, handcrafted_function)
    compiled = compile_evaluation(evaluation.name, evaluation.jitted, Worker, whole_score)
    return CompiledEvaluator(evaluation.name, compiled)
