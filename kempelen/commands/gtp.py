"""`kempelen gtp`: speak GTP on standard input and output, for Go and other games."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from agent.games.go_rules import DEFAULT_RULES, Ruleset
from agent.io.sanitize import sanitize_line
from kempelen import __version__
from kempelen.console import search_arguments
from kempelen.console.terminal import print_error
from kempelen.engines import ENGINE_NAME, create_gtp_engine
from protocols import stdio
from protocols.gtp.messages import GtpError
from protocols.gtp.resignation import DEFAULT_RESIGN_POLICY, ResignPolicy
from protocols.gtp.rules import read_rules
from protocols.gtp.session import Settings

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from agent.games.catalogue import GameType


def configure(parser: ArgumentParser) -> None:
    from kempelen.console import game_arguments
    from kempelen.console.argument_types import AppendNamed, positive_int, positive_seconds
    from kempelen.console.old_names import add_alias

    parser.formatter_class = game_arguments.CatalogueHelpFormatter
    parser.epilog = game_arguments.CATALOGUE_PLACEHOLDER
    game_arguments.configure(parser, game="go", size="--boardsize")
    parser.add_argument(
        "--komi", type=float, help="komi for Go until the GTP command komi sets it (default: 7.5)"
    )
    parser.add_argument(
        "--rules",
        type=_parse_rules,
        default=DEFAULT_RULES,
        metavar="NAME",
        help="Go rules by their names in KataGo: tromp-taylor, japanese, ... (default: area "
        "scoring without dead stones)",
    )
    parser.add_argument(
        "--algorithm",
        metavar="A",
        help="search algorithm: mcts, alpha-beta, ... (default: depends on the game)",
    )
    learn = parser.add_argument(
        "--learn",
        default="",
        metavar="FILE",
        help="learn from moves with an unexpected outcome, and store them in FILE",
    )
    add_alias(parser, "--experience", learn)
    parser.add_argument(
        "--no-book",
        dest="book",
        action="store_false",
        help="do not use opening books or solved positions",
    )
    parser.add_argument(
        "--time",
        type=positive_seconds,
        default=Settings().seconds,
        metavar="SECONDS",
        help="time per move until a GTP command sets the time (default: %(default)g)",
    )
    parser.add_argument(
        "--depth", type=positive_int, metavar="N", help="limit the depth to N plies"
    )
    parser.add_argument(
        "--playouts", type=positive_int, metavar="N", help="limit MCTS to N playouts per move"
    )
    parser.add_argument("--nodes", type=positive_int, metavar="N", help="limit to N nodes per move")
    search_arguments.configure(parser)
    parser.add_argument(
        "--set",
        dest="settings",
        action=AppendNamed,
        default=[],
        metavar="NAME=VALUE",
        help="set a constant of the compiled Go search; may be repeated",
    )
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument(
        "--resign",
        type=_parse_resign_rate,
        default=DEFAULT_RESIGN_POLICY.threshold,
        metavar="RATE",
        help="resign a game of Go below this win rate (default: %(default)g)",
    )
    ends.add_argument("--no-resign", dest="resigns", action="store_false", help="never resign")
    opponents = parser.add_argument(
        "--opponents",
        default="",
        metavar="FILE",
        help="store games against opponents, named by the command kempelen-opponent, in FILE (not "
        "for Go)",
    )
    add_alias(parser, "--habits", opponents)
    parser.add_argument(
        "--report-name",
        default=ENGINE_NAME,
        metavar="TEXT",
        help="reply to the GTP command name, for GUIs that know few engines (default: %(default)s)",
    )
    parser.add_argument(
        "--report-version",
        default=__version__,
        metavar="TEXT",
        help="reply to the GTP command version (default: %(default)s)",
    )
    parser.add_argument(
        "--ponder", dest="ponders", action="store_true", help="search on the opponent's time too"
    )


def run(arguments: Namespace) -> int:
    from agent.evaluation import EvaluationError

    identity = sanitize_line(arguments.report_name), sanitize_line(arguments.report_version)
    try:
        # Reserve standard output first: creating the settings runs the user's files.
        return stdio.serve(
            lambda session: create_gtp_engine(session, _settings(arguments), identity=identity)
        )
    except (EvaluationError, OSError, ValueError) as error:
        print_error(error, "kempelen gtp")
        return 2


def _parse_resign_rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < 0.5:
        raise ArgumentTypeError(f"expected a rate above 0 and below 0.5, not {text!r}")
    return rate


def _parse_rules(text: str) -> Ruleset:
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
        experience=arguments.learn,
        book=arguments.book,
        seconds=arguments.time,
        depth=arguments.depth,
        nodes=arguments.nodes,
        resigns=arguments.resigns,
        resign_policy=ResignPolicy(threshold=arguments.resign),
        ponders=arguments.ponders,
        habits=arguments.opponents,
        rules=arguments.rules,
        search_config=search_arguments.resources_from(
            arguments, arguments.playouts, _search_settings(arguments, kind)
        ),
    )


def _search_settings(arguments: Namespace, kind: GameType) -> dict[str, float]:
    from agent.go.settings import check_setting

    if arguments.settings and (kind.name != "go" or arguments.algorithm):
        raise ValueError("--set is only for the compiled search of Go")
    numbers: dict[str, float] = {}
    for text in arguments.settings:
        name, equals, value = text.partition("=")
        try:
            if not equals:
                raise ValueError("expected NAME=VALUE")
            numbers[name] = float(value)
            check_setting(name, numbers[name])
        except ValueError as error:
            raise ValueError(f"--set {text}: {error}") from None
    return numbers
