"""A table of rich whose text is shown as it is: no markup, no emoji, no control characters."""

from typing import Any

from rich import table
from rich.console import RenderableType
from rich.text import Text

from agent.border.plain_text import plain


class PlainTable(table.Table):
    """A table whose headings and cells may be text from outside."""

    def add_column(self, header: RenderableType = "", *args: Any, **options: Any) -> None:
        """Add a column."""
        super().add_column(_shown(header) or "", *args, **options)

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row."""
        super().add_row(*map(_shown, cells), **options)


def _shown(cell: RenderableType | None) -> RenderableType | None:
    return Text(plain(cell)) if isinstance(cell, str) else cell
