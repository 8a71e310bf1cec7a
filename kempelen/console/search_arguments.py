"""Command-line arguments for the resources of compiled searches."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from agent.kernel.backend import DEFAULT_SEARCH_CONFIG, SearchConfig
from kempelen.console.argument_types import positive_int


def configure(
    parser: ArgumentParser,
    *,
    threads: str = "threads of a compiled search",
    memory: str = "memory of a compiled search in MB",
) -> None:
    """Add the arguments. `threads` and `memory` are the help texts of these flags."""
    parser.add_argument(
        "--threads",
        type=positive_int,
        default=DEFAULT_SEARCH_CONFIG.threads,
        metavar="N",
        help=f"{threads} (default: %(default)d)",
    )
    parser.add_argument(
        "--memory",
        type=positive_int,
        default=DEFAULT_SEARCH_CONFIG.megabytes,
        metavar="MB",
        help=f"{memory} (default: %(default)d)",
    )
    parser.add_argument("--seed", type=int, help="random seed, for reproducible results")


def resources_from(
    arguments: Namespace,
    playouts: int | None = DEFAULT_SEARCH_CONFIG.playouts,
    settings: Mapping[str, float] = DEFAULT_SEARCH_CONFIG.settings,
) -> SearchConfig:
    return SearchConfig(arguments.threads, arguments.memory, playouts, arguments.seed, settings)
