"""`kempelen try`: an evaluation examined, and a match with it against one that counts material."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent.chess.evaluation.loading import DEFAULT
from agent.chess.evaluation.loading import load as load_of_chess
from agent.chess.parts import ALPHABETA, MCTS, TIMING
from agent.evaluation import HANDCRAFTED, Evaluation, EvaluationError, evaluation_digest, load
from agent.games import catalogue
from agent.io.sanitize import sanitize_lines
from kempelen.commands.match import configure_game, game_entries
from kempelen.console.argument_types import positive_int
from kempelen.console.settings_codec import SettingsError, encode
from kempelen.console.terminal import load_kernels, print_error, progress_bar, stdout_reserved
from kempelen.match.config.settings import Settings, parse_settings
from kempelen.match.config.time_control import parse_clock
from kempelen.match.tournament_run import configure_run, run_tournament
from kempelen.training.evaluation_check import (
    EvaluationReport,
    EvaluationUnderTest,
    check_evaluation,
    load_with_watchdog,
)
from kempelen.training.watchdog import WatchdogError

MATERIAL, SHIPPED = "material", "shipped"
TIME_CONTROL = "1+0.01"
GAMES = 100
# What stands for counting material where the evaluation is compiled, plain, or of another game.
COMPILED_MATERIAL = "kempelen.training.baselines:material"
PLAIN_MATERIAL = "kempelen.training.baselines:plain_material"
ZERO_EVALUATION = "kempelen.training.baselines:nothing"

_FORBIDDEN_IN_NAMES = re.compile(r"[/+#\x00-\x1f\x7f]")  # what no name of a player has
_MAX_NAME_LENGTH = 40
_SIGNIFICANT_DIGITS = 12  # of the hash of a file


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "evaluation", metavar="FILE.py:function", help="or module:function, nnue or handcrafted"
    )
    game = parser.add_argument_group("another game than chess")
    configure_game(game)
    game.add_argument(
        "--algorithm", metavar="A",
        help="what searches (default: alpha-beta, in games of chance expectiminimax)",
    )  # fmt: skip
    match = parser.add_argument_group("the match")
    match.add_argument("--no-match", dest="match", action="store_false", help="do not play")
    match.add_argument(
        "--against", choices=[MATERIAL, SHIPPED], default=MATERIAL,
        help="counting material, as plain or compiled as the evaluation is (in other games knowing "
        "nothing); or the evaluation that is shipped (default: %(default)s)",
    )  # fmt: skip
    match.add_argument("--name", help="its name (default: of function, file's hash and opponent)")
    match.add_argument("--games", type=positive_int, default=GAMES, help="default: %(default)s")
    match.add_argument("--tc", metavar="MOVES/BASE+INC", help=f"a clock (default: {TIME_CONTROL})")
    match.add_argument(
        "--nodes", type=positive_int, help="nodes for each move, in place of a clock"
    )
    match.add_argument("--seed", type=int, default=0, help="seed of the openings' order")
    configure_run(parser, network=False)


def run(arguments: Namespace) -> int:
    """Examine and play.

    The status is 0 if no call failed and all games were played, 1 if not, 2 if nothing could begin.
    """
    try:
        game = game_entries(arguments)
        with stdout_reserved():
            evaluation = load_with_watchdog(arguments.evaluation, load if game else load_of_chess)
            settings = match_settings(arguments, game, evaluation) if arguments.match else None
            report = _run_checks(_evaluation_under_test(arguments, game, evaluation))
    except (EvaluationError, SettingsError, ValueError) as error:
        print_error(error, "kempelen try")
        return 2
    except WatchdogError as error:
        print_error(f"{error}: no search could wait for that", "kempelen try")
        return 1
    _print_report(report, evaluation.batch, in_chess=not game, as_json=arguments.json)
    if report.failed:
        print_error(
            f"{report.failed} of {report.calls} calls failed"
            + ("; there is no match before none does" if settings else ""),
            "kempelen try",
        )
        return 1
    return 0 if settings is None else run_tournament(settings, arguments)


def _evaluation_under_test(
    arguments: Namespace, game: dict[str, Any], evaluation: Evaluation
) -> EvaluationUnderTest:
    if game:
        from kempelen.training.game_evaluation_check import GameEvaluationUnderTest

        kind = catalogue.find(game["name"])
        return GameEvaluationUnderTest(
            kind, game["options"], evaluation, _algorithm(arguments, game, evaluation)
        )
    load_kernels(ALPHABETA, TIMING)
    from kempelen.training.chess_evaluation_check import ChessEvaluationUnderTest

    return ChessEvaluationUnderTest(evaluation)


def _algorithm(arguments: Namespace, game: dict[str, Any], evaluation: Evaluation) -> str:
    from kempelen.training.game_evaluation_check import algorithm_for

    start = catalogue.new_game(game["name"], **game["options"])
    chosen: str = arguments.algorithm or algorithm_for(start, bool(evaluation.batch))
    return chosen


def _run_checks(examinee: EvaluationUnderTest) -> EvaluationReport:
    with progress_bar("calling", None) as show:
        return check_evaluation(examinee, show)


def match_settings(arguments: Namespace, game: dict[str, Any], evaluation: Evaluation) -> Settings:
    """Return the match; `game` as GameSettings has it.

    It is named by what the evaluation's file holds: one that was edited begins another match, also
    in the same ledger.
    """
    if arguments.algorithm and not game:
        raise SettingsError("--algorithm is for other games: add --game")
    material = COMPILED_MATERIAL if evaluation.python is None else PLAIN_MATERIAL
    least = ZERO_EVALUATION if game else material
    shipped = HANDCRAFTED.name if game else DEFAULT
    other = least if arguments.against == MATERIAL else shipped
    # A function's name, or that of the file of what was learned.
    name = _FORBIDDEN_IN_NAMES.sub("", Path(evaluation.name.rpartition(":")[2]).name)[
        :_MAX_NAME_LENGTH
    ]
    time: dict[str, Any] = {} if arguments.nodes is None else {"nodes": arguments.nodes}
    if arguments.tc is not None or not time:
        time |= parse_clock(arguments.tc or TIME_CONTROL)

    def player(spec: str, called: str) -> dict[str, Any]:
        if game:
            algorithm = _algorithm(arguments, game, evaluation)
            agent = {"protocol": "lab", "command": algorithm, "options": {"evaluation": spec}}
            return {**agent, "name": called}
        # A process each: plain Python runs on one core of each, and may do what it likes there.
        # Not by way of the user's folder, in which modules may have the names of ours.
        engine = {"command": sys.executable, "arguments": ["-P", "-m", "kempelen.cli", "uci"]}
        options = {"Evaluation": spec}
        if evaluation.batch:  # only that search asks for batches; the other side has the same
            options["Search"] = MCTS
        return {**engine, "name": called, "options": options}

    other_name = SHIPPED
    if arguments.against == MATERIAL:
        other_name = "nothing" if game else MATERIAL
    called = " ".join(
        filter(None, (name, evaluation_digest(evaluation.name)[:_SIGNIFICANT_DIGITS]))
    )
    default = f"{called} against {other_name}"
    return parse_settings(
        {
            "name": arguments.name or default,
            "game": game,
            "engines": [player(evaluation.name, name), player(other, other_name)],
            "games": arguments.games,
            "seed": arguments.seed,
            "time": time,
        }
    )


def _print_report(report: EvaluationReport, batch: int, *, in_chess: bool, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"event": "evaluation_examined", **encode(report)}), flush=True)
        return
    for line in _report_lines(report, batch, in_chess):
        print(sanitize_lines(line))
    sys.stdout.flush()


def _report_lines(report: EvaluationReport, batch: int, in_chess: bool) -> Iterator[str]:
    if report.compiled:
        kind = "compiled into the search"
    elif batch:
        kind = f"a plain function of batches of up to {batch}, called with one and with many"
    else:
        kind = f"a plain function of a {'chess.Board' if in_chess else 'game'}"
    yield f"{report.evaluation}: {kind}"
    again = ", half of them those of the other half with the colours exchanged" if in_chess else ""
    failed = f"{report.failed} calls failed" if report.failed else "no call failed"
    yield f"  {report.calls} positions{again}: {failed}"
    for failure in report.failures:
        yield f"    {failure.calls} times, first on {failure.position}:"
        yield f"      {failure.message}"
    if report.lowest is not None and report.highest is not None:
        unit = " centipawns" if in_chess else ""
        types = f", of the type {' or '.join(sorted(report.types))}" if report.types else ""
        yield f"  values from {_format_value(report.lowest)} to {_format_value(report.highest)}{unit}{types}"
        if report.lowest == report.highest:
            yield "    all the same: a search learns nothing from them"
    if report.beyond and report.greatest is not None:
        limit = _format_value(report.greatest)
        yield f"    {report.beyond} of them reach {limit}, above or below 0, and count as that"
    if report.pairs:
        yield from _symmetry_lines(report)
    if report.calls_a_second is not None:
        yield f"  {report.calls_a_second:,.0f} calls a second"
    if report.nodes_a_second is not None and report.usual_nodes_a_second is not None:
        usual = f"{report.usual_nodes_a_second:,.0f} with the shipped evaluation"
        yield f"  {report.nodes_a_second:,.0f} nodes a second; {usual}"


def _symmetry_lines(report: EvaluationReport) -> Iterator[str]:
    if not report.uneven:
        yield "  symmetric: worth the same to the mover with the colours exchanged"
        return
    yield (
        f"  not symmetric: on {report.uneven} of {report.pairs} positions worth something else to "
        "the mover with the colours exchanged"
    )
    for pair in report.worst:
        values = f"{_format_value(pair.value)}, exchanged {_format_value(pair.exchanged)}"
        yield f"    {values}: {pair.position}"
    if report.one_sided:
        yield "    it seems to be the value for one colour: it must be that of the side to move"


def _format_value(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
