"""Networks with random weights of about the same magnitude as trained weights."""

from typing import Any

import numpy as np

from agent.chess.evaluation.nnue_format import NnueNetwork


def random_network(
    neurons: int = 128, buckets: int = 8, seed: int = 1, manifest: dict[str, Any] | None = None
) -> NnueNetwork:
    """Return a random network. Equal arguments give equal networks."""
    generator = np.random.default_rng(seed)
    return NnueNetwork.quantize(
        generator.normal(0, 0.1, (768, neurons)),
        generator.normal(0.3, 0.2, neurons),
        generator.normal(0, 0.2, (buckets, 2 * neurons)),
        generator.normal(0, 0.1, buckets),
        manifest or {"source": "random numbers"},
    )
