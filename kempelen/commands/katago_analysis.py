"""`kempelen analysis`: answer queries about positions of Go, a JSON object a line.

KataGo's own words on the command line are taken, so that programs that start KataGo start this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.machine import usable_cores
from kempelen import __version__
from kempelen.console import search_arguments
from kempelen.console.terminal import print_error
from protocols import stdio
from protocols.katago_analysis.fields import QueryError
from protocols.katago_analysis.protocol import AnalysisEngine, Settings
from protocols.katago_analysis.query import DEFAULTS, QueryDefaults, read_settings
from protocols.katago_analysis.visit_limited_backend import SearchSettings
from protocols.session import StdioSession

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

COMMAND = "kempelen analysis"
PERSPECTIVES = {"black": 0, "white": 1, "side": None}
# KataGo says so where it is ready; programs that start KataGo may wait for it.
READY_MESSAGE = "Started, ready to begin handling requests"


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    from kempelen.console.argument_types import positive_int

    search_arguments.configure(
        parser,
        threads="of a compiled search, for each position",
        memory="for what all compiled searches remember",
    )
    parser.add_argument(
        *("--analysis-threads", "-analysis-threads"),
        type=positive_int,
        default=1,
        metavar="N",
        help="positions at once, no more than there are cores (default: %(default)d)",
    )
    parser.add_argument(
        "--visits",
        type=positive_int,
        default=DEFAULTS.visits,
        metavar="N",
        help="of a position, where a query has no maxVisits (default: %(default)d)",
    )
    parser.add_argument(
        "--algorithm",
        metavar="A",
        help="mcts or another that counts visits (default: a compiled search, or mcts)",
    )
    parser.add_argument(
        "--report-as",
        choices=PERSPECTIVES,
        default="black",
        help="whose winning and points are told: side is whoever is to move (default: %(default)s)",
    )
    parser.add_argument(
        *("--quit-without-waiting", "-quit-without-waiting"),
        action="store_true",
        help="at the end of input, leave without an answer what is not answered yet",
    )
    katago = parser.add_argument_group("what KataGo is started with")
    katago.add_argument("-config", metavar="FILE", help="not read")
    katago.add_argument("-model", metavar="FILE", help="not read: there is no network")
    katago.add_argument("-human-model", metavar="FILE", help="not read")
    katago.add_argument(
        "-override-config",
        action="append",
        default=[],
        metavar="NAME=VALUE,...",
        help="reportAnalysisWinratesAs, maxVisits and maxTime count",
    )


def run(arguments: Namespace) -> int:
    """Serve until the end of input."""
    try:
        settings = _settings(arguments)
        AnalysisEngine("", lambda _: None, lambda _: None, settings)  # a trial
    except ValueError as error:
        print_error(error, COMMAND)
        return 2
    for name in ("config", "model", "human_model"):
        if (file := getattr(arguments, name)) is not None:
            print_error(f"-{name.replace('_', '-')} {file} does not apply and is not read", COMMAND)

    def make(session: StdioSession) -> AnalysisEngine:
        engine = AnalysisEngine(__version__, session.send, print_error, settings)
        if arguments.config is not None or arguments.model is not None:
            print_error(READY_MESSAGE, COMMAND)
        return engine

    return stdio.serve(make)


def _settings(arguments: Namespace) -> Settings:
    cores = usable_cores()
    if arguments.analysis_threads > cores:
        print_error(f"{cores} positions are analysed at once, as there are {cores} cores", COMMAND)
    return Settings(
        defaults=_query_defaults(arguments),
        search_settings=SearchSettings(
            arguments.algorithm, search_arguments.resources_from(arguments)
        ),
        max_workers=min(arguments.analysis_threads, cores),
        wait=not arguments.quit_without_waiting,
    )


def _query_defaults(arguments: Namespace) -> QueryDefaults:
    """Return what holds where queries do not say, by our flags and then KataGo's."""
    defaults = QueryDefaults(visits=arguments.visits, perspective=PERSPECTIVES[arguments.report_as])
    pairs = [pair for text in arguments.override_config for pair in text.split(",")]
    settings = {name.strip(): value.strip() for name, _, value in (p.partition("=") for p in pairs)}
    try:
        visits, seconds, perspective, unknown = read_settings(settings, defaults)
    except QueryError as error:
        raise ValueError(f"-override-config: {error}") from None
    if unknown:
        print_error(f"-override-config: {', '.join(unknown)} does not apply", COMMAND)
    return QueryDefaults(visits, seconds, perspective)
