"""Print messages, tables and progress bars."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, TypeVar

from agent.io.sanitize import escape_lines, sanitize_lines

if TYPE_CHECKING:
    from rich.console import Console

Item = TypeVar("Item")
# Width in columns outside a terminal. No table is this wide, and rich does not pad lines to the
# full width.
UNLIMITED_WIDTH = 10_000
# Number of lines between two updates of a progress bar.
LINES_PER_UPDATE = 1000


def print_error(text: object, command: str = "kempelen") -> None:
    """Print an error, which may contain untrusted text, on standard error."""
    try:
        print(f"{command}: {sanitize_lines(str(text))}", file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # so that later messages raise no error


class SkipReport:
    """Counts skipped lines of files, and prints the messages about the first ones."""

    MAX_MESSAGES = 10

    def __init__(self, command: str) -> None:
        self.count = 0
        self._command = command

    def __call__(self, message: str) -> None:
        self.count += 1
        if self.count <= self.MAX_MESSAGES:
            print_error(f"{message}; skipped", self._command)
        elif self.count == self.MAX_MESSAGES + 1:
            print_error("more lines are skipped", self._command)


def print_text(text: object) -> None:
    """Print text of any length, which may be untrusted, on standard output."""
    print(escape_lines(str(text)))


def table_console() -> Console:
    """Return a console for tables on standard output, without line wrapping in files and pipes."""
    from rich.console import Console

    return Console(
        width=None if sys.stdout.isatty() else UNLIMITED_WIDTH, soft_wrap=True, force_jupyter=False
    )


@contextmanager
def stdout_reserved() -> Iterator[None]:
    """Redirect standard output, also of child processes, to standard error during the block."""
    sys.stdout.flush()
    try:
        saved = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # standard output or standard error is closed
        saved = None
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if saved is not None:
            os.dup2(saved, 1)
            os.close(saved)


def with_progress(items: Iterable[Item], total: int | None, label: str) -> Iterator[Item]:
    """Yield items, with a progress bar if standard error is a terminal.

    `total` is the number of items, or None if unknown.
    """
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(
        items, description=label, total=total, console=Console(stderr=True), transient=True
    )


@contextmanager
def progress_bar(
    label: str, total: int | None, hourly: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar if standard error is a terminal, and yield a function that updates it.

    `total` is the final position, or None if unknown. `hourly` shows the speed per hour.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, ProgressColumn, Task
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{(task.speed or 0) * 3600:,.0f} per hour")

    columns = (
        *Progress.get_default_columns(),
        *((MofNCompleteColumn(), RateColumn()) if hourly else ()),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, speed_estimate_period=120) as bars:
        bar = bars.add_task(label, total=total)
        yield lambda done: bars.update(bar, completed=done)


def read_lines(
    path: str | os.PathLike[str], max_size: int | None = None, *, pipes: bool = False
) -> Iterator[str]:
    """Yield the lines of a text file, with a progress bar. Raise OSError on failure.

    The parameters are those of `agent.io.text_files.open_text`.
    """
    from agent.io.text_files import open_text

    with open_text(path, max_size, pipes=pipes) as file:
        total = os.stat(path).st_size if file.seekable() else None
        with progress_bar(f"reading {os.path.basename(path)}", total) as show:
            for number, line in enumerate(file):
                if total and number % LINES_PER_UPDATE == 0:
                    show(file.buffer.tell())
                yield line


def load_kernels(*parts: str) -> None:
    """Load kernels, by default for alpha-beta, with a progress bar if they must be compiled."""
    from agent.chess.parts import ALPHABETA
    from agent.kernel import compilation

    wanted = parts or (ALPHABETA,)
    if all(compilation.is_cached(part) for part in wanted):
        compilation.warm_up(None, wanted)
    elif not sys.stderr.isatty():
        print("kempelen: compiling the kernel (once, about a minute)", file=sys.stderr)
        compilation.warm_up(None, wanted)
    else:
        _compile_with_bar(wanted)


def _compile_with_bar(parts: tuple[str, ...]) -> None:
    from rich.console import Console
    from rich.progress import Progress

    from agent.kernel import compilation

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("compiling the kernel (once)", total=None)
        compilation.warm_up(
            lambda stage, done, total: progress.update(
                bar, description=f"compiling {stage}", completed=done, total=total
            ),
            parts,
        )
