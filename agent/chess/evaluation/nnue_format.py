"""A network that evaluates chess: its shape, its weights, and the file that holds them.

768 inputs for each of two views, one neuron row each -> `neurons` for each view, squared clipped
ReLU -> one of `buckets` outputs, by the number of pieces. Inputs are what stands where as one side
sees it: `(6 * (0 own, 1 enemy) + kind) * 64 + square`, the ranks turned for Black, the files
mirrored where the view's own king stands on the e-file or beyond. The score is that of the side to
move, whose view comes first.

All numbers are whole: a neuron's 1.0 is NEURON_SCALE, an output weight's WEIGHT_SCALE, and an output of
1.0 is SCORE_SCALE centipawns, so that

    score = (sum(clip(a, 0, NEURON_SCALE)**2 * w) // NEURON_SCALE + bias) * SCORE_SCALE
            // (NEURON_SCALE * WEIGHT_SCALE)

The file is a container (agent.io.container): its numbers are the version, the neurons, the
buckets and the three scales, its head is the manifest (data, settings, licence), its content the
weights as they lie in memory (`weights_dtype`). Neither this module nor its readers need Numba.
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

from agent.chess.evaluation.nnue_features import MAX_PIECES
from agent.io.container import Container, ContainerFormat
from agent.io.files import open_file, read_bytes, replace_atomically
from agent.kernel.scores import MAX_EVALUATION

INPUTS = 768
NEURON_SCALE = 255
WEIGHT_SCALE = 64
SCORE_SCALE = 400
MAX_OUTPUT_WEIGHT = 127  # of an output: NEURON_SCALE times it must fit into 16 bits
ALIGNMENT = 64
NEURON_COUNTS = range(32, 2049, 32)
BUCKET_COUNTS = (1, 2, 4, 8, 16, 32)

_FORMAT = ContainerFormat(b"\x8bKmpNN\r\n", numbers=6, alignment=ALIGNMENT)
_VERSION = 1
_MAX_MANIFEST_BYTES = 1 << 20
_MAX_FILE_BYTES = 1 << 26  # of a file, in bytes: more than any network needs

Weights = npt.NDArray[np.int16]


class NetworkError(Exception):
    """A network that cannot be used; the message names the file and what is wrong with it."""


def weights_dtype(neurons: int, buckets: int) -> "np.dtype[np.void]":
    """Return how the weights lie in memory: every row begins at a multiple of ALIGNMENT."""
    return np.dtype(
        [
            ("inputs", "<i2", (INPUTS, neurons)),
            ("biases", "<i2", (neurons,)),
            ("outputs", "<i2", (buckets, 2, neurons)),  # of the mover's view, then of the other
            ("output_biases", "<i8", (buckets,)),
        ]
    )


@dataclass(frozen=True, eq=False)
class NnueNetwork:
    """A network that is ready to be evaluated.

    weights: one record of `weights_dtype`, at an address that is a multiple of ALIGNMENT.
    """

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
        """Round a trained network, whose numbers have their natural scales.

        inputs: (768, neurons); biases: (neurons,); outputs: (buckets, 2 * neurons);
        output_biases: (buckets,). Raises NetworkError if a shape is another, or a number does not
        fit.
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
                turned = "; transpose them" if np.shape(values) == shape[::-1] else ""
                raise NetworkError(
                    f"the {name} of the network have the shape {np.shape(values)}, "
                    f"not {shape}{turned}"
                )
            whole = np.rint(np.asarray(values, np.float64) * scale)
            target = weights[name][0]
            limit = np.iinfo(target.dtype).max
            if not np.isfinite(whole).all() or np.abs(whole).max() > limit:
                raise NetworkError(f"the {name} of the network do not fit into {target.dtype}")
            target[...] = whole.reshape(target.shape)
        made = cls(weights, manifest)
        made.validate_ranges("the network")
        return made

    @property
    def neurons(self) -> int:
        """The number of neurons of each view."""
        return int(self.weights["biases"].shape[1])

    @property
    def buckets(self) -> int:
        """The number of outputs, of which the number of pieces chooses one."""
        return int(self.weights["output_biases"].shape[1])

    @property
    def address(self) -> int:
        """Where the weights begin in memory."""
        return int(self.weights.ctypes.data)

    @property
    def shape(self) -> str:
        """The architecture, as people write it."""
        outputs = f"1x{self.buckets}" if self.buckets > 1 else "1"
        return f"({INPUTS} -> {self.neurons})x2 -> {outputs}"

    def validate_ranges(self, name: str) -> None:
        """Raise NetworkError unless the arithmetic of every legal position fits into its bits."""
        weights = self.weights[0]
        outputs = np.abs(weights["outputs"].astype(np.int64))
        if outputs.max() > MAX_OUTPUT_WEIGHT:
            raise NetworkError(
                f"{name}: an output weight is beyond {MAX_OUTPUT_WEIGHT / WEIGHT_SCALE:.2f}; clip them"
            )
        biases = weights["output_biases"].tolist()  # of 64 bits the least has no opposite
        bias = max(map(abs, biases)) / (NEURON_SCALE * WEIGHT_SCALE)
        if bias * SCORE_SCALE > MAX_EVALUATION:
            raise NetworkError(
                f"{name}: an output bias of {bias:.6g} is more than any score; 1.0 is "
                f"{SCORE_SCALE} centipawns"
            )
        # Each piece stands on a square of its own: of each square the most that any adds.
        rows = np.abs(weights["inputs"].astype(np.int64)).reshape(12, 64, -1).max(axis=0)
        most = np.sort(rows, axis=0)[-MAX_PIECES:].sum(axis=0)
        most += np.abs(weights["biases"].astype(np.int64))
        if most.max() > np.iinfo(np.int16).max:
            raise NetworkError(f"{name}: the sum of a neuron's weights does not fit into 16 bits")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file; raises OSError, and leaves what was there, if that fails.

        Raises NetworkError for a manifest that could not be read again.
        """
        manifest = manifest_text(self.manifest, path)
        shape = _VERSION, self.neurons, self.buckets, NEURON_SCALE, WEIGHT_SCALE, SCORE_SCALE
        replace_atomically(Path(path), _FORMAT.pack(manifest, self.weights.tobytes(), shape))


def manifest_text(manifest: dict[str, Any], path: str | os.PathLike[str]) -> str:
    """Return a manifest as the file has it; raises NetworkError if that could not be read again."""
    try:
        text = json.dumps(manifest, indent=1, sort_keys=True, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise NetworkError(f"{path}: the manifest is no JSON: {error}") from None
    if len(text) > _MAX_MANIFEST_BYTES:
        raise NetworkError(
            f"{path}: a manifest of {len(text)} bytes is too long; at most {_MAX_MANIFEST_BYTES}"
        )
    return text


def read(path: str | os.PathLike[str], mapped: bool = False) -> NnueNetwork:
    """Read a network's file; raises NetworkError if it is none, damaged, or of another kind.

    mapped: its memory is shared with all processes that map it. Who writes into a mapped file
    changes the network while it plays, and who truncates it ends the process: only files that
    nobody writes to may be mapped. On Windows it is read all the same: a mapped file could not be
    replaced, as by an update of this package.
    """
    try:
        content = _map(path) if mapped and sys.platform != "win32" else _copy(path)
    except OSError as error:
        raise NetworkError(f"{path}: {error.strerror}") from None
    except ValueError:  # nothing to map
        raise NetworkError(f"{path} is empty") from None
    return _parse_network(str(path), content)


def read_neuron_count(path: str | os.PathLike[str]) -> int:
    """Return the neurons of each view that the head of a network's file tells, and nothing else.

    Raises NetworkError if it has no such head.
    """
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
    """Make a network of a file's content, which begins at a multiple of ALIGNMENT."""
    file = Container(_FORMAT, content)
    dtype, start = weights_dtype(*_read_shape(path, file)), file.content_start
    if len(content) != start + dtype.itemsize:
        raise NetworkError(
            f"{path} is truncated or damaged: it has {len(content)} bytes, not the "
            f"{start + dtype.itemsize} that its head speaks of"
        )
    if file.header_length > _MAX_MANIFEST_BYTES:
        raise NetworkError(f"{path}: its manifest of {file.header_length} bytes is too long")
    if not file.is_intact:
        raise NetworkError(f"{path} is damaged: its checksum does not fit; fetch or train it anew")
    try:
        manifest = json.loads(file.header)
    except (ValueError, RecursionError):
        raise NetworkError(f"{path}: its manifest is not JSON") from None
    if not isinstance(manifest, dict):
        raise NetworkError(f"{path}: its manifest is not a JSON object")
    network = NnueNetwork(np.frombuffer(content, dtype, 1, start), manifest, file.checksum.hex())
    network.validate_ranges(path)
    return network


def _read_shape(path: str, file: Container) -> tuple[int, int]:
    """Return a network's neurons and outputs; raises NetworkError if it is none of ours."""
    if not file.data:
        raise NetworkError(f"{path} is empty")
    if not file.has_magic:
        raise NetworkError(f"{path} is not a network of ours")
    if len(file.data) < _FORMAT.min_size:
        raise NetworkError(f"{path} is truncated")
    version, neurons, buckets, *scales = file.numbers
    if version != _VERSION or scales != [NEURON_SCALE, WEIGHT_SCALE, SCORE_SCALE]:
        raise NetworkError(
            f"{path} is of version {version} with the scales {'/'.join(map(str, scales))}; "
            f"version {_VERSION} with {NEURON_SCALE}/{WEIGHT_SCALE}/{SCORE_SCALE} is understood"
        )
    try:
        _require_shape(neurons, buckets)
    except NetworkError as error:
        raise NetworkError(f"{path}: {error}") from None
    return neurons, buckets


def aligned_zeros(dtype: "np.dtype[Any]", count: int = 1) -> npt.NDArray[Any]:
    """Allocate zeros at an address that is a multiple of ALIGNMENT."""
    size = dtype.itemsize * count
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype)


def _require_shape(neurons: int, buckets: int) -> None:
    if neurons not in NEURON_COUNTS or buckets not in BUCKET_COUNTS:
        raise NetworkError(
            f"a network of {neurons} neurons and {buckets} outputs cannot be evaluated: neurons "
            f"are a multiple of {NEURON_COUNTS.step} from {NEURON_COUNTS[0]} to "
            f"{NEURON_COUNTS[-1]}, outputs {', '.join(map(str, BUCKET_COUNTS))}"
        )
