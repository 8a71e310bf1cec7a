"""`kempelen katago-analysis`: answer KataGo analysis queries in JSON, one per line.

KataGo's command-line flags are accepted, so Kempelen can replace the `katago` program.
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

COMMAND = "kempelen katago-analysis"
PERSPECTIVES = {"black": 0, "white": 1, "side": None}
# KataGo's message when it is ready. Some programs wait for this message.
READY_MESSAGE = "Started, ready to begin handling requests"


def configure(parser: ArgumentParser) -> None:
    from kempelen.console.argument_types import positive_int

    search_arguments.configure(
        parser,
        threads="threads per position of a compiled search",
        memory="memory of all compiled searches in MB",
    )
    parser.add_argument(
        *("--analysis-threads", "-analysis-threads"),
        type=positive_int,
        default=1,
        metavar="N",
        help="positions analysed in parallel, limited by the cores (default: %(default)d)",
    )
    parser.add_argument(
        "--visits",
        type=positive_int,
        default=DEFAULTS.visits,
        metavar="N",
        help="visits per position for queries without maxVisits (default: %(default)d)",
    )
    parser.add_argument(
        "--algorithm",
        metavar="A",
        help="search algorithm: mcts, or another one that counts visits (default: a compiled "
        "search, or mcts)",
    )
    parser.add_argument(
        "--report-as",
        choices=PERSPECTIVES,
        default="black",
        help="perspective of win rates and scores; side: the side to move (default: %(default)s)",
    )
    parser.add_argument(
        *("--quit-without-waiting", "-quit-without-waiting"),
        action="store_true",
        help="at the end of input, drop pending queries",
    )
    katago = parser.add_argument_group("flags of KataGo")
    katago.add_argument("-config", metavar="FILE", help="ignored")
    katago.add_argument("-model", metavar="FILE", help="ignored: there is no network")
    katago.add_argument("-human-model", metavar="FILE", help="ignored")
    katago.add_argument(
        "-override-config",
        action="append",
        default=[],
        metavar="NAME=VALUE,...",
        help="settings: reportAnalysisWinratesAs, maxVisits, maxTime, conservativePass; others are "
        "ignored",
    )


def run(arguments: Namespace) -> int:
    try:
        settings = _settings(arguments)
        AnalysisEngine("", lambda _: None, lambda _: None, settings)  # report errors before serving
    except ValueError as error:
        print_error(error, COMMAND)
        return 2
    for name in ("config", "model", "human_model"):
        if (file := getattr(arguments, name)) is not None:
            print_error(f"-{name.replace('_', '-')} {file}: ignored", COMMAND)

    def make(session: StdioSession) -> AnalysisEngine:
        engine = AnalysisEngine(__version__, session.send, print_error, settings)
        if arguments.config is not None or arguments.model is not None:
            print_error(READY_MESSAGE, COMMAND)
        return engine

    return stdio.serve(make)


def _settings(arguments: Namespace) -> Settings:
    cores = usable_cores()
    if arguments.analysis_threads > cores:
        print_error(f"--analysis-threads limited to {cores}, the number of cores", COMMAND)
    return Settings(
        defaults=_query_defaults(arguments),
        search_settings=SearchSettings(
            arguments.algorithm, search_arguments.resources_from(arguments)
        ),
        max_workers=min(arguments.analysis_threads, cores),
        wait=not arguments.quit_without_waiting,
    )


def _query_defaults(arguments: Namespace) -> QueryDefaults:
    defaults = QueryDefaults(visits=arguments.visits, perspective=PERSPECTIVES[arguments.report_as])
    pairs = [pair for text in arguments.override_config for pair in text.split(",")]
    settings = {name.strip(): value.strip() for name, _, value in (p.partition("=") for p in pairs)}
    try:
        defaults, unknown = read_settings(settings, defaults)
    except QueryError as error:
        raise ValueError(f"-override-config: {error}") from None
    if unknown:
        print_error(f"-override-config: {', '.join(unknown)}: ignored", COMMAND)
    return defaults
