"""How the lab prints: as wide as it takes where nobody's terminal sets a width."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

WIDE = 200


def console() -> Console:
    """Return standard output, which prints text as it is."""
    width = None if sys.stdout.isatty() else WIDE
    return Console(
        force_jupyter=False, width=width, highlight=False, markup=False, soft_wrap=width is not None
    )


def table(title: str, *headings: str, right: int = 0) -> Table:
    """Return an empty table, whose columns from number `right` on hold numbers."""
    made = Table(title=title or None, box=None, header_style="bold", title_justify="left")
    for index, heading in enumerate(headings):
        made.add_column(heading, justify="right" if index >= right else "left")
    return made
