"""`kempelen analysis`: answer queries about positions of Go, a JSON object a line.

KataGo's own words on the command line are taken, so that programs that start KataGo start this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.machine import usable_cores
from kempelen import __version__, means_arguments
from kempelen.console import complain
from protocols import pipes
from protocols.analysis.fields import QueryError
from protocols.analysis.protocol import AnalysisEngine, Settings
from protocols.analysis.query import USUAL, Usual, read_settings
from protocols.analysis.visits import Searching
from protocols.session import Session

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

COMMAND = "kempelen analysis"
VIEWERS = {"black": 0, "white": 1, "side": None}
# KataGo says so where it is ready; programs that start KataGo may wait for it.
STARTED = "Started, ready to begin handling requests"


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    from kempelen.numbers import positive

    means_arguments.configure(
        parser,
        threads="of a compiled search, for each position",
        memory="for what all compiled searches remember",
    )
    parser.add_argument(
        *("--analysis-threads", "-analysis-threads"),
        type=positive,
        default=1,
        metavar="N",
        help="positions at once, no more than there are cores (default: %(default)d)",
    )
    parser.add_argument(
        "--visits",
        type=positive,
        default=USUAL.visits,
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
        choices=VIEWERS,
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
        complain(error, COMMAND)
        return 2
    for name in ("config", "model", "human_model"):
        if (file := getattr(arguments, name)) is not None:
            complain(f"-{name.replace('_', '-')} {file} does not apply and is not read", COMMAND)

    def make(session: Session) -> AnalysisEngine:
        engine = AnalysisEngine(__version__, session.send, complain, settings)
        if arguments.config is not None or arguments.model is not None:
            complain(STARTED, COMMAND)
        return engine

    return pipes.serve(make)


def _settings(arguments: Namespace) -> Settings:
    cores = usable_cores()
    if arguments.analysis_threads > cores:
        complain(f"{cores} positions are analysed at once, as there are {cores} cores", COMMAND)
    return Settings(
        usual=_usual(arguments),
        searching=Searching(arguments.algorithm, means_arguments.means(arguments)),
        analysts=min(arguments.analysis_threads, cores),
        wait=not arguments.quit_without_waiting,
    )


def _usual(arguments: Namespace) -> Usual:
    """Return what holds where queries do not say, by our flags and then KataGo's."""
    usual = Usual(visits=arguments.visits, viewer=VIEWERS[arguments.report_as])
    pairs = [pair for text in arguments.override_config for pair in text.split(",")]
    settings = {name.strip(): value.strip() for name, _, value in (p.partition("=") for p in pairs)}
    try:
        visits, seconds, viewer, unknown = read_settings(settings, usual)
    except QueryError as error:
        raise ValueError(f"-override-config: {error}") from None
    if unknown:
        complain(f"-override-config: {', '.join(unknown)} does not apply", COMMAND)
    return Usual(visits, seconds, viewer)
