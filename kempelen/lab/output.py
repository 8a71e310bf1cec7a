"""Print text and tables with Rich."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from agent.io.sanitize import escape_lines
from kempelen.console.terminal import UNLIMITED_WIDTH


def print_plain(*renderables: RenderableType) -> None:
    """Print to standard output, without wrapping or trailing spaces if it is not a terminal."""
    on_terminal = sys.stdout.isatty()
    console = Console(
        force_jupyter=False,
        width=None if on_terminal else UNLIMITED_WIDTH,
        highlight=False,
        markup=False,
        soft_wrap=not on_terminal,
    )
    shown = map(_Escaped, renderables)
    if on_terminal:
        for item in shown:
            console.print(item)
        return
    with console.capture() as captured:
        for item in shown:
            console.print(item)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


class _Escaped:
    """A renderable without control characters: a user's game may use them in its texts."""

    def __init__(self, item: RenderableType) -> None:
        self._item = item

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for text, style, control in console.render(self._item, options):
            yield Segment(text if control else escape_lines(text), style, control)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a spinner during the `with` block if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(label):
        yield


def table(title: str, *headings: str, right: int = 0) -> Table:
    """Return an empty table. The columns from index `right` on are right-aligned."""
    made = Table(
        title=title or None, box=None, header_style="bold", title_justify="left", pad_edge=False
    )
    for index, heading in enumerate(headings):
        made.add_column(heading, justify="right" if index >= right else "left")
    return made
