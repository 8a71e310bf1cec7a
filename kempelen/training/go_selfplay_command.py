"""The Go mode of `kempelen train selfplay`."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from agent.go.parts import GO
from agent.io.write_checks import require_writable
from kempelen import __version__
from kempelen.console.argument_types import board_size, positive_int
from kempelen.console.terminal import load_kernels, print_error, progress_bar

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

DEFAULT_GAMES = 1000


def configure(parser: ArgumentParser) -> None:
    from kempelen.training.go_selfplay import GoSelfPlayPlan

    defaults = GoSelfPlayPlan()
    game = parser.add_argument_group("Go games")
    game.add_argument(
        "--games", type=positive_int, help=f"number of games (default: {DEFAULT_GAMES})"
    )
    game.add_argument(
        "--size", type=board_size,
        help=f"board size, such as 13 or 9x13 (default: {defaults.size})",
    )  # fmt: skip
    game.add_argument(
        "--playouts", type=positive_int,
        help=f"playouts per move (default: {defaults.playouts})",
    )  # fmt: skip


def run(arguments: Namespace) -> int:
    """Generate games, or describe an existing file. Return 2 on an error."""
    from kempelen.training.cluster_workers import cluster_threads
    from kempelen.training.go_selfplay import GoGamesError, GoSelfPlayPlan, generate, read

    path = arguments.file
    try:
        if arguments.show:
            manifest, games = read(path)
            _print(arguments, manifest | {"games": len(games)})
            return 0
        require_writable([path], [], GoGamesError, regular=True)
        plan = GoSelfPlayPlan(size=arguments.size, playouts=arguments.playouts, seed=arguments.seed)
        with cluster_threads(arguments, "kempelen train selfplay") as threads:
            if threads is None:
                load_kernels(GO)
            run = generate(path, plan, __version__, arguments.games, arguments.processes, threads)
            with (
                contextlib.closing(run),
                progress_bar("games", arguments.games, hourly=True) as update,
            ):
                for number in run:
                    update(number)
        _print(arguments, {"file": str(path), "games": number})
    except GoGamesError as error:
        print_error(error, "kempelen train selfplay")
        return 2
    return 0


def _print(arguments: Namespace, data: dict[str, object]) -> None:
    if arguments.json:
        print(json.dumps(data))
    else:
        print("\n".join(f"{name:18} {value}" for name, value in data.items()))
