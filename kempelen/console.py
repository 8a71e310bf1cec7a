"""Progress for people: bars on standard error, and only where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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
def progress_bar(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar as long as the context lasts; yield what tells it how many are done."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.update(task, completed=done)


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
