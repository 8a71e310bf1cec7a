"""Tasks for a Dask cluster: each is done, whatever becomes of the worker that it was given to.

Workers send their results over Dask's event log: one that had to be fetched from the worker that
holds it could be waited for in vain when that has frozen meanwhile. A task on a worker that the
scheduler has not heard of for a while is given out again, to another; the first result counts.
"""

import asyncio
import contextlib
import itertools
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.cluster.errors import ClusterError, SchedulerLostError, WorkersLostError
from protocols.cluster.worker import end_run, installed_version, pack, run_task, unpack

CONNECT_TIMEOUT_S = 10.0
POLL_INTERVAL_S = 1.0
# A worker that its scheduler has not heard of for so many seconds is taken for frozen.
WORKER_TIMEOUT_S = 15.0
# Seconds for the workers to be told that a run is over.
LEAVE_TIMEOUT_S = 3.0
# A distributed.Future.
DaskFuture = Any

OnMessage = Callable[[str, dict[str, Any]], None]
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """Where a scheduler is, and by which PEM files it is known; with any, TLS is required."""

    url: str
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    worker_timeout: float = WORKER_TIMEOUT_S

    def security(self) -> Any:
        """Return what Dask asks for, None without TLS; ClusterError if a file is not there."""
        files = self.ca, self.certificate, self.key
        if not any(files):
            return None
        from distributed.security import Security

        for file in files:
            if file is not None and not Path(file).is_file():
                raise ClusterError(f"cluster {self.url}: there is no file {file}")
        return Security(
            tls_ca_file=self.ca,
            tls_client_cert=self.certificate,
            tls_client_key=self.key,
            require_encryption=True,
        )


class ClusterClient:
    """A run's connection to a cluster. `threads` are those that its workers have now."""

    def __init__(self, client: Any, address: ClusterAddress, threads: int) -> None:
        """Use `connect` to make one."""
        self.threads = threads
        self._client = client
        self._address = address
        self._run_id = f"kempelen-{secrets.token_hex(4)}"
        self._task_numbers = itertools.count(1)
        self._report: Report = lambda text: None
        self._on_message: OnMessage = lambda name, message: None
        self._futures: dict[str, asyncio.Future[Any]] = {}
        self._workers: list[str] = []
        self._silent_workers: set[str] = set()
        self._watching: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, address: ClusterAddress) -> "ClusterClient":
        """Connect to a scheduler; ClusterError if it, or any worker, is not there, or unfit.

        That is one without this product, or with another release of it.
        """
        from distributed import Client

        client: Any = None
        try:
            client = Client(
                address.url,
                asynchronous=True,
                timeout=CONNECT_TIMEOUT_S,
                security=address.security(),
                set_as_default=False,
            )
            await client
        # Among them a wrong address, files that are no certificates, and TLS on one side alone.
        except (OSError, TimeoutError, ValueError, RuntimeError, TypeError) as error:
            if client is not None:
                await client.close()
            raise ClusterError(f"cluster {address.url}: {error}") from None
        threads = sum((await client.nthreads()).values())
        problem = await _find_mismatch(client) if threads else "no workers have joined it yet"
        if problem:
            await client.close()
            raise ClusterError(f"cluster {address.url}: {problem}")
        return cls(client, address, threads)

    async def start(self, report: Report, on_message: OnMessage | None = None) -> None:
        """Follow what the workers say, and whether they live.

        report: is told what befalls them. hear: is told by name what tasks tell.
        """
        self._report = report
        self._on_message = on_message or self._on_message
        self._client.subscribe_topic(self._run_id, lambda event: self._on_event(event[1]))
        self._watching = asyncio.create_task(self._watch())

    async def run(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Have `function(errand, *arguments)` done by as many workers as it takes.

        name: no other task has it meanwhile. function: at the top of a module, or a coroutine's;
        it may be done more than once. What it raises is raised, with a note of the worker.
        Raises SchedulerLostError, WorkersLostError if it kills its workers, and ClusterError for
        a worker that has another release.
        """
        self._futures[name] = future = asyncio.get_running_loop().create_future()
        packed = pack((function, arguments))
        tasks: list[DaskFuture] = []
        try:
            await self._wait_for_result(tasks, name, packed, future)
        except OSError as error:
            raise SchedulerLostError(
                f"cluster {self._address.url}: its scheduler is gone: {error}"
            ) from None
        finally:
            del self._futures[name]
            for task in tasks:
                if not task.done():
                    with contextlib.suppress(OSError):
                        await task.cancel(force=True)
                task.release()
        return future.result()

    async def close(self) -> None:
        """Leave the cluster; what its workers still do of this run ends."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        with contextlib.suppress(OSError, TimeoutError, ValueError):
            leaving = self._client.run(
                end_run,
                self._run_id,
                workers=self._responsive_workers() if self._silent_workers else None,
                on_error="ignore",
            )
            await asyncio.wait_for(leaving, LEAVE_TIMEOUT_S)
        await self._client.close()

    async def _wait_for_result(
        self, tasks: list[DaskFuture], name: str, packed: bytes, future: "asyncio.Future[Any]"
    ) -> None:
        """Wait until the first worker sends a result, or fails; `tasks` takes Dask's tasks."""
        tasks.append(self._submit(name, packed))
        while True:
            await asyncio.wait([future], timeout=POLL_INTERVAL_S)
            if future.done():
                return
            for task in tasks:
                if task.status == "error":
                    error = self._translate_error(await task.exception(), name)
                    if not future.done():
                        future.set_exception(error)
                    return
                if task.status == "cancelled":
                    raise OSError("the connection is closed")
            if holders := await self._silent_workers_holding(tasks[-1]):
                names = ", ".join(sorted(holders))
                self._report(f"worker {names} is silent: {name} goes elsewhere")
                tasks.append(self._submit(name, packed))

    def _submit(self, name: str, packed: bytes) -> DaskFuture:
        heard = self._responsive_workers() if self._silent_workers else []
        return self._client.submit(
            run_task,
            self._run_id,
            name,
            installed_version(),
            packed,
            key=f"{self._run_id}-{name}-{next(self._task_numbers)}",
            workers=heard or None,
            # In case those that are heard of now are all gone when the task is to begin.
            allow_other_workers=bool(heard),
            pure=False,
        )

    def _translate_error(self, error: BaseException, name: str) -> BaseException:
        """Return what a task failed by as this product's error, where Dask has its own."""
        from distributed.scheduler import KilledWorker

        if isinstance(error, KilledWorker):
            return WorkersLostError(f"{name} was lost with its workers: {error}")
        return error

    def _responsive_workers(self) -> list[str]:
        """Return the workers that are not silent."""
        return [worker for worker in self._workers if worker not in self._silent_workers]

    async def _silent_workers_holding(self, task: DaskFuture) -> set[str]:
        """Return the silent workers that hold a task, if another could have it."""
        if not self._silent_workers or not self._responsive_workers():
            return set()
        holding = await self._client.processing()
        return {name for name in self._silent_workers if task.key in list(holding.get(name, ()))}

    async def _watch(self) -> None:
        """Keep what is known of the workers up to date."""
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            with contextlib.suppress(OSError, TimeoutError):
                identity = await self._client.scheduler.identity(n_workers=-1)
                now = time.time()
                workers = identity["workers"]
                self._silent_workers = {
                    name
                    for name, worker in workers.items()
                    if now - worker["last_seen"] > self._address.worker_timeout
                }
                self._workers = list(workers)
                threads = sum(worker["nthreads"] for worker in workers.values())
                if self.threads and not threads:
                    self._report(f"cluster {self._address.url} has no worker left: waiting for one")
                self.threads = threads

    def _on_event(self, message: dict[str, Any]) -> None:
        name = message.get("task", "")
        future = self._futures.get(name)
        if future is None:
            return
        if "told" in message:
            self._on_message(name, message["told"])
        elif not future.done():
            future.set_result(unpack(message["result"]))


async def _find_mismatch(client: Any) -> str:
    """Say what is wrong with what is installed on the machines of a cluster, if anything is."""

    def installed() -> str:
        # Sent as it stands, as nothing of this product may be there; so it imports here.
        from protocols.cluster.worker import installed_version

        return installed_version()

    answers: dict[str, Any] = {}
    with contextlib.suppress(TimeoutError):  # one that is frozen: it gets no task
        asked = client.run(installed, on_error="return")
        found = await asyncio.wait_for(asked, CONNECT_TIMEOUT_S)
        answers = {f"worker {name}": answer for name, answer in found.items()}
    try:
        await client.run_on_scheduler(installed)
    except ImportError as error:
        answers["its scheduler"] = error
    for name, answer in answers.items():
        if isinstance(answer, BaseException):
            return f"{name} cannot work for {installed_version()}: {answer}; install it there"
        if answer != installed_version():
            return (
                f"{name} has {answer}, this machine {installed_version()}: install the same on each"
            )
    return ""


def worker_note(error: BaseException) -> str:
    """Return which worker a task failed on, to stand before the message; empty for this machine."""
    return "".join(getattr(error, "__notes__", ()))
