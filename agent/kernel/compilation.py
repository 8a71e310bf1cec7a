"""Parts of the kernel on their way into a process: from the cache, or compiled into it.

Of several processes that find a part missing one compiles it, which holds the cache's lock; the
others wait for it and load. A lock ends with its process, so that where that dies another goes on
from what it left. Where there can be no lock, each compiles for itself.

Importing this module imports neither Numba nor NumPy.
"""

import contextlib
import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import IO

from agent.io.stdin import exit_with_parent
from agent.kernel import code_cache
from agent.kernel.decorators import cache_folder
from agent.kernel.parts import COMPILED_IN_PARALLEL, ON_DEMAND, PARTS, VARIANTS
from agent.machine import lower_priority, usable_cores

Report = Callable[[str, int, int], None]

# How often a process looks whether another has compiled what it waits for, in seconds.
POLL_INTERVAL_S = 0.1
# How long it waits for another at most, and for one that makes no progress, in seconds.
LOCK_TIMEOUT_S = 900.0
STALL_TIMEOUT_S = 60.0
# Interval of the progress check, and the CPU time in it that counts as progress. A stuck compiler
# uses none.
HEARTBEAT_S = 5.0
HEARTBEAT_MIN_CPU_S = 0.02


def _marker_name(part: str) -> str:
    """Return the name of the file that says that all of a part is in the cache."""
    variant = VARIANTS[part]() if part in VARIANTS else ""
    return f"complete-{part}" + (f"-{variant}" if variant else "")


def is_cached(part: str) -> bool:
    """Tell whether a whole part of the kernel is in the cache, and may be taken from it."""
    return code_cache.contains(cache_folder(), _marker_name(part))


def cache_problem() -> str | None:
    """Say why what is compiled cannot be kept, and the remedy; None if it can."""
    return code_cache.write_problem(cache_folder())


def load(part: str) -> None:
    """Import a part of the kernel: from the cache in a moment, else compiling for a while.

    What is there afterwards stays; to look through it for garbage, meanwhile or later, would take
    a tenth of a second each time, when a clock may run.
    """
    with _gc_paused() if is_cached(part) else contextlib.nullcontext():
        warm_up(None, (part,))
    gc.freeze()


@contextlib.contextmanager
def _gc_paused() -> Iterator[None]:
    """Look for no garbage meanwhile: not for a compiler, which makes much."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def warm_up(report: Report | None, parts: Sequence[str] = tuple(PARTS)) -> None:
    """Import, and where needed compile, parts of the kernel, and mark them complete in the cache.

    What is imported on demand is only compiled. Where there are cores for it, a second process
    compiles what stands apart meanwhile. Where another process compiles, that is waited for.

    report: called with the name of the stage that begins, stages done, and their number; at the
    end with an empty name.
    """
    with _compile_lock(parts) as missing_parts:
        marks = [
            _marker_name(part) for part in missing_parts
        ]  # a variant may be another afterwards
        missing = [module for part in missing_parts for module in PARTS[part]]
        modules = [module for part in parts for module in PARTS[part]]
        modules = [module for module in modules if module in missing or module not in ON_DEMAND]
        modules.sort(key=lambda module: module in COMPILED_IN_PARALLEL)
        _import(modules, missing, report)
        for mark in marks:
            with contextlib.suppress(OSError):
                code_cache.write(cache_folder(), mark, b"")
    if report:
        report("", len(modules), len(modules))


@contextlib.contextmanager
def _compile_lock(parts: Sequence[str]) -> Iterator[list[str]]:
    """Give the parts that are to be compiled here, now that no other process compiles any."""
    held = _wait_for_lock(parts)
    if held is None:
        yield [part for part in parts if not is_cached(part)]
        return
    with held, _heartbeat():
        yield [part for part in parts if not is_cached(part)]


def _wait_for_lock(parts: Sequence[str]) -> IO[bytes] | None:
    """Return the lock to compile under; None if there is nothing to compile, or no lock.

    A holder that makes no progress for STALL_TIMEOUT_S seconds is not waited for.
    """
    began = moved = time.monotonic()
    progress = None
    while not all(map(is_cached, parts)):
        try:
            return code_cache.lock(cache_folder())
        except BlockingIOError:
            now, latest = time.monotonic(), code_cache.progress_stamp(cache_folder())
            if latest != progress:
                progress, moved = latest, now
            if now - began > LOCK_TIMEOUT_S or now - moved > STALL_TIMEOUT_S:
                break
            time.sleep(POLL_INTERVAL_S)
        except OSError:
            break
    return None


@contextlib.contextmanager
def _heartbeat() -> Iterator[None]:
    """Note for those who wait, meanwhile, that this process makes progress."""
    over = threading.Event()

    def beat() -> None:
        used = time.process_time()
        while not over.wait(HEARTBEAT_S):
            now = time.process_time()
            if now - used > HEARTBEAT_MIN_CPU_S:
                code_cache.note_progress(cache_folder())
            used = now

    code_cache.note_progress(cache_folder())
    thread = threading.Thread(target=beat, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _import(modules: Sequence[str], missing: Sequence[str], report: Report | None) -> None:
    """Import modules, of which those that are missing in the cache are compiled."""
    with _compiling_in_parallel(missing) as wait:
        for done, module in enumerate(modules):
            if report:
                report(module, done, len(modules))
            if module in COMPILED_IN_PARALLEL:
                wait()
            import_module(module)


@contextlib.contextmanager
def _compiling_in_parallel(modules: Sequence[str]) -> Iterator[Callable[[], object]]:
    """Compile those of the modules that stand apart beside the rest; yield what waits for it.

    If that fails, they are not in the cache, and are compiled where they are imported.
    """
    apart = [module for module in modules if module in COMPILED_IN_PARALLEL]
    child = None
    if 0 < len(apart) < len(modules) and usable_cores() > 1 and not cache_problem():
        with contextlib.suppress(OSError):
            child = _start_child(apart)
    if child is None:
        yield lambda: None
        return
    with child:
        yield child.wait


def compile_in_child(part: str) -> subprocess.Popen[bytes]:
    """Start a process that fills the cache, at low priority; it ends when this one does."""
    return _start_child((part,))


def _start_child(names: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a process that loads parts or imports modules, and ends with this one at the latest."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from agent.kernel.compilation import _main; _main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _main() -> None:
    """Be such a child: its standard input ends when the parent does."""
    exit_with_parent()
    for name in sys.argv[1:]:
        if name in PARTS:
            lower_priority()
            load(name)
        else:
            with _heartbeat():  # the parent, which has the lock, waits for this one
                import_module(name)
