"""A bot that answers move requests from an MQTT broker, one at a time.

Each request gets one reply, which is a move or an error with a code. The codes are `bad_request`,
`busy` (the queue is full), `time_limit`, `not_started` (the engine did not start) and `engine` (the
engine failed). A repeated request gets the same reply without another search.

Only one bot may use a name. At startup, a bot publishes a claim on its status topic, and a running
bot with the same name responds.
"""

import asyncio
import contextlib
import hashlib
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from agent.threads.background_call import BackgroundCall
from protocols.client.engine import EngineTimeoutError
from protocols.client.process import EngineError
from protocols.client.uci import PlayResult, SearchRequest
from protocols.mqtt import payloads, topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.broker_monitor import BROKER_TIMEOUT_S, BrokerMonitor, Notify
from protocols.mqtt.connection import Connection
from protocols.mqtt.fair_queue import FairQueue
from protocols.mqtt.request_codec import (
    GameVariant,
    RequestError,
    encode_answer,
    encode_variant,
    time_limit,
)
from protocols.mqtt.request_parser import ChessRequestParser, RequestParser
from protocols.tasks import cancel_all

MAX_QUEUED = 16
MAX_QUEUED_PER_CLIENT = 8
MAX_SEARCH_S = 600.0
# The latest replies are kept to answer repeated requests.
MAX_CACHED_REPLIES = 1000
# Time for a running bot to respond to a claim.
CLAIM_TIMEOUT_S = 2.0
# After this time online, a bot keeps its name even if another bot claims it.
CLAIM_GRACE_S = 3.0
CLAIM_KEY = "claim"
# The same value as in the schema.
MAX_ID_LENGTH = 256

Result = TypeVar("Result")


class NameTakenError(Exception):
    """Another bot with this name is online, or the broker rejects the name."""


class BotEngine(Protocol):
    """The engine interface that a bot requires."""

    async def new_game(self) -> None:
        """Reset the engine for a new game."""

    async def search(self, request: SearchRequest, limit: float) -> PlayResult:
        """Choose a move within `limit` seconds. Raise EngineError if the engine fails."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A valid request. Repeated requests have the same `key`."""

    payload: dict[str, Any]
    key: bytes
    arrived: float


class Bot:
    """Answers the requests that are addressed to its name."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        description: str,
        get_engine: Callable[[GameVariant], Awaitable[BotEngine]],
        *,
        positions: RequestParser | None = None,
        queue_limit: int = MAX_QUEUED,
        client_limit: int = MAX_QUEUED_PER_CLIENT,
        longest: float = MAX_SEARCH_S,
        patience: float = BROKER_TIMEOUT_S,
        tell: Notify | None = None,
    ) -> None:
        """Connect to the broker in the background.

        - `get_engine`: returns the engine for a game, and a new engine after a failure.
        - `queue_limit`, `client_limit`: the maximum number of waiting requests, in total and per
          client.
        - `longest`: the maximum time per request in seconds.
        - `patience`: the timeout in seconds for a lost broker connection.
        """
        self.name = name
        self._broker = broker
        self._description = description
        self._get_engine = get_engine
        self._request_parser = positions or ChessRequestParser()
        self._max_seconds = longest
        self._notify = tell or (lambda text: None)
        self._game: tuple[str, str, GameVariant] | None = None
        self._queue: FairQueue[_Request] = FairQueue(queue_limit, client_limit)
        self._pending: set[bytes] = set()
        self._answered: OrderedDict[bytes, dict[str, Any]] = OrderedDict()
        self._run_id = secrets.token_hex(8)
        self._connections = 0
        self._state = "claiming"
        self._claim_echoed = asyncio.Event()
        self._name_lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._rival_seen = False
        self._warned = False
        self._claim_final_at = math.inf
        self._status = topics.bot(name, "status")
        self._requests = topics.bot(name, "requests")
        self._monitor = BrokerMonitor(broker, patience=patience, tell=tell)
        self._monitor.on_change = self._on_broker_change
        self._connection = Connection(
            broker,
            will=(self._status, self._status_payload("lost")),
            subscriptions=[self._requests, self._status],
            on_message=self._on_message,
            on_broker_change=self._monitor.on_connection_change,
            on_rejected=lambda *refusal: self._monitor.call_in_loop(self._on_rejected, *refusal),
            keep_session=True,
            use_heartbeat=True,
        )

    async def serve(self) -> None:
        """Answer requests until cancelled.

        Raise BrokerLostError if the broker is lost, and NameTakenError if another bot has the name.
        """
        tasks = [
            asyncio.create_task(self._monitor.watch_for_loss()),
            asyncio.create_task(self._claim_and_answer()),
        ]
        try:
            await asyncio.wait((*tasks, self._name_lost), return_when=asyncio.FIRST_COMPLETED)
            if self._name_lost.done():
                self._state = "refused"
                raise self._name_taken()
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            await cancel_all(tasks)
            if self._state == "online":
                self._state = "offline"
                self._connection.publish_retained(self._status, self._status_payload("offline"))
            await asyncio.to_thread(self._connection.close)

    async def _claim_and_answer(self) -> None:
        await self._monitor.wait_for_broker()
        await self._claim()
        self._state, self._claim_final_at = "online", time.monotonic() + CLAIM_GRACE_S
        self._publish_status()
        self._notify(f"{self.name}: online on {self._broker}")
        while True:
            client, task = await self._queue.get()
            started = time.monotonic()
            reply = await self._answer(task)
            self._queue.charge(client, time.monotonic() - started)
            self._pending.discard(task.key)
            self._answered[task.key] = reply
            if len(self._answered) > MAX_CACHED_REPLIES:
                self._answered.popitem(last=False)
            self._reply(task.payload, reply)

    async def _claim(self) -> None:
        deadline = time.monotonic() + CLAIM_TIMEOUT_S
        self._connection.publish_persistent(
            CLAIM_KEY, self._status, self._status_payload("online", claim=True)
        )
        echo = asyncio.create_task(self._claim_echoed.wait())
        try:
            await asyncio.wait(
                (echo, self._name_lost),
                timeout=CLAIM_TIMEOUT_S,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            echo.cancel()
        # Our own message arrives after the retained message.
        if self._rival_seen and not self._name_lost.done():
            remaining = max(0.0, deadline - time.monotonic())
            await asyncio.wait((self._name_lost,), timeout=remaining)
        self._connection.cancel_persistent(CLAIM_KEY)
        if self._name_lost.done():
            raise self._name_taken()
        if self._status in self._connection.rejected:
            raise NameTakenError(
                f"{self.name}: broker {self._broker} does not allow publishing on {self._status}: "
                f"{self._connection.rejected[self._status]}"
            )
        if not self._claim_echoed.is_set():
            self._notify(
                f"{self.name}: broker {self._broker} does not deliver {self._status}; "
                "other bots of this name cannot be detected"
            )

    def _name_taken(self) -> NameTakenError:
        return NameTakenError(
            f"{self.name}: another bot of this name is online on {self._broker} "
            "(stop it or choose another --name)"
        )

    def _on_status(self, payload: dict[str, Any]) -> None:
        if self._name_lost.done():
            return  # while closing; an answer would make a bot with a claim give up as well
        run = payload.get("run", "")
        if self._state == "online" and payload["state"] != "online":
            self._publish_status()  # overrides a delayed last status of the name's previous owner
        elif run == self._run_id:
            self._claim_echoed.set()
        elif payload["state"] == "online":
            self._on_rival_status(payload, run)

    def _on_rival_status(self, payload: dict[str, Any], run: str) -> None:
        """Handle the status of another run that holds or claims the bot's name.

        A run that has completed its claim keeps the name. If several runs start at the same time,
        the run with the smallest id keeps the name.
        """
        claim, answers = payload.get("claim", False), payload.get("answers") == self._run_id
        if self._state == "claiming":
            if answers:
                self._concede_name()
            elif not claim:
                self._rival_seen = True  # Otherwise this is an old retained status.
            return
        settled = time.monotonic() >= self._claim_final_at
        if claim:
            self._publish_status(answers=run, settled=settled)
        elif settled:
            if not self._warned:
                self._warned = True
                self._notify(f"{self.name}: another bot of this name is online; both get requests")
        elif run < self._run_id or (answers and payload.get("settled", False)):
            self._concede_name()
        else:
            self._publish_status()

    def _concede_name(self) -> None:
        if not self._name_lost.done():
            self._name_lost.set_result(None)

    def _publish_status(self, **more: Any) -> None:
        self._connection.publish_retained(self._status, self._status_payload("online", **more))

    def _status_payload(self, state: str, **more: Any) -> dict[str, Any]:
        kind = encode_variant(self._request_parser.variant)
        engine = {"engine": self._description, "kind": kind} if state == "online" else {}
        status = {"name": self.name, "state": state, **engine, "run": self._run_id}
        return {**status, "connection": self._connections, **more}

    def _on_broker_change(self, connected: bool, since: float) -> None:
        if connected:
            self._connections += 1
            if self._state == "online":
                self._publish_status()

    def _on_rejected(self, topic: str, reason: str) -> None:
        self._notify(f"{self._broker}: topic {topic} rejected: {reason}")

    def _on_message(self, topic: str, payload: dict[str, Any] | None) -> None:
        """Handle a message. Called in the connection's thread."""
        if payload is None:
            return
        if topic == self._status:
            if not payloads.find_error("bot", payload):
                self._monitor.call_in_loop(self._on_status, payload)
        elif _reply_topic(payload) is not None:
            problem, key = payloads.find_error("request", payload), b""
            try:
                key = hashlib.sha256(payloads.encode(payload)).digest()
            except RecursionError:
                problem = "too deeply nested"
            self._monitor.call_in_loop(
                self._on_request, _Request(payload, key, time.monotonic()), problem
            )

    def _on_request(self, task: _Request, problem: str) -> None:
        payload = task.payload
        if self._state != "online":
            return
        if problem:
            self._reply(payload, _failure("bad_request", problem))
        elif task.key in self._answered:
            self._reply(payload, self._answered[task.key])
        elif task.key not in self._pending:
            self._pending.add(task.key)
            rejected = self._queue.put(payload["reply_to"], task)
            if rejected is not None:
                self._pending.discard(rejected.key)
                busy = f"{len(self._queue)} requests are waiting already"
                self._reply(rejected.payload, _failure("busy", busy))

    async def _answer(self, task: _Request) -> dict[str, Any]:
        payload, starting = task.payload, False
        try:
            limit = time_limit(payload, self._max_seconds)
            remaining = limit - (time.monotonic() - task.arrived)
            if remaining <= 0:
                return _failure("time_limit", f"waited longer than the limit of {limit:g} s")
            async with asyncio.timeout(remaining):
                deadline = task.arrived + limit
                request, variant = await _in_background(
                    lambda: self._request_parser.parse(payload, deadline)
                )
                starting = True
                engine = await self._get_engine(variant)
                starting = False
                answer = await self._search(engine, payload, request, variant, deadline)
        except RequestError as error:
            return _failure("bad_request", str(error))
        except (EngineTimeoutError, TimeoutError):
            self._game = None
            if starting:
                return _failure("not_started", "the engine did not start in time")
            return _failure("time_limit", f"no move within {limit:g} s")
        except EngineError as error:
            self._game = None
            return _failure("not_started" if starting else "engine", str(error))
        except Exception as error:  # noqa: BLE001 - a failed request must not stop the bot
            self._game = None
            self._notify(f"{self.name}: request failed: {type(error).__name__}: {error}")
            return _failure("engine", type(error).__name__)
        return encode_answer(answer)

    async def _search(
        self,
        engine: BotEngine,
        payload: Mapping[str, Any],
        request: SearchRequest,
        variant: GameVariant,
        deadline: float,
    ) -> PlayResult:
        # Clients may choose any game name.
        game = (payload["reply_to"], payload.get("game", ""), variant)
        if game != self._game or not game[1]:
            await engine.new_game()
            self._game = game
        return await engine.search(request, deadline - time.monotonic())

    def _reply(self, request: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
        topic, request_id = _reply_topic(request), request.get("id")
        if topic is not None:
            valid = isinstance(request_id, str) and len(request_id) <= MAX_ID_LENGTH
            self._connection.publish(topic, {"id": request_id if valid else None, **reply})


async def _in_background(work: Callable[[], Result]) -> Result:
    """Run a call in a thread and return its result. On cancellation, the thread is abandoned.

    A call into a user's game class may never return.
    """
    loop, finished = asyncio.get_running_loop(), asyncio.Event()

    def notify() -> None:
        with contextlib.suppress(RuntimeError):  # The loop is closed.
            loop.call_soon_threadsafe(finished.set)

    call = BackgroundCall(work, "request")
    call.done.add_callback(notify)
    try:
        await finished.wait()
    except asyncio.CancelledError:
        call.abandon()
        raise
    return call.result()


def _failure(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def _reply_topic(request: Mapping[str, Any]) -> str | None:
    topic = request.get("reply_to")
    return (
        topic if isinstance(topic, str) and not payloads.find_error("reply_topic", topic) else None
    )
