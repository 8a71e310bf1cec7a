"""What commands tell people on standard error: what is wrong, and how far they are.

Progress is shown where that is a terminal only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TypeVar

from agent.io.sanitize import sanitize_lines

Item = TypeVar("Item")


def print_error(text: object, command: str = "kempelen") -> None:
    """Say on standard error what went wrong, in words that may be those of a file or an engine.

    Where nobody can hear it, as after a terminal was closed, nothing happens.
    """
    try:
        print(f"{command}: {sanitize_lines(str(text))}", file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where the rest goes too


@contextmanager
def stdout_reserved() -> Iterator[None]:
    """Keep standard output for what the command says itself.

    What a user's code prints meanwhile, here and in processes that begin meanwhile, goes to
    standard error.
    """
    sys.stdout.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        kept = None
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)


def with_progress(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Yield the items, showing how many of `total` have come."""
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
    """Give a function that is told how much of `total`, if it is known, is done.

    hourly: show how much that makes an hour.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{(task.speed or 0) * 3600:,.0f} an hour")

    columns = (*Progress.get_default_columns(), *((MofNCompleteColumn(), Rate()) if hourly else ()))
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, speed_estimate_period=120) as bars:
        bar = bars.add_task(label, total=total)
        yield lambda done: bars.update(bar, completed=done)


def load_kernels(*parts: str) -> None:
    """Load parts of the kernel, without any the one that every engine needs.

    Where they must be compiled, say so and show how far that is.
    """
    from agent.chess.parts import ALPHABETA
    from agent.kernel import compilation

    wanted = parts or (ALPHABETA,)
    if all(compilation.is_cached(part) for part in wanted):
        compilation.warm_up(None, wanted)
    elif not sys.stderr.isatty():
        print("kempelen: compiling the kernel, once: a minute or so", file=sys.stderr)
        compilation.warm_up(None, wanted)
    else:
        _compile_with_bar(wanted)


def _compile_with_bar(parts: tuple[str, ...]) -> None:
    from rich.console import Console
    from rich.progress import Progress

    from agent.kernel import compilation

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("compiling the kernel, once", total=None)
        compilation.warm_up(
            lambda stage, done, total: progress.update(
                bar, description=f"compiling {stage}", completed=done, total=total
            ),
            parts,
        )
