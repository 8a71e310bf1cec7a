"""The network of the Go search: its outputs, its file, and its use in the search."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from agent.games.go import Go
from agent.go import search as search_module
from agent.go.kernel_board import KernelBoard, to_kernel_move
from agent.go.mcts import NETWORK
from agent.go.network import encode_root, evaluate_root
from agent.go.network_file import GoNetwork, NetworkError, read
from agent.go.network_format import (
    CHANNELS,
    CONVOLUTION_ROWS,
    FEATURES,
    INPUTS,
    KOMI_SCALE,
    POOLED,
    SCORE_SCALE,
    STEM_ROWS,
    NetworkShape,
)
from agent.go.search import GoSearch
from agent.kernel.backend import SearchConfig
from agent.kernel.mcts_tree import ROOT
from agent.limits import Limits
from tests.agent.go.positions import from_diagram

Numbers = npt.NDArray[np.float64]
SHAPE = NetworkShape(2)


def random_network(sizes: tuple[int, ...] = (5, 9)) -> GoNetwork:
    generator = np.random.default_rng(7)
    parameters = generator.normal(0, 0.08, SHAPE.parameters).astype(np.float32)
    return GoNetwork(SHAPE, parameters, sizes, {"made by": "a test"})


def outputs(network: GoNetwork, inputs: Numbers, komi: float) -> tuple[Numbers, float]:
    """Return the probabilities of all points (by row) and of the pass, and the value."""
    rows = network.parameters.astype(np.float64).reshape(-1, CHANNELS)
    at_row = 0

    def take(count: int) -> Numbers:
        nonlocal at_row
        at_row += count
        return rows[at_row - count : at_row]

    def convolve(plane: Numbers, weights: Numbers) -> Numbers:
        height, width, channels = plane.shape
        padded = np.zeros((height + 2, width + 2, channels))
        padded[1:-1, 1:-1] = plane
        kernel = weights.reshape(3, 3, channels, CHANNELS)
        parts = (
            padded[y : y + height, x : x + width] @ kernel[y, x] for y in range(3) for x in range(3)
        )
        return np.asarray(sum(parts))

    def pool(plane: Numbers) -> Numbers:
        return np.concatenate([plane.mean((0, 1)), plane.max((0, 1))])

    trunk = np.maximum(convolve(inputs, take(STEM_ROWS)) + take(1), 0)
    for _ in range(network.shape.blocks):
        weights, bias = take(CONVOLUTION_ROWS), take(1)
        hidden = np.maximum(convolve(trunk, weights) + bias, 0)
        weights, dense, bias = take(CONVOLUTION_ROWS), take(POOLED), take(1)
        trunk = np.maximum(trunk + convolve(hidden, weights) + bias + pool(hidden) @ dense, 0)
    points, dense, bias = take(CHANNELS), take(POOLED), take(1)
    head = np.maximum(trunk @ points + bias + pool(trunk) @ dense, 0)
    moves, owners, passing, scalars = take(1)[0], take(1)[0], take(2).ravel(), take(1)[0]
    score = (np.tanh(head @ owners + scalars[0]).sum() - komi) / SCORE_SCALE
    logits = np.append((head @ moves).ravel(), pool(head) @ passing + scalars[1])
    features = np.concatenate([pool(head), [score, komi / KOMI_SCALE]])
    hidden = np.maximum(features @ take(FEATURES) + take(1)[0], 0)
    value = hidden @ take(1)[0] + scalars[2] + score * scalars[3]
    assert at_row == len(rows)
    return logits, float(np.tanh(value))


@pytest.mark.parametrize("size", [2, 5, 9, 13, 19])
def test_compiled_network_computes_what_its_layers_say(size: int) -> None:
    network, game = random_network(), Go(size, 6.5)
    for move in game.candidate_moves()[:3]:
        game.play(move)
    board = KernelBoard()
    board.load(game)
    board.use_network(network.shape, network.parameters, game)
    encode_root(board.worker)
    start = network.shape.inputs_at(size, size)
    rows, columns = np.divmod(np.arange(size * size), size)
    vertices = (rows + 1) * (size + 1) + columns + 1
    inputs = board.network_buffer[start:].reshape(-1, INPUTS)[vertices]
    logits, value = outputs(network, inputs.reshape(size, size, INPUTS).astype(float), -6.5)
    assert evaluate_root(board.worker) == pytest.approx(-value, abs=1e-4)  # White is to move
    moves = list(map(to_kernel_move, game.candidate_moves()))
    index = {int(vertex): point for point, vertex in enumerate(vertices)} | {0: size * size}
    expected = np.exp([logits[index[move]] for move in moves])
    found = np.array([board.worker.ratings[move] for move in moves])
    assert found == pytest.approx(expected / expected.sum(), abs=1e-4)


def test_network_file_is_read_as_written(tmp_path: Path) -> None:
    network = random_network()
    network.write(tmp_path / "n")
    found = read(tmp_path / "n")
    assert found.shape == network.shape
    assert found.sizes == (5, 9)
    assert found.manifest == network.manifest
    assert found.parameters == pytest.approx(network.parameters, rel=1e-3, abs=1e-6)
    assert found.fits(Go(9))
    assert not found.fits(Go(19))
    assert not found.fits(Go("5x9"))


@pytest.mark.parametrize("damage", [b"", b"x" * 100, b"cut"])
def test_damaged_network_file_is_refused(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "n"
    random_network().write(path)
    path.write_bytes(path.read_bytes()[:-4] if damage == b"cut" else damage)
    with pytest.raises(NetworkError, match=str(path)):
        read(path)
    with pytest.raises(NetworkError, match="No such file"):
        read(tmp_path / "none")


def search_with(monkeypatch: pytest.MonkeyPatch, network: GoNetwork | None) -> GoSearch:
    monkeypatch.setattr(search_module, "shipped_network", lambda: (network, ""))
    return GoSearch(SearchConfig(megabytes=16, seed=1))


def test_search_asks_network_on_sizes_it_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network((5,))
    search = search_with(monkeypatch, network)
    *_, info = search.search(Go(5), Limits(nodes=3000))
    evaluated = (search._pool.extra_words[:, NETWORK] != 0).sum()
    assert evaluated > 5
    priors = [search._pool.prior(child) for child in search._pool.children(ROOT)]
    assert sum(priors) == pytest.approx(1, abs=1e-4)
    assert info.visits
    assert info.prior == pytest.approx(max(priors), abs=1)
    for size in (7, 5):  # another size, and back
        list(search.search(Go(size), Limits(nodes=300)))
        root_is_evaluated = search._pool.extra_words[ROOT, NETWORK] != 0
        assert root_is_evaluated == (size == 5)


def test_search_of_some_vertices_does_not_ask_network(monkeypatch: pytest.MonkeyPatch) -> None:
    search = search_with(monkeypatch, random_network((5,)))
    search.score_only(list(Go(5).stones.shape.vertices)[:5])
    list(search.search(Go(5), Limits(nodes=500)))
    assert not search._pool.extra_words[:, NETWORK].any()


def test_search_without_network_has_no_words_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    search = search_with(monkeypatch, None)
    list(search.search(from_diagram("...", ".X.", "..."), Limits(nodes=100)))
    assert search._pool.extra_words.shape[1] == NETWORK
