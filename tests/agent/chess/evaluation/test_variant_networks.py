"""The networks of variants."""

import random
from typing import Any

import chess
import pytest

from agent.chess.evaluation import nnue_features, nnue_reference
from agent.chess.evaluation.loading import DEFAULT, load
from agent.chess.evaluation.nnue_accumulators import allocate_accumulators
from agent.chess.evaluation.nnue_format import INPUTS
from agent.chess.evaluation.variant_networks import (
    corrects_evaluation,
    has_own_network,
    neuron_count,
    read_own_network,
)
from agent.chess.variants import variant_module
from agent.evaluation_types import HANDCRAFTED
from agent.games.variants import VARIANTS, board_class
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import int64

WITH_NETWORK = [name for name in VARIANTS[1:] if has_own_network(name) and neuron_count(name)]


def random_positions(variant: str, count: int) -> list[chess.Board]:
    """Return positions of random games, which begin again at their ends."""
    chance, boards = random.Random(5), []
    board = board_class(variant)()
    while len(boards) < count:
        moves = list(board.legal_moves)
        if not moves or board.is_variant_end():
            board = board_class(variant)()
            continue
        board.push(chance.choice(moves))
        if not board.is_variant_end():
            boards.append(board.copy(stack=False))
    return boards


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("variant", WITH_NETWORK)
def test_network_is_added_to_the_terms(variant: str) -> None:
    game = variant_module(variant, "board.kernel_board").KernelBoard()
    evaluators = variant_module(variant, "evaluation.evaluators")
    reference = variant_module(variant, "evaluation.nnue_reference")
    terms = evaluators.make_terms_evaluator()
    handcrafted = evaluators.make_evaluator(HANDCRAFTED, False, lambda: None)
    complete = evaluators.make_evaluator(load(DEFAULT), False, lambda: None)
    network = read_own_network(variant)
    assert network is not None
    differing = 0
    for board in random_positions(variant, 400):
        game.load(board)
        score = reference.evaluate(network, board)
        differing += score != 0
        value = terms.evaluate(game)
        assert (value == handcrafted.evaluate(game)) or not corrects_evaluation(variant)
        assert complete.evaluate(game) - value == score, board.fen()
    assert differing > 300


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("variant", WITH_NETWORK)
def test_updated_accumulators_equal_recomputed_ones(variant: str) -> None:
    module = variant_module(variant, "board.kernel_board")
    make_move, generate = module.make_move, module.generate
    position_at, frame_at = module.position_at, module.frame_at
    kinds, squares = module.ALL, module.ALL_SQUARES

    def advance(worker: Any, ply: int, number: int) -> int:
        """Play a move at `ply` and return True, or return False if there is no legal move."""
        frame = frame_at(worker, ply)
        moves = generate(position_at(worker, ply), frame, 0, kinds, squares, False)
        if moves:
            make_move(worker, ply, int64(frame.moves[number % moves]))
        return moves > 0

    def score(worker: Any, ply: int) -> int:
        return network_score(worker, ply)

    evaluators = variant_module(variant, "evaluation.evaluators")
    complete = evaluators.make_evaluator(load(DEFAULT), False, lambda: None)
    network = read_own_network(variant)
    assert network is not None
    network_score = variant_module(variant, "evaluation.nnue").network_score_function(
        network.neurons
    )
    advance.__qualname__, score.__qualname__ = f"advance_{variant}", f"score_{variant}"
    advance = entry_point(int64(module.Worker, int64, int64))(advance)
    score = entry_point(int64(module.Worker, int64))(score)
    game, chance, compared = module.KernelBoard(), random.Random(6), 0
    for board in random_positions(variant, 100):
        game.load(board)
        complete.attach(game)
        for ply in range(8):
            if not advance(game.worker, ply, chance.randrange(1000)):
                break
            if chance.random() < 0.5:  # the next update applies several moves
                continue
            updated = score(game.worker, ply + 1)
            game.set_network(None, allocate_accumulators)
            complete.attach(game)
            assert updated == score(game.worker, ply + 1), (board.fen(), ply)
            compared += 1
    assert compared > 200


def test_ranks_are_flipped_except_in_racing_kings() -> None:
    """The own king, on its way to the eighth rank, is the same input for both sides."""
    for variant, equal in (("racingkings", True), ("atomic", False)):
        features = variant_module(variant, "evaluation.nnue_features")
        assert (
            features.feature_index(0, 0, 0, 5, 40) == features.feature_index(1, 0, 1, 5, 40)
        ) is equal


def test_checks_have_inputs_of_their_own() -> None:
    board = board_class("3check")("4k3/8/8/8/8/8/8/4K3 w - - 3+1 0 1")
    own, enemy = ([nnue_features.check_index(side, n) for n in (1, 3)] for side in (0, 1))
    white, black = (nnue_reference.active_features(board, view) for view in (True, False))
    assert {own[1], enemy[0]} < set(white)
    assert {own[0], enemy[1]} < set(black)


def test_pockets_have_inputs_of_their_own() -> None:
    board = board_class("crazyhouse")("4k3/8/8/8/8/8/8/4K3[QPPnn] w - - 0 1")
    for view in chess.COLORS:
        features = nnue_reference.active_features(board, view)
        assert len(features) == 7
        assert len(set(features)) == 5
        assert max(features) < INPUTS


def test_king_of_the_hill_uses_the_network_of_chess() -> None:
    assert not has_own_network("kingofthehill")
    assert neuron_count("kingofthehill") == neuron_count("chess") > 0
