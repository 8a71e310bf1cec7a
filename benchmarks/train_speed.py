"""Speed of network training: positions per second on one core, for several network sizes.

    python benchmarks/train_speed.py
    python benchmarks/train_speed.py --data positions.bin --seconds 30

Measures complete steps of the trainer on one thread. They include shuffling, AdamW, and at the end
of each epoch validation and the checkpoint. Times are CPU seconds, so that other load on the
machine matters little. Without a file, quick self-play generates the positions.
"""

import tempfile
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from harness import parser, show

from agent.chess.parts import ALPHABETA, SELFPLAY
from agent.chess.search.selfplay_settings import SelfPlaySettings
from agent.machine import usable_cores
from kempelen.console.terminal import load_kernels
from kempelen.training import network_data
from kempelen.training.network_data import TrainingData
from kempelen.training.network_settings import TrainingSettings
from kempelen.training.network_trainer import NetworkTrainer
from kempelen.training.selfplay import SelfPlayPlan, generate

NEURONS = (128, 256, 512)
POSITIONS, NODES = 50_000, 20
BATCH, EPOCH_BATCHES = 16_384, 32


def data_parser(doc: str) -> ArgumentParser:
    """Return a parser with the options of benchmarks on a file of positions."""
    result = parser(doc)
    result.add_argument(
        "--data", type=Path, metavar="FILE", help="file of positions (default: quick self-play)"
    )
    return result


def data_file(options: Namespace, folder: Path) -> Path:
    """Return the file of `--data`, or one of self-play in `folder`."""
    if options.data is not None:
        return options.data
    path = folder / "positions.bin"
    load_kernels(ALPHABETA, SELFPLAY)
    plan = SelfPlayPlan(SelfPlaySettings(nodes=NODES))
    list(generate(path, plan, "benchmark", POSITIONS, usable_cores()))
    return path


def speed(settings: TrainingSettings, data: TrainingData, seconds: float) -> float:
    """Return the trained positions per CPU second, measured for about `seconds` seconds."""
    trainer = NetworkTrainer(settings, data, 1)
    epochs = trainer.run()
    for made in epochs:  # warm up: compile, and touch all data once
        if made.losses:
            break
    began, wanted, done = time.process_time(), time.process_time() + seconds, 0
    while time.process_time() < wanted and next(epochs, None) is not None:
        done += settings.positions or 0
    return done / (time.process_time() - began)


def main() -> None:
    """Measure and print."""
    arguments = data_parser(__doc__)
    arguments.add_argument(
        "--seconds", type=float, default=10, help="seconds per network size (default: 10)"
    )
    arguments.add_argument(
        "--batches",
        type=int,
        default=EPOCH_BATCHES,
        help=f"batches per epoch (default: {EPOCH_BATCHES})",
    )
    given = arguments.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = data_file(given, folder)
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
    show("training on one core", ("neurons", "positions a second"), rows, given.json)


if __name__ == "__main__":
    main()
