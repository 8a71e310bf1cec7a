"""The architecture, weights and file format of the chess network (NNUE).

The architecture is (768 -> neurons)x2 -> buckets, with the perspective of the side to move first.
The activation is squared clipped ReLU. The number of pieces selects one of the output buckets. The
score is for the side to move.

The index of an input is `(6 * side + piece_type) * 64 + square`, where `side` is 0 for own pieces
and 1 for enemy pieces. For Black the ranks are flipped, except in racing kings. The files are
mirrored if the king of the perspective is on the files e to h.

All numbers are integers. The number 1.0 is stored as NEURON_SCALE for a neuron and as WEIGHT_SCALE
for an output weight. An output of 1.0 means SCORE_SCALE centipawns. For neurons `a`, output weights
`w` and an output bias, the score is

    score = (sum(clip(a, 0, NEURON_SCALE)**2 * w) // NEURON_SCALE + bias) * SCORE_SCALE
            // (NEURON_SCALE * WEIGHT_SCALE)

The file is a container (`agent.io.container`) with these parts:

- numbers: the version, the number of neurons, the number of buckets, and the three scales;
- header: the manifest (training data, settings, licence);
- content: the weights in their memory layout (`weights_dtype`).
"""

import json
import mmap
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from agent.io.container import Container, ContainerFormat
from agent.io.files import open_file, read_bytes, replace_atomically
from agent.kernel.scores import MAX_EVALUATION

INPUTS = 768
MAX_PIECES = 32
NEURON_SCALE = 255
WEIGHT_SCALE = 64
SCORE_SCALE = 400
MAX_OUTPUT_WEIGHT = 127  # times NEURON_SCALE it must fit into 16 bits
ALIGNMENT = 64
NEURON_COUNTS = range(32, 2049, 32)
BUCKET_COUNTS = (1, 2, 4, 8, 16, 32)

_FORMAT = ContainerFormat(b"\x8bKmpNN\r\n", numbers=6, alignment=ALIGNMENT)
_VERSION = 1
_MAX_MANIFEST_BYTES = 1 << 20
_MAX_FILE_BYTES = 1 << 26  # more than any network needs

Weights = npt.NDArray[np.int16]


class NetworkError(Exception):
    """Raised for an invalid network. The message names the file and the problem."""


def weights_dtype(neurons: int, buckets: int) -> "np.dtype[np.void]":
    """Return the memory layout of the weights. Every row is aligned to ALIGNMENT bytes."""
    return np.dtype(
        [
            ("inputs", "<i2", (INPUTS, neurons)),
            ("biases", "<i2", (neurons,)),
            ("outputs", "<i2", (buckets, 2, neurons)),  # perspective of the side to move first
            ("output_biases", "<i8", (buckets,)),
        ]
    )


@dataclass(frozen=True, eq=False)
class NnueNetwork:
    """A quantized network. `weights` is one aligned record of the type `weights_dtype`."""

    weights: np.ndarray[Any, np.dtype[np.void]]
    manifest: dict[str, Any] = field(default_factory=dict)
    checksum: str = ""

    @classmethod
    def quantize(
        cls,
        inputs: npt.NDArray[np.floating],
        biases: npt.NDArray[np.floating],
        outputs: npt.NDArray[np.floating],
        output_biases: npt.NDArray[np.floating],
        manifest: dict[str, Any],
    ) -> Self:
        """Return a network with weights that are quantized from floats.

        The shapes are (768, neurons) for `inputs`, (neurons,) for `biases`, (buckets, 2 * neurons)
        for `outputs`, and (buckets,) for `output_biases`. Raise `NetworkError` if a shape is wrong
        or a weight is out of range.
        """
        buckets, neurons = len(outputs), len(biases)
        _require_shape(neurons, buckets)
        weights = aligned_zeros(weights_dtype(neurons, buckets))
        names = "inputs", "biases", "outputs", "output_biases"
        scales = NEURON_SCALE, NEURON_SCALE, WEIGHT_SCALE, NEURON_SCALE * WEIGHT_SCALE
        shapes = (INPUTS, neurons), (neurons,), (buckets, 2 * neurons), (buckets,)
        for name, values, scale, shape in zip(
            names, (inputs, biases, outputs, output_biases), scales, shapes, strict=True
        ):
            if np.shape(values) != shape:
                hint = "; transpose it" if np.shape(values) == shape[::-1] else ""
                raise NetworkError(
                    f"network: {name} has the shape {np.shape(values)} (expected {shape}{hint})"
                )
            integers = np.rint(np.asarray(values, np.float64) * scale)
            target = weights[name][0]
            limit = np.iinfo(target.dtype).max
            if not np.isfinite(integers).all() or np.abs(integers).max() > limit:
                raise NetworkError(f"network: {name} out of range of {target.dtype}")
            target[...] = integers.reshape(target.shape)
        network = cls(weights, manifest)
        network.validate_ranges("network")
        return network

    @property
    def neurons(self) -> int:
        """The number of hidden neurons for each perspective."""
        return int(self.weights["biases"].shape[1])

    @property
    def buckets(self) -> int:
        return int(self.weights["output_biases"].shape[1])

    @property
    def address(self) -> int:
        """The memory address of the weights."""
        return int(self.weights.ctypes.data)

    @property
    def shape(self) -> str:
        """The architecture in the usual notation, for example `(768 -> 512)x2 -> 1x8`."""
        outputs = f"1x{self.buckets}" if self.buckets > 1 else "1"
        return f"({INPUTS} -> {self.neurons})x2 -> {outputs}"

    def validate_ranges(self, name: str) -> None:
        """Raise `NetworkError` if the arithmetic could overflow in a legal position."""
        weights = self.weights[0]
        outputs = np.abs(weights["outputs"].astype(np.int64))
        if outputs.max() > MAX_OUTPUT_WEIGHT:
            raise NetworkError(
                f"{name}: output weight out of range (at most "
                f"{MAX_OUTPUT_WEIGHT / WEIGHT_SCALE:.2f}; clip them in training)"
            )
        biases = weights["output_biases"].tolist()  # abs() of the int64 minimum overflows in NumPy
        bias = max(map(abs, biases)) / (NEURON_SCALE * WEIGHT_SCALE)
        if bias * SCORE_SCALE > MAX_EVALUATION:
            raise NetworkError(
                f"{name}: output bias {bias:.6g} out of range (at most "
                f"{MAX_EVALUATION / SCORE_SCALE:g}; 1.0 is {SCORE_SCALE} centipawns)"
            )
        # A square has at most one piece: take the largest weight of each square.
        rows = np.abs(weights["inputs"].astype(np.int64)).reshape(12, 64, -1).max(axis=0)
        maximum = np.sort(rows, axis=0)[-MAX_PIECES:].sum(axis=0)
        maximum += np.abs(weights["biases"].astype(np.int64))
        if maximum.max() > np.iinfo(np.int16).max:
            raise NetworkError(f"{name}: the sum of a neuron's weights can exceed 16 bits")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the network atomically. Raise `NetworkError` if the manifest is invalid."""
        manifest = manifest_text(self.manifest, path)
        shape = _VERSION, self.neurons, self.buckets, NEURON_SCALE, WEIGHT_SCALE, SCORE_SCALE
        replace_atomically(Path(path), _FORMAT.pack(manifest, self.weights.tobytes(), shape))


def manifest_text(manifest: dict[str, Any], path: str | os.PathLike[str]) -> str:
    """Return the manifest as JSON text. Raise `NetworkError` if it is invalid or too long."""
    try:
        text = json.dumps(manifest, indent=1, sort_keys=True, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise NetworkError(f"{path}: invalid manifest: {error}") from None
    if len(text) > _MAX_MANIFEST_BYTES:
        raise NetworkError(
            f"{path}: manifest of {len(text)} bytes is too long (at most {_MAX_MANIFEST_BYTES})"
        )
    return text


def read(path: str | os.PathLike[str], mapped: bool = False) -> NnueNetwork:
    """Read a network file. Raise `NetworkError` if it is invalid or damaged.

    If `mapped` is true, the file is mapped into memory and must never be changed in place. `mapped`
    is ignored on Windows, where a mapped file would block updates of this package.
    """
    try:
        content = _map(path) if mapped and sys.platform != "win32" else _copy(path)
    except OSError as error:
        raise NetworkError(f"{path}: {error.strerror}") from None
    except ValueError:  # an empty file cannot be mapped
        raise NetworkError(f"{path}: empty file") from None
    return _parse_network(str(path), content)


def read_neuron_count(path: str | os.PathLike[str]) -> int:
    """Read the number of neurons from a file header. Raise `NetworkError` if it is invalid."""
    try:
        with open_file(path) as file:
            head = file.read(_FORMAT.min_size)
    except OSError as error:
        raise NetworkError(f"{path}: {error.strerror}") from None
    return _read_shape(str(path), Container(_FORMAT, memoryview(head)))[0]


def _map(path: str | os.PathLike[str]) -> memoryview:
    with open_file(path) as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _copy(path: str | os.PathLike[str]) -> memoryview:
    content = read_bytes(path, _MAX_FILE_BYTES)
    memory = aligned_zeros(np.dtype(np.uint8), len(content))
    memory[:] = np.frombuffer(content, np.uint8)
    return memory.data


def _parse_network(path: str, content: memoryview) -> NnueNetwork:
    """Parse the content of a network file, which must be aligned to ALIGNMENT bytes."""
    file = Container(_FORMAT, content)
    dtype, start = weights_dtype(*_read_shape(path, file)), file.content_start
    if len(content) != start + dtype.itemsize:
        raise NetworkError(
            f"{path}: truncated or damaged file of {len(content)} bytes "
            f"(expected {start + dtype.itemsize})"
        )
    if file.header_length > _MAX_MANIFEST_BYTES:
        raise NetworkError(
            f"{path}: manifest of {file.header_length} bytes is too long "
            f"(at most {_MAX_MANIFEST_BYTES})"
        )
    if not file.is_intact:
        raise NetworkError(f"{path}: damaged file (wrong checksum); download or train it again")
    try:
        manifest = json.loads(file.header)
    except (ValueError, RecursionError):
        raise NetworkError(f"{path}: invalid manifest (expected JSON)") from None
    if not isinstance(manifest, dict):
        raise NetworkError(f"{path}: invalid manifest (expected a JSON object)")
    network = NnueNetwork(np.frombuffer(content, dtype, 1, start), manifest, file.checksum.hex())
    network.validate_ranges(path)
    return network


def _read_shape(path: str, file: Container) -> tuple[int, int]:
    if not file.data:
        raise NetworkError(f"{path}: empty file")
    if not file.has_magic:
        raise NetworkError(f"{path}: not a Kempelen network file")
    if len(file.data) < _FORMAT.min_size:
        raise NetworkError(f"{path}: truncated file")
    version, neurons, buckets, *scales = file.numbers
    if version != _VERSION or scales != [NEURON_SCALE, WEIGHT_SCALE, SCORE_SCALE]:
        raise NetworkError(
            f"{path}: unsupported version {version} with scales {'/'.join(map(str, scales))} "
            f"(expected version {_VERSION} with {NEURON_SCALE}/{WEIGHT_SCALE}/{SCORE_SCALE})"
        )
    try:
        _require_shape(neurons, buckets)
    except NetworkError as error:
        raise NetworkError(f"{path}: {error}") from None
    return neurons, buckets


def aligned_zeros(dtype: "np.dtype[Any]", count: int = 1) -> npt.NDArray[Any]:
    """Return an array of `count` zero elements, aligned to ALIGNMENT bytes."""
    size = dtype.itemsize * count
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype)


def _require_shape(neurons: int, buckets: int) -> None:
    if neurons not in NEURON_COUNTS or buckets not in BUCKET_COUNTS:
        raise NetworkError(
            f"unsupported network of {neurons} neurons and {buckets} outputs (neurons must be a "
            f"multiple of {NEURON_COUNTS.step} from {NEURON_COUNTS[0]} to {NEURON_COUNTS[-1]}, "
            f"outputs one of {', '.join(map(str, BUCKET_COUNTS))})"
        )
