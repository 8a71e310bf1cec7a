"""The AdamW optimizer and its learning rate (Kingma and Ba 2015; Loshchilov and Hutter 2019)."""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


def cosine_rate(initial: float, final_share: float, progress: float) -> float:
    """Return a rate that falls from `initial` to `final_share * initial`, as a half cosine wave.

    `progress` is the finished share of the training, from 0 to 1.
    """
    decay = 0.5 * (1 + math.cos(math.pi * progress))
    return initial * (final_share + (1 - final_share) * decay)


def update(
    parameters: Floats,
    gradients: Floats,
    means: Floats,
    squares: Floats,
    *,
    step: int,
    rate: float,
    decay: float,
) -> None:
    """Update the parameters and Adam's running means in place. `step` counts from 1."""
    means += (1 - _BETA1) * (gradients - means)
    squares += (1 - _BETA2) * (gradients * gradients - squares)
    scale = math.sqrt(1 - _BETA2**step) / (1 - _BETA1**step)
    parameters *= 1 - rate * decay
    parameters -= rate * scale * means / (np.sqrt(squares) + _EPSILON)
