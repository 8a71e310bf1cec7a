"""`kempelen gtp`: speak GTP on standard input and output, for Go or any other game."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kempelen import __version__, serving
from protocols.gtp.protocol import Gtp, Settings
from protocols.session import Session

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    from argparse import ArgumentTypeError

    from kempelen.game_options import read_option
    from kempelen.numbers import positive

    def seconds(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        if not 0 < number < 1e9:
            raise ArgumentTypeError(f"expected seconds above 0, not {text!r}")
        return number

    parser.add_argument("--game", default="go", metavar="NAME", help="the game (default go)")
    parser.add_argument(
        "--algorithm", metavar="NAME", help="mcts, alpha-beta, ... (default: what suits the game)"
    )
    parser.add_argument(
        "--evaluation",
        metavar="FILE.py:FUNCTION",
        help="the value of a game's position for its mover, also as MODULE:FUNCTION",
    )
    parser.add_argument(
        "--option", action="append", default=[], type=read_option, metavar="NAME=VALUE",
        help="an option of a game other than Go, such as heaps=3,4,5; may be repeated",
    )  # fmt: skip
    parser.add_argument("--boardsize", type=positive, metavar="N", help="until boardsize comes")
    parser.add_argument("--komi", type=float, help="of Go, until komi comes (default 7.5)")
    parser.add_argument(
        "--time",
        type=seconds,
        default=5.0,
        metavar="SECONDS",
        help="for a move, until time settings come (default 5)",
    )
    parser.add_argument("--depth", type=positive, metavar="N", help="search at most N plies deep")
    parser.add_argument("--playouts", type=positive, metavar="N", help="of mcts, at most N a move")
    parser.add_argument("--nodes", type=positive, metavar="N", help="at most N nodes a move")
    parser.add_argument("--seed", type=int, help="make the playouts the same every time")


def run(arguments: Namespace) -> int:
    """Serve until `quit` or the end of input."""
    from agent.evaluation import EvaluationError, load
    from agent.games import catalogue
    from kempelen.game_options import fitted

    evaluate: Any = None
    try:
        if arguments.evaluation:
            evaluate = load(arguments.evaluation).python
            if evaluate is None:
                raise EvaluationError(
                    f"{arguments.evaluation} is for the chess kernel; "
                    "a game's evaluation is a plain function of its position"
                )
        settings = Settings(
            game=arguments.game,
            size=arguments.boardsize,
            komi=arguments.komi,
            algorithm=arguments.algorithm,
            evaluate=evaluate,
            seconds=arguments.time,
            depth=arguments.depth,
            playouts=arguments.playouts,
            seed=arguments.seed,
            nodes=arguments.nodes,
            options=fitted(catalogue.find(arguments.game), None, arguments.option),
        )
        Gtp("", "", lambda _: None, lambda _: None, settings)  # a trial, while errors can be shown
    except (ValueError, TypeError, EvaluationError) as error:
        print(f"kempelen gtp: {error}", file=sys.stderr)
        return 2
    return serving.serve(lambda session: make(session, settings))


def make(session: Session, settings: Settings = Settings()) -> Gtp:  # noqa: B008 - it is frozen
    """Return the engine that answers a session."""
    return Gtp("Kempelen", __version__, session.send, _report, settings)


def _report(message: str) -> None:
    print(f"kempelen: {message}", file=sys.stderr, flush=True)
