"""Learned weights of move features, written by `kempelen train tune patterns`.

The JSON file contains a manifest with the training data, the weights of features by name, and the
weights of 3x3 neighbourhoods by canonical code. The canonical code is the smallest code of all
rotations and reflections. Other neighbourhoods share one weight. A weight is the logarithm of a
strength, so 0 is neutral.
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
from agent.io.files import read_bytes, replace_atomically

SHIPPED = Path(__file__).with_name("pattern_weights.json")
OTHERS = "others"  # key of the weight for all neighbourhoods that are not in the file
_MAX_WEIGHT = 50.0
# Permutations of a code's neighbours for a quarter turn and a mirror: the source index of each
# target.
_ROTATION = (3, 0, 1, 2, 7, 4, 5, 6)
_REFLECTION = (0, 3, 2, 1, 7, 6, 5, 4)


class WeightsError(Exception):
    """Raised if a weights file is invalid or unreadable."""


def _permute_neighbours(
    codes: npt.NDArray[np.int64], sources: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    permuted = np.zeros_like(codes)
    for target, source in enumerate(sources):
        permuted |= (codes >> 2 * source & 3) << 2 * target
    return permuted


@cache
def canonical_codes() -> npt.NDArray[np.int64]:
    """Return, for each code, the smallest code among its rotations and reflections."""
    codes = np.arange(CODE_COUNT)
    smallest, rotated = codes, codes
    for _ in range(4):
        rotated = _permute_neighbours(rotated, _ROTATION)
        smallest = np.minimum(
            smallest, np.minimum(rotated, _permute_neighbours(rotated, _REFLECTION))
        )
    return smallest


def digest(features: Mapping[str, float], patterns: Mapping[str, float]) -> str:
    text = json.dumps([features, patterns], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def save(
    path: Path,
    manifest: Mapping[str, Any],
    features: Mapping[str, float],
    patterns: Mapping[str, float],
) -> None:
    """Write the weights atomically. The keys of `patterns` are hexadecimal codes and OTHERS."""
    manifest = {**manifest, "sha256": digest(features, patterns)}
    parts = {"manifest": manifest, "features": features, "patterns": patterns}
    lines = [
        f"{json.dumps(name)}: {json.dumps(part, sort_keys=name != 'manifest')}"
        for name, part in parts.items()
    ]
    replace_atomically(path, ("{" + ",\n".join(lines) + "}\n").encode())


def load(path: Path) -> npt.NDArray[np.float32]:
    """Read the weights, indexed by feature. Raise WeightsError if the file is invalid."""
    try:
        parts = json.loads(read_bytes(path))
        manifest, features, patterns = (
            parts[name] for name in ("manifest", "features", "patterns")
        )
        if manifest["sha256"] != digest(features, patterns):
            raise ValueError("sha256 mismatch")
        table = np.zeros(FEATURE_COUNT, np.float32)
        canonical = canonical_codes()
        by_code = np.full(CODE_COUNT, _parse_weight(patterns[OTHERS]), np.float32)
        for code, weight in patterns.items():
            if code != OTHERS:
                by_code[int(code, 16)] = _parse_weight(weight)
        table[:CODE_COUNT] = by_code[canonical]
        for name, weight in features.items():
            table[FEATURE_INDEX[name]] = _parse_weight(weight)
    except OSError as error:
        raise WeightsError(f"{path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise WeightsError(f"{path}: invalid pattern weights: {error}") from None
    return table


def _parse_weight(value: Any) -> float:
    number = float(value)
    if not (math.isfinite(number) and abs(number) <= _MAX_WEIGHT):
        raise ValueError(f"invalid weight {value}")
    return number


@cache
def shipped_weights() -> tuple[npt.NDArray[np.float32] | None, str]:
    """Return the built-in weights and an empty string, or None and an error message."""
    try:
        return load(SHIPPED), ""
    except WeightsError as error:
        return None, str(error)
