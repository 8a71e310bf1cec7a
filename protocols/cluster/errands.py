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

from agent.compiled.sources import (
    NETWORK_WEIGHTS,
    PATTERN_WEIGHTS,
    sources_digest,
    weights_digest,
)
from protocols.cluster.errors import ClusterError

# Seconds that something is kept for the next errand.
KEEPING = 60.0


@cache
def release() -> str:
    """Name what is installed here: games of two with one name are the same games."""
    try:
        number = version("kempelen")
    except PackageNotFoundError:
        number = "of a folder"
    weights = weights_digest(NETWORK_WEIGHTS, PATTERN_WEIGHTS)
    return f"Kempelen {number} with the kernel {sources_digest()} and the weights {weights}"


class Errand:
    """A task, for the function that does it on a worker."""

    def __init__(self, worker: Any, run: str, name: str) -> None:
        """Take it from the run that sent it."""
        self._worker = worker
        self._run = run
        self._name = name

    @property
    def over(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._run in _left

    def tell(self, message: dict[str, Any]) -> None:
        """Send something, of plain data, before the result."""
        self._worker.log_event(self._run, {"task": self._name, "told": message})

    @contextlib.contextmanager
    def lent(self, what: bytes, make: Callable[[], Any]) -> Iterator[Any]:
        """Give what an errand of this run has kept, or what is made now, and keep it then.

        what: the same for what is as good.
        It is closed, if it has a `close`, when the run is left, or here if anything is raised.
        """
        thing = _take(self._run, what) or make()
        try:
            yield thing
        except BaseException:
            _close(thing)
            raise
        _keep(self._run, what, thing)


@dataclass(frozen=True)
class _Kept:
    what: bytes
    thing: Any
    timer: threading.Timer


_lock = threading.Lock()
_left: set[str] = set()
_kept: "dict[str, list[_Kept]]" = defaultdict(list)
_conversing: dict[str, set[tuple[asyncio.AbstractEventLoop, Any]]] = defaultdict(set)


def perform(run: str, name: str, sender: str, packed: bytes) -> None:
    """Do an errand on a worker, and send its result.

    sender: the `release` that the result must be of. packed: by `pack`.
    Raises ClusterError for another release, and whatever the errand raises; a note names the
    worker.
    """
    import distributed

    worker = distributed.get_worker()
    try:
        if release() != sender:
            raise ClusterError(
                f"it has {release()}, and {sender} is needed: install the same on each"
            )
        function, arguments = unpack(packed)
        result = function(Errand(worker, run, name), *arguments)
        if inspect.iscoroutine(result):
            result = asyncio.run(_converse(run, result))
    except asyncio.CancelledError:
        return
    except Exception as error:
        error.add_note(f"worker {worker.address}: ")
        raise
    worker.log_event(run, {"task": name, "result": pack(result)})


def leave(run: str) -> None:
    """End a run's errands on a worker, and close what they have kept.

    A function that is no coroutine is to ask whether its errand is `over`.
    """
    with _lock:
        _left.add(run)
        kept = _kept.pop(run, [])
        conversing = list(_conversing.pop(run, ()))
    for loop, task in conversing:
        with contextlib.suppress(RuntimeError):  # it has just ended
            loop.call_soon_threadsafe(task.cancel)
    for entry in kept:
        entry.timer.cancel()
        # An engine may take its time, for which the worker must not stand still.
        threading.Thread(target=_close, args=(entry.thing,)).start()


def pack(value: Any) -> bytes:
    """Write what is sent; what it is made of is sent by name."""
    return zlib.compress(pickle.dumps(value), 1)


def unpack(packed: bytes) -> Any:
    """Read what is sent between machines that trust each other, as those of a cluster must."""
    return pickle.loads(zlib.decompress(packed))


async def _converse(run: str, errand: Coroutine[Any, Any, Any]) -> Any:
    entry = asyncio.get_running_loop(), asyncio.current_task()
    with _lock:
        _conversing[run].add(entry)
    try:
        return await errand
    finally:
        with _lock:
            _conversing[run].discard(entry)


def _take(run: str, what: bytes) -> Any:
    with _lock:
        for entry in _kept[run]:
            if entry.what == what:
                _kept[run].remove(entry)
                entry.timer.cancel()
                return entry.thing
    return None


def _keep(run: str, what: bytes, thing: Any) -> None:
    timer = threading.Timer(KEEPING, _drop, (run, thing))
    timer.daemon = True
    with _lock:
        if kept := run not in _left:
            _kept[run].append(_Kept(what, thing, timer))
            timer.start()
    if not kept:
        _close(thing)


def _drop(run: str, thing: Any) -> None:
    """Close what was kept for nothing, unless it has just been taken."""
    with _lock:
        there = [entry for entry in _kept[run] if entry.thing is thing]
        for entry in there:
            _kept[run].remove(entry)
    if there:
        _close(thing)


def _close(thing: Any) -> None:
    close = getattr(thing, "close", None)
    if close is not None:
        close()
