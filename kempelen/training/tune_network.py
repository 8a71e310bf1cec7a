"""`kempelen train tune network`: train the policy and value network of the Go search."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.go.parts import GO
from agent.io.write_checks import require_writable
from kempelen import __version__
from kempelen.console.argument_types import positive_int, positive_seconds
from kempelen.console.terminal import load_kernels, print_error, progress_bar

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from kempelen.training.go_network_trainer import Losses
    from kempelen.training.go_selfplay import GoGame

COMMAND = "kempelen train tune network"


def configure(parser: ArgumentParser) -> None:
    from kempelen.training.go_network_trainer import GoTrainingSettings

    defaults = GoTrainingSettings()
    parser.add_argument(
        "file",
        type=Path,
        nargs="+",
        help="files of Go games from `kempelen train selfplay --game go --targets`; the network "
        "learns all their board sizes",
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
    parser.add_argument("--initial", type=Path, metavar="FILE", help="network to start from")
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
    from agent.go.network_file import NetworkError
    from kempelen.training.checkpoint_file import TrainingError
    from kempelen.training.workers import GamesError

    try:
        return _train(arguments)
    except (GamesError, NetworkError, TrainingError) as error:
        print_error(error, COMMAND)
    except KeyboardInterrupt:
        print_error(
            "interrupted; run the same command again to continue from the last epoch", COMMAND
        )
        raise
    return 2


def _read_games(files: Sequence[Path]) -> tuple[dict[int, list[GoGame]], list[dict[str, Any]]]:
    """Return the games of the files by board size, and the manifest of each file."""
    from kempelen.training.checkpoint_file import TrainingError
    from kempelen.training.go_selfplay import read

    games: dict[int, list[GoGame]] = {}
    manifests = []
    for file in files:
        manifest, found = read(file)
        size = manifest["size"]
        if not isinstance(size, int):
            raise TrainingError("{}: board size {} (expected a square board)", file, size)
        games.setdefault(size, []).extend(found)
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        manifests.append(manifest | {"games": len(found), "sha256": digest})
    return games, manifests


def _train(arguments: Namespace) -> int:
    from agent.go.network_file import read as read_network
    from kempelen.training.checkpoint_file import TrainingError
    from kempelen.training.go_network_trainer import GoNetworkTrainer, GoTrainingSettings

    checkpoint = Path(f"{arguments.output}.checkpoint")
    inputs = arguments.file + ([arguments.initial] if arguments.initial else [])
    require_writable([arguments.output, checkpoint], inputs, TrainingError, regular=True)
    initial = read_network(arguments.initial) if arguments.initial else None
    games, manifests = _read_games(arguments.file)
    sources = [manifest["sha256"] for manifest in manifests]
    if initial:
        sources.append(hashlib.sha256(initial.parameters.tobytes()).hexdigest())
    load_kernels(GO)
    names = ("blocks", "epochs", "batch", "rate", "seed")
    settings = GoTrainingSettings(**{name: getattr(arguments, name) for name in names})
    with progress_bar("reading the positions", None):
        trainer = GoNetworkTrainer(settings, games, initial)
    with progress_bar("training", settings.epochs * trainer.epoch_steps) as show:
        for history in trainer.run(checkpoint, sources, show):
            if history and not arguments.json:
                print(f"epoch {len(history)}, held-out games:", flush=True)
                for size, losses in history[-1].items():
                    print(f"  {size}x{size}: {_describe(losses)}", flush=True)
    losses_by_size = {size: asdict(losses) for size, losses in history[-1].items()}
    network = trainer.network(
        {
            "made by": f"{COMMAND} {__version__}",
            "licence": manifests[0]["licence"],
            "positions": {size: len(found) for size, found in trainer.positions.items()},
            "settings": asdict(settings),
            "losses": losses_by_size,
            "sources": manifests,
            "initial": initial and initial.manifest,
        }
    )
    network.write(arguments.output)
    n_games = sum(map(len, games.values()))
    found = {"file": str(arguments.output), "games": n_games, "losses": losses_by_size}
    print(json.dumps(found) if arguments.json else arguments.output)
    return 0


def _describe(losses: Losses) -> str:
    return (
        f"moves {losses.moves:.3f}, value {losses.value:.3f}, owners {losses.owners:.3f}, best "
        f"move predicted in {losses.predicted:.1%}"
    )
