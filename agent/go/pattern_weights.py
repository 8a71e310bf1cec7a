"""The weights of features of moves, as `kempelen tune patterns` learned and wrote them.

A file is JSON: a manifest, which says what was learned from, the weights of features by their
names and those of 3x3 neighbourhoods by their codes, one for all that are turned or mirrored, and
one for all other neighbourhoods. A weight is the logarithm of a strength, 0 for a neutral one.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.go.features import CODE_COUNT, FEATURE_COUNT, FEATURE_INDEX
from agent.io.files import read_text, replace_atomically

SHIPPED = Path(__file__).with_name("pattern_weights.json")
OTHERS = "others"  # neighbourhoods that are not in the file
_MAX_WEIGHT = 50.0
# Where the neighbour comes from that each place of a code gets: a quarter turn, and a mirror.
_ROTATION = (3, 0, 1, 2, 7, 4, 5, 6)
_REFLECTION = (0, 3, 2, 1, 7, 6, 5, 4)


class WeightsError(Exception):
    """A file of weights cannot be used; the message says why."""


def _permute_neighbours(
    codes: npt.NDArray[np.int64], places: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    """Return codes with their neighbours at other places."""
    moved = np.zeros_like(codes)
    for number, place in enumerate(places):
        moved |= (codes >> 2 * place & 3) << 2 * number
    return moved


@cache
def canonical_codes() -> npt.NDArray[np.int64]:
    """Return of each code the least of those that are the same but turned or mirrored."""
    codes = np.arange(CODE_COUNT)
    least, turned = codes, codes
    for _ in range(4):
        turned = _permute_neighbours(turned, _ROTATION)
        least = np.minimum(least, np.minimum(turned, _permute_neighbours(turned, _REFLECTION)))
    return least


def digest(features: Mapping[str, float], patterns: Mapping[str, float]) -> str:
    """Return by what damage of the weights is seen."""
    text = json.dumps([features, patterns], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def save(
    path: Path,
    manifest: Mapping[str, Any],
    features: Mapping[str, float],
    patterns: Mapping[str, float],
) -> None:
    """Write a file, whole or not at all. patterns: by the least code in hexadecimal, and OTHERS."""
    manifest = {**manifest, "sha256": digest(features, patterns)}
    parts = {"manifest": manifest, "features": features, "patterns": patterns}
    lines = [
        f"{json.dumps(name)}: {json.dumps(part, sort_keys=name != 'manifest')}"
        for name, part in parts.items()
    ]
    replace_atomically(path, ("{" + ",\n".join(lines) + "}\n").encode())


def load(path: Path) -> npt.NDArray[np.float32]:
    """Return the table of weights, by the places of agent.go.features.

    Raises WeightsError, which names the file.
    """
    try:
        parts = json.loads(read_text(path))
        manifest, features, patterns = (
            parts[name] for name in ("manifest", "features", "patterns")
        )
        if manifest["sha256"] != digest(features, patterns):
            raise ValueError("its weights are not those that its sha256 is of")
        table = np.zeros(FEATURE_COUNT, np.float32)
        least = canonical_codes()
        by_code = np.full(CODE_COUNT, _parse_weight(patterns[OTHERS]), np.float32)
        for code, weight in patterns.items():
            if code != OTHERS:
                by_code[int(code, 16)] = _parse_weight(weight)
        table[:CODE_COUNT] = by_code[least]
        for name, weight in features.items():
            table[FEATURE_INDEX[name]] = _parse_weight(weight)
    except OSError as error:
        raise WeightsError(f"{path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise WeightsError(f"{path} has no weights of patterns, or is damaged: {error}") from None
    return table


def _parse_weight(value: Any) -> float:
    number = float(value)
    if not (math.isfinite(number) and abs(number) <= _MAX_WEIGHT):
        raise ValueError(f"{value} is no weight")
    return number


@cache
def shipped_weights() -> tuple[npt.NDArray[np.float32] | None, str]:
    """Return the weights that play goes by; or None, and what is wrong with their file."""
    try:
        return load(SHIPPED), ""
    except WeightsError as error:
        return None, str(error)
