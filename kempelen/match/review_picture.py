from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from kempelen.match.review.move_annotation import GameReview, MoveQuality

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The marker shapes differ too, for readers with colour blindness.
MARKS = {
    MoveQuality.INACCURACY: ("o", "#b58900"),
    MoveQuality.MISTAKE: ("s", "#cb4b16"),
    MoveQuality.BLUNDER: ("X", "#b00020"),
}
LIGHT, DARK, LINE = "#f4f1ea", "#4a4a4a", "#1f6f8b"
HEIGHT = 2.6
# Maximum title length in characters.
MAX_TITLE_LENGTH = 90


def review_figure(reviews: Sequence[GameReview]) -> Figure:
    """Plot the first player's expected score after each move, with one plot per game."""
    figure = Figure(figsize=(9, max(1, len(reviews)) * HEIGHT), layout="constrained")
    for row, review in enumerate(reviews, 1):
        _draw(figure.add_subplot(len(reviews), 1, row), review)
    return figure


def _draw(axes: Axes, review: GameReview) -> None:
    points = [(0, review.start), *((move.ply, move.expected) for move in review.moves)]
    known = [(ply, share) for ply, share in points if share is not None]
    plies, scores = [ply for ply, _ in known], [share for _, share in known]
    # Fill the area below the curve with the colour of the first player's pieces.
    first, second = (LIGHT, DARK) if review.game == "chess" else (DARK, LIGHT)
    axes.fill_between(plies, scores, 1, color=second, linewidth=0)
    axes.fill_between(plies, scores, 0, color=first, linewidth=0)
    axes.axhline(0.5, color="#888888", linewidth=0.8)
    axes.plot(plies, scores, color=LINE, linewidth=1.4)
    for grade, (marker, colour) in MARKS.items():
        bad = [move for move in review.moves if move.grade is grade and move.expected is not None]
        if bad:
            axes.scatter(
                [move.ply for move in bad],
                [move.expected or 0.0 for move in bad],
                marker=marker,
                color=colour,
                edgecolors="white",
                linewidths=0.5,
                zorder=3,
                label=f"{grade} ({len(bad)})",
            )
    # Escape "$" in names, which starts a formula in matplotlib.
    axes.set_title(review.title[:MAX_TITLE_LENGTH], fontsize=10, parse_math=False)
    axes.set(xlim=(0, max(1, len(review.moves))), ylim=(0, 1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("ply" if review.game == "chess" else "move")
    axes.set_ylabel(f"{'White' if review.game == 'chess' else 'Black'} expects")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8, loc="upper right", ncols=3, framealpha=0.85)
