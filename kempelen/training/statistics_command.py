"""`kempelen train data statistics`: print and plot statistics of positions."""

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
TABLE_WIDTH = 100  # centipawns per score interval
MAX_SHOWN_SCORE = 1000  # centipawns; results are printed up to this score
COLOUR, FIT_COLOUR = "#1d4ed8", "#c2410c"


def run(arguments: Namespace) -> int:
    from kempelen.training.dataset import Dataset
    from kempelen.training.dataset_blocks import DatasetError

    if arguments.plot is not None:
        check_picture(arguments.plot)
        require_writable([arguments.plot], arguments.files, DatasetError, regular=True)
    with Dataset(*arguments.files) as dataset:
        statistics = count_positions(dataset)
    if not statistics.positions:
        raise ValueError(f"{arguments.files[0]}: no positions")
    if arguments.plot is not None:
        save(figure(statistics), arguments.plot)
    if arguments.json:
        print(json.dumps(summary(statistics)))
    else:
        _print(statistics)
        if arguments.plot is not None:
            print(arguments.plot)
    return 0


def summary(statistics: PositionStatistics) -> dict[str, Any]:
    """Return all histograms as JSON data, without empty bins."""
    middles, means, totals = statistics.results_by_score(TABLE_WIDTH)
    curve = statistics.fit_winning_curve()
    return {
        "positions": statistics.positions,
        "games": statistics.games,
        "results": dict(zip(RESULTS, statistics.scores.sum(axis=0).tolist(), strict=True)),
        "white_results": dict(zip(RESULTS, statistics.outcomes.tolist(), strict=True)),
        "scale": statistics.fit_scale(),
        "winning": curve and {"middle": curve.middle, "scale": curve.scale},
        "scores": [
            {"score": int(middle), "positions": int(total), "mean_result": round(float(mean), 4)}
            for middle, mean, total in zip(middles, means, totals, strict=True)
        ],
        **{
            name: {str(place): int(counts[place]) for place in np.flatnonzero(counts)}
            for name, counts in _distributions(statistics).items()
        },
    }


def _distributions(statistics: PositionStatistics) -> dict[str, Any]:
    return {
        "pieces": statistics.pieces,
        "phases": statistics.phases,
        "plies": statistics.plies,
        "depths": statistics.depths,
    }


def _print(statistics: PositionStatistics) -> None:
    print(f"{'positions':12} {statistics.positions} of {statistics.games} games")
    for name, counts in (
        ("to move", statistics.scores.sum(axis=0)),
        ("White", statistics.outcomes),
    ):
        loss, draw, win = counts / statistics.positions
        print(f"{name:12} wins {win:.1%}, draws {draw:.1%}, losses {loss:.1%}")
    scores = statistics.scores.sum(axis=1)
    low, middle, high = (int(statistics.centipawns[place]) for place in quantiles(scores))
    print(f"{'scores':12} {middle} (5% up to {low}, 5% from {high})")
    for name, counts in _distributions(statistics).items():
        low, middle, high = quantiles(counts)
        print(f"{name:12} {middle} (5% up to {low}, 5% from {high})")
    scale = statistics.fit_scale()
    if scale is None:
        print(f"{'scale':12} none (higher scores do not predict better results)")
    else:
        print(f"{'scale':12} {scale:.0f} centipawns: results are 1 / (1 + exp(-score / scale))")
    if (curve := statistics.fit_winning_curve()) is not None:
        print(
            f"{'winning':12} {curve.middle:z.0f} centipawns win 50% of the games: "
            f"wins are 1 / (1 + exp(({curve.middle:z.0f} - score) / {curve.scale:.0f}))"
        )
    print(f"\n{'score':>8}{'positions':>12}{'result':>9}{'fit':>9}")
    for score, mean, total in zip(*statistics.results_by_score(TABLE_WIDTH), strict=True):
        if abs(score) <= MAX_SHOWN_SCORE:
            fitted = f"{_expected_score(score, scale):9.3f}" if scale else ""
            print(f"{score:z8.0f}{total:12}{mean:9.3f}{fitted}")


def _expected_score(score: Any, scale: float) -> Any:
    return 1 / (1 + np.exp(-score / scale))


def figure(statistics: PositionStatistics) -> Figure:
    """Plot all histograms, and the mean result against the score."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(14, 8), layout="constrained")
    picture.suptitle(f"{statistics.positions:,} positions of {statistics.games:,} games")
    (scores, by_score, results), (pieces, phases, plies) = picture.subplots(2, 3)
    share = statistics.scores.sum(axis=1) / statistics.positions
    scores.fill_between(statistics.centipawns, share, step="mid", color=COLOUR)
    scores.set(title="scores", xlabel="centipawns, for the side to move", yscale="log")
    _draw_results(results, statistics)
    _draw_results_by_score(by_score, statistics)
    for axes, name, label in (
        (pieces, "pieces", "pieces, kings and pawns included"),
        (phases, "phases", "phase: 24 with all pieces, 0 with kings and pawns"),
        (plies, "plies", "plies of the game"),
    ):
        counts = _distributions(statistics)[name]
        present = np.flatnonzero(counts)
        values = np.arange(present[0], present[-1] + 1)
        axes.bar(values, counts[values] / statistics.positions, width=1.0, color=COLOUR)
        axes.set(title=name, xlabel=label)
    for axes in picture.axes:
        axes.spines[["top", "right"]].set_visible(False)
    for axes in (scores, results, pieces, phases, plies):
        axes.set_ylabel("share of the positions")
    return picture


def _draw_results(axes: Axes, statistics: PositionStatistics) -> None:
    for index, (name, counts) in enumerate(
        (("side to move", statistics.scores.sum(axis=0)), ("White", statistics.outcomes))
    ):
        positions = np.arange(len(RESULTS)) + 0.4 * index - 0.2
        axes.bar(positions, counts / statistics.positions, width=0.38, label=name)
    axes.set_xticks(range(len(RESULTS)), RESULTS)
    axes.set_title("results")
    axes.margins(y=0.15)  # for the legend
    axes.legend(frameon=False, loc="upper left", ncols=2)


def _draw_results_by_score(axes: Axes, statistics: PositionStatistics) -> None:
    middles, means, _ = statistics.results_by_score(TABLE_WIDTH // 2)
    axes.plot(middles, means, ".", color=COLOUR, label="mean result")
    scale = statistics.fit_scale()
    if scale is not None:
        line = np.linspace(-MAX_SCORE, MAX_SCORE, 601)
        label = f"1 / (1 + exp(-score / {scale:.0f}))"
        axes.plot(line, _expected_score(line, scale), color=FIT_COLOUR, label=label)
    axes.set(title="scores and results", xlabel="centipawns, for the side to move", ylim=(0, 1))
    axes.set_ylabel("result: 0 lost, 1 won")
    axes.legend(frameon=False, loc="lower right")
