"""Training a network: positions a second of one core's time, for networks of several sizes.

    python benchmarks/train_speed.py
    python benchmarks/train_speed.py --data positions.bin --seconds 30

Whole steps of the trainer on one thread, the shuffling and the step of AdamW with them, and at the
end of each epoch the validation games and the checkpoint. What is counted is the time of the
processor, so that a busy machine matters little. Without a file, positions are made by quick games.
"""

import tempfile
import time
from pathlib import Path

from report import parser, show

from agent.chess.parts import ALPHABETA, SELFPLAY
from agent.chess.search.selfplay_settings import SelfPlaySettings
from agent.machine import usable_cores
from kempelen.console.terminal import load_kernels
from kempelen.training import network_data
from kempelen.training.network_data import NetworkData
from kempelen.training.network_settings import TrainingSettings
from kempelen.training.network_trainer import NetworkTrainer
from kempelen.training.selfplay import SelfPlayPlan, generate

NEURONS = (128, 256, 512)
TARGET_SPEED = 250_000  # positions a second and core, at 256 neurons
POSITIONS, NODES = 50_000, 20
BATCH, EPOCH_BATCHES = 16_384, 32


def play(path: Path) -> None:
    """Make a file of positions."""
    load_kernels(ALPHABETA, SELFPLAY)
    list(
        generate(
            path,
            SelfPlayPlan(SelfPlaySettings(nodes=NODES)),
            "benchmark",
            POSITIONS,
            usable_cores(),
        )
    )


def speed(settings: TrainingSettings, data: NetworkData, seconds: float) -> float:
    """Return the positions learned in a second of the processor, over about so many seconds."""
    trainer = NetworkTrainer(settings, data, 1)
    epochs = trainer.run()
    for made in epochs:  # compiled, and once through the memory
        if made.losses:
            break
    began, wanted, done = time.process_time(), time.process_time() + seconds, 0
    while time.process_time() < wanted and next(epochs, None) is not None:
        done += settings.positions or 0
    return done / (time.process_time() - began)


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, metavar="FILE", help="positions to learn from")
    arguments.add_argument("--seconds", type=float, default=10, help="for each size (default 10)")
    arguments.add_argument(
        "--batches", type=int, default=EPOCH_BATCHES, help=f"of an epoch (default {EPOCH_BATCHES})"
    )
    given = arguments.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = given.data or folder / "positions.bin"
        if given.data is None:
            play(file)
        for neurons in NEURONS:
            settings = TrainingSettings(
                data=(str(file),),
                output=str(folder / f"{neurons}.nnue"),
                neurons=neurons,
                epochs=10_000,
                positions=given.batches * BATCH,
                batch=BATCH,
            )
            data = network_data.load(settings.data, settings.filter, settings.target)
            rows.append((neurons, round(speed(settings, data, given.seconds))))
    columns = ("neurons", "positions a second and core")
    show(
        f"training on one core; the aim is {TARGET_SPEED:,} at 256 neurons",
        columns,
        rows,
        given.json,
    )


if __name__ == "__main__":
    main()
