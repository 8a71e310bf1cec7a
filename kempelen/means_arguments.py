"""The arguments that say what compiled searches may use, shared by all commands that serve one."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from agent.compiled.source import USUAL_MEANS, Means
from kempelen.numbers import positive


def configure(
    parser: ArgumentParser,
    *,
    threads: str = "of a compiled search",
    memory: str = "for what a compiled search remembers",
) -> None:
    """Declare the arguments; `threads` and `memory` say in the help what each is for."""
    parser.add_argument(
        "--threads",
        type=positive,
        default=USUAL_MEANS.threads,
        metavar="N",
        help=f"{threads} (default: %(default)d)",
    )
    parser.add_argument(
        "--memory",
        type=positive,
        default=USUAL_MEANS.megabytes,
        metavar="MB",
        help=f"{memory} (default: %(default)d)",
    )
    parser.add_argument("--seed", type=int, help="make all that is random the same every time")


def means(
    arguments: Namespace,
    playouts: int | None = USUAL_MEANS.playouts,
    settings: Mapping[str, float] = USUAL_MEANS.settings,
) -> Means:
    """Return the means that the arguments give, with the rest as in `Means`."""
    return Means(arguments.threads, arguments.memory, playouts, arguments.seed, settings)
