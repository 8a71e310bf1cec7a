"""The arguments that say what compiled searches may use, shared by all commands that serve one."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from agent.kernel.backend import DEFAULT_SEARCH_CONFIG, SearchConfig
from kempelen.console.argument_types import positive_int


def configure(
    parser: ArgumentParser,
    *,
    threads: str = "of a compiled search",
    memory: str = "for what a compiled search remembers",
) -> None:
    """Declare the arguments; `threads` and `memory` say in the help what each is for."""
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
    parser.add_argument("--seed", type=int, help="make all that is random the same every time")


def resources_from(
    arguments: Namespace,
    playouts: int | None = DEFAULT_SEARCH_CONFIG.playouts,
    settings: Mapping[str, float] = DEFAULT_SEARCH_CONFIG.settings,
) -> SearchConfig:
    """Return the means that the arguments give, with the rest as in `Means`."""
    return SearchConfig(arguments.threads, arguments.memory, playouts, arguments.seed, settings)
