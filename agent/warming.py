"""Parts of the kernel on their way into a process: from the cache, or compiled into it.

Importing this module imports neither Numba nor NumPy.
"""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from agent.kernel import cache_folder, write_atomically
from agent.parts import ALPHABETA, APART, PARTS

Report = Callable[[str, int, int], None]


def _mark(part: str) -> Path:
    """Return the file that says that all of a part is in the cache."""
    return cache_folder() / f"complete-{part}"


def is_warm(part: str = ALPHABETA) -> bool:
    """Tell whether a whole part of the kernel is in the cache."""
    return _mark(part).exists()


def load(part: str = ALPHABETA) -> None:
    """Import a part of the kernel: from the cache in a moment, else compiling for a while."""
    warm_up(None, (part,))


def warm_up(report: Report | None, parts: Sequence[str] = tuple(PARTS)) -> None:
    """Import, and where needed compile, parts of the kernel, and mark them complete in the cache.

    Where there are cores for it, a second process compiles what stands apart meanwhile.

    report: called with the name of the stage that begins, stages done, and their number; at the
    end with an empty name.
    """
    cold = [part for part in parts if not is_warm(part)]
    modules = [module for part in parts for module in PARTS[part]]
    modules.sort(key=lambda module: module in APART)
    with _compiling_beside([m for part in cold for m in PARTS[part] if m in APART]) as wait:
        for done, module in enumerate(modules):
            if report:
                report(module, done, len(modules))
            if module in APART:
                wait()
            import_module(module)
    for part in cold:
        with contextlib.suppress(OSError):
            write_atomically(_mark(part), b"")
    if report:
        report("", len(modules), len(modules))


@contextlib.contextmanager
def _compiling_beside(modules: Sequence[str]) -> Iterator[Callable[[], object]]:
    """Compile modules in a second process; yield what waits for its end.

    If it fails, they are not in the cache, and are compiled where they are imported.
    """
    if not modules or (os.cpu_count() or 1) < 2:
        yield lambda: None
        return
    with _start_child(modules) as child:
        yield child.wait


def compile_in_child(part: str = ALPHABETA) -> subprocess.Popen[bytes]:
    """Start a process that fills the cache, at low priority; it ends when this one does."""
    return _start_child((part,))


def _start_child(names: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a process that loads parts or imports modules, and ends with this one at the latest."""
    return subprocess.Popen(
        [sys.executable, "-m", "agent.warming", *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _main(names: Sequence[str]) -> None:
    """Be such a child: its standard input ends when the parent does."""

    def end_with_parent() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)
    for name in names:
        if name in PARTS:
            load(name)
        else:
            import_module(name)


if __name__ == "__main__":
    _main(sys.argv[1:])
