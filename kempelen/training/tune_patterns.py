"""`kempelen train tune patterns`: learn the weights of Go move patterns."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from agent.go.parts import FEATURE_EXTRACTION, GO
from agent.io.write_checks import require_writable
from kempelen import __version__
from kempelen.console import pictures
from kempelen.console.argument_types import positive_int, positive_seconds
from kempelen.console.pictures import PictureError, check_picture
from kempelen.console.terminal import load_kernels, print_error, progress_bar

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from kempelen.training.bradley_terry import Comparisons, PatternFit

DEFAULT_ITERATIONS = 20
DEFAULT_MIN_COUNT = 20
DEFAULT_PRIOR = 1.0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="file of Go games from `kempelen train selfplay`, with any board sizes",
    )
    parser.add_argument(
        "--iterations",
        type=positive_int,
        default=DEFAULT_ITERATIONS,
        help=f"number of iterations (default: {DEFAULT_ITERATIONS})",
    )
    parser.add_argument(
        "--rare",
        type=positive_int,
        default=DEFAULT_MIN_COUNT,
        metavar="N",
        help="minimum number of occurrences of a neighbourhood with its own weight (default: "
        "%(default)s)",
    )
    parser.add_argument(
        "--prior",
        type=positive_seconds,
        default=DEFAULT_PRIOR,
        metavar="N",
        help="prior: wins and losses added to each feature (default: %(default)g)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE.json",
        help="write the weights to FILE.json, a replacement for agent/go/pattern_weights.json",
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE.svg", help="plot the log-likelihood by iteration"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Learn the weights and write them. Return 2 on an error."""
    from kempelen.training.workers import GamesError

    try:
        targets = [path for path in (arguments.output, arguments.plot) if path is not None]
        require_writable(targets, arguments.files, GamesError, regular=True)
        if arguments.plot is not None:
            check_picture(arguments.plot)
        return _tune(arguments)
    except (GamesError, PictureError) as error:
        print_error(error, "kempelen train tune")
    return 2


def _tune(arguments: Namespace) -> int:
    from agent.go.pattern_weights import save
    from kempelen.training import bradley_terry
    from kempelen.training.go_selfplay import read
    from kempelen.training.workers import GamesError

    contents = [read(path) for path in arguments.files]
    load_kernels(GO, FEATURE_EXTRACTION)
    parts: list[Comparisons] = []
    total = sum(len(games) for _, games in contents)
    with progress_bar("games", total) as update:
        for manifest, games in contents:
            for part in bradley_terry.game_comparisons(games, manifest["size"], manifest["komi"]):
                parts.append(part)
                update(len(parts))
    training = [
        part for number, part in enumerate(parts, 1) if number % bradley_terry.VALIDATION_INTERVAL
    ]
    validation = parts[bradley_terry.VALIDATION_INTERVAL - 1 :: bradley_terry.VALIDATION_INTERVAL]
    if not validation or not any(map(len, training)):
        raise GamesError(
            f"{arguments.files[0]}: {bradley_terry.VALIDATION_INTERVAL} or more games are required"
        )
    fit: PatternFit | None = None
    with progress_bar("iterations", arguments.iterations) as update:
        steps = bradley_terry.fit(
            bradley_terry.concatenate(training),
            bradley_terry.concatenate(validation),
            arguments.iterations,
            arguments.rare,
            arguments.prior,
        )
        for fit in steps:
            update(len(fit.history))
    assert fit is not None
    manifest = {
        "made by": f"kempelen {__version__} tune patterns",
        "licence": contents[0][0]["licence"],
        "games": total,
        "positions": sum(map(len, parts)),
        "iterations": arguments.iterations,
        "rare": arguments.rare,
        "prior": arguments.prior,
        "sources": [manifest for manifest, _ in contents],
    }
    save(arguments.output, manifest, fit.features, fit.patterns)
    if arguments.plot is not None:
        _draw_likelihood(fit, arguments.plot)
    _print(arguments, fit, total, manifest["positions"])
    return 0


def _print(arguments: Namespace, fit: PatternFit, games: int, positions: int) -> None:
    training, validation = fit.history[-1]
    if arguments.json:
        data = {
            "games": games,
            "positions": positions,
            "neighbourhoods": len(fit.patterns) - 1,
            "training": asdict(training),
            "validation": asdict(validation),
            "file": str(arguments.output),
        }
        print(json.dumps(data))
        return
    print(f"{games} games, {positions} positions, {len(fit.patterns) - 1} neighbourhoods")
    for name, quality in (("training", training), ("validation", validation)):
        print(
            f"{name:10} log-likelihood {quality.log_likelihood:z.3f}, the played move ranks first "
            f"in {quality.top_1:.1%}, in the first five in {quality.top_5:.1%}"
        )
    print(arguments.output)


def _draw_likelihood(fit: PatternFit, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    numbers = range(1, len(fit.history) + 1)
    for part, name in enumerate(("training", "validation")):
        axes.plot(numbers, [found[part].log_likelihood for found in fit.history], label=name)
    axes.set_xlabel("iteration")
    axes.set_ylabel("log-likelihood of the move played")
    axes.legend()
    pictures.save(figure, path)
