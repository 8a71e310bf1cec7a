"""Settings for network training."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.chess.evaluation.nnue_format import BUCKET_COUNTS, NEURON_COUNTS
from kempelen.training.checkpoint_file import TrainingError

MAX_SCORE = (1 << 15) - 1  # centipawns that fit into a packed position
MAX_SEED = (1 << 63) - 1
_RANGES = {
    "epochs": (1, 10_000),
    "positions": (1, MAX_SEED),
    "batch": (1, 1 << 20),
    "memory": (0, 1 << 30),  # megabytes
    "final_rate": (0, 1),
    "decay": (0, 1),
    "result_share": (0, 1),
    "scale": (1, MAX_SCORE),
    "trace_decay": (0, 1),
    "tempo": (-100, 100),  # centipawns
    "seed": (0, MAX_SEED),
    "threads": (1, 1024),
}
_NOT_DETERMINING = (
    "data", "validation", "output", "initial", "checkpoint", "memory", "threads", "tempo",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PositionFilter:
    """Limits for training positions by ply of the game and by absolute score in centipawns."""

    first_ply: int = 16
    largest_score: int = 3000

    def __post_init__(self) -> None:
        _require_in_range("filter.first_ply", self.first_ply, 0, MAX_SCORE)
        _require_in_range("filter.largest_score", self.largest_score, 1, MAX_SCORE)


@dataclass(frozen=True, slots=True)
class Target:
    """The training target, a weighted mean of the game result and the search score.

    `result_share` is the weight of the result, from 0 to 1.
    `scale` is the score in centipawns at which the win probability is 1 / (1 + 1 / e) = 73%.
    `trace_decay` is the lambda of TD(lambda), see `td_targets`.
    """

    result_share: float
    scale: float
    trace_decay: float = 0.0


def win_probability(centipawns: npt.NDArray[Any], target: Target) -> npt.NDArray[np.float64]:
    """Convert centipawns to win probabilities, 1 / (1 + exp(-centipawns / target.scale))."""
    probabilities: npt.NDArray[np.float64] = 0.5 + 0.5 * np.tanh(centipawns / target.scale / 2)
    return probabilities


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """The settings of a training run.

    `data` and `validation` are files of positions. Without `validation`, some games of `data` are
    used for validation.
    `initial` is a network file to start from. That network must have the same number of outputs,
    and may have fewer neurons.
    `checkpoint` defaults to `output` with the suffix `.checkpoint`.
    `positions` is the number of positions per epoch. The default is all of `data`.
    `memory` is the limit for positions in memory, in megabytes. If `data` needs more, it is read
    from the files in each epoch.
    `rate` is the initial learning rate of a cosine schedule. `final_rate` is a fraction of `rate`.
    `decay` is the weight decay of AdamW.
    `threads` defaults to the number of CPU cores.
    `tempo` is the value of the right to move in centipawns. It is subtracted on export, because
    shallow searches overestimate it.
    """

    data: tuple[str, ...]
    output: str
    validation: tuple[str, ...] = ()
    initial: str | None = None
    checkpoint: str | None = None
    neurons: int = 128
    buckets: int = 8
    epochs: int = 10
    positions: int | None = None
    batch: int = 16384
    memory: int = 1024
    rate: float = 0.001
    final_rate: float = 0.01
    decay: float = 0.01
    result_share: float = 0.0
    scale: float = 400
    trace_decay: float = 0.0
    tempo: float = 0.0
    seed: int = 1
    threads: int | None = None
    filter: PositionFilter = field(default_factory=PositionFilter)

    def __post_init__(self) -> None:
        if not self.data:
            raise TrainingError("data: must name at least one file of positions")
        if not self.output:
            raise TrainingError("output: must name a network file")
        if self.neurons not in NEURON_COUNTS:
            raise TrainingError(
                f"neurons: must be a multiple of {NEURON_COUNTS.step} from {NEURON_COUNTS[0]} to "
                f"{NEURON_COUNTS[-1]} (got {self.neurons})"
            )
        if self.buckets not in BUCKET_COUNTS:
            counts = ", ".join(map(str, BUCKET_COUNTS))
            raise TrainingError(f"buckets: must be one of {counts} (got {self.buckets})")
        for name, (minimum, maximum) in _RANGES.items():
            if (value := getattr(self, name)) is not None:
                _require_in_range(name, value, minimum, maximum)
        if not 0 < self.rate <= 1:
            raise TrainingError(f"rate: must be above 0 and at most 1 (got {self.rate})")

    @property
    def target(self) -> Target:
        return Target(self.result_share, self.scale, self.trace_decay)

    @property
    def checkpoint_path(self) -> str:
        return self.checkpoint or f"{self.output}.checkpoint"

    def determining_settings(self) -> dict[str, Any]:
        """Return the settings that affect the trained parameters, except the data files."""
        entries = asdict(self)
        # The tempo is subtracted on export only.
        for name in _NOT_DETERMINING:
            del entries[name]
        inner = {f"filter.{name}": value for name, value in entries.pop("filter").items()}
        return entries | inner


def _require_in_range(name: str, value: float, minimum: int, maximum: int) -> None:
    if not minimum <= value <= maximum:
        raise TrainingError(f"{name}: must be from {minimum} to {maximum} (got {value})")
