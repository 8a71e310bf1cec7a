"""A table of rich whose text is shown as it is: no markup, no emoji, no control characters."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from rich import table
from rich.console import RenderableType
from rich.text import Text

from agent.io.sanitize import sanitize_line

# What a run found of one file, under names: its "file", and numbers that can be added up.
FileTotals: TypeAlias = Mapping[str, Any]


class PlainTable(table.Table):
    """A table whose headings and cells may be text from outside."""

    def add_column(self, header: RenderableType = "", *args: Any, **options: Any) -> None:
        """Add a column."""
        super().add_column(_plain_cell(header) or "", *args, **options)

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row."""
        super().add_row(*map(_plain_cell, cells), **options)


def totals_table(
    headings: Sequence[str],
    totals: Sequence[FileTotals],
    cells: Callable[[FileTotals], Sequence[str]],
) -> PlainTable:
    """Return a table with a row for each file, and for several one more for all together.

    headings: of the columns after that of the files. cells: returns what stands in those columns.
    """
    shown = PlainTable(box=None)
    shown.add_column("file")
    for heading in headings:
        shown.add_column(heading, justify="right")
    for total in totals if len(totals) == 1 else [*totals, _sum(totals)]:
        shown.add_row(total["file"], *cells(total))
    return shown


def _sum(totals: Sequence[FileTotals]) -> FileTotals:
    added = {name: sum(total[name] for total in totals) for name in totals[0] if name != "file"}
    return {"file": "all", **added}


def _plain_cell(cell: RenderableType | None) -> RenderableType | None:
    return Text(sanitize_line(cell)) if isinstance(cell, str) else cell
