"""Network files: round trips, and error messages for invalid files."""

import struct

import numpy as np
import pytest

from agent.chess.evaluation import nnue_format
from agent.chess.evaluation.nnue_format import ALIGNMENT, NetworkError, NnueNetwork, read
from agent.evaluation import SHIPPED_NETWORK
from tests.random_network import random_network
from tests.support import ROOT

HEAD = 68  # bytes before the manifest
SHIPPED = [SHIPPED_NETWORK, *sorted((ROOT / "kempelen" / "training" / "data").glob("*.nnue"))]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.nnue"


@pytest.mark.parametrize(("neurons", "buckets"), [(32, 1), (96, 8), (256, 4)])
def test_network_round_trips_through_file(path, neurons, buckets):
    written = random_network(neurons, buckets, manifest={"games": 7, "source": "ähnlich"})
    written.write(path)
    loaded = read(path)
    assert (loaded.neurons, loaded.buckets) == (neurons, buckets)
    assert loaded.weights.tobytes() == written.weights.tobytes()
    assert loaded.manifest == {"games": 7, "source": "ähnlich"}
    assert loaded.address % ALIGNMENT == 0 == written.address % ALIGNMENT
    assert f"{neurons})x2" in loaded.shape
    assert [*path.parent.iterdir()] == [path], "nothing half written stays"


def test_overwriting_file_does_not_change_loaded_network(path):
    random_network(32).write(path)
    loaded = read(path)
    before = loaded.weights.tobytes()
    path.write_bytes(bytes(path.stat().st_size))
    path.write_bytes(b"")
    assert loaded.weights.tobytes() == before


def test_memory_mapped_network_equals_copied_network(path):
    random_network(64, 2).write(path)
    copied, mapped = read(path), read(path, mapped=True)
    assert mapped.weights.tobytes() == copied.weights.tobytes()
    assert mapped.address % ALIGNMENT == 0
    empty = path.with_name("empty.nnue")
    empty.write_bytes(b"")
    for is_mapped in (False, True):
        with pytest.raises(NetworkError, match="empty file"):
            read(empty, mapped=is_mapped)


def test_network_files_are_deterministic(path):
    random_network(32).write(path)
    content = path.read_bytes()
    random_network(32).write(path)
    assert path.read_bytes() == content
    random_network(seed=2).write(path)
    assert path.read_bytes() != content


@pytest.mark.parametrize("shipped", SHIPPED, ids=lambda file: file.name)
def test_rewritten_network_file_is_identical(path, shipped):
    read(shipped).write(path)
    assert path.read_bytes() == shipped.read_bytes()


def test_every_damaged_byte_is_detected(path):
    random_network(32, 1).write(path)
    content = path.read_bytes()
    generator = np.random.default_rng(1)
    places = [*range(HEAD + 40), *generator.integers(0, len(content), 200)]
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << generator.integers(8)
        path.write_bytes(damaged)
        with pytest.raises(NetworkError, match=r"mine\.nnue"):
            read(path)


def test_every_truncation_is_detected(path):
    random_network(32, 1).write(path)
    content = path.read_bytes()
    for length in (1, 7, 8, 39, HEAD - 1, HEAD, HEAD + 9, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(NetworkError, match=r"mine\.nnue.*(truncated|not a Kempelen network)"):
            read(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(NetworkError, match="damaged"):
        read(path)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (0, 2, "version 2"),
        (1, 33, "33 neurons"),
        (1, 0, "0 neurons"),
        (1, 1 << 31, "neurons"),
        (2, 3, "3 outputs"),
        (3, 256, "256/64/400"),
    ],
)
def test_unsupported_architecture_is_rejected(path, field, value, message):
    random_network(32, 1).write(path)
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, 40 + 4 * field, value)
    path.write_bytes(content)
    with pytest.raises(NetworkError, match=message):
        read(path)


def test_non_network_file_is_rejected(path, tmp_path):
    path.write_bytes(b"")
    with pytest.raises(NetworkError, match="empty file"):
        read(path)
    path.write_text("not at all, and long enough to hold the head of a network, were it one")
    with pytest.raises(NetworkError, match="not a Kempelen network file"):
        read(path)
    with pytest.raises(NetworkError, match="No such file"):
        read(tmp_path / "none.nnue")
    with pytest.raises(NetworkError, match=r"directory|regular"):
        read(tmp_path)


def parts(neurons=32):
    return {
        "inputs": np.zeros((768, neurons)),
        "biases": np.zeros(neurons),
        "outputs": np.zeros((1, 2 * neurons)),
        "output_biases": np.zeros(1),
        "manifest": {},
    }


def test_weights_are_quantized_to_their_scales():
    arrays = parts()
    arrays["inputs"][5, 3], arrays["biases"][2] = 1.0, -0.5
    arrays["outputs"][0, 40], arrays["output_biases"][0] = 1.25, 0.001
    (weights,) = NnueNetwork.quantize(**arrays).weights
    assert weights["inputs"][5, 3] == 255
    assert weights["biases"][2] == -128
    assert weights["outputs"][0, 1, 8] == 80
    assert weights["output_biases"][0] == round(0.001 * 255 * 64)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("inputs", 200.0, "network: inputs out of range"),
        ("biases", float("nan"), "network: biases out of range"),
        ("outputs", 2.0, r"output weight out of range \(at most 1\.98"),
        ("inputs", 5.0, "sum of a neuron's weights"),
        ("biases", 128.6, "network: biases out of range"),
        ("output_biases", 73.0, r"output bias 73 out of range \(at most 72\.5; 1\.0 is 400"),
    ],
)
def test_overflowing_weights_are_rejected(name, value, message):
    arrays = parts()
    arrays[name][...] = value
    with pytest.raises(NetworkError, match=message):
        NnueNetwork.quantize(**arrays)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        (
            "inputs",
            (32, 768),
            r"inputs has the shape \(32, 768\) \(expected \(768, 32\); transpose it\)$",
        ),
        ("inputs", (767, 32), r"inputs has the shape \(767, 32\) \(expected \(768, 32\)\)$"),
        ("outputs", (1, 32), r"outputs has the shape \(1, 32\) \(expected \(1, 64\)\)$"),
        ("output_biases", (), r"output_biases has the shape \(\) \(expected \(1,\)\)$"),
    ],
)
def test_wrong_array_shapes_are_rejected(name, shape, message):
    with pytest.raises(NetworkError, match=message):
        NnueNetwork.quantize(**parts() | {name: np.zeros(shape)})


def test_most_negative_output_bias_is_rejected():
    network = NnueNetwork.quantize(**parts())
    network.weights["output_biases"][...] = np.iinfo(np.int64).min
    with pytest.raises(NetworkError, match=r"output bias .* out of range"):
        network.validate_ranges("mine")


@pytest.mark.parametrize(
    "manifest", [{1: 2, "a": 3}, {"a": object()}, {"a": float("nan")}], ids=["keys", "type", "nan"]
)
def test_non_json_manifest_is_not_written(manifest, path):
    network = NnueNetwork.quantize(**parts() | {"manifest": manifest})
    with pytest.raises(NetworkError, match=r"mine\.nnue: invalid manifest: "):
        network.write(path)
    assert not path.exists()


def test_oversized_manifest_is_not_written(path):
    network = NnueNetwork.quantize(**parts() | {"manifest": {"openings": ["8/8"] * 300_000}})
    with pytest.raises(NetworkError, match=r"mine\.nnue: manifest of \d+ bytes is too long"):
        network.write(path)
    assert not path.exists()


def test_deeply_nested_manifest_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(nnue_format.json, "dumps", lambda value, **more: "[" * 100_000)
    NnueNetwork.quantize(**parts()).write(tmp_path / "deep.nnue")
    monkeypatch.undo()
    with pytest.raises(NetworkError, match=r"deep\.nnue: invalid manifest \(expected JSON\)"):
        read(tmp_path / "deep.nnue")


def test_unsupported_neuron_count_is_rejected():
    with pytest.raises(NetworkError, match="33 neurons"):
        NnueNetwork.quantize(**parts(33))
    assert nnue_format.NEURON_COUNTS[0] == 32
