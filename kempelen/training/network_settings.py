"""What a network is trained with: frozen values, which a file of settings gives."""

from dataclasses import asdict, dataclass, field
from typing import Any

from agent.chess.evaluation.nnue_format import BUCKET_COUNTS, NEURON_COUNTS

MAX_EPOCHS = 10_000
MAX_THREADS = 1024
MAX_BATCH = 1 << 20
MAX_SCORE = (1 << 15) - 1  # of a packed position, in centipawns
MAX_TEMPO = 100  # in centipawns
MAX_SEED = (1 << 63) - 1


class TrainingError(ValueError):
    """Training that cannot be done; the message names what is wrong and the remedy."""


@dataclass(frozen=True, slots=True)
class PositionFilter:
    """Which positions are learned from.

    first_ply: those from this halfmove of their game on; largest_score: those whose score is at
    most so many centipawns, for whichever side.
    """

    first_ply: int = 16
    largest_score: int = 3000

    def __post_init__(self) -> None:
        _require_in_range("filter.first_ply", self.first_ply, 0, MAX_SCORE)
        _require_in_range("filter.largest_score", self.largest_score, 1, MAX_SCORE)


@dataclass(frozen=True, slots=True)
class Target:
    """What is learned: the chance to win by the game's result and by the search's score.

    result_share: of the result; the rest is the score's. scale: the centipawns at which a score
    means a chance of 1 / (1 + 1 / e), or 73%; the network's own are read by it too. trace_decay:
    the share of a score that a ply later's replaces: see kempelen.training.td_targets.
    """

    result_share: float
    scale: float
    trace_decay: float = 0.0


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """A whole training run.

    data: files of positions; validation: files whose games are judged by, in place of some games of
    data; output: the network's file; initial: that of a network which training goes on from, with
    as many outputs and at most as many neurons; checkpoint: where the run is kept between epochs,
    beside the output if it is not said. positions: of an epoch; as many as there are, if that is
    not said. rate: of the first step, final_rate: the last one's share of it, the others along a
    cosine; decay: of the weights, by AdamW. result_share: of the game's result in what is learned,
    scale and trace_decay: see Target. threads: as many as there are cores, if that is not said.
    device: where PyTorch makes the steps, by its name there; without it they are made here, by
    kernels. tempo: the centipawns of what was learned that are for having the move and that the
    network in the file leaves out; searches of few plies give too many.
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
    rate: float = 0.001
    final_rate: float = 0.01
    decay: float = 0.01
    result_share: float = 0.0
    scale: float = 400
    trace_decay: float = 0.0
    tempo: float = 0.0
    seed: int = 1
    threads: int | None = None
    device: str | None = None
    filter: PositionFilter = field(default_factory=PositionFilter)

    def __post_init__(self) -> None:
        if not self.data:
            raise TrainingError("data: name one file of positions or more")
        if not self.output:
            raise TrainingError("output: name the network's file")
        if self.neurons not in NEURON_COUNTS:
            raise TrainingError(
                f"neurons: a multiple of {NEURON_COUNTS.step} from {NEURON_COUNTS[0]} to "
                f"{NEURON_COUNTS[-1]} is expected, not {self.neurons}"
            )
        if self.buckets not in BUCKET_COUNTS:
            counts = ", ".join(map(str, BUCKET_COUNTS))
            raise TrainingError(f"buckets: one of {counts} is expected, not {self.buckets}")
        _require_in_range("epochs", self.epochs, 1, MAX_EPOCHS)
        if self.positions is not None:
            _require_in_range("positions", self.positions, 1, MAX_SEED)
        _require_in_range("batch", self.batch, 1, MAX_BATCH)
        _require_in_range("final_rate", self.final_rate, 0, 1)
        _require_in_range("decay", self.decay, 0, 1)
        _require_in_range("result_share", self.result_share, 0, 1)
        _require_in_range("scale", self.scale, 1, MAX_SCORE)
        _require_in_range("trace_decay", self.trace_decay, 0, 1)
        _require_in_range("tempo", self.tempo, -MAX_TEMPO, MAX_TEMPO)
        _require_in_range("seed", self.seed, 0, MAX_SEED)
        if self.threads is not None:
            _require_in_range("threads", self.threads, 1, MAX_THREADS)
        if not 0 < self.rate <= 1:
            raise TrainingError(f"rate: a number above 0, at most 1, is expected, not {self.rate}")

    @property
    def target(self) -> Target:
        """What is learned."""
        return Target(self.result_share, self.scale, self.trace_decay)

    @property
    def checkpoint_path(self) -> str:
        """Where the run is kept between epochs."""
        return self.checkpoint or f"{self.output}.checkpoint"

    def determining_settings(self) -> dict[str, Any]:
        """Return the entries that what is learned follows from, beside the data, by their names."""
        entries = asdict(self)
        # The tempo is taken away when all is learned.
        for name in ("data", "validation", "output", "initial", "checkpoint", "threads", "tempo"):
            del entries[name]
        if self.device is None:
            del entries["device"]  # whose sums have another order
        else:
            entries["device"] = "PyTorch"  # on whichever
        inner = {f"filter.{name}": value for name, value in entries.pop("filter").items()}
        return entries | inner


def _require_in_range(name: str, value: float, least: int, most: int) -> None:
    if not least <= value <= most:
        raise TrainingError(f"{name}: a number from {least} to {most} is expected, not {value}")
