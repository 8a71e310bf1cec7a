"""Loads parts of the compiled code from the cache, or compiles and caches them.

If several processes need a missing part, the process with the cache lock compiles it, and the
others wait. If that process ends early, another one continues. Without working file locks, each
process compiles the part itself. Importing this module imports neither Numba nor NumPy.
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
from agent.kernel.parts import COMPILED_IN_PARALLEL, ON_DEMAND, OPTIONAL_PARTS, PARTS, VARIANTS
from agent.machine import lower_priority, usable_cores

Report = Callable[[str, int, int], None]

# Interval at which waiting processes try to get the lock.
POLL_INTERVAL_S = 0.1
# Maximum wait for another process: in total, and without progress.
LOCK_TIMEOUT_S = 900.0
STALL_TIMEOUT_S = 60.0
# Interval of the progress check, and the minimum CPU time per interval that counts as progress. A
# hung compiler uses no CPU time.
HEARTBEAT_S = 5.0
HEARTBEAT_MIN_CPU_S = 0.02


def _marker_name(part: str) -> str:
    variant = VARIANTS[part]() if part in VARIANTS else ""
    return f"complete-{part}" + (f"-{variant}" if variant else "")


def is_cached(part: str) -> bool:
    """Return whether a part of the compiled code is completely cached in a trusted folder."""
    return code_cache.contains(cache_folder(), _marker_name(part))


def cache_problem() -> str | None:
    """Return why code cannot be cached and how to fix this, or None if it can be cached."""
    return code_cache.write_problem(cache_folder())


def load(part: str) -> None:
    """Import a part of the compiled code, compiling it first if it is not cached.

    Its objects are exempted from garbage collection, which would otherwise take 0.1 s longer.
    """
    with _gc_paused() if is_cached(part) else contextlib.nullcontext():
        warm_up(None, (part,))
    gc.freeze()


@contextlib.contextmanager
def _gc_paused() -> Iterator[None]:
    """Pause garbage collection. Do not use this during compilation, which creates much garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def warm_up(report: Report | None, parts: Sequence[str] = tuple(PARTS)) -> None:
    """Import parts of the compiled code, and compile and cache missing parts.

    Cached modules in ON_DEMAND are not imported. If there are several CPU cores, a child process
    compiles the modules in COMPILED_IN_PARALLEL. If another process is compiling, wait for it.

    `report(stage, done, total)` is called at the start of each stage, with the numbers of completed
    and of all stages. At the end it is called with an empty name.
    """
    with _compile_lock(parts) as missing_parts:
        # Computed before importing, because a variant may change meanwhile.
        marks = [_marker_name(part) for part in missing_parts]
        all_parts = OPTIONAL_PARTS | PARTS
        missing = [module for part in missing_parts for module in all_parts[part]]
        modules = [module for part in parts for module in all_parts[part]]
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
    """Wait until no other process is compiling, hold the lock, and yield the missing parts."""
    held = _wait_for_lock(parts)
    if held is None:
        yield [part for part in parts if not is_cached(part)]
        return
    with held, _heartbeat():
        yield [part for part in parts if not is_cached(part)]


def _wait_for_lock(parts: Sequence[str]) -> IO[bytes] | None:
    """Return the locked file, or None if all parts are cached, locking fails or takes too long."""
    began = last_progress = time.monotonic()
    stamp = None
    while not all(map(is_cached, parts)):
        try:
            return code_cache.lock(cache_folder())
        except BlockingIOError:
            now, new_stamp = time.monotonic(), code_cache.progress_stamp(cache_folder())
            if new_stamp != stamp:
                stamp, last_progress = new_stamp, now
            if now - began > LOCK_TIMEOUT_S or now - last_progress > STALL_TIMEOUT_S:
                break
            time.sleep(POLL_INTERVAL_S)
        except OSError:
            break
    return None


@contextlib.contextmanager
def _heartbeat() -> Iterator[None]:
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
    with _compiling_in_parallel(missing) as wait:
        for done, module in enumerate(modules):
            if report:
                report(module, done, len(modules))
            if module in COMPILED_IN_PARALLEL:
                wait()
            import_module(module)


@contextlib.contextmanager
def _compiling_in_parallel(modules: Sequence[str]) -> Iterator[Callable[[], object]]:
    """Compile modules in a child process. Yield a function that waits for the child."""
    independent = [module for module in modules if module in COMPILED_IN_PARALLEL]
    child = None
    if 0 < len(independent) < len(modules) and usable_cores() > 1 and not cache_problem():
        with contextlib.suppress(OSError):
            child = _start_child(independent)
    if child is None:
        yield lambda: None
        return
    with child:
        yield child.wait


def compile_in_child(part: str) -> subprocess.Popen[bytes]:
    """Start a child process that compiles a part at low priority and ends with its parent."""
    return _start_child((part,))


def _start_child(names: Sequence[str]) -> subprocess.Popen[bytes]:
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from agent.kernel.compilation import _main; _main()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _main() -> None:
    """Load the parts or import the modules named in `sys.argv`, in a child process."""
    exit_with_parent()
    for name in sys.argv[1:]:
        if name in PARTS or name in OPTIONAL_PARTS:
            lower_priority()
            load(name)
        else:
            with _heartbeat():  # the parent holds the lock and waits for this process
                import_module(name)
