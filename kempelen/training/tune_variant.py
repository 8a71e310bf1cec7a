"""`kempelen train tune variant`: train the network of a variant."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.evaluation_types import SHIPPED_NETWORK
from agent.games.variants import VARIANTS, parse_variant
from agent.io.write_checks import require_writable
from kempelen import __version__
from kempelen.console.argument_types import fraction, positive_int, positive_seconds
from kempelen.console.terminal import load_kernels, print_error, progress_bar

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

COMMAND = "kempelen train tune variant"


def configure(parser: ArgumentParser) -> None:
    from kempelen.training.variant_network import VariantTrainingSettings

    defaults = VariantTrainingSettings()
    parser.add_argument(
        "file", type=Path, help="file of positions from `kempelen train selfplay --variant NAME`"
    )
    parser.add_argument(
        "--variant",
        metavar="NAME",
        required=True,
        help=f"variant: {', '.join(VARIANTS[1:])}",
    )
    for name, kind, help_text in (
        ("epochs", positive_int, "number of passes over the positions"),
        ("batch", positive_int, "positions per step"),
        ("seed", positive_int, "random seed"),
        ("rate", positive_seconds, "initial learning rate"),
        ("decay", fraction, "weight decay"),
        ("result-share", fraction, "weight of the result in the target, beside the score"),
        ("scale", positive_seconds, "centipawns at which the win probability is 73%%"),
    ):
        default = getattr(defaults, name.replace("-", "_"))
        parser.add_argument(
            f"--{name}", type=kind, default=default, help=f"{help_text} (default: {default:g})"
        )
    parser.add_argument(
        "--initial",
        type=Path,
        metavar="FILE",
        help="network to start from (default: that of chess in 3check, or else a new one)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="write the network to FILE, a replacement for agent/chess/NAME.nnue",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Train the network and write it. Return 2 on an error."""
    from agent.chess.evaluation.nnue_format import NetworkError
    from kempelen.training.checkpoint_file import TrainingError

    try:
        return _train(arguments)
    except (NetworkError, TrainingError, ValueError) as error:
        print_error(error, COMMAND)
    except KeyboardInterrupt:
        print_error("interrupted; nothing was written", COMMAND)
        raise
    return 2


def _train(arguments: Namespace) -> int:
    from agent.chess.evaluation.nnue_format import read
    from agent.chess.evaluation.variant_networks import corrects_evaluation, has_own_network
    from agent.chess.parts import variant_part
    from kempelen.training.checkpoint_file import TrainingError
    from kempelen.training.variant_network import (
        VariantTrainer,
        VariantTrainingSettings,
        read_positions,
    )

    variant = parse_variant(arguments.variant)
    if not has_own_network(variant):
        raise TrainingError("{}: uses the network of chess (see `kempelen train fit`)", variant)
    start = arguments.initial
    if start is None and not corrects_evaluation(variant):
        start = SHIPPED_NETWORK
    sources = [arguments.file] if start is None else [arguments.file, start]
    require_writable([arguments.output], sources, TrainingError, regular=True)
    initial = read(start) if start else None
    load_kernels(variant_part(variant))
    names = [field.name for field in fields(VariantTrainingSettings) if field.name != "neurons"]
    settings = VariantTrainingSettings(**{name: getattr(arguments, name) for name in names})
    if initial is not None:
        settings = replace(settings, neurons=initial.neurons)
    with progress_bar("reading the positions", None) as show:
        trainer = VariantTrainer(settings, read_positions(arguments.file, variant, show), initial)
    with arguments.file.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    losses = []
    with progress_bar("training", settings.epochs * trainer.epoch_steps) as show:
        for loss, validation_loss in trainer.run(show):
            losses.append([loss, validation_loss])
            if not arguments.json:
                text = f"loss {loss:.6f}, held-out games {validation_loss:.6f}"
                print(f"epoch {len(losses)}: {text}", flush=True)
    network = trainer.network(
        {
            "engine": f"{COMMAND} {__version__}",
            "licence": "GPL-3.0-or-later",
            "variant": variant,
            "initial": initial.checksum if initial else None,
            "positions": trainer.positions,
            "settings": asdict(settings),
            "losses": losses,
            "best_epoch": trainer.best_epoch,
            "sha256": digest,
        }
    )
    network.write(arguments.output)
    if not trainer.best_epoch:
        print_error(
            f"{arguments.output}: no epoch lowered the loss of held-out games, so this is the "
            "network that training started from"
        )
    found = {"file": str(arguments.output), "positions": trainer.positions, "losses": losses}
    print(json.dumps(found) if arguments.json else arguments.output)
    return 0
