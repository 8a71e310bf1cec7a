"""Networks in the kernel, compared with the NumPy reference."""

import os
import random

import chess
import pytest

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.evaluation.evaluators import make_evaluator
from agent.chess.evaluation.loading import load
from agent.chess.evaluation.nnue_breakdown import break_down, format_breakdown
from agent.chess.evaluation.nnue_reference import active_features, bucket_index, evaluate
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.evaluation import HANDCRAFTED, Evaluation, EvaluationError
from agent.limits import Limits
from tests.random_network import random_network

PROMOTING = "8/PPP1k3/8/8/8/8/3K1ppp/8 w - - 0 1"


@pytest.fixture(scope="module")
def network():
    return random_network(32)


def walk(start: chess.Board, seed: int, plies: int):
    generator = random.Random(seed)
    board = start.copy()
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            return
        board.push(generator.choice(moves))
        yield board


def games():
    for seed in range(12):
        yield chess.Board.from_chess960_pos(seed * 80), seed
        yield chess.Board(), seed
        yield chess.Board(PROMOTING), seed


def test_inputs_are_flipped_and_mirrored_by_perspective():
    board = chess.Board("8/8/8/2k5/8/8/P7/6K1 w - - 0 1")
    # White's king on g1 mirrors the files of its perspective; for Black only the ranks are flipped.
    assert active_features(board, chess.WHITE) == sorted(
        [0 * 64 + 8 + 7, 5 * 64 + 1, (6 + 5) * 64 + chess.F5]
    )
    assert active_features(board, chess.BLACK) == sorted(
        [6 * 64 + chess.A7, (6 + 5) * 64 + chess.G8, 5 * 64 + chess.C4]
    )


def test_inputs_are_colour_symmetric():
    for start, seed in games():
        for board in walk(start, seed, 30):
            assert active_features(board, chess.WHITE) == active_features(
                board.mirror(), chess.BLACK
            )


def test_piece_counts_map_evenly_to_output_buckets():
    assert [bucket_index(pieces, 8) for pieces in (2, 4, 5, 8, 9, 28, 29, 32)] == [
        0,
        0,
        1,
        1,
        2,
        6,
        7,
        7,
    ]
    assert {bucket_index(pieces, 1) for pieces in range(2, 33)} == {0}
    assert bucket_index(40, 8) == 7  # illegal positions can have more pieces


def test_kernel_evaluation_equals_numpy(network):
    evaluator = make_evaluator(Evaluation("mine", network=network), False, lambda: None)
    game = KernelBoard()
    seen = set()
    for start, seed in games():
        for board in walk(start, seed, 60):
            if is_ending(board):
                continue
            game.load(board)
            value = evaluator.evaluate(game)
            assert value == evaluate(network, board), board.fen()
            seen.add(value)
    assert len(seen) > 300


def is_ending(board):
    """Return whether endgame knowledge may change the score."""
    return chess.popcount(board.occupied) < 12


def test_known_endings_bypass_the_network(network):
    search = AlphaBetaSearch(1, evaluation=Evaluation("mine", network=network))
    by_hand = AlphaBetaSearch(1, evaluation=HANDCRAFTED)
    won = chess.Board("8/8/8/3k4/8/8/8/3QK3 b - - 0 1")
    assert search.evaluate(won) == by_hand.evaluate(won) < -500
    drawn = chess.Board("8/8/8/3k4/8/8/4N3/3NK3 w - - 0 1")
    assert abs(search.evaluate(drawn)) < abs(evaluate(network, drawn))


def test_new_network_takes_effect_immediately(tmp_path):
    board = chess.Board()
    search = AlphaBetaSearch(1, evaluation=HANDCRAFTED)
    by_hand = search.evaluate(board)
    for seed in (1, 2, 3):
        network = random_network(32, 1, seed)
        file = tmp_path / f"{seed}.nnue"
        network.write(file)
        search.set_evaluation(load(f"nnue:{file}"))
        assert search.evaluate(board) == evaluate(network, board) != by_hand
    search.set_evaluation(HANDCRAFTED)
    assert search.evaluate(board) == by_hand
    assert search.network is None


def test_replaced_network_file_is_reloaded(tmp_path):
    file, other = tmp_path / "net.nnue", tmp_path / "other"
    for seed, path in enumerate((file, other)):
        random_network(32, 1, seed).write(path)
        os.utime(path, (1, 1))
    before = load(f"nnue:{file}")
    assert load(f"nnue:{file}").network is before.network
    assert file.stat().st_size == other.stat().st_size
    other.replace(file)
    after = load(f"nnue:{file}")
    assert evaluate(after.network, chess.Board()) != evaluate(before.network, chess.Board())


def test_hash_table_is_cleared_only_when_evaluation_changes():
    search = AlphaBetaSearch(4)
    nodes = []
    for again in (False, True, True):
        if again:
            search.set_evaluation(load("nnue"))
        *_, last = search.search(chess.Board(), Limits(depth=8))
        nodes.append(last.nodes)
    assert nodes[1] < nodes[0] / 2
    search.set_evaluation(HANDCRAFTED)
    search.set_evaluation(load("nnue"))
    *_, last = search.search(chess.Board(), Limits(depth=8))
    assert last.nodes == nodes[0]


def test_fresh_and_reused_searches_give_equal_results(network):
    """Cached accumulators must not change results."""
    used = AlphaBetaSearch(1, evaluation=Evaluation("mine", network=network))
    for start, _ in [*games()][:6]:
        *_, first = used.search(start, Limits(nodes=3000))
        used.new_game()
        fresh = AlphaBetaSearch(1, evaluation=Evaluation("mine", network=network))
        *_, second = used.search(start, Limits(nodes=3000))
        *_, third = fresh.search(start, Limits(nodes=3000))
        assert (first.score, first.pv, first.nodes) == (second.score, second.pv, second.nodes)
        assert (first.score, first.pv, first.nodes) == (third.score, third.pv, third.nodes)
        used.new_game()


def test_unreadable_network_is_reported(tmp_path):
    for spec, message in (
        ("nnue:", "missing file name"),
        (f"nnue:{tmp_path}/none.nnue", "none.nnue: No such file"),
        (f"NNUE:{__file__}", "not a Kempelen network file"),
    ):
        with pytest.raises(EvaluationError, match=message):
            load(spec)


def test_network_view_shows_piece_values(network):
    board = chess.Board("r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 4 4")
    view = break_down(network, board)
    assert view.score == -evaluate(network, board) == view.outputs[view.selected_output]
    assert view.piece_values.keys() == {*board.piece_map()} - {chess.E1, chess.E8}
    without = board.copy()
    without.remove_piece_at(chess.C4)
    assert view.piece_values[chess.C4] == view.score + evaluate(network, without)
    drawn = "\n".join(format_breakdown(network, board))
    assert f"[{view.score / 100:+.2f}]" in drawn
    assert f"{view.piece_values[chess.C4] / 100:+.2f}" in drawn
    assert drawn.count("|   p   ") == 8
