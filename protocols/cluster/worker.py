"""Run tasks on a worker of a cluster, and cache resources such as engines between tasks."""

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
    GO_NETWORK,
    NETWORK_WEIGHTS,
    PATTERN_WEIGHTS,
    sources_digest,
    weights_digest,
)
from protocols.cluster.errors import ClusterError

# An unused resource is closed after this time.
CACHE_SECONDS = 60.0


@cache
def installed_version() -> str:
    """Return Kempelen's version, with digests of the search kernel's sources and the weights."""
    try:
        release = version("kempelen")
    except PackageNotFoundError:
        release = "(not installed)"
    weights = weights_digest(NETWORK_WEIGHTS, PATTERN_WEIGHTS, GO_NETWORK)
    return f"Kempelen {release} with the kernel {sources_digest()} and the weights {weights}"


class WorkerTask:
    """A handle to a running task, which the task's function receives as its first argument."""

    def __init__(self, worker: Any, run: str, name: str) -> None:
        self._worker = worker
        self._run_id = run
        self._name = name

    @property
    def worker(self) -> str:
        """Return the address of the worker."""
        return str(self._worker.address)

    @property
    def cancelled(self) -> bool:
        """Return whether the run has ended, so that the task should stop."""
        return self._run_id in _ended_runs

    def report(self, message: dict[str, Any]) -> None:
        """Send an interim message to the client. The message may contain only plain data."""
        self._worker.log_event(self._run_id, {"task": self._name, "told": message})

    @contextlib.contextmanager
    def cached(self, key: bytes, factory: Callable[[], Any]) -> Iterator[Any]:
        """Yield the resource that the run has cached under `key`, or a new one from `factory`.

        The resource's `close` method, if any, is called when the run ends or the block raises an
        exception.
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
    """Run a task, serialised by `pack`, and send its result to the client.

    Raise `ClusterError` if `sender`, the client's `installed_version`, differs from the worker's.
    An exception in the task is raised with a note that names the worker.
    """
    import distributed

    worker = distributed.get_worker()
    try:
        if installed_version() != sender:
            raise ClusterError(
                f"has {installed_version()}, but {sender} is needed (install the same version)"
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
    """Cancel a run's tasks and close its resources. Synchronous tasks must check `cancelled`."""
    with _lock:
        _ended_runs.add(run)
        entries = _cache.pop(run, [])
        running = list(_running.pop(run, ()))
    for loop, task in running:
        with contextlib.suppress(RuntimeError):  # The loop has just ended.
            loop.call_soon_threadsafe(task.cancel)
    for entry in entries:
        entry.timer.cancel()
        # Closing an engine takes time and must not block the worker.
        threading.Thread(target=_close, args=(entry.resource,)).start()


def pack(value: Any) -> bytes:
    """Serialise a value. Functions and classes are serialised by name."""
    return zlib.compress(pickle.dumps(value), 1)


def unpack(packed: bytes) -> Any:
    """Deserialise a value. Unsafe for data from an untrusted machine."""
    return pickle.loads(zlib.decompress(packed))


async def _run_coroutine(run: str, coroutine: Coroutine[Any, Any, Any]) -> Any:
    entry = asyncio.get_running_loop(), asyncio.current_task()
    with _lock:
        _running[run].add(entry)
    try:
        return await coroutine
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
    with _lock:
        unused = [entry for entry in _cache[run] if entry.resource is resource]
        for entry in unused:
            _cache[run].remove(entry)
    if unused:
        _close(resource)


def _close(resource: Any) -> None:
    close = getattr(resource, "close", None)
    if close is not None:
        close()
