"""The shipped network: loading by name, its manifest, and plausible scores."""

import chess
import pytest

from agent.chess.evaluation.loading import load
from agent.chess.evaluation.nnue_format import read
from agent.chess.evaluation.nnue_reference import evaluate
from agent.evaluation import SHIPPED_NETWORK, network_file


def test_nnue_loads_the_shipped_network():
    shipped = load(" NNUE ")
    assert shipped.network is load("nnue").network  # one in memory for all engines
    assert network_file("nnue") == str(SHIPPED_NETWORK)
    assert network_file("nnue:mine.nnue") == "mine.nnue"
    assert network_file("nnuet") is None
    assert shipped.network.weights.tobytes() == read(SHIPPED_NETWORK).weights.tobytes()


def test_manifest_names_licence_and_source():
    manifest = load("nnue").network.manifest
    assert manifest["licence"] == "GPL-3.0-or-later"
    assert "games of Kempelen" in manifest["source"]
    assert "/" not in manifest["source"]  # names of networks, not paths
    assert manifest["training positions"] > 1_000_000


@pytest.mark.parametrize(
    ("fen", "minimum", "maximum"),
    [
        (chess.STARTING_FEN, -50, 100),
        ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 500, 3000),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1", -3000, -500),
        ("rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 150, 900),
    ],
)
def test_network_knows_piece_values(fen, minimum, maximum):
    assert minimum <= evaluate(load("nnue").network, chess.Board(fen)) <= maximum
