"""`kempelen train fit`: train the chess network that a YAML file describes."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.io.write_checks import require_writable
from agent.machine import usable_cores
from kempelen import __version__
from kempelen.console.pictures import PictureError, check_picture, save
from kempelen.console.terminal import print_error, progress_bar

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from kempelen.training.checkpoint import Checkpoint
    from kempelen.training.network_data import TrainingData
    from kempelen.training.network_settings import TrainingSettings
    from kempelen.training.network_trainer import NetworkTrainer

COMMAND = "kempelen train fit"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", help="YAML file with the settings; docs/guide/training.md shows its entries"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the loss by epoch")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Train and write the network. Return 0 on success, or 2 after an error."""
    from agent.chess.evaluation.nnue_format import NetworkError
    from kempelen.console.settings_codec import SettingsError
    from kempelen.training.checkpoint_file import TrainingError
    from kempelen.training.dataset_blocks import DatasetError

    try:
        settings = settings_from(arguments.file)
        _check_paths(settings, arguments)
        if arguments.plot is not None:
            check_picture(arguments.plot, "train")
        return _train(settings, arguments)
    except (NetworkError, PictureError, DatasetError, SettingsError, TrainingError) as error:
        print_error(error, COMMAND)
    except KeyboardInterrupt:
        print_error(
            "interrupted; run the same command again to continue from the last epoch", COMMAND
        )
        raise
    return 2


def settings_from(file: str) -> TrainingSettings:
    """Return the settings in a YAML file. Raise SettingsError if an entry is invalid."""
    from kempelen.console.settings_codec import decode, read_settings
    from kempelen.training.network_settings import TrainingSettings

    return read_settings(file, "`data:` and `output:`", lambda data: decode(TrainingSettings, data))


def _check_paths(settings: TrainingSettings, arguments: Namespace) -> None:
    from agent.chess.evaluation import nnue_format
    from kempelen.training.checkpoint_file import TrainingError

    written = [settings.output, settings.checkpoint_path, arguments.plot]
    read = [arguments.file, *settings.data, *settings.validation, settings.initial]
    targets, sources = ([path for path in paths if path is not None] for paths in (written, read))
    require_writable(targets, sources, TrainingError, regular=True)
    output = Path(settings.output)
    if output.exists() and output.stat().st_size:
        try:
            nnue_format.read_neuron_count(output)
        except nnue_format.NetworkError as error:
            raise TrainingError(f"output: {error} (choose another file, or move it away)") from None


def _train(settings: TrainingSettings, arguments: Namespace) -> int:
    from kempelen.training import network_data

    with progress_bar("reading the positions", None):
        data = network_data.load(
            settings.data, settings.filter, settings.target, settings.validation, settings.memory
        )
    with contextlib.closing(data):
        return _train_on(data, settings, arguments)


def _train_on(data: TrainingData, settings: TrainingSettings, arguments: Namespace) -> int:
    for file in (*data.files, *data.validation_files):
        if file.damaged:
            print_error(
                f"{file.name}: {file.damaged} damaged bytes; their games are skipped", COMMAND
            )
    with progress_bar("loading or compiling the trainer", None):
        trainer = _compile_trainer(settings, data)
    engine = f"kempelen train {__version__}"
    trainer.check_manifest_size(engine)
    if trainer.epoch_positions < settings.batch:
        print_error(
            f"batch: {settings.batch} of {len(data.training)} positions is one step per epoch, and "
            f"{settings.epochs} steps in total are few; use a smaller batch",
            COMMAND,
        )
    checkpoint, seconds, steps = _run(settings, trainer, arguments.json)
    network = trainer.export(checkpoint, engine)
    network.write(settings.output)
    if arguments.plot is not None:
        _draw_losses(checkpoint, arguments.plot)
    loss, validation_loss = checkpoint.losses[checkpoint.best_epoch - 1]
    found: dict[str, Any] = {
        "file": settings.output,
        "shape": network.shape,
        "training_positions": len(data.training),
        "validation_positions": len(data.validation),
        "losses": checkpoint.losses,
        "epoch": checkpoint.best_epoch,
        "loss": loss,
        "validation_loss": validation_loss,
        "seconds": round(seconds, 1),
        "positions_a_second": round(steps * settings.batch / seconds) if steps else 0,
    }
    if arguments.json:
        print(json.dumps(found))
        return 0
    print(
        f"{settings.output}: {network.shape}, epoch {checkpoint.best_epoch}, validation loss "
        f"{validation_loss:.6f}"
    )
    return 0


def _compile_trainer(settings: TrainingSettings, data: TrainingData) -> NetworkTrainer:
    from kempelen.training.network_trainer import NetworkTrainer

    return NetworkTrainer(settings, data, settings.threads or usable_cores())


def _run(
    settings: TrainingSettings, trainer: NetworkTrainer, quiet: bool
) -> tuple[Checkpoint, float, int]:
    """Train, and return the last checkpoint, the time in seconds, and the number of steps."""
    began = time.monotonic()
    with progress_bar("training", trainer.steps) as show:
        epochs = trainer.run(show)
        made = next(epochs)
        first = len(made.losses)
        if first:
            print_error(f"{settings.checkpoint_path}: continuing after epoch {first}", COMMAND)
        show(first * trainer.epoch_steps)
        for made in epochs:
            number = len(made.losses)
            loss, validation_loss = made.losses[-1]
            if not quiet:
                best = " (best)" if made.best_epoch == number else ""
                print(f"epoch {number}: loss {loss:.6f}, validation {validation_loss:.6f}{best}")
                sys.stdout.flush()
    steps = (len(made.losses) - first) * trainer.epoch_steps
    return made, time.monotonic() - began, steps


def _draw_losses(made: Checkpoint, path: Path) -> None:
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    numbers = range(1, len(made.losses) + 1)
    for part, name in enumerate(("training", "validation")):
        axes.plot(numbers, [losses[part] for losses in made.losses], marker=".", label=name)
    axes.axvline(made.best_epoch, color="0.6", linestyle=":", label="the network's epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("epoch")
    axes.set_ylabel("mean squared error of the expected score")
    axes.legend()
    save(figure, path)
