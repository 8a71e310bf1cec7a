"""`kempelen data statistics`: what positions are like, as a table and as a picture."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from agent.io.write_checks import require_writable
from kempelen.console.pictures import check_picture, save
from kempelen.training.position_statistics import (
    MAX_SCORE,
    PositionStatistics,
    count_positions,
    quantiles,
)

if TYPE_CHECKING:
    from argparse import Namespace

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RESULTS = ("loss", "draw", "win")
TABLE_WIDTH = 100  # centipawns of an interval of scores
MAX_SHOWN_SCORE = 1000  # results are printed up to there
COLOUR, FIT_COLOUR = "#1d4ed8", "#c2410c"


def run(arguments: Namespace) -> int:
    """Print the statistics of all files together, and draw them if that is asked for."""
    from kempelen.training.dataset import Dataset, DatasetError

    if arguments.plot is not None:
        check_picture(arguments.plot)
        require_writable([arguments.plot], arguments.files, DatasetError, regular=True)
    with Dataset(*arguments.files) as dataset:
        found = count_positions(dataset)
    if not found.positions:
        raise ValueError(f"{arguments.files[0]}: there are no positions")
    if arguments.plot is not None:
        save(figure(found), arguments.plot)
    if arguments.json:
        print(json.dumps(summary(found)))
    else:
        _print(found)
        if arguments.plot is not None:
            print(arguments.plot)
    return 0


def summary(found: PositionStatistics) -> dict[str, Any]:
    """Return all counts, as JSON has them; those at the ends of arrays are trimmed."""
    middles, means, totals = found.results_by_score(TABLE_WIDTH)
    winning = found.fit_winning_curve()
    return {
        "positions": found.positions,
        "games": found.games,
        "results": dict(zip(RESULTS, found.scores.sum(axis=0).tolist(), strict=True)),
        "white_results": dict(zip(RESULTS, found.outcomes.tolist(), strict=True)),
        "scale": found.fit_scale(),
        "winning": winning and {"middle": winning.middle, "scale": winning.scale},
        "scores": [
            {"score": int(middle), "positions": int(total), "mean_result": round(float(mean), 4)}
            for middle, mean, total in zip(middles, means, totals, strict=True)
        ],
        **{
            name: {str(place): int(counts[place]) for place in np.flatnonzero(counts)}
            for name, counts in _distributions(found).items()
        },
    }


def _distributions(found: PositionStatistics) -> dict[str, Any]:
    return {
        "pieces": found.pieces,
        "phases": found.phases,
        "plies": found.plies,
        "depths": found.depths,
    }


def _print(found: PositionStatistics) -> None:
    print(f"{'positions':12} {found.positions} of {found.games} games")
    for name, counts in (("to move", found.scores.sum(axis=0)), ("White", found.outcomes)):
        loss, draw, win = counts / found.positions
        print(f"{name:12} wins {win:.1%}, draws {draw:.1%}, losses {loss:.1%}")
    scores = found.scores.sum(axis=1)
    low, middle, high = (int(found.centipawns[place]) for place in quantiles(scores))
    print(f"{'scores':12} {middle} (5% up to {low}, 5% from {high})")
    for name, counts in _distributions(found).items():
        low, middle, high = quantiles(counts)
        print(f"{name:12} {middle} (5% up to {low}, 5% from {high})")
    scale = found.fit_scale()
    if scale is None:
        print(f"{'scale':12} none: higher scores do not foretell better results")
    else:
        print(f"{'scale':12} {scale:.0f} centipawns: results are 1 / (1 + exp(-score / scale))")
    if (winning := found.fit_winning_curve()) is not None:
        print(
            f"{'winning':12} {winning.middle:.0f} centipawns win every second game: "
            f"wins are 1 / (1 + exp(({winning.middle:.0f} - score) / {winning.scale:.0f}))"
        )
    print(f"\n{'score':>8}{'positions':>12}{'result':>9}{'fit':>9}")
    for score, mean, total in zip(*found.results_by_score(TABLE_WIDTH), strict=True):
        if abs(score) <= MAX_SHOWN_SCORE:
            fitted = f"{_expected_score(score, scale):9.3f}" if scale else ""
            print(f"{score:8.0f}{total:12}{mean:9.3f}{fitted}")


def _expected_score(score: Any, scale: float) -> Any:
    return 1 / (1 + np.exp(-score / scale))


def figure(found: PositionStatistics) -> Figure:
    """Draw scores, results, pieces, phases, plies, and how scores foretell results."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(14, 8), layout="constrained")
    made.suptitle(f"{found.positions:,} positions of {found.games:,} games")
    (scores, by_score, results), (pieces, phases, plies) = made.subplots(2, 3)
    share = found.scores.sum(axis=1) / found.positions
    scores.fill_between(found.centipawns, share, step="mid", color=COLOUR)
    scores.set(title="scores", xlabel="centipawns, for the side to move", yscale="log")
    _draw_results(results, found)
    _draw_results_by_score(by_score, found)
    for axes, name, label in (
        (pieces, "pieces", "pieces, kings and pawns included"),
        (phases, "phases", "phase: 24 with all pieces, 0 with kings and pawns"),
        (plies, "plies", "plies of the game"),
    ):
        counts = _distributions(found)[name]
        there = np.flatnonzero(counts)
        places = np.arange(there[0], there[-1] + 1)
        axes.bar(places, counts[places] / found.positions, width=1.0, color=COLOUR)
        axes.set(title=name, xlabel=label)
    for axes in made.axes:
        axes.spines[["top", "right"]].set_visible(False)
    for axes in (scores, results, pieces, phases, plies):
        axes.set_ylabel("share of the positions")
    return made


def _draw_results(axes: Axes, found: PositionStatistics) -> None:
    for place, (name, counts) in enumerate(
        (("side to move", found.scores.sum(axis=0)), ("White", found.outcomes))
    ):
        places = np.arange(len(RESULTS)) + 0.4 * place - 0.2
        axes.bar(places, counts / found.positions, width=0.38, label=name)
    axes.set_xticks(range(len(RESULTS)), RESULTS)
    axes.set_title("results")
    axes.margins(y=0.15)  # for the legend
    axes.legend(frameon=False, loc="upper left", ncols=2)


def _draw_results_by_score(axes: Axes, found: PositionStatistics) -> None:
    middles, means, _ = found.results_by_score(TABLE_WIDTH // 2)
    axes.plot(middles, means, ".", color=COLOUR, label="mean result")
    scale = found.fit_scale()
    if scale is not None:
        line = np.linspace(-MAX_SCORE, MAX_SCORE, 601)
        label = f"1 / (1 + exp(-score / {scale:.0f}))"
        axes.plot(line, _expected_score(line, scale), color=FIT_COLOUR, label=label)
    axes.set(title="scores and results", xlabel="centipawns, for the side to move", ylim=(0, 1))
    axes.set_ylabel("result: 0 lost, 1 won")
    axes.legend(frameon=False, loc="lower right")
