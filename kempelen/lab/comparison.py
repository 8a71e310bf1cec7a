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

from agent.game import write_line
from agent.games.random_tree import RandomTree
from agent.search import theory
from agent.search.configuration import Configuration
from agent.search.counts import Counts, SearchStopped
from agent.search.horizon import Horizon, deepen
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
class Measured:
    """What one algorithm found at one position.

    value: None if it was stopped before. decided: it is the utility of a win or a loss.
    """

    algorithm: str
    position: int
    value: float | None
    decided: bool
    move: str | None
    pv: list[str]
    seconds: float
    counts: Counts = field(default_factory=Counts)


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
    runs = product(enumerate(subjects, 1), chosen)
    measured = list(
        with_progress(
            (_measure(algorithm, number, each, arguments) for (number, each), algorithm in runs),
            len(subjects) * len(chosen),
            words.language(arguments.lang)("searching"),
        )
    )
    known = theory_of(subjects[0], arguments.seed)
    if arguments.json:
        results = [_as_json(each) for each in measured]
        head = {"game": subjects[0].name, "depth": subjects[0].depth, "theory": known}
        print(json.dumps(head | {"results": results}))
        return 0
    _print(subjects, measured, known, arguments)
    return 0


def _measure(
    algorithm: Configuration, position: int, at: Subject, arguments: Namespace
) -> Measured:
    search = at.search(algorithm, seed=arguments.seed, node_limit=limits.node_limit(arguments))
    found: Found[Any] | None = None
    began = time.perf_counter()
    try:
        with limits.in_time(search, arguments.movetime):
            for each in _searched(search, at, arguments.deepen):
                found = each
    except SearchStopped:
        pass
    seconds = time.perf_counter() - began
    search.keep()
    value, pv, decided = None, [], False
    if found is not None:
        value, pv, decided = found.value, write_line(at.game, found.pv), found.decided
    move = pv[0] if pv else None
    return Measured(algorithm.text, position, value, decided, move, pv, seconds, search.counts)


def _as_json(measured: Measured) -> dict[str, Any]:
    told = asdict(measured)
    told["counts"]["evaluations"] = measured.counts.evaluations
    return told


def _searched(search: Search[Any], at: Subject, horizon: Horizon | None) -> Iterator[Found[Any]]:
    """Search and generate what was found, at every level if the search is to deepen."""
    if horizon is None:
        yield search.search(at.game, at.depth)
        return
    for level, found in deepen(search, at.game, at.depth, horizon):
        yield found
        if search.counts.seldepth < level:  # the whole tree
            return


def theory_of(at: Subject, seed: int) -> dict[str, float] | None:
    """Return what theory says of uniform trees like this one; None of games of chance."""
    if at.is_chance:
        return None
    depth = _height(at)
    if isinstance(at.game, RandomTree):
        mean = float(len(at.game.moves()))
    else:
        mean = subject.branching(at.game, depth, seed)
    return {
        "branching": mean,
        "depth": depth,
        "all_leaves": theory.all_leaves(mean, depth),
        "least_leaves": theory.least_leaves(mean, depth),
        "branching_factor": theory.branching_factor(mean),
    }


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
    show(rows, *(_theory_lines(known, say) if known else ()))


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
        f"  Knuth-Moore b^⌈d/2⌉ + b^⌊d/2⌋ - 1 = {known['least_leaves']:.6g} {say('leaves')}"
        f" ({say('best case')})"
    )
    if factor**d >= known["least_leaves"]:
        yield f"  Pearl R = {factor:.4g}, R^d = {factor**d:.6g}"
    else:
        why = say("it holds for deep trees; here R^d is below the minimum")
        yield f"  Pearl R = {factor:.4g} ({why})"
