"""`kempelen tune evaluation`: fit the weights of the hand-made evaluation to self-play."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from agent.border.files import naming
from agent.border.unwritable import require_writable
from agent.chess.parts import ALPHABETA, TRACING
from kempelen.console import progress, warm_up
from kempelen.numbers import positive, share

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from training.positions import Dataset

MISSING = "tuning needs more packages: pip install 'kempelen[train]'"
POSITIONS = 2_000_000
ITERATIONS = 250
RESULT_SHARE = 0.6
STARTS = ("shipped", "material")
NOT_BETTER = 1


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="what `kempelen selfplay` or `kempelen data` wrote",
    )
    parser.add_argument(
        "--positions",
        type=positive,
        default=POSITIONS,
        help=f"use at most so many, at random (default {POSITIONS})",
    )
    parser.add_argument(
        "--iterations", type=positive, default=ITERATIONS, help=f"default {ITERATIONS}"
    )
    parser.add_argument(
        "--result-share",
        type=share,
        default=RESULT_SHARE,
        metavar="SHARE",
        help="how much of what is fitted to is the game's result, 0 to 1; the rest is the score "
        f"(default {RESULT_SHARE})",
    )
    parser.add_argument(
        "--from",
        dest="start",
        choices=STARTS,
        default=STARTS[0],
        help="the weights to begin with: those there are, or nothing but material "
        "(default %(default)s)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE.py",
        help="the weights, to take the place of agent/chess/weights.py",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Fit, and write the weights.

    The exit status is 1 where they are not better than those before, and so not written, and 2
    where there is nothing to fit to.
    """
    from training.positions import Dataset, PositionsError

    try:
        import scipy  # noqa: F401
    except ImportError:
        print(f"kempelen tune: {MISSING}", file=sys.stderr)
        return 2
    try:
        require_writable([arguments.output], arguments.files, PositionsError)
        with Dataset(*arguments.files) as dataset:
            return _tune(arguments, dataset)
    except PositionsError as error:
        print(f"kempelen tune: {error}", file=sys.stderr)
        return 2


def _tune(arguments: Namespace, dataset: Dataset) -> int:
    from training import texel
    from training.positions import TRAINING, VALIDATION, PositionsError

    warm_up(ALPHABETA, TRACING)
    if len(dataset) == 0:
        raise PositionsError(f"{arguments.files[0]}: no positions in it")
    training, validation = (
        texel.read(dataset, part, arguments.positions) for part in (TRAINING, VALIDATION)
    )
    if few := texel.check_size(training, validation):
        print(f"kempelen tune: {few}", file=sys.stderr)
    with progress("fitting", arguments.iterations) as show:
        fit = texel.fit(
            training,
            validation,
            arguments.iterations,
            arguments.result_share,
            lambda iteration, loss: show(iteration),
            texel.material_weights() if arguments.start == "material" else None,
        )
    if fit.better:
        with naming(arguments.output):
            arguments.output.write_text(texel.source(fit.weights), encoding="utf-8")
    found = {
        "positions": fit.positions,
        "scale": round(fit.scale, 1),
        "iteration": fit.iteration,
        "validation_loss_before": round(fit.before, 6),
        "validation_loss": round(fit.after, 6),
        "file": str(arguments.output) if fit.better else None,
    }
    text = (
        f"{fit.positions} positions, scale {fit.scale:.0f} centipawns; loss of the validation "
        f"games {fit.after:.5f} after iteration {fit.iteration}, was {fit.before:.5f}"
    )
    if arguments.json:
        print(json.dumps(found))
    elif fit.better:
        print(f"{text}: {arguments.output}")
    if not fit.better:
        advice = "fit to more games, or to another --result-share"
        print(
            f"kempelen tune: no better weights found, nothing written: {text}; {advice}",
            file=sys.stderr,
        )
        return NOT_BETTER
    return 0
