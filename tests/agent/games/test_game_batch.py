"""Input of batched evaluations, and the checks of their results."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from agent.evaluation import (
    DEFAULT_BATCH_SIZE,
    MAX_BATCH_SIZE,
    Evaluation,
    EvaluationError,
    batched,
    load,
)
from agent.game import parse_move
from agent.games import catalogue
from agent.games.chess_batch import (
    NO_MOVE,
    NO_SQUARE,
    ChessBatch,
    as_board_evaluation,
    batch_from_boards,
)
from agent.games.game_batch import GameBatch, evaluate_batch
from agent.games.go import Go
from agent.games.go_batch import GoBatch, batch_from_games
from agent.games.stones import PASS
from agent.games.tic_tac_toe import TicTacToe

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
CAPTURE = "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"
PROMOTION = "8/P6k/8/8/8/8/8/K7 w - - 7 40"


def evaluation(function: Callable[[Any], Any], size: int = 8) -> Evaluation:
    return Evaluation("mine.py:evaluate", python=function, batch=size)


def pieces_of(batch: ChessBatch, number: int) -> dict[int, str]:
    """Return the pieces of a position by square, the mover's in upper case."""
    return {
        square: letter
        for letter, bitboard in zip("PNBRQKpnbrqk", batch.pieces[number], strict=True)
        for square in chess.scan_forward(int(bitboard))
    }


def seen(board: chess.Board) -> dict[int, str]:
    """Return the pieces from the side to move, by python-chess."""
    upright = board if board.turn else board.mirror()
    return {square: piece.symbol() for square, piece in upright.piece_map().items()}


def test_function_with_a_batch_argument_is_batched(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def evaluate(batch):\n    return [0.0] * len(batch)\n")
    assert load(f"{file}:evaluate").batch == DEFAULT_BATCH_SIZE
    file.write_text("def evaluate(board):\n    return 0\n")
    assert load(f"{file}:evaluate").batch == 0


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, CASTLING, CAPTURE, PROMOTION])
def test_mirrored_board_gives_the_same_batch_entry(fen: str) -> None:
    board = chess.Board(fen)
    batch = batch_from_boards([board, board.mirror()])
    assert list(batch.turns) == [not board.turn, board.turn]
    assert pieces_of(batch, 0) == pieces_of(batch, 1) == seen(board)
    for array in (batch.castling, batch.en_passant, batch.halfmoves, batch.counts):
        assert array[0] == array[1]
    assert set(batch.moves[0]) == set(batch.moves[1])


def test_batch_moves_encode_squares_and_promotions() -> None:
    batch = batch_from_boards([chess.Board(PROMOTION), chess.Board(CASTLING), chess.Board(CAPTURE)])
    assert batch.width == max(batch.counts)
    a7, a8 = chess.A7, chess.A8
    promotions = {a7 + 64 * a8 + 4096 * kind for kind in range(chess.KNIGHT, chess.KING)}
    assert promotions <= set(batch.moves[0].tolist())
    assert {chess.E1 + 64 * chess.H1, chess.E1 + 64 * chess.A1} <= set(batch.moves[1].tolist())
    # Black's en passant capture on e3, from its side.
    assert chess.D5 + 64 * chess.E6 in batch.moves[2]
    assert list(batch.en_passant) == [NO_SQUARE, NO_SQUARE, chess.E6]
    for count, moves in zip(batch.counts, batch.moves, strict=True):
        assert (moves[:count] != NO_MOVE).all()
        assert (moves[count:] == NO_MOVE).all()


def test_castling_is_encoded_the_same_in_chess960() -> None:
    board = chess.Board(CASTLING)
    other = chess.Board(CASTLING, chess960=True)
    assert set(batch_from_boards([board]).moves[0]) == set(batch_from_boards([other]).moves[0])


def test_planes_have_a_one_for_each_piece() -> None:
    board = chess.Board(CAPTURE)
    planes = batch_from_boards([board]).planes()
    assert planes.shape == (1, 12, 64)
    assert planes.dtype == np.float32
    kinds, squares = np.nonzero(planes[0])
    found = {int(s): "PNBRQKpnbrqk"[k] for k, s in zip(kinds, squares, strict=True)}
    assert found == seen(board)


def test_single_board_value_is_rounded_to_centipawns() -> None:
    value = as_board_evaluation(evaluation(lambda batch: np.full(len(batch), 12.6)))(chess.Board())
    assert value == 13
    assert isinstance(value, int)


def test_go_batch_is_from_the_movers_view() -> None:
    game = Go(5, 6.5)
    for move in ("b1", "c1", "a2", "d2", "b3", "c3", "c2", "b2"):
        game.play(parse_move(game, move))
    batch = batch_from_games([game])
    stones = batch.stones[0]
    assert stones[0].tolist() == [0, 1, -1, 0, 0]  # Black, to move, has b1
    assert stones[1].tolist() == [1, -1, 0, -1, 0]  # the stone on c2 was captured
    assert batch.ko[0] == 1 * 5 + 2
    assert batch.last[0] == 1 * 5 + 1
    assert batch.komi[0] == 6.5
    legal = {25 if move == PASS else stone_point(game, move) for move in game.moves()}
    assert set(batch.moves[0, : batch.counts[0]].tolist()) == legal
    game.play(PASS)
    after = batch_from_games([game])
    assert after.turns[0] == 1
    assert (after.stones[0] == -stones).all()
    assert after.last[0] == 25


def stone_point(game: Go, move: int) -> int:
    column, row = game.stones.shape.coordinates(move)
    return row * game.width + column


def test_rectangular_go_boards_keep_their_rows_in_batches() -> None:
    game = Go("4x3", 0.5)
    for move in ("d1", "a3", "b2"):
        game.play(parse_move(game, move))
    batch = batch_from_games([game])
    assert batch.stones[0].tolist() == [[0, 0, 0, -1], [0, -1, 0, 0], [1, 0, 0, 0]]
    assert batch.last[0] == 1 * 4 + 1
    legal = {12 if move == PASS else stone_point(game, move) for move in game.moves()}
    assert set(batch.moves[0, : batch.counts[0]].tolist()) == legal


class Shown(TicTacToe):
    """A game with features."""

    def features(self) -> Any:
        return np.array([len(list(self.moves())), self.turn])


@pytest.mark.parametrize("game", [TicTacToe(), Shown()])
def test_batch_contains_games_or_their_features(game: TicTacToe) -> None:
    given: list[GameBatch] = []

    def evaluate(batch: GameBatch) -> Any:
        given.append(batch)
        return np.arange(len(batch))

    found = catalogue.find("tic-tac-toe").batch_evaluation(evaluation(evaluate))
    taken = []
    for move in ("b2", "a1"):
        taken.append(found.encode(game, list(game.moves())))
        game.play(parse_move(game, move))
    values, priors = found.evaluate(taken)
    game.undo()
    game.undo()
    assert list(values) == [0, 1]
    assert priors is None
    (batch,) = given
    assert list(batch.counts) == [9, 8]
    assert list(batch.turns) == [0, 1]
    assert batch.width == 9
    if batch.features is not None:
        assert batch.features.tolist() == [[9, 0], [8, 1]]
        assert batch.games == []
    else:
        assert [len(list(each.moves())) for each in batch.games] == [9, 8]
    assert (batch.features is None) == (type(game) is TicTacToe)


def test_callable_object_may_return_a_list_like_onnx() -> None:
    class Net:
        def __call__(self, batch: ChessBatch) -> Any:
            return [np.arange(len(batch)), np.ones((len(batch), batch.width))]

    marked = batched(size=4)(Net())
    assert (marked.__name__, marked.size) == ("Net", 4)
    values, priors = evaluate_batch(evaluation(marked), batch_from_boards([chess.Board()] * 3))
    assert list(values) == [0, 1, 2]
    assert priors is not None
    assert priors.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("fen", ["7k/8/5KQ1/8/8/8/8/8 b - - 0 1", "7k/6Q1/5K2/8/8/8/8/8 b - - 0 1"])
def test_finished_boards_are_not_passed_to_the_network(fen: str) -> None:
    def evaluate(batch: ChessBatch) -> Any:
        assert min(batch.counts) > 0
        return np.ones(len(batch)), np.ones((len(batch), batch.width))

    judged = as_board_evaluation(evaluation(evaluate))
    assert judged(chess.Board(fen)) == 0
    assert judged(chess.Board()) == 1


def test_position_without_moves_has_zero_priors() -> None:
    batch = batch_from_boards([chess.Board(), chess.Board("7k/8/5KQ1/8/8/8/8/8 b - - 0 1")])
    _, priors = evaluate_batch(
        evaluation(lambda batch: (np.zeros(2), np.ones((2, batch.width)))), batch
    )
    assert priors is not None
    assert priors[0].sum() == pytest.approx(1)
    assert not priors[1].any()


def test_evaluation_that_changes_its_batch_does_no_harm() -> None:
    def evaluate(batch: Any) -> Any:
        batch.counts[:] = 0
        for moves in batch.moves:
            moves.clear()
        return np.zeros(len(batch.counts)), np.ones((len(batch.counts), 9))

    game = TicTacToe()
    moves = list(game.moves())
    found = catalogue.find("tic-tac-toe").batch_evaluation(evaluation(evaluate))
    _, priors = found.evaluate([found.encode(game, moves)])
    assert len(moves) == 9
    assert priors is not None
    assert priors.sum() == pytest.approx(1)


def test_priors_cover_only_the_legal_moves() -> None:
    def evaluate(batch: ChessBatch) -> Any:
        return np.zeros(len(batch)), np.full((len(batch), batch.width), 7)

    batch = batch_from_boards([chess.Board(), chess.Board(PROMOTION)])
    _, priors = evaluate_batch(evaluation(evaluate), batch)
    assert priors is not None
    for row, count in zip(priors, batch.counts, strict=True):
        assert row[:count] == pytest.approx(1 / count)
        assert not row[count:].any()


WRONG = {
    "ragged": (
        lambda batch: (np.zeros(len(batch)), [[1.0], [1.0, 2.0]]),
        "rows of priors differ in length .expected shape",
    ),
    "raises": (lambda batch: 1 // 0, "evaluate failed: ZeroDivisionError"),
    "exits": (lambda batch: exit(), "evaluate failed: SystemExit"),
    "too few": (lambda batch: np.zeros(1), r"values have shape \(1,\) \(expected \(2,\)\)"),
    "a column": (lambda batch: np.zeros((2, 1)), r"values have shape \(2, 1\)"),
    "one number": (lambda batch: 5, r"values have shape \(\)"),
    "text": (lambda batch: ["a", "b"], "values have type <U1 .expected real numbers"),
    "complex": (lambda batch: np.zeros(2) * 1j, "values have type complex128"),
    "truths": (lambda batch: np.zeros(2, bool), "values have type bool"),
    "nothing": (lambda batch: None, "values have type object"),
    "nan": (lambda batch: np.array([0, np.nan]), "values contain nan"),
    "infinite": (lambda batch: np.array([0, -np.inf]), "values contain -inf"),
    "three": (lambda batch: (np.zeros(2), 1, 2), "returned 3 items"),
    "narrow": (lambda batch: (np.zeros(2), np.ones((2, 3))), r"priors have shape \(2, 3\)"),
    "negative": (lambda batch: (np.zeros(2), -priors_of(batch)), "priors must not be negative"),
    "none likely": (lambda batch: (np.zeros(2), 0 * priors_of(batch)), "or all 0 for a position"),
    "no prior": (lambda batch: (np.zeros(2), np.nan * priors_of(batch)), "priors contain nan"),
}


def priors_of(batch: ChessBatch) -> Any:
    return np.ones((len(batch), batch.width))


@pytest.mark.parametrize(("function", "message"), WRONG.values(), ids=WRONG)
def test_rejects_invalid_evaluation_results(function: Callable[[Any], Any], message: str) -> None:
    batch = batch_from_boards([chess.Board(), chess.Board(PROMOTION)])
    with pytest.raises(EvaluationError, match=message) as raised:
        evaluate_batch(evaluation(function), batch)
    assert "mine.py:evaluate" in str(raised.value)


@pytest.mark.parametrize("size", [0, -1, MAX_BATCH_SIZE + 1, True, 2.0, print])
def test_rejects_invalid_batch_sizes(size: Any) -> None:
    with pytest.raises(ValueError, match=r"must be 1 to 4096, for example @batched\(size=64\)"):
        batched(size)


def test_decorated_batch_function_is_loaded_by_name(tmp_path: Any) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from agent.evaluation import batched\n"
        "@batched(size=3)\ndef evaluate(batch):\n    return batch\n"
        "@batched()\ndef without():\n    return 0\n"
    )
    found = load(f"{path}:evaluate")
    assert found.batch == 3
    assert found.python is not None
    assert found.python(5) == 5
    with pytest.raises(EvaluationError, match=r"called with \(batch\), but takes \(\)"):
        load(f"{path}:without")
    with pytest.raises(EvaluationError, match="defined: evaluate, without"):
        load(f"{path}:another")


def test_go_batch_width_is_the_number_of_moves() -> None:
    batch: GoBatch = batch_from_games([Go(3), Go(3)])
    assert len(batch) == 2
    assert batch.width == 10


def test_priors_are_normalized_when_their_sum_overflows() -> None:
    _, priors = evaluate_batch(
        Evaluation("mine", lambda batch: (np.zeros(1), 1e308 * priors_of(batch)), batch=1),
        batch_from_boards([chess.Board()]),
    )
    assert priors is not None
    assert np.allclose(priors, 1 / 20)
