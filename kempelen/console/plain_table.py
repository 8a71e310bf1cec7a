"""Rich tables that show untrusted text literally, without markup, emoji or control characters."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from rich import table
from rich.console import RenderableType
from rich.text import Text

from agent.io.sanitize import sanitize_line

# The results for one file: its name under "file", and numbers that can be summed.
FileTotals: TypeAlias = Mapping[str, Any]


class PlainTable(table.Table):
    def add_column(self, header: RenderableType = "", *args: Any, **options: Any) -> None:
        super().add_column(_plain_cell(header) or "", *args, **options)

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        super().add_row(*map(_plain_cell, cells), **options)


def totals_table(
    headings: Sequence[str],
    totals: Sequence[FileTotals],
    cells: Callable[[FileTotals], Sequence[str]],
) -> PlainTable:
    """Return a table with one row per file, and a row of totals if there are several files.

    `headings` are the headings of all columns except the file name. `cells` returns the texts of
    these columns for a row.
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
