"""`kempelen check-eval`: test an evaluation function, then play a match with it."""

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
# Evaluations of the opponent against a compiled evaluation, against plain Python, and in games
# other than chess.
COMPILED_MATERIAL = "kempelen.training.baselines:material"
PLAIN_MATERIAL = "kempelen.training.baselines:plain_material"
ZERO_EVALUATION = "kempelen.training.baselines:nothing"

_FORBIDDEN_IN_NAMES = re.compile(
    r"[/+#\x00-\x1f\x7f]"
)  # characters that are not allowed in names of players
_MAX_NAME_LENGTH = 40
_SIGNIFICANT_DIGITS = 12  # of the hash of the evaluation's file


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "evaluation",
        metavar="FILE.py:function",
        help="evaluation: FILE.py:function, module:function, nnue or handcrafted",
    )
    game = parser.add_argument_group("games other than chess")
    configure_game(game)
    game.add_argument(
        "--algorithm", metavar="A",
        help="search algorithm (default: alpha-beta; expectiminimax in games of chance)",
    )  # fmt: skip
    match = parser.add_argument_group("the match")
    match.add_argument("--no-match", dest="match", action="store_false", help="do not play a match")
    match.add_argument(
        "--against", choices=[MATERIAL, SHIPPED], default=MATERIAL,
        help="opponent: a material count (in other games, a constant), or the included evaluation "
        "(default: %(default)s)",
    )  # fmt: skip
    match.add_argument(
        "--name", help="name of the match (default: function, file hash and opponent)"
    )
    match.add_argument(
        "--games", type=positive_int, default=GAMES, help="number of games (default: %(default)s)"
    )
    match.add_argument("--tc", metavar="MOVES/BASE+INC", help=f"clock (default: {TIME_CONTROL})")
    match.add_argument("--nodes", type=positive_int, help="nodes per move, instead of a clock")
    match.add_argument("--seed", type=int, default=0, help="random seed for the openings")
    configure_run(parser, network=False)


def run(arguments: Namespace) -> int:
    """Run the check and the match.

    Return 0 on success, 1 if a call fails or the match is incomplete, or 2 if the check cannot
    start.
    """
    try:
        game = game_entries(arguments)
        with stdout_reserved():
            evaluation = load_with_watchdog(arguments.evaluation, load if game else load_of_chess)
            settings = match_settings(arguments, game, evaluation) if arguments.match else None
            report = _run_checks(_evaluation_under_test(arguments, game, evaluation))
    except (EvaluationError, SettingsError, ValueError) as error:
        print_error(error, "kempelen check-eval")
        return 2
    except WatchdogError as error:
        print_error(f"{error}: too slow for a search", "kempelen check-eval")
        return 1
    _print_report(report, evaluation.batch, in_chess=not game, as_json=arguments.json)
    if report.failed:
        print_error(
            f"{report.failed} of {report.calls} calls failed"
            + ("; no match is played until all succeed" if settings else ""),
            "kempelen check-eval",
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
    """Return the settings of a match between the evaluation and its opponent.

    `game` contains the fields of GameSettings, or is empty for chess. The default match name
    includes a hash of the evaluation file, so an edited file starts a new match in the same ledger.
    """
    if arguments.algorithm and not game:
        raise SettingsError("--algorithm is only for other games: add --game")
    material = COMPILED_MATERIAL if evaluation.python is None else PLAIN_MATERIAL
    baseline = ZERO_EVALUATION if game else material
    shipped = HANDCRAFTED.name if game else DEFAULT
    other = baseline if arguments.against == MATERIAL else shipped
    # The name of the function, or of the file with a learned evaluation.
    name = _FORBIDDEN_IN_NAMES.sub("", Path(evaluation.name.rpartition(":")[2]).name)[
        :_MAX_NAME_LENGTH
    ]
    time: dict[str, Any] = {} if arguments.nodes is None else {"nodes": arguments.nodes}
    if arguments.tc is not None or not time:
        time |= parse_clock(arguments.tc or TIME_CONTROL)

    def player(spec: str, name: str) -> dict[str, Any]:
        if game:
            algorithm = _algorithm(arguments, game, evaluation)
            agent = {"protocol": "lab", "command": algorithm, "options": {"evaluation": spec}}
            return {**agent, "name": name}
        # Each player is a process of its own, because plain Python uses only one core. -P keeps
        # modules in the working folder from shadowing ours.
        engine = {"command": sys.executable, "arguments": ["-P", "-m", "kempelen.cli", "uci"]}
        options = {"Evaluation": spec}
        if evaluation.batch:  # only MCTS evaluates batches, so both players use MCTS
            options["Search"] = MCTS
        return {**engine, "name": name, "options": options}

    other_name = SHIPPED
    if arguments.against == MATERIAL:
        other_name = "nothing" if game else MATERIAL
    default = " ".join(
        filter(None, (name, evaluation_digest(evaluation.name)[:_SIGNIFICANT_DIGITS]))
    )
    return parse_settings(
        {
            "name": arguments.name or f"{default} against {other_name}",
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
        kind = f"a Python function of batches of up to {batch} positions"
    else:
        kind = f"a Python function of a {'chess.Board' if in_chess else 'game'}"
    yield f"{report.evaluation}: {kind}"
    again = ", half of them with the colours swapped" if in_chess else ""
    failed = f"{report.failed} calls failed" if report.failed else "no call failed"
    yield f"  {report.calls} positions{again}: {failed}"
    for failure in report.failures:
        yield f"    {failure.calls} times, first on {failure.position}:"
        yield f"      {failure.message}"
    if report.lowest is not None and report.highest is not None:
        unit = " centipawns" if in_chess else ""
        types = f", type {' or '.join(sorted(report.types))}" if report.types else ""
        values = f"{_format_value(report.lowest)} to {_format_value(report.highest)}"
        yield f"  values from {values}{unit}{types}"
        if report.lowest == report.highest:
            yield "    all values are the same, so a search cannot use them"
    if report.beyond and report.greatest is not None:
        limit = _format_value(report.greatest)
        yield f"    {report.beyond} values beyond the limit of ±{limit} are clipped"
    if report.pairs:
        yield from _symmetry_lines(report)
    if report.calls_a_second is not None:
        yield f"  {report.calls_a_second:,.0f} calls per second"
    if report.nodes_a_second is not None and report.usual_nodes_a_second is not None:
        usual = f"{report.usual_nodes_a_second:,.0f} with the included evaluation"
        yield f"  {report.nodes_a_second:,.0f} nodes per second; {usual}"


def _symmetry_lines(report: EvaluationReport) -> Iterator[str]:
    if not report.uneven:
        yield "  symmetric: the same value for the side to move with the colours swapped"
        return
    yield (
        f"  not symmetric: on {report.uneven} of {report.pairs} positions the value for the side "
        "to move changes when the colours are swapped"
    )
    for pair in report.worst:
        values = f"{_format_value(pair.value)}, swapped {_format_value(pair.exchanged)}"
        yield f"    {values}: {pair.position}"
    if report.one_sided:
        yield "    the value seems to be for one colour (expected: for the side to move)"


def _format_value(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:z,.6g}"
