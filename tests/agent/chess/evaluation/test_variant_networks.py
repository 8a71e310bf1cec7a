"""The networks of variants."""

import random

import chess
import pytest

from agent.chess.evaluation import nnue_reference
from agent.chess.evaluation.loading import DEFAULT, load
from agent.chess.evaluation.nnue_format import INPUTS
from agent.chess.evaluation.variant_networks import has_own_network, neuron_count, read_own_network
from agent.chess.variants import variant_module
from agent.evaluation_types import HANDCRAFTED
from agent.games.variants import VARIANTS, board_class

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
def test_network_is_added_to_the_evaluation(variant: str) -> None:
    game = variant_module(variant, "board.kernel_board").KernelBoard()
    make = variant_module(variant, "evaluation.evaluators").make_evaluator
    plain = make(HANDCRAFTED, False, lambda: None)
    corrected = make(load(DEFAULT), False, lambda: None)
    network = read_own_network(variant)
    assert network is not None
    differing = 0
    for board in random_positions(variant, 400):
        game.load(board)
        correction = nnue_reference.evaluate(network, board)
        differing += correction != 0
        assert corrected.evaluate(game) - plain.evaluate(game) == correction, board.fen()
    assert differing > 300


def test_pockets_have_inputs_of_their_own() -> None:
    board = board_class("crazyhouse")("4k3/8/8/8/8/8/8/4K3[QPPnn] w - - 0 1")
    for view in chess.COLORS:
        features = nnue_reference.active_features(board, view)
        assert len(features) == 7
        assert len(set(features)) == 5
        assert max(features) < INPUTS


@pytest.mark.parametrize("variant", ["kingofthehill", "3check"])
def test_variant_with_the_network_of_chess_has_no_own_one(variant: str) -> None:
    assert not has_own_network(variant)
    assert neuron_count(variant) == neuron_count("3check") > 0
