"""`kempelen lab cfr`: counterfactual regret minimisation for games with hidden information."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.games import catalogue
from agent.games.catalogue import GameType
from agent.games.hidden.hidden_game import HiddenInformationGame
from agent.games.hidden.kuhn_poker import KuhnPoker
from agent.games.hidden.liars_dice import LiarsDice
from agent.io.message import Message
from agent.search.regret_minimisation import (
    InformationSet,
    RegretMinimizer,
    expected_value,
    exploitability,
)
from kempelen.console import pictures
from kempelen.console.argument_types import AppendNamed, positive_int
from kempelen.console.game_options import options_for, read_option
from kempelen.console.terminal import with_progress
from kempelen.lab import language
from kempelen.lab.language import Translator, format_value, translate_move
from kempelen.lab.output import print_plain, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES: dict[str, type[Any]] = {"kuhn-poker": KuhnPoker, "liars-dice": LiarsDice}
RULES = (
    "value of a move: over the positions of the set, the sum of the probability that chance and "
    "the opponent lead there, times the value after the move",
    "regret += value of the move - mean value of the strategy; "
    "next strategy: in proportion to the positive regrets",
    "the players take turns in each iteration: the values of player 2 are against the next "
    "strategy of player 1",
)
# Points of the curve per power of ten.
POINTS_PER_DECADE = 10


@dataclass(frozen=True)
class CurvePoint:
    """The average strategy after some iterations. `value` is for the first player."""

    iterations: int
    exploitability: float
    value: float


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--game", default="kuhn-poker", metavar="G",
        help=Message("game with hidden information: {}, or FILE.py:Class", ", ".join(GAMES)),
    )  # fmt: skip
    parser.add_argument(
        "--option", action=AppendNamed, default=[], type=read_option, metavar="NAME=VALUE",
        help="option of the game, such as sides=4; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--iterations", type=positive_int, default=1000, metavar="N",
        help="number of iterations (default: 1000)",
    )  # fmt: skip
    parser.add_argument(
        "--plus", action="store_true",
        help="CFR+: drop negative regrets, and weight later strategies more",
    )  # fmt: skip
    parser.add_argument(
        "--steps", type=positive_int, metavar="N", help="print the first N iterations step by step"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE",
        help=Message(
            "plot the exploitability to FILE (suffix: {})", ", ".join(pictures.SUFFIXES)
        ),
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    translate = language.translator(arguments.lang)
    if arguments.plot is not None:
        pictures.check_picture(arguments.plot)
    minimizer = RegretMinimizer(hidden_game(arguments.game, arguments.option), plus=arguments.plus)
    curve: list[CurvePoint] = []
    if arguments.steps and not arguments.json:
        print_plain(*map(translate, RULES), "")
    numbers = range(1, arguments.iterations + 1)
    measured = set(measuring_points(arguments.iterations))
    for number in with_progress(numbers, len(numbers), translate("iterations")):
        before = {name: each.strategy for name, each in minimizer.sets.items()}
        minimizer.iterate()
        if number <= (arguments.steps or 0) and not arguments.json:
            _print_iteration(minimizer, before, translate)
        if number in measured:
            strategy = minimizer.average_strategy()
            curve.append(
                CurvePoint(
                    number,
                    exploitability(minimizer.root, strategy),
                    expected_value(minimizer.root, strategy),
                )
            )
    if arguments.plot is not None:
        pictures.save(curve_figure(arguments.game, curve, translate), arguments.plot)
    if arguments.json:
        print(json.dumps(_as_json(arguments.game, minimizer, curve)))
        return 0
    _print_result(minimizer, curve, translate)
    return 0


def hidden_game(name: str, options: Sequence[tuple[str, Any]]) -> HiddenInformationGame[Any]:
    """Return a new game. Raise ValueError if it is unknown or has no hidden information."""
    if name in GAMES:
        kind = GameType(name, GAMES[name], lambda game: 0, lambda function: function)
    elif ":" not in name:
        raise ValueError(
            Message(
                "unknown game {!r} (expected one of: {}; or FILE.py:Class)", name, ", ".join(GAMES)
            )
        )
    else:
        kind = catalogue.find(name)
    game = kind.new(**options_for(kind, None, options))
    if not isinstance(game, HiddenInformationGame):
        raise ValueError(
            Message("{}: not a game with hidden information (missing: information)", name)
        )
    return game


def measuring_points(iterations: int) -> Iterator[int]:
    """Yield numbers of iterations that are evenly spaced on a logarithmic scale, and the last."""
    previous, exponent = 0, 0
    while previous < iterations:
        number = min(round(10 ** (exponent / POINTS_PER_DECADE)), iterations)
        if number > previous:
            yield number
        previous, exponent = max(previous, number), exponent + 1


def curve_figure(game: str, curve: Sequence[CurvePoint], translate: Translator) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5))
    axes = figure.add_subplot()
    axes.plot(
        [point.iterations for point in curve], [point.exploitability for point in curve],
        marker="o", markersize=3, color="C0",
    )  # fmt: skip
    axes.set_xscale("log")
    if any(point.exploitability > 0 for point in curve):
        axes.set_yscale("log")
    axes.set_title(game)
    axes.set_xlabel(translate("iterations"))
    axes.set_ylabel(translate("exploitability"))
    axes.grid(alpha=0.3, which="both")
    figure.tight_layout()
    return figure


def _print_iteration(
    minimizer: RegretMinimizer, before: dict[str, list[float]], translate: Translator
) -> None:
    headings = ("information set", "strategy", "values of the moves", "regrets", "next strategy")
    rows = table(
        translate("iteration {}").format(minimizer.iterations), *map(translate, headings), right=5
    )
    for name, known in sorted(minimizer.sets.items()):
        cells = (before[name], known.values, known.regrets, known.strategy)
        rows.add_row(
            _set_name(name, translate), *(_per_move(known, cell, translate) for cell in cells)
        )
    print_plain(rows, "")


def _print_result(
    minimizer: RegretMinimizer, curve: Sequence[CurvePoint], translate: Translator
) -> None:
    headings = ("iterations", "exploitability", "value for the first player")
    rows = table("", *map(translate, headings))
    decades = {10**power for power in range(16)}
    for point in curve:
        if point.iterations in decades or point is curve[-1]:
            rows.add_row(
                str(point.iterations),
                *(format_value(round(each, 12)) for each in (point.exploitability, point.value)),
            )
    print_plain(rows, "")
    strategy = minimizer.average_strategy()
    shown = table("", translate("information set"), translate("average strategy"), right=2)
    for name, known in sorted(minimizer.sets.items()):
        shown.add_row(_set_name(name, translate), _per_move(known, strategy[name], translate))
    print_plain(shown)


def _set_name(name: str, translate: Translator) -> str:
    return " ".join(translate_move(word, translate) for word in name.split(" "))


def _per_move(known: InformationSet, numbers: Sequence[float], translate: Translator) -> str:
    return "  ".join(
        f"{translate_move(move, translate)} {number:.3f}"
        for move, number in zip(known.moves, numbers, strict=True)
    )


def _as_json(game: str, minimizer: RegretMinimizer, curve: Sequence[CurvePoint]) -> dict[str, Any]:
    strategy = minimizer.average_strategy()
    return {
        "game": game,
        "iterations": minimizer.iterations,
        "exploitability": curve[-1].exploitability,
        "value": curve[-1].value,
        "strategy": {
            name: dict(zip(known.moves, strategy[name], strict=True))
            for name, known in minimizer.sets.items()
        },
        "curve": [[point.iterations, point.exploitability, point.value] for point in curve],
    }
