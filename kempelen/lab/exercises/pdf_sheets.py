"""Write exercises and answer keys to reproducible PDF sheets with Matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from agent.io import files
from agent.io.message import Message
from kempelen.console import pictures
from kempelen.console.terminal import with_progress
from kempelen.lab.exercises import marking
from kempelen.lab.exercises.exercise import Exercise, VisibleNode
from kempelen.lab.exercises.tree_layout import node_positions
from kempelen.lab.language import Translator, format_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIX = ".pdf"
# A4 in inches: page size, margin, and height of one exercise. Two exercises fit on a page.
WIDTH, HEIGHT, MARGIN, SHARE = 8.27, 11.69, 0.6, 5.1
TREE_HEIGHT = 2.3
# Font size in points, line spacing in inches, characters per line.
TEXT, LINE, LETTERS = 8, 0.165, 104
INK, FAINT, ANSWERED = "#1f2933", "#8a94a0", "#b91c1c"
FILLS = {"leaf": "white", "MAX": "#dbeafe", "MIN": "#fef3c7", "chance": "#dcfce7"}
# Maximum number of lines of a question with its key that fit on half a page.
MAX_LINES = 10
# Number of ruled lines for a handwritten answer.
RULES = 3

Numbered = list[tuple[int, Exercise]]


def check_sheets(path: Path) -> None:
    """Raise ValueError if the path does not end in .pdf or its folder does not exist."""
    if path.suffix.lower() != SUFFIX:
        raise ValueError(Message("{}: invalid sheet name (must end in {})", path, SUFFIX))
    pictures.check_picture(path)


def write_sheets(
    path: Path, students: Sequence[Sequence[Exercise]], translate: Translator, *, keys: bool
) -> None:
    """Write a sheet for each student, or the answer keys if `keys` is true."""
    from matplotlib.backends.backend_pdf import PdfPages

    content = BytesIO()
    with PdfPages(content, metadata={"CreationDate": None, "Title": translate("exercises")}) as pdf:
        for made in with_progress(students, len(students), translate("exercises")):
            for figure in _pages(made, translate, keys=keys):
                pdf.savefig(figure)
    files.replace_atomically(path, content.getvalue())


def _pages(made: Sequence[Exercise], translate: Translator, *, keys: bool) -> Iterator[Figure]:
    from matplotlib.figure import Figure

    for group in _grouped(list(enumerate(made, 1)), translate):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        spec = group[0][1].spec
        head = f"{translate('student')} {spec.student}   {translate('seed')} {spec.seed}"
        if keys:
            head = f"{translate('key')}   {head}"
        else:
            head += f"   {translate('name')}: {'_' * 40}"
        _draw_text(figure, HEIGHT - MARGIN, head, size=TEXT + 1)
        for row, line in enumerate(_lines([translate(marking.RULE)])):
            _draw_text(figure, MARGIN - 0.1 - row * LINE, line, color=FAINT)
        for index, (number, each) in enumerate(group):
            top = HEIGHT - MARGIN - 0.3 - index * SHARE
            room = SHARE if len(group) > 1 else 2 * SHARE
            _draw_exercise(figure, top, room, each, number, translate, keys=keys)
        yield figure


def _grouped(made: Numbered, translate: Translator) -> Iterator[Numbered]:
    while made:
        texts = [[*each.question(translate), each.key_text()] for _, each in made[:2]]
        fits = max(len(_lines(text)) for text in texts) <= MAX_LINES
        size = 2 if fits else 1
        yield made[:size]
        made = made[size:]


def _draw_exercise(
    figure: Figure,
    top: float,
    room: float,
    made: Exercise,
    number: int,
    translate: Translator,
    *,
    keys: bool,
) -> None:
    _draw_text(figure, top, f"{number}. {made.title(translate)}", weight="bold", size=TEXT + 1)
    axes = figure.add_axes(
        (MARGIN / WIDTH, (top - 0.25 - TREE_HEIGHT) / HEIGHT, 1 - 2 * MARGIN / WIDTH,
         TREE_HEIGHT / HEIGHT)
    )  # fmt: skip
    _draw_tree(axes, made.visible_nodes(), translate)
    y_text = top - 0.45 - TREE_HEIGHT
    for line in _lines(made.question(translate)):
        _draw_text(figure, y_text, line)
        y_text -= LINE
    bottom = top - room + 0.3
    if not keys:
        for rule in range(RULES):
            y = max(y_text - 0.1 - 0.3 * (rule + 1), bottom) / HEIGHT
            ends = (MARGIN / WIDTH, 1 - MARGIN / WIDTH)
            figure.add_artist(_draw_rule(ends, y))
        return
    answer = _lines([f"{translate('key')}: {made.key_text()}"])
    explanation = _lines(made.explanation(translate))
    if y_text - LINE * (len(answer) + len(explanation)) < bottom:
        explanation = []  # too long for a sheet; --solve prints it
    for row, line in enumerate((*answer, *explanation)):
        _draw_text(figure, y_text, line, color=ANSWERED if row < len(answer) else INK)
        y_text -= LINE


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for text in texts for line in wrap(text, LETTERS)]


def _draw_text(figure: Figure, y: float, text: str, size: float = TEXT, **looks: Any) -> None:
    figure.text(MARGIN / WIDTH, y / HEIGHT, text, fontsize=size, va="top",
                **{"color": INK, **looks})  # fmt: skip


def _draw_rule(ends: tuple[float, float], y: float) -> Any:
    from matplotlib.lines import Line2D

    return Line2D(ends, (y, y), color=FAINT, linewidth=0.6)


def _draw_tree(axes: Axes, nodes: Sequence[VisibleNode], translate: Translator) -> None:
    from matplotlib.collections import LineCollection

    positions = {path: (x, -y) for path, (x, y) in node_positions(nodes).items()}
    right, low = max(x for x, _ in positions.values()), min(y for _, y in positions.values())
    axes.set_axis_off()
    axes.set_xlim(-0.7, right + 0.7)
    axes.set_ylim(low - 0.5, 0.4)
    size = max(3.5, min(8.0, 150 / (right + 2)))
    lines = [(positions[node.label[:-1]], positions[node.label]) for node in nodes if node.label]
    axes.add_collection(LineCollection(lines, colors=INK, linewidths=0.7, zorder=1))
    for node in nodes:
        x, y = positions[node.label]
        if node.chance:
            above_x, above_y = positions[node.label[:-1]]
            axes.text(
                (above_x + 2 * x) / 3, (above_y + 2 * y) / 3, node.chance, ha="center", va="center",
                fontsize=0.85 * size, color=INK, zorder=2,
                bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none"},
            )  # fmt: skip
        kind = "leaf" if node.is_leaf else node.mover
        mover = translate(node.mover) if node.mover == "chance" else node.mover
        boxstyle = "round4,pad=0.35" if kind == "MIN" else "square,pad=0.35"
        axes.text(
            x, y, node.text or mover, ha="center", va="center", fontsize=size, color=INK,
            zorder=3, bbox={"boxstyle": boxstyle, "facecolor": FILLS[kind], "edgecolor": INK,
                            "linewidth": 0.6},
        )  # fmt: skip
        axes.annotate(
            format_label(node.label), (x, y), (0, -1.5 * size - 2), textcoords="offset points",
            ha="center", va="center", fontsize=0.75 * size, color=FAINT, zorder=4,
            bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none"},
        )  # fmt: skip
