"""Print the output of the lab.

The output is as wide as the terminal. If the output is not a terminal, the width is fixed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.table import Table

from kempelen.console.terminal import UNLIMITED_WIDTH


def print_plain(*renderables: RenderableType) -> None:
    """Print to standard output.

    If the output is not a terminal, trailing spaces are removed.
    """
    on_terminal = sys.stdout.isatty()
    console = Console(
        force_jupyter=False,
        width=None if on_terminal else UNLIMITED_WIDTH,
        highlight=False,
        markup=False,
        soft_wrap=not on_terminal,
    )
    if on_terminal:
        for item in renderables:
            console.print(item)
        return
    with console.capture() as captured:
        for item in renderables:
            console.print(item)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a spinner during the `with` block if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(label):
        yield


def table(title: str, *headings: str, right: int = 0) -> Table:
    """Return an empty table.

    The columns with an index of `right` or more are right-aligned.
    """
    made = Table(
        title=title or None, box=None, header_style="bold", title_justify="left", pad_edge=False
    )
    for index, heading in enumerate(headings):
        made.add_column(heading, justify="right" if index >= right else "left")
    return made
