"""A Dask client that runs each task to completion, even if a worker is lost.

Workers send results through Dask's event log, because results cannot be fetched from a hung worker.
If a worker stops sending heartbeats, its task is also submitted to another worker, and the first
result counts.
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
# A worker without a heartbeat for this time counts as hung.
WORKER_TIMEOUT_S = 15.0
# A scheduler that does not answer for this time counts as lost.
SCHEDULER_TIMEOUT_S = 60.0
# Timeout for telling the workers that a run has ended.
LEAVE_TIMEOUT_S = 3.0
# A distributed.Future.
DaskFuture = Any

# Receives the name of a task and a message from it.
OnMessage = Callable[[str, dict[str, Any]], None]
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """The address of a Dask scheduler. TLS is required if any of the PEM files is given."""

    url: str
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    worker_timeout: float = WORKER_TIMEOUT_S

    def security(self) -> Any:
        """Return Dask's TLS settings, or None. Raise `ClusterError` if a PEM file is missing."""
        files = self.ca, self.certificate, self.key
        if not any(files):
            return None
        from distributed.security import Security

        for file in files:
            if file is not None and not Path(file).is_file():
                raise ClusterError(f"cluster {self.url}: file not found: {file}")
        return Security(
            tls_ca_file=self.ca,
            tls_client_cert=self.certificate,
            tls_client_key=self.key,
            require_encryption=True,
        )


class ClusterClient:
    """The connection of one run, such as a match, to a Dask cluster. Create it with `connect`."""

    def __init__(self, client: Any, address: ClusterAddress, threads: int) -> None:
        self.threads = threads  # current number of threads of all workers
        self._client = client
        self._address = address
        self._run_id = f"kempelen-{secrets.token_hex(4)}"
        self._task_numbers = itertools.count(1)
        self._report: Report = lambda text: None
        self._on_message: OnMessage = lambda name, message: None
        self._futures: dict[str, asyncio.Future[Any]] = {}
        self._workers: list[str] = []
        self._silent_workers: set[str] = set()
        self._rejected_workers: set[str] = set()  # with another release
        self._watching: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, address: ClusterAddress) -> "ClusterClient":
        """Connect to a scheduler.

        Raise `ClusterError` if it is unreachable, has no workers, or runs another version of
        Kempelen.
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
        # This includes a wrong address, invalid certificate files, and TLS on only one side.
        except (OSError, TimeoutError, ValueError, RuntimeError, TypeError) as error:
            if client is not None:
                await client.close()
            raise ClusterError(f"cluster {address.url}: {error}") from None
        threads = sum((await client.nthreads()).values())
        problem = await _find_mismatch(client) if threads else "no workers"
        if problem:
            await client.close()
            raise ClusterError(f"cluster {address.url}: {problem}")
        return cls(client, address, threads)

    async def start(self, report: Report, on_message: OnMessage | None = None) -> None:
        """Start processing the workers' messages and heartbeats."""
        self._report = report
        self._on_message = on_message or self._on_message
        self._client.subscribe_topic(self._run_id, lambda event: self._on_event(event[1]))
        self._watching = asyncio.create_task(self._watch())

    async def run(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run `function(task, *arguments)` on a worker, or on another worker if the first is lost.

        The `name` must be unique among the running tasks. The function must be a module-level
        function or coroutine function, and may run more than once. An exception in the function is
        raised here, with a note that names the worker. Raise `SchedulerLostError`,
        `WorkersLostError`, or `ClusterError` if a worker has another version of Kempelen.
        """
        self._futures[name] = future = asyncio.get_running_loop().create_future()
        packed = pack((function, arguments))
        tasks: list[DaskFuture] = []
        try:
            await self._wait_for_result(tasks, name, packed, future)
        except OSError as error:
            raise SchedulerLostError(
                f"cluster {self._address.url}: scheduler lost: {error}"
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
        """Disconnect from the cluster, and stop this run's tasks on the workers."""
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
        """Wait for a result or an error. New Dask tasks are added to `tasks`."""
        tasks.append(self._submit(name, packed))
        while True:
            await asyncio.wait([future], timeout=POLL_INTERVAL_S)
            if future.done():
                return
            for task in tasks:
                if task.status == "error":
                    error = self._translate_error(await task.exception(), name)
                    if self._reject_worker(error):
                        tasks.remove(task)
                        task.release()
                        tasks.append(self._submit(name, packed))
                        break
                    if not future.done():
                        future.set_exception(error)
                    return
                if task.status == "cancelled":
                    raise OSError("the connection is closed")
            if holders := await self._silent_workers_holding(tasks[-1]):
                names = ", ".join(sorted(holders))
                self._report(f"worker {names}: no heartbeat; {name} moves to another worker")
                tasks.append(self._submit(name, packed))

    def _submit(self, name: str, packed: bytes) -> DaskFuture:
        restricted = self._silent_workers or self._rejected_workers
        responsive = self._responsive_workers() if restricted else []
        return self._client.submit(
            run_task,
            self._run_id,
            name,
            installed_version(),
            packed,
            key=f"{self._run_id}-{name}-{next(self._task_numbers)}",
            workers=responsive or None,
            # In case all workers are gone when the task is about to start.
            allow_other_workers=bool(responsive),
            pure=False,
        )

    def _translate_error(self, error: BaseException, name: str) -> BaseException:
        from distributed.scheduler import KilledWorker

        if isinstance(error, KilledWorker):
            return WorkersLostError(f"{name}: lost with its workers: {error}")
        if not worker_note(error):  # raised before `run_task` began, as with another release
            return ClusterError(
                f"cluster {self._address.url}: could not begin {name}: {type(error).__name__}: "
                f"{str(error).partition('. ')[0]} (install the same version everywhere)"
            )
        return error

    def _reject_worker(self, error: BaseException) -> bool:
        """Exclude the worker of another release that raised `error`.

        Return false if `error` has another cause, or if there is no other worker.
        """
        if not isinstance(error, ClusterError) or not (note := worker_note(error)):
            return False
        worker = note.removeprefix("worker ").removesuffix(": ")
        if worker not in self._rejected_workers:
            self._rejected_workers.add(worker)
            self._report(f"{note}{error}; it gets no tasks")
        return bool(self._responsive_workers())

    def _responsive_workers(self) -> list[str]:
        excluded = self._silent_workers | self._rejected_workers
        return [worker for worker in self._workers if worker not in excluded]

    async def _silent_workers_holding(self, task: DaskFuture) -> set[str]:
        """Return the hung workers that hold a task, or an empty set if all workers are hung."""
        if not self._silent_workers or not self._responsive_workers():
            return set()
        holding = await self._client.processing()
        return {name for name in self._silent_workers if task.key in list(holding.get(name, ()))}

    async def _watch(self) -> None:
        answered = time.monotonic()
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            if time.monotonic() - answered > SCHEDULER_TIMEOUT_S:
                self._fail_all(f"no answer from the scheduler for {SCHEDULER_TIMEOUT_S:g} s")
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(SCHEDULER_TIMEOUT_S):
                    identity = await self._client.scheduler.identity(n_workers=-1)
                answered, now = time.monotonic(), time.time()
                workers = identity["workers"]
                self._silent_workers = {
                    name
                    for name, worker in workers.items()
                    if now - worker["last_seen"] > self._address.worker_timeout
                }
                self._workers = list(workers)
                threads = sum(worker["nthreads"] for worker in workers.values())
                if self.threads and not threads:
                    self._report(f"cluster {self._address.url}: no workers left; waiting for one")
                self.threads = threads

    def _fail_all(self, reason: str) -> None:
        error = SchedulerLostError(f"cluster {self._address.url}: {reason}")
        for future in self._futures.values():
            if not future.done():
                future.set_exception(error)

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
    """Return a message about the first version mismatch in a cluster, or ""."""

    def installed() -> str:
        # Serialised by value, because this package may be missing on the worker.
        from protocols.cluster.worker import installed_version

        return installed_version()

    answers: dict[str, Any] = {}
    with contextlib.suppress(TimeoutError):  # A hung worker gets no tasks.
        call = client.run(installed, on_error="return")
        results = await asyncio.wait_for(call, CONNECT_TIMEOUT_S)
        answers = {f"worker {name}": answer for name, answer in results.items()}
    try:
        await client.run_on_scheduler(installed)
    except ImportError as error:
        answers["scheduler"] = error
    for name, answer in answers.items():
        if isinstance(answer, BaseException):
            return f"{name}: cannot load {installed_version()}: {answer} (install it there)"
        if answer != installed_version():
            return (
                f"{name}: has {answer}, but this machine has {installed_version()} "
                "(install the same version everywhere)"
            )
    return ""


def worker_note(error: BaseException) -> str:
    """Return a message prefix that names the worker of a failed task, or "" if unknown."""
    return "".join(getattr(error, "__notes__", ()))
