"""`kempelen train tune evaluation`: fit the weights of the hand-written evaluation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from agent.chess.parts import ALPHABETA, TRACING
from agent.io.files import name_in_errors
from agent.io.requirements import missing_packages
from agent.io.write_checks import require_writable
from kempelen.console.argument_types import fraction, positive_int
from kempelen.console.terminal import load_kernels, print_error, progress_bar

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from kempelen.training.dataset import Dataset

DEFAULT_POSITIONS = 2_000_000
DEFAULT_ITERATIONS = 250
RESULT_WEIGHT = 0.6
START_WEIGHTS = ("shipped", "material")
EXIT_NOT_BETTER = 1


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="file of positions, from `kempelen train selfplay` or `kempelen train data`",
    )
    parser.add_argument(
        "--positions",
        type=positive_int,
        default=DEFAULT_POSITIONS,
        help=f"maximum number of random positions (default: {DEFAULT_POSITIONS})",
    )
    parser.add_argument(
        "--iterations",
        type=positive_int,
        default=DEFAULT_ITERATIONS,
        help=f"maximum number of iterations (default: {DEFAULT_ITERATIONS})",
    )
    parser.add_argument(
        "--result-share",
        type=fraction,
        default=RESULT_WEIGHT,
        metavar="SHARE",
        help="weight of the game's result in the target, 0 to 1; the rest is the score "
        f"(default: {RESULT_WEIGHT})",
    )
    parser.add_argument(
        "--from",
        dest="start",
        choices=START_WEIGHTS,
        default=START_WEIGHTS[0],
        help="initial weights: the shipped ones, or material only (default: %(default)s)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE.py",
        help="write the weights to FILE.py, a replacement for agent/chess/evaluation/weights.py",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Fit the weights, and write them if they are better than the initial weights.

    Return 1 if they are not better, and 2 on an error.
    """
    from kempelen.training.dataset import Dataset
    from kempelen.training.dataset_blocks import DatasetError

    try:
        import scipy  # noqa: F401
    except ImportError:
        print_error(missing_packages("the fit", "train"), "kempelen train tune")
        return 2
    try:
        require_writable([arguments.output], arguments.files, DatasetError)
        with Dataset(*arguments.files) as dataset:
            return _tune(arguments, dataset)
    except DatasetError as error:
        print_error(error, "kempelen train tune")
        return 2


def _tune(arguments: Namespace, dataset: Dataset) -> int:
    from kempelen.training import texel
    from kempelen.training.dataset import TRAINING, VALIDATION
    from kempelen.training.dataset_blocks import DatasetError

    load_kernels(ALPHABETA, TRACING)
    if len(dataset) == 0:
        raise DatasetError(f"{arguments.files[0]}: no positions")
    training, validation = (
        texel.read_sample(dataset, part, arguments.positions) for part in (TRAINING, VALIDATION)
    )
    if warning := texel.check_size(training, validation):
        print_error(warning, "kempelen train tune")
    with progress_bar("fitting", arguments.iterations) as update:
        fit = texel.fit(
            training,
            validation,
            arguments.iterations,
            arguments.result_share,
            lambda iteration, loss: update(iteration),
            texel.material_weights() if arguments.start == "material" else None,
        )
    if fit.improved:
        with name_in_errors(arguments.output):
            arguments.output.write_text(texel.format_weights_module(fit.weights), encoding="utf-8")
    data = {
        "positions": fit.positions,
        "scale": round(fit.scale, 1),
        "iteration": fit.iteration,
        "validation_loss_before": round(fit.initial_loss, 6),
        "validation_loss": round(fit.final_loss, 6),
        "file": str(arguments.output) if fit.improved else None,
    }
    text = (
        f"{fit.positions} positions, scale {fit.scale:.0f} centipawns; loss of the validation "
        f"games {fit.final_loss:.5f} after iteration {fit.iteration}, before {fit.initial_loss:.5f}"
    )
    if arguments.json:
        print(json.dumps(data))
    elif fit.improved:
        print(f"{text}: {arguments.output}")
    if not fit.improved:
        advice = "use more games, or another --result-share"
        print(
            f"kempelen train tune: no better weights found, nothing written ({advice}); {text}",
            file=sys.stderr,
        )
        return EXIT_NOT_BETTER
    return 0
