"""`kempelen gtp`: speak GTP on standard input and output, for Go or any other game."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.io.sanitize import sanitize_line
from kempelen import __version__
from kempelen.console import search_arguments
from kempelen.console.terminal import print_error
from protocols import stdio
from protocols.gtp.messages import GtpError
from protocols.gtp.protocol import GtpProtocol
from protocols.gtp.resignation import DEFAULT_RESIGN_POLICY, ResignPolicy
from protocols.gtp.rules import DEFAULT_RULES, GoRules, read_rules
from protocols.gtp.session import Settings
from protocols.session import LineWriter
from protocols.session_context import STANDALONE, SessionContext

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from agent.games.catalogue import GameType

ENGINE_NAME = "Kempelen"


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    from kempelen.console import game_arguments
    from kempelen.console.argument_types import positive_int, positive_seconds

    parser.formatter_class = game_arguments.CatalogueHelpFormatter
    parser.epilog = game_arguments.CATALOGUE_PLACEHOLDER
    game_arguments.configure(parser, game="go", size="--boardsize")
    parser.add_argument("--komi", type=float, help="of Go, until komi comes (default: 7.5)")
    parser.add_argument(
        "--rules",
        type=_parse_rules,
        default=DEFAULT_RULES,
        metavar="NAME",
        help="of Go, until others come, by KataGo's names: tromp-taylor, japanese, ...; without it "
        "area is scored, and both may pass over dead stones",
    )
    parser.add_argument(
        "--algorithm",
        metavar="A",
        help="mcts, alpha-beta, ... (default: a compiled search, or what suits the game)",
    )
    parser.add_argument(
        "--experience",
        default="",
        metavar="FILE",
        help="learn from moves whose outcome was not what was predicted, and keep that here",
    )
    parser.add_argument(
        "--no-book",
        dest="book",
        action="store_false",
        help="search from the first move, without books and solved values",
    )
    parser.add_argument(
        "--time",
        type=positive_seconds,
        default=Settings().seconds,
        metavar="SECONDS",
        help="for a move, until time settings come (default: %(default)g)",
    )
    parser.add_argument(
        "--depth", type=positive_int, metavar="N", help="search at most N plies deep"
    )
    parser.add_argument(
        "--playouts", type=positive_int, metavar="N", help="of mcts, at most N a move"
    )
    parser.add_argument("--nodes", type=positive_int, metavar="N", help="at most N nodes a move")
    search_arguments.configure(parser)
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a number that the compiled search of Go goes by; may be repeated",
    )
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument(
        "--resign",
        type=_parse_resign_rate,
        default=DEFAULT_RESIGN_POLICY.threshold,
        metavar="RATE",
        help="give a game of Go up that is won less often (default: %(default)g)",
    )
    ends.add_argument(
        "--no-resign", dest="resigns", action="store_false", help="play lost games of Go to the end"
    )
    parser.add_argument(
        "--habits",
        default="",
        metavar="FILE",
        help="remember opponents, whom kempelen-opponent names, in this file; not of Go",
    )
    parser.add_argument(
        "--report-name",
        default=ENGINE_NAME,
        metavar="TEXT",
        help="answer `name` so, for programs that know only some engines (default: %(default)s)",
    )
    parser.add_argument(
        "--report-version",
        default=__version__,
        metavar="TEXT",
        help="answer `version` so (default: %(default)s)",
    )
    parser.add_argument(
        "--ponder", dest="ponders", action="store_true", help="think on the other's time too"
    )


def run(arguments: Namespace) -> int:
    """Serve until `quit` or the end of input."""
    from agent.evaluation import EvaluationError

    identity = sanitize_line(arguments.report_name), sanitize_line(arguments.report_version)
    try:
        # The user's files are run when input and output are the protocol's alone.
        return stdio.serve(
            lambda session: create_engine(session, _settings(arguments), identity=identity)
        )
    except (EvaluationError, OSError, ValueError) as error:
        print_error(error, "kempelen gtp")
        return 2


def create_engine(
    session: LineWriter,
    settings: Settings = Settings(),  # noqa: B008 - it is frozen
    report: Callable[[str], None] = print_error,
    session_context: SessionContext = STANDALONE,
    identity: tuple[str, str] = (ENGINE_NAME, __version__),
) -> GtpProtocol:
    """Return the engine that answers a session; see Gtp for what it is made with.

    said: the name and the version that it gives.
    """
    return GtpProtocol(*identity, session.send, report, settings, session_context)


def _parse_resign_rate(text: str) -> float:
    """Read a share of the wins at which a game is lost."""
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < 0.5:
        raise ArgumentTypeError(f"expected a rate above 0 and below 0.5, not {text!r}")
    return rate


def _parse_rules(text: str) -> GoRules:
    """Read the name of rules, or KataGo's JSON."""
    try:
        return read_rules(text)
    except GtpError as error:
        raise ArgumentTypeError(str(error)) from None


def _settings(arguments: Namespace) -> Settings:
    from kempelen.console import game_arguments

    kind, options = game_arguments.game_from(arguments, {"seed": arguments.seed or 0})
    if arguments.komi is not None:
        options["komi"] = arguments.komi
    return Settings(
        game=kind.name,
        options=options,
        algorithm=arguments.algorithm,
        evaluation=arguments.evaluation,
        experience=arguments.experience,
        book=arguments.book,
        seconds=arguments.time,
        depth=arguments.depth,
        nodes=arguments.nodes,
        resigns=arguments.resigns,
        resign_policy=ResignPolicy(threshold=arguments.resign),
        ponders=arguments.ponders,
        habits=arguments.habits,
        rules=arguments.rules,
        search_config=search_arguments.resources_from(
            arguments, arguments.playouts, _search_settings(arguments, kind)
        ),
    )


def _search_settings(arguments: Namespace, kind: GameType) -> dict[str, float]:
    """Return the settings that are not the usual ones; ValueError for what is none."""
    from agent.go.settings import check_setting

    if arguments.settings and (kind.name != "go" or arguments.algorithm):
        raise ValueError("--set: only the compiled search of Go has settings")
    numbers: dict[str, float] = {}
    for text in arguments.settings:
        name, equals, value = text.partition("=")
        try:
            if not equals:
                raise ValueError("write NAME=VALUE")
            numbers[name] = float(value)
            check_setting(name, numbers[name])
        except ValueError as error:
            raise ValueError(f"--set {text}: {error}") from None
    return numbers
