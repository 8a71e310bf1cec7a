"""`kempelen train tune network`: train the policy and value network of the Go search."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from agent.go.parts import GO
from agent.io.write_checks import require_writable
from kempelen import __version__
from kempelen.console.argument_types import positive_int, positive_seconds
from kempelen.console.terminal import load_kernels, print_error, progress_bar

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from kempelen.training.go_network_trainer import Losses

COMMAND = "kempelen train tune network"


def configure(parser: ArgumentParser) -> None:
    from kempelen.training.go_network_trainer import GoTrainingSettings

    defaults = GoTrainingSettings()
    parser.add_argument(
        "file",
        type=Path,
        help="file of Go games from `kempelen train selfplay --game go --targets`",
    )
    for name, help_text in (
        ("blocks", "number of residual blocks"),
        ("epochs", "number of passes over the positions"),
        ("batch", "positions per step"),
        ("seed", "random seed"),
    ):
        default = getattr(defaults, name)
        parser.add_argument(
            f"--{name}",
            type=positive_int,
            default=default,
            help=f"{help_text} (default: {default})",
        )
    parser.add_argument(
        "--rate",
        type=positive_seconds,
        default=defaults.rate,
        help=f"highest learning rate (default: {defaults.rate:g})",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="write the network to FILE, a replacement for agent/go/shipped.network; the "
        "checkpoint is FILE.checkpoint",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Train the network and write it. Return 2 on an error."""
    from kempelen.training.checkpoint_file import TrainingError
    from kempelen.training.workers import GamesError

    try:
        return _train(arguments)
    except (GamesError, TrainingError) as error:
        print_error(error, COMMAND)
    except KeyboardInterrupt:
        print_error(
            "interrupted; run the same command again to continue from the last epoch", COMMAND
        )
        raise
    return 2


def _train(arguments: Namespace) -> int:
    from agent.io.files import read_bytes
    from kempelen.training.checkpoint_file import TrainingError
    from kempelen.training.go_network_trainer import GoNetworkTrainer, GoTrainingSettings
    from kempelen.training.go_selfplay import MAX_FILE_BYTES, read

    checkpoint = Path(f"{arguments.output}.checkpoint")
    require_writable([arguments.output, checkpoint], [arguments.file], TrainingError, regular=True)
    manifest, games = read(arguments.file)
    size = manifest["size"]
    if not isinstance(size, int):
        raise TrainingError("{}: board size {} (expected a square board)", arguments.file, size)
    load_kernels(GO)
    names = ("blocks", "epochs", "batch", "rate", "seed")
    settings = GoTrainingSettings(**{name: getattr(arguments, name) for name in names})
    with progress_bar("reading the positions", None):
        trainer = GoNetworkTrainer(settings, games, size)
    digest = hashlib.sha256(read_bytes(arguments.file, MAX_FILE_BYTES)).hexdigest()
    with progress_bar("training", settings.epochs * trainer.epoch_steps) as show:
        for history in trainer.run(checkpoint, [digest], show):
            if history and not arguments.json:
                print(f"epoch {len(history)}: {_describe(history[-1])}", flush=True)
    network = trainer.network(
        {
            "made by": f"{COMMAND} {__version__}",
            "licence": manifest["licence"],
            "games": len(games),
            "positions": len(trainer.positions),
            "settings": asdict(settings),
            "losses": asdict(history[-1]),
            "source": manifest | {"sha256": digest},
        }
    )
    network.write(arguments.output)
    found = {"file": str(arguments.output), "games": len(games), **asdict(history[-1])}
    print(json.dumps(found) if arguments.json else arguments.output)
    return 0


def _describe(losses: Losses) -> str:
    return (
        f"held-out games: moves {losses.moves:.3f}, value {losses.value:.3f}, owners "
        f"{losses.owners:.3f}, best move predicted in {losses.predicted:.1%}"
    )
