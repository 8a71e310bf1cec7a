"""`kempelen lab run`: algorithms side by side on the same positions."""

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

from agent.game import write_line
from agent.games.random_tree import RandomTree
from agent.search import theory
from agent.search.configuration import Configuration
from agent.search.counts import Counts, SearchStopped
from agent.search.horizon import Deepened, Horizon, deepen, levels
from agent.search.search import Found, Search
from kempelen.console import with_progress
from kempelen.lab import algorithms, limits, subject, words
from kempelen.lab.output import show, table
from kempelen.lab.subject import Subject
from kempelen.lab.words import number
from kempelen.numbers import positive

# The columns of counts: heading, field of Counts.
COUNTS = (
    ("leaves", "leaves"),
    ("evaluations", "evaluations"),
    ("nodes", "nodes"),
    ("cut-offs", "cutoffs"),
    ("re-searches", "researches"),
    ("table hits", "table_hits"),
    ("memory", "peak_open"),
)


@dataclass(frozen=True)
class CompletedLevel:
    """What was found so many plies deep, after so many nodes and seconds in all."""

    depth: int
    value: float
    decided: bool
    move: str | None
    nodes: int
    seconds: float


@dataclass(frozen=True)
class Measured:
    """What one algorithm found at one position.

    value: None if it was stopped before. decided: it is the utility of a win or a loss. levels:
    those that were completed, where the search deepens. stopped: by a limit.
    """

    algorithm: str
    position: int
    value: float | None
    decided: bool
    move: str | None
    pv: list[str]
    seconds: float
    counts: Counts = field(default_factory=Counts)
    levels: tuple[CompletedLevel, ...] = ()
    stopped: bool = False


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    subject.configure(parser)
    algorithms.configure(parser, several=True)
    parser.add_argument(
        "--positions", type=positive, default=1, metavar="N",
        help="compare on so many positions, reached by random moves (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--deepen", choices=get_args(Horizon), nargs="?", const="any",
        help="search 1, 2, ... plies deep, or only odd or even depths; all is counted",
    )  # fmt: skip
    limits.configure(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Compare and print the table."""
    subjects = subject.positions(arguments, arguments.positions)
    chosen = algorithms.read(arguments.algorithm, subjects[0])
    for algorithm in chosen:
        subjects[0].search(algorithm, seed=arguments.seed)  # refused before anything is measured
    # Before any search: a pruned game asks for evaluations, which the last search would count.
    known = theory_of(subjects[0], arguments.seed)
    runs = product(enumerate(subjects, 1), chosen)
    measured = list(
        with_progress(
            (_measure(algorithm, number, each, arguments) for (number, each), algorithm in runs),
            len(subjects) * len(chosen),
            words.language(arguments.lang)("searching"),
        )
    )
    if arguments.json:
        results = [_as_json(each) for each in measured]
        head = {"game": subjects[0].name, "depth": subjects[0].depth, "theory": known}
        print(json.dumps(words.as_json(head | {"results": results})))
        return 0
    _print(subjects, measured, known, arguments)
    return 0


def _measure(
    algorithm: Configuration, position: int, at: Subject, arguments: Namespace
) -> Measured:
    search = at.search(algorithm, seed=arguments.seed, node_limit=limits.node_limit(arguments))
    done: list[CompletedLevel] = []
    found: Found[Any] | None = None
    stopped = False
    began = time.perf_counter()
    try:
        with limits.in_time(search, arguments.movetime):
            if arguments.deepen is None:
                found = search.search(at.game, at.depth)
            for each in _levels(search, at, arguments.deepen):
                found = each.found
                done.append(_level(each, at, search.counts.nodes, time.perf_counter() - began))
    except SearchStopped:
        stopped = True
    seconds = time.perf_counter() - began
    value, pv, decided = None, [], False
    if found is not None:
        value, pv, decided = found.value, write_line(at.game, found.pv), found.decided
    if arguments.deepen is not None:
        stopped = not done or not _is_last(done[-1], at, search, arguments.deepen)
    return Measured(
        *(algorithm.text, position, value, decided, pv[0] if pv else None, pv, seconds),
        *(search.counts, tuple(done), stopped),
    )


def _level(each: Deepened, at: Subject, nodes: int, seconds: float) -> CompletedLevel:
    found = each.found
    line = write_line(at.game, found.pv)
    return CompletedLevel(
        each.depth, found.value, found.decided, line[0] if line else None, nodes, seconds
    )


def _as_json(measured: Measured) -> dict[str, Any]:
    told = asdict(measured)
    told["counts"]["evaluations"] = measured.counts.evaluations
    return told


def _levels(search: Search[Any], at: Subject, horizon: Horizon | None) -> Iterator[Deepened]:
    """Search every level and generate what was found, if the search is to deepen."""
    if horizon is None:
        return
    for each in deepen(search, at.game, at.depth, horizon):
        yield each
        if search.counts.seldepth < each.depth:  # the whole tree
            return


def _is_last(level: CompletedLevel, at: Subject, search: Search[Any], horizon: Horizon) -> bool:
    """Tell whether no level was to come after it."""
    return level.depth == levels(at.depth, horizon)[-1] or search.counts.seldepth < level.depth


def theory_of(at: Subject, seed: int) -> dict[str, float] | None:
    """Return what theory says of uniform trees like this one.

    None of games of chance and ends, and where its numbers are beyond all that are written.
    """
    if at.is_chance:
        return None
    depth = _height(at)
    if not depth:
        return None
    if isinstance(at.game, RandomTree):
        mean = float(len(at.game.moves()))
    else:
        mean = subject.branching(at.game, depth, seed)
    try:
        return {
            "branching": mean,
            "depth": depth,
            "all_leaves": theory.all_leaves(mean, depth),
            "least_leaves": theory.least_leaves(mean, depth),
            "inner_nodes": theory.inner_nodes(mean, depth),
            "leaves_a_node": theory.leaves_a_node(mean, depth),
            "random_order_leaves": theory.random_order_leaves(mean, depth),
            "branching_factor": theory.branching_factor(mean),
        }
    except OverflowError:
        return None


def _height(at: Subject) -> int:
    """Return the plies to the horizon, or to the end along the first moves if that is nearer."""
    plies = 0
    while plies < at.depth and (moves := list(at.game.moves())):
        at.game.play(moves[0])
        plies += 1
    for _ in range(plies):
        at.game.undo()
    return plies


def _print(
    subjects: list[Subject],
    measured: list[Measured],
    known: dict[str, float] | None,
    arguments: Namespace,
) -> None:
    say = words.language(arguments.lang)
    several = len(subjects) > 1
    first = subjects[0]
    depth = "" if first.depth == subject.TO_THE_END else f", {say('depth')} {first.depth}"
    count = f", {len(subjects)} {say('positions')}" if several else ""
    found = ("same value", "same move") if several else ("value", "move")
    headings = ("algorithm", *found, *(heading for heading, _ in COUNTS), "time")
    rows = table(f"{first.name}{depth}{count}", *map(say, headings), right=1)
    for row in _rows(measured, several, say):
        rows.add_row(*row)
    shown: list[RenderableType] = [rows]
    if arguments.deepen is not None:
        shown += [_levels_of(each, several, arguments, say) for each in measured]
    show(*shown, *(_theory_lines(known, say) if known else ()))


def _levels_of(
    measured: Measured, several: bool, arguments: Namespace, say: words.Say
) -> RenderableType:
    """Return the levels of one search as a table, and under it what a clock would have played."""
    place = f", {say('position')} {measured.position}" if several else ""
    headings = map(say, ("depth", "value", "move", "nodes", "time"))
    rows = table(f"{measured.algorithm}{place}: {say('levels')}", *headings)
    for level in measured.levels:
        value = words.decided(level.value, say) if level.decided else number(level.value)
        move = words.move(level.move or "", say)
        rows.add_row(str(level.depth), value, move, str(level.nodes), _time(level.seconds))
    if not measured.levels:
        ending = say("no level was completed")
    else:
        last = measured.levels[-1]
        ending = f"{say('the last level completed is')} {last.depth}; "
        if measured.stopped:
            ending += f"{say('the clock stopped the next one, and plays')} "
        else:
            ending += f"{say('a clock that stops later plays')} "
        ending += words.move(last.move or "-", say)
    return Group(rows, ending)


def _rows(measured: list[Measured], several: bool, say: words.Say) -> Iterator[list[str]]:
    """Generate the cells of each algorithm; over several positions they are means."""
    by_name: dict[str, list[Measured]] = {}
    for each in measured:
        by_name.setdefault(each.algorithm, []).append(each)
    reference = {each.position: each for each in next(iter(by_name.values()))}
    for name, results in by_name.items():
        ended = [each for each in results if each.value is not None]
        if several:
            values = sum(each.value == reference[each.position].value for each in ended)
            moves = sum(each.move == reference[each.position].move for each in ended)
            head = [name, f"{values}/{len(results)}", f"{moves}/{len(results)}"]
        elif ended:
            head = [name, _value(ended[0], say), words.move(ended[0].move or "", say)]
        else:
            head = [name, say("stopped"), ""]
        counts = [each.counts for each in results]
        means = [fmean(getattr(each, key) for each in counts) for _, key in COUNTS]
        seconds = fmean(each.seconds for each in results)
        shown = [f"{mean:.1f}" if several else f"{mean:.0f}" for mean in means]
        yield [*head, *shown, _time(seconds)]


def _value(measured: Measured, say: words.Say) -> str:
    value = measured.value or 0
    return words.decided(value, say) if measured.decided else number(value)


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _theory_lines(known: dict[str, float], say: words.Say) -> Iterator[str]:
    b, d, factor = known["branching"], int(known["depth"]), known["branching_factor"]
    yield f"{say('theory')}: b = {b:.4g}, d = {d}"
    yield f"  minimax b^d = {known['all_leaves']:.6g} {say('leaves')}"
    yield (
        f"  (b^d - 1) / (b - 1) = {known['inner_nodes']:.6g} {say('nodes above the leaves')}, "
        f"{known['leaves_a_node']:.4g} {say('leaves for each')} (b - 1 = {b - 1:.4g})"
    )
    yield (
        f"  Knuth-Moore b^⌈d/2⌉ + b^⌊d/2⌋ - 1 = {known['least_leaves']:.6g} {say('leaves')}"
        f" ({say('best case')})"
    )
    yield f"  b^(3d/4) = {known['random_order_leaves']:.6g} {say('leaves')} ({say('random order')})"
    if factor**d >= known["least_leaves"]:
        yield f"  Pearl R = {factor:.4g}, R^d = {factor**d:.6g}"
    else:
        why = say("it holds for deep trees; here R^d is below the minimum")
        yield f"  Pearl R = {factor:.4g} ({why})"
