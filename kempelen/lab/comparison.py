"""`kempelen lab run`: compare algorithms on the same positions."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import product
from statistics import fmean
from typing import Any, get_args

from rich.console import Group, RenderableType

from agent.game import format_line
from agent.games.random_tree import RandomTree
from agent.search import algorithm_spec, tree_complexity
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.depth_schedule import DepthParity, depths, search_depths
from agent.search.search import SearchResult, ValueMeaning
from agent.search.stats import SearchStats, SearchStopped
from kempelen.console.argument_types import positive_int
from kempelen.console.terminal import with_progress
from kempelen.lab import algorithm_arguments, language, limit_arguments, problems
from kempelen.lab.language import format_result
from kempelen.lab.output import print_plain, table
from kempelen.lab.problems import SearchProblem

# Heading and field of SearchStats for each column of the table.
COUNTS = (
    ("leaves", "leaves"),
    ("evaluations", "evaluations"),
    ("nodes", "nodes"),
    ("cut-offs", "cutoffs"),
    ("re-searches", "researches"),
    ("table hits", "table_hits"),
    ("memory", "peak_open"),
)

# Of Pearl's factor, which is found by bisection.
ROUNDING_ERROR = 1e-9


@dataclass(frozen=True)
class CompletedIteration:
    """The result of one iteration of iterative deepening.

    `nodes` and `seconds` are totals since the start of the search.
    """

    depth: int
    value: float
    decided: bool
    move: str | None
    nodes: int
    seconds: float


@dataclass(frozen=True)
class Measurement:
    """The result of one algorithm at one position.

    `value` is None if a limit stopped the search before the first result. `decided` is true if the
    value is the utility of a win or loss. `meaning` tells what any other value means. `levels`
    holds the completed iterations of iterative deepening. `stopped` tells whether a limit stopped
    the search.
    """

    algorithm: str
    position: int
    value: float | None
    decided: bool
    move: str | None
    pv: list[str]
    seconds: float
    counts: SearchStats = field(default_factory=SearchStats)
    levels: tuple[CompletedIteration, ...] = ()
    stopped: bool = False
    meaning: ValueMeaning = "exact"


def configure(parser: ArgumentParser) -> None:
    problems.configure(parser)
    algorithm_arguments.configure(parser, several=True)
    parser.add_argument(
        "--positions", type=positive_int, default=1, metavar="N",
        help="number of positions, reached by random moves (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--deepen", choices=get_args(DepthParity), nargs="?", const="any",
        help="use iterative deepening, to any, odd or even depths; count all iterations",
    )  # fmt: skip
    limit_arguments.configure(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    subjects = problems.problems_from(arguments, arguments.positions)
    specs = algorithm_arguments.parse_algorithms(arguments.algorithm, subjects[0])
    for algorithm in specs:
        subjects[0].search(algorithm, seed=arguments.seed)  # reject invalid combinations early
    # Before the measurements, because a beam-limited game adds to the evaluation count.
    theory = theory_for(subjects[0], arguments.seed)
    runs = product(enumerate(subjects, 1), specs)
    measurements = list(
        with_progress(
            (
                _measure(algorithm, position, each, arguments)
                for (position, each), algorithm in runs
            ),
            len(subjects) * len(specs),
            language.translator(arguments.lang)("searching"),
        )
    )
    if arguments.json:
        results = [_as_json(each) for each in measurements]
        head = {"game": subjects[0].name, "depth": subjects[0].depth, "theory": theory}
        print(json.dumps(language.json_value(head | {"results": results})))
        return 0
    _print(subjects, measurements, theory, arguments)
    return 0


def _measure(
    algorithm: AlgorithmSpec, position: int, problem: SearchProblem, arguments: Namespace
) -> Measurement:
    search = problem.search(
        algorithm, seed=arguments.seed, node_limit=limit_arguments.node_limit_from(arguments)
    )
    iterations: list[CompletedIteration] = []
    result: SearchResult[Any] | None = None
    stopped = False
    started = time.perf_counter()
    try:
        with limit_arguments.time_limited(search, arguments.movetime):
            if arguments.deepen is None:
                result = search.search(problem.game, problem.depth)
            else:
                stopped = True
                last = depths(problem.depth, arguments.deepen)[-1]
                for depth, result in search_depths(
                    search, problem.game, problem.depth, arguments.deepen
                ):
                    seconds = time.perf_counter() - started
                    line = format_line(problem.game, result.pv)
                    iterations.append(
                        CompletedIteration(
                            *(depth, result.value, result.decided, line[0] if line else None),
                            *(search.counts.nodes, seconds),
                        )
                    )
                    if depth == last or search.counts.seldepth < depth:  # the tree is complete
                        stopped = False
                        break
    except SearchStopped:
        stopped = True
    seconds = time.perf_counter() - started
    value, pv, decided = None, [], False
    if result is not None:
        value, pv, decided = result.value, format_line(problem.game, result.pv), result.decided
    return Measurement(
        *(algorithm.text, position, value, decided, pv[0] if pv else None, pv, seconds),
        *(search.counts, tuple(iterations), stopped, algorithm.value_meaning(problem.game)),
    )


def _as_json(measured: Measurement) -> dict[str, Any]:
    data = asdict(measured)
    data["counts"]["evaluations"] = measured.counts.evaluations
    return data


def theory_for(problem: SearchProblem, seed: int) -> dict[str, float] | None:
    """Predict the leaf counts of minimax and alpha-beta on a uniform tree of the problem's size.

    Return None if the game has chance events or is over, or if a number overflows.
    """
    if problem.is_chance:
        return None
    depth = _height(problem)
    if not depth:
        return None
    if isinstance(problem.game, RandomTree):
        mean = float(len(problem.game.moves()))
    else:
        mean = problems.mean_branching(problem.game, depth, seed)
    try:
        return {
            "branching": mean,
            "depth": depth,
            "all_leaves": tree_complexity.all_leaves(mean, depth),
            "least_leaves": tree_complexity.min_leaves(mean, depth),
            "inner_nodes": tree_complexity.inner_nodes(mean, depth),
            "leaves_a_node": tree_complexity.leaves_per_inner_node(mean, depth),
            "random_order_leaves": tree_complexity.random_order_leaves(mean, depth),
            "branching_factor": tree_complexity.effective_branching_factor(mean),
        }
    except OverflowError:
        return None


def _height(problem: SearchProblem) -> int:
    plies = 0
    while plies < problem.depth and (moves := list(problem.game.moves())):
        problem.game.play(moves[0])
        plies += 1
    for _ in range(plies):
        problem.game.undo()
    return plies


def _print(
    subjects: list[SearchProblem],
    measured: list[Measurement],
    known: dict[str, float] | None,
    arguments: Namespace,
) -> None:
    translate = language.translator(arguments.lang)
    several = len(subjects) > 1
    first = subjects[0]
    depth = f", {translate('depth')} {first.depth}"
    count = f", {len(subjects)} {translate('positions')}" if several else ""
    found = ("same value", "same move") if several else ("value", "move")
    headings = ("algorithm", *found, *(heading for heading, _ in COUNTS), "time")
    rows = table(f"{first.name}{depth}{count}", *map(translate, headings), right=1)
    for row in _rows(measured, several, translate):
        rows.add_row(*row)
    shown: list[RenderableType] = [rows]
    for name in dict.fromkeys(each.algorithm for each in measured):
        spec = algorithm_spec.parse(name)
        shown += algorithm_arguments.remarks(spec, first.game, translate)
    if arguments.deepen is not None:
        shown += [_levels_table(each, several, arguments, translate) for each in measured]
    print_plain(*shown, *(_theory_lines(known, translate) if known else ()))


def _levels_table(
    measured: Measurement, several: bool, arguments: Namespace, translate: language.Translator
) -> RenderableType:
    suffix = f", {translate('position')} {measured.position}" if several else ""
    headings = map(translate, ("depth", "value", "move", "nodes", "time"))
    rows = table(f"{measured.algorithm}{suffix}: {translate('iterations')}", *headings)
    for level in measured.levels:
        value = format_result(level.value, level.decided, measured.meaning, translate)
        move = language.translate_move(level.move or "", translate)
        rows.add_row(str(level.depth), value, move, str(level.nodes), _time(level.seconds))
    if not measured.levels:
        ending = translate("no iteration was completed")
    else:
        last = measured.levels[-1]
        ending = f"{translate('last completed depth')}: {last.depth}"
        if measured.stopped:
            ending += f" ({translate('stopped by a limit')})"
        ending += f"; {translate('best move')}: "
        ending += language.translate_move(last.move or "-", translate)
    return Group(rows, ending)


def _rows(
    measured: list[Measurement], several: bool, translate: language.Translator
) -> Iterator[list[str]]:
    by_name: dict[str, list[Measurement]] = {}
    for each in measured:
        by_name.setdefault(each.algorithm, []).append(each)
    reference = {each.position: each for each in next(iter(by_name.values()))}
    for name, results in by_name.items():
        finished = [each for each in results if each.value is not None]
        if several:
            values = sum(_has_same_value(each, reference[each.position]) for each in finished)
            moves = sum(each.move == reference[each.position].move for each in finished)
            head = [name, f"{values}/{len(results)}", f"{moves}/{len(results)}"]
        elif finished:
            head = [
                name,
                _format_value(finished[0], translate),
                language.translate_move(finished[0].move or "", translate),
            ]
        else:
            head = [name, translate("stopped"), ""]
        counts = [each.counts for each in results]
        means = [fmean(getattr(each, key) for each in counts) for _, key in COUNTS]
        seconds = fmean(each.seconds for each in results)
        shown = [f"{mean:.1f}" if several else f"{mean:.0f}" for mean in means]
        yield [*head, *shown, _time(seconds)]


def _has_same_value(one: Measurement, other: Measurement) -> bool:
    return (one.value, one.meaning) == (other.value, other.meaning)


def _format_value(measured: Measurement, translate: language.Translator) -> str:
    return format_result(measured.value or 0, measured.decided, measured.meaning, translate)


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _leaves(number: float, translate: language.Translator) -> str:
    return f"{number:.6g} {translate('leaf' if number == 1 else 'leaves')}"


def _theory_lines(known: dict[str, float], translate: language.Translator) -> Iterator[str]:
    b, d, factor = known["branching"], int(known["depth"]), known["branching_factor"]
    yield f"{translate('theory')}: b = {b:.4g}, d = {d}"
    yield f"  minimax b^d = {_leaves(known['all_leaves'], translate)}"
    inner, per_node = (f"{known['inner_nodes']:.6g}", f"{known['leaves_a_node']:.4g}")
    yield (
        f"  (b^d - 1) / (b - 1) = {inner} "
        f"{translate('inner node' if inner == '1' else 'inner nodes')}, {per_node} "
        f"{translate('leaf per inner node' if per_node == '1' else 'leaves per inner node')} "
        f"(b - 1 = {b - 1:.4g})"
    )
    yield (
        f"  Knuth-Moore b^⌈d/2⌉ + b^⌊d/2⌋ - 1 = {_leaves(known['least_leaves'], translate)}"
        f" ({translate('best case')})"
    )
    yield (
        f"  b^(3d/4) = {_leaves(known['random_order_leaves'], translate)}"
        f" ({translate('random order')})"
    )
    if factor**d >= known["least_leaves"] - ROUNDING_ERROR:
        yield f"  Pearl R = {factor:.4g}, R^d = {factor**d:.6g}"
    else:
        why = translate("valid for deep trees only; here R^d is below the minimum")
        yield f"  Pearl R = {factor:.4g} ({why})"
