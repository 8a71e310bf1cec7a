"""The worker's side of a cluster: errands are done, and what they need is kept for the next.

When whoever sent them leaves, errands end early, and what was kept is closed. Where nobody could
say so, because that machine or its network died, it is closed after a while without errands.
"""

import asyncio
import contextlib
import inspect
import pickle
import threading
import zlib
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from agent.kernel.source_digest import (
    NETWORK_WEIGHTS,
    PATTERN_WEIGHTS,
    sources_digest,
    weights_digest,
)
from protocols.cluster.errors import ClusterError

# Seconds that something is kept for the next errand.
CACHE_SECONDS = 60.0


@cache
def installed_version() -> str:
    """Name what is installed here: games of two with one name are the same games."""
    try:
        number = version("kempelen")
    except PackageNotFoundError:
        number = "of a folder"
    weights = weights_digest(NETWORK_WEIGHTS, PATTERN_WEIGHTS)
    return f"Kempelen {number} with the kernel {sources_digest()} and the weights {weights}"


class WorkerTask:
    """A task, for the function that does it on a worker."""

    def __init__(self, worker: Any, run: str, name: str) -> None:
        """Take it from the run that sent it."""
        self._worker = worker
        self._run_id = run
        self._name = name

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._run_id in _ended_runs

    def report(self, message: dict[str, Any]) -> None:
        """Send something, of plain data, before the result."""
        self._worker.log_event(self._run_id, {"task": self._name, "told": message})

    @contextlib.contextmanager
    def cached(self, key: bytes, factory: Callable[[], Any]) -> Iterator[Any]:
        """Give what an errand of this run has kept, or what is made now, and keep it then.

        what: the same for what is as good.
        It is closed, if it has a `close`, when the run is left, or here if anything is raised.
        """
        resource = _take_cached(self._run_id, key) or factory()
        try:
            yield resource
        except BaseException:
            _close(resource)
            raise
        _put_cached(self._run_id, key, resource)


@dataclass(frozen=True)
class _CacheEntry:
    key: bytes
    resource: Any
    timer: threading.Timer


_lock = threading.Lock()
_ended_runs: set[str] = set()
_cache: "dict[str, list[_CacheEntry]]" = defaultdict(list)
_running: dict[str, set[tuple[asyncio.AbstractEventLoop, Any]]] = defaultdict(set)


def run_task(run: str, name: str, sender: str, packed: bytes) -> None:
    """Do an errand on a worker, and send its result.

    sender: the `release` that the result must be of. packed: by `pack`.
    Raises ClusterError for another release, and whatever the errand raises; a note names the
    worker.
    """
    import distributed

    worker = distributed.get_worker()
    try:
        if installed_version() != sender:
            raise ClusterError(
                f"it has {installed_version()}, and {sender} is needed: install the same on each"
            )
        function, arguments = unpack(packed)
        result = function(WorkerTask(worker, run, name), *arguments)
        if inspect.iscoroutine(result):
            result = asyncio.run(_run_coroutine(run, result))
    except asyncio.CancelledError:
        return
    except Exception as error:
        error.add_note(f"worker {worker.address}: ")
        raise
    worker.log_event(run, {"task": name, "result": pack(result)})


def end_run(run: str) -> None:
    """End a run's errands on a worker, and close what they have kept.

    A function that is no coroutine is to ask whether its errand is `over`.
    """
    with _lock:
        _ended_runs.add(run)
        kept = _cache.pop(run, [])
        conversing = list(_running.pop(run, ()))
    for loop, task in conversing:
        with contextlib.suppress(RuntimeError):  # it has just ended
            loop.call_soon_threadsafe(task.cancel)
    for entry in kept:
        entry.timer.cancel()
        # An engine may take its time, for which the worker must not stand still.
        threading.Thread(target=_close, args=(entry.resource,)).start()


def pack(value: Any) -> bytes:
    """Write what is sent; what it is made of is sent by name."""
    return zlib.compress(pickle.dumps(value), 1)


def unpack(packed: bytes) -> Any:
    """Read what is sent between machines that trust each other, as those of a cluster must."""
    return pickle.loads(zlib.decompress(packed))


async def _run_coroutine(run: str, errand: Coroutine[Any, Any, Any]) -> Any:
    entry = asyncio.get_running_loop(), asyncio.current_task()
    with _lock:
        _running[run].add(entry)
    try:
        return await errand
    finally:
        with _lock:
            _running[run].discard(entry)


def _take_cached(run: str, key: bytes) -> Any:
    with _lock:
        for entry in _cache[run]:
            if entry.key == key:
                _cache[run].remove(entry)
                entry.timer.cancel()
                return entry.resource
    return None


def _put_cached(run: str, key: bytes, resource: Any) -> None:
    timer = threading.Timer(CACHE_SECONDS, _expire, (run, resource))
    timer.daemon = True
    with _lock:
        if kept := run not in _ended_runs:
            _cache[run].append(_CacheEntry(key, resource, timer))
            timer.start()
    if not kept:
        _close(resource)


def _expire(run: str, resource: Any) -> None:
    """Close what was kept for nothing, unless it has just been taken."""
    with _lock:
        there = [entry for entry in _cache[run] if entry.resource is resource]
        for entry in there:
            _cache[run].remove(entry)
    if there:
        _close(resource)


def _close(resource: Any) -> None:
    close = getattr(resource, "close", None)
    if close is not None:
        close()
