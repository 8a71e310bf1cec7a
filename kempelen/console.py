"""Progress for people: bars on standard error, and only where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TypeVar

Item = TypeVar("Item")


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
def counting(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """Lend a function that shows how much of `total` there is, with the speed."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{(task.speed or 0) * 3600:,.0f} an hour")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate())
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        speed_estimate_period=120,
    ) as progress:
        bar = progress.add_task(label, total=total)
        yield lambda count: progress.update(bar, completed=count)


def load_extra(module: str) -> None:
    """Load the kernel and a module that only some commands need; say so if it is compiled."""
    from agent import kernel

    warm_up()
    if not kernel.is_cached(module):
        print("kempelen: compiling what this command needs, once", file=sys.stderr)
    import_module(module)


def warm_up() -> None:
    """Load the kernel; where it must be compiled, say so and show how far that is."""
    from agent import kernel

    if kernel.is_warm():
        kernel.load()
    elif not sys.stderr.isatty():
        print("kempelen: compiling the kernel, once: a minute or so", file=sys.stderr)
        kernel.load()
    else:
        _compile_with_bar()


def _compile_with_bar() -> None:
    from rich.console import Console
    from rich.progress import Progress

    from agent import kernel

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("compiling the kernel, once", total=None)
        kernel.warm_up(
            lambda stage, done, total: progress.update(
                bar, description=f"compiling {stage}", completed=done, total=total
            )
        )
