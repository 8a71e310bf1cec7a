"""Files of Go networks.

The header is JSON with the shape and the training. The content is the parameters as 16-bit floats.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.games.go import Go
from agent.go.network_format import MAX_BLOCKS, NetworkShape
from agent.io.container import Container, ContainerFormat
from agent.io.files import read_bytes, replace_atomically

SHIPPED = Path(__file__).with_name("shipped.network")
_FORMAT = ContainerFormat(b"\x8bKmpGN\r\n")
_MAX_BYTES = 1 << 24
# Range of komi in self-play with targets.
MIN_TRAINED_KOMI, MAX_TRAINED_KOMI = -5, 15


class NetworkError(Exception):
    """Raised if a network file is invalid or unreadable."""


@dataclass(frozen=True, eq=False)
class GoNetwork:
    """A network for boards of the sizes that it was trained on."""

    shape: NetworkShape
    parameters: npt.NDArray[np.float32]
    sizes: tuple[int, ...]
    manifest: dict[str, Any]

    def fits(self, game: Go) -> bool:
        """Return whether the training games cover this board size and komi."""
        is_trained_size = game.width == game.height and game.width in self.sizes
        return is_trained_size and MIN_TRAINED_KOMI <= game.komi <= MAX_TRAINED_KOMI

    def write(self, path: Path) -> None:
        """Write the network to a file atomically. Raise OSError on failure."""
        header = {
            "game": "go",
            "blocks": self.shape.blocks,
            "sizes": self.sizes,
            "manifest": self.manifest,
        }
        numbers = self.parameters.astype("<f2").tobytes()
        replace_atomically(path, _FORMAT.pack(json.dumps(header), numbers))


def read(path: Path) -> GoNetwork:
    """Read a network. Raise NetworkError if the file is invalid."""
    try:
        file = Container(_FORMAT, memoryview(read_bytes(path, _MAX_BYTES)))
    except OSError as error:
        raise NetworkError(f"{path}: {error.strerror}") from None
    if not file.has_magic or not file.is_intact:
        raise NetworkError(f"{path}: not a network of Go, or damaged")
    try:
        header = json.loads(file.header)
        shape = NetworkShape(int(header["blocks"]))
        numbers = np.frombuffer(file.content, "<f2").astype(np.float32)
        if not 0 < shape.blocks <= MAX_BLOCKS or numbers.size != shape.parameters:
            raise ValueError("number of parameters does not match the shape")
        if not np.isfinite(numbers).all():
            raise ValueError("weights must be finite")
        sizes = tuple(int(size) for size in header["sizes"])
        return GoNetwork(shape, numbers, sizes, dict(header["manifest"]))
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        raise NetworkError(f"{path}: invalid network file: {error}") from None


@cache
def shipped_network() -> tuple[GoNetwork | None, str]:
    """Return the built-in network, if any, and an empty string, or None and an error message."""
    if not SHIPPED.exists():
        return None, ""
    try:
        return read(SHIPPED), ""
    except NetworkError as error:
        return None, str(error)
