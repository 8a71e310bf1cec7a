"""A bot behind a broker: it answers requests for moves, one at a time, within its limits.

A request names the topic on which it wants its reply, an id that the reply repeats, and the game,
if that is not chess: a bot plays one. Every request gets exactly one reply: a move, or an error
with a code: `bad_request` (it cannot be understood, or is of another game), `busy` (too many wait),
`time_limit` (its own limit ran out), `engine` (the engine failed). A request that comes again is
answered again, and thought about once.

A bot has its name alone. Its retained status names its run; on its own status topic it asks
whether another run is online, which that one answers.
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
    RequestError,
    Variant,
    encode_answer,
    encode_variant,
    time_limit,
)
from protocols.mqtt.request_parser import ChessRequestParser, RequestParser
from protocols.tasks import cancel_all

MAX_QUEUED = 16
MAX_QUEUED_PER_CLIENT = 8
MAX_SEARCH_S = 600.0
# So many replies are remembered.
MAX_CACHED_REPLIES = 1000
# Within so many seconds a run that is online says so.
CLAIM_TIMEOUT_S = 2.0
# And after so many more seconds the name is ours, whoever says what.
CLAIM_GRACE_S = 3.0
CLAIM_KEY = "claim"
# Of a request's id, as the schema has it.
MAX_ID_LENGTH = 256

Result = TypeVar("Result")


class NameTakenError(Exception):
    """Another bot of this name is online, or the broker does not let us have the name."""


class BotEngine(Protocol):
    """What a bot thinks with."""

    async def new_game(self) -> None:
        """Forget the last game."""

    async def search(self, request: SearchRequest, limit: float) -> PlayResult:
        """Choose a move within `limit` seconds, or raise EngineError."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A request, valid as far as the schema says. key: the same for a repetition."""

    payload: dict[str, Any]
    key: bytes
    arrived: float


class Bot:
    """Answers the requests that arrive under one name."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        description: str,
        get_engine: Callable[[Variant], Awaitable[BotEngine]],
        *,
        positions: RequestParser | None = None,
        queue_limit: int = MAX_QUEUED,
        client_limit: int = MAX_QUEUED_PER_CLIENT,
        longest: float = MAX_SEARCH_S,
        patience: float = BROKER_TIMEOUT_S,
        tell: Notify | None = None,
    ) -> None:
        """Prepare to answer as `name`.

        think: gives the engine to use, a fresh one after an engine's failure; it is told which
        variant is played. positions: what it can be asked about, chess without it. queue_limit,
        client_limit: how many requests may wait in all, and of one client. longest: seconds for
        one request. patience: seconds for which the broker may be away. tell: takes sentences
        about broker and name.
        """
        self.name = name
        self._broker = broker
        self._description = description
        self._get_engine = get_engine
        self._request_parser = positions or ChessRequestParser()
        self._max_seconds = longest
        self._notify = tell or (lambda text: None)
        self._game: tuple[str, str, Variant] | None = None
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
        """Answer until cancelled; BrokerLostError and NameTakenError end it too."""
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
        self._notify(f"{self.name} answers on {self._broker}")
        while True:
            client, task = await self._queue.get()
            began = time.monotonic()
            reply = await self._answer(task)
            self._queue.charge(client, time.monotonic() - began)
            self._pending.discard(task.key)
            self._answered[task.key] = reply
            if len(self._answered) > MAX_CACHED_REPLIES:
                self._answered.popitem(last=False)
            self._reply(task.payload, reply)

    # The name

    async def _claim(self) -> None:
        """Return when the name is ours; NameTakenError if another run has it and answers."""
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
        # Our own word comes after what the broker has retained.
        if self._rival_seen and not self._name_lost.done():
            left = max(0.0, deadline - time.monotonic())
            await asyncio.wait((self._name_lost,), timeout=left)
        self._connection.cancel_persistent(CLAIM_KEY)
        if self._name_lost.done():
            raise self._name_taken()
        if self._status in self._connection.rejected:
            raise NameTakenError(
                f"broker {self._broker} does not let us say on {self._status} that {self.name} is "
                f"online: {self._connection.rejected[self._status]}"
            )
        if not self._claim_echoed.is_set():
            self._notify(
                f"broker {self._broker} does not show us {self._status}: whether another bot is "
                f"named {self.name} cannot be seen"
            )

    def _name_taken(self) -> NameTakenError:
        return NameTakenError(
            f"another bot named {self.name} is online on {self._broker}: "
            "end it, or choose another --name"
        )

    def _on_status(self, payload: dict[str, Any]) -> None:
        run = payload.get("run", "")
        if self._state == "online" and payload["state"] != "online":
            self._publish_status()  # the last word of one that had the name, which the broker passes on late
        elif run == self._run_id:
            self._claim_echoed.set()
        elif payload["state"] == "online":
            self._on_rival_status(payload, run)

    def _on_rival_status(self, payload: dict[str, Any], run: str) -> None:
        """Hear of another run that has our name, or would have it.

        One that is online keeps it; of those that came online at the same time the least does.
        """
        claim, answers = payload.get("claim", False), payload.get("answers") == self._run_id
        if self._state == "claiming":
            if answers:
                self._concede_name()
            elif not claim:
                self._rival_seen = True  # or the broker has retained what it was
            return
        settled = time.monotonic() >= self._claim_final_at
        if claim:
            self._publish_status(answers=run, settled=settled)
        elif settled:
            if not self._warned:
                self._warned = True
                self._notify(f"another bot named {self.name} is online too: both are asked")
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
        own = {"name": self.name, "state": state, **engine, "run": self._run_id}
        return {**own, "connection": self._connections, **more}

    def _on_broker_change(self, connected: bool, since: float) -> None:
        if connected:
            self._connections += 1
            if self._state == "online":
                self._publish_status()

    def _on_rejected(self, topic: str, reason: str) -> None:
        self._notify(f"broker {self._broker} refuses {topic}: {reason}")

    # The requests

    def _on_message(self, topic: str, payload: dict[str, Any] | None) -> None:
        """Take a message, in the connection's thread."""
        if payload is None:
            return
        if topic == self._status:
            if not payloads.find_error("bot", payload):
                self._monitor.call_in_loop(self._on_status, payload)
        elif _reply_topic(payload) is not None:
            found, key = payloads.find_error("request", payload), b""
            try:
                key = hashlib.sha256(payloads.encode(payload)).digest()
            except RecursionError:
                found = "it is nested too deeply"
            self._monitor.call_in_loop(
                self._on_request, _Request(payload, key, time.monotonic()), found
            )

    def _on_request(self, task: _Request, found: str) -> None:
        """Take a request, with what is wrong with it."""
        payload = task.payload
        if self._state != "online":
            return
        if found:
            self._reply(payload, _failure("bad_request", found))
        elif task.key in self._answered:
            self._reply(payload, self._answered[task.key])
        elif task.key not in self._pending:
            self._pending.add(task.key)
            rejected = self._queue.put(payload["reply_to"], task)
            if rejected is not None:
                self._pending.discard(rejected.key)
                busy = f"{len(self._queue)} requests wait already"
                self._reply(rejected.payload, _failure("busy", busy))

    async def _answer(self, task: _Request) -> dict[str, Any]:
        """Return the reply to a request. Nothing that it asks may end the bot."""
        payload = task.payload
        try:
            limit = time_limit(payload, self._max_seconds)
            left = limit - (time.monotonic() - task.arrived)
            if left <= 0:
                return _failure("time_limit", f"waited longer than its {limit:g} s")
            async with asyncio.timeout(left):
                deadline = task.arrived + limit
                asked = await _in_background(lambda: self._request_parser.parse(payload, deadline))
                answer = await self._search(payload, *asked, deadline)
        except RequestError as error:
            return _failure("bad_request", str(error))
        except (EngineTimeoutError, TimeoutError):
            self._game = None
            return _failure("time_limit", f"no move within {limit:g} s")
        except EngineError as error:
            self._game = None
            return _failure("engine", str(error))
        except Exception as error:  # noqa: BLE001 - a client must not end what others use
            self._game = None
            self._notify(f"{self.name} failed at a request: {type(error).__name__}: {error}")
            return _failure("engine", type(error).__name__)
        return encode_answer(answer)

    async def _search(
        self, payload: Mapping[str, Any], request: SearchRequest, variant: Variant, deadline: float
    ) -> PlayResult:
        engine = await self._get_engine(variant)
        # A name of a game means what its client means by it.
        game = (payload["reply_to"], payload.get("game", ""), variant)
        if game != self._game or not game[1]:
            await engine.new_game()
            self._game = game
        return await engine.search(request, deadline - time.monotonic())

    def _reply(self, request: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
        topic, number = _reply_topic(request), request.get("id")
        if topic is not None:
            shown = number if isinstance(number, str) and len(number) <= MAX_ID_LENGTH else None
            self._connection.publish(topic, {"id": shown, **reply})


async def _in_background(work: Callable[[], Result]) -> Result:
    """Return what a call returns, in a thread that is given up where a user's game does not return.

    Neither other requests nor the end of the bot wait for it.
    """
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(over.set)

    call = BackgroundCall(work, "request")
    call.done.add_callback(tell)
    try:
        await over.wait()
    except asyncio.CancelledError:
        call.abandon()
        raise
    return call.result()


def _failure(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def _reply_topic(request: Mapping[str, Any]) -> str | None:
    """Return where a request wants its reply, if that is a place for replies."""
    topic = request.get("reply_to")
    return (
        topic if isinstance(topic, str) and not payloads.find_error("reply_topic", topic) else None
    )
