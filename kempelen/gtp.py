"""`kempelen gtp`: speak GTP on standard input and output, for Go or any other game."""

from __future__ import annotations

from argparse import RawDescriptionHelpFormatter
from typing import TYPE_CHECKING

from kempelen import __version__
from kempelen.console import complain
from protocols import pipes
from protocols.gtp.protocol import Gtp, Settings
from protocols.session import Session

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    from kempelen import game_arguments
    from kempelen.numbers import positive, seconds

    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = game_arguments.catalogues()
    game_arguments.configure(parser, game="go", size="--boardsize")
    parser.add_argument("--komi", type=float, help="of Go, until komi comes (default: 7.5)")
    parser.add_argument(
        "--algorithm",
        metavar="A",
        help="mcts, alpha-beta, ... (default: a compiled search, or what suits the game)",
    )
    parser.add_argument(
        "--no-book",
        dest="book",
        action="store_false",
        help="search from the first move, without books and solved values",
    )
    parser.add_argument(
        "--time",
        type=seconds,
        default=Settings().seconds,
        metavar="SECONDS",
        help="for a move, until time settings come (default: %(default)g)",
    )
    parser.add_argument("--depth", type=positive, metavar="N", help="search at most N plies deep")
    parser.add_argument("--playouts", type=positive, metavar="N", help="of mcts, at most N a move")
    parser.add_argument("--nodes", type=positive, metavar="N", help="at most N nodes a move")
    parser.add_argument("--seed", type=int, help="make all that is random the same every time")


def run(arguments: Namespace) -> int:
    """Serve until `quit` or the end of input."""
    from agent.evaluation import EvaluationError

    try:
        settings = _settings(arguments)
        Gtp("", "", lambda _: None, lambda _: None, settings)  # a trial, while errors can be shown
    except (EvaluationError, OSError, ValueError) as error:
        complain(error, "kempelen gtp")
        return 2
    return pipes.serve(lambda session: make(session, settings))


def make(session: Session, settings: Settings = Settings()) -> Gtp:  # noqa: B008 - it is frozen
    """Return the engine that answers a session."""
    return Gtp("Kempelen", __version__, session.send, complain, settings)


def _settings(arguments: Namespace) -> Settings:
    from kempelen import game_arguments

    kind, options = game_arguments.chosen(arguments, {"seed": arguments.seed or 0})
    if arguments.komi is not None:
        options["komi"] = arguments.komi
    return Settings(
        game=kind.name,
        options=options,
        algorithm=arguments.algorithm,
        evaluation=arguments.evaluation,
        book=arguments.book,
        seconds=arguments.time,
        depth=arguments.depth,
        playouts=arguments.playouts,
        nodes=arguments.nodes,
        seed=arguments.seed,
    )
