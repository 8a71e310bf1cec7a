"""How the lab prints: as wide as it takes where no terminal sets a width."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.table import Table

DEFAULT_WIDTH = 200


def print_plain(*renderables: RenderableType) -> None:
    """Print on standard output; on what is no terminal without spaces at the ends of lines."""
    on_terminal = sys.stdout.isatty()
    console = Console(
        force_jupyter=False,
        width=None if on_terminal else DEFAULT_WIDTH,
        highlight=False,
        markup=False,
        soft_wrap=not on_terminal,
    )
    if on_terminal:
        for each in renderables:
            console.print(each)
        return
    with console.capture() as captured:
        for each in renderables:
            console.print(each)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show that something of unknown length is going on inside the block."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(label):
        yield


def table(title: str, *headings: str, right: int = 0) -> Table:
    """Return an empty table, whose columns from number `right` on hold numbers."""
    made = Table(
        title=title or None, box=None, header_style="bold", title_justify="left", pad_edge=False
    )
    for index, heading in enumerate(headings):
        made.add_column(heading, justify="right" if index >= right else "left")
    return made
