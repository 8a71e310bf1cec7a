"""A connection to a broker that no caller ever waits for.

It lives in a thread with an event loop of its own (on Windows, MQTT and sub-processes need
different loops). What is to be published is left in four places: snapshots, of which only the
last of each topic counts and which are all sent again after a reconnection; standing messages,
which are sent again after each reconnection until they are withdrawn; messages, in order,
of which the oldest give way when the broker is absent for long; and hints, which are sent if
the broker is there and forgotten if it is not.
"""

import asyncio
import contextlib
import logging
import os
import random
import secrets
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from protocols.mqtt import payloads, topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.version import speaks_version_5
from protocols.tasks import cancel_all

KEPT_MESSAGES = 10_000
KEPT_REFUSALS = 1000
PUBLISH_LIMIT = 10.0
CONNECT_LIMIT = 10.0
RETRY_FIRST = 0.25
RETRY_LONGEST = 2.0
KEEPALIVE = 15
# How often a watchful connection asks whether the broker answers, and when that takes too long.
BEAT = 1.0
SILENCE = 2.0
# How long a broker that speaks MQTT 5 keeps the session of a client that is gone.
SESSION_EXPIRY = 300
# A message is sent at once: it does not wait until the last has been acknowledged, 40 ms later.
_AT_ONCE = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)
# A payload of more bytes is not for us.
LARGEST = 1 << 20
# A message that the connection breaks at so often is what breaks it.
ATTEMPTS = 5

Payload = Mapping[str, Any]
# Called in the connection's thread with a topic and its payload; None where it is no JSON object.
OnMessage = Callable[[str, dict[str, Any] | None], None]
# Called in the connection's thread with whether the broker is there, why not, and since when by
# time.monotonic(): on each change, and when it is not there at first.
OnLink = Callable[[bool, str, float], None]
# Called in the connection's thread with a topic that the broker does not allow us, and why.
OnRefused = Callable[[str, str], None]

_log = logging.getLogger(__name__)
_JITTER = random.Random()


@dataclass(frozen=True, slots=True)
class _Item:
    """One payload to be published with acknowledgement, and where it waits under which key."""

    place: str
    key: str
    topic: str
    data: bytes


class Connection:
    """Publishes and receives until closed, reconnecting as often as it takes."""

    def __init__(
        self,
        broker: Broker,
        *,
        will: tuple[str, Payload] | None = None,
        subscriptions: Sequence[str] = (),
        on_message: OnMessage | None = None,
        on_link: OnLink | None = None,
        on_refused: OnRefused | None = None,
        keep_session: bool = False,
        watchful: bool = False,
        largest: int = LARGEST,
    ) -> None:
        """Start connecting. will: a retained message that the broker sends if we are lost.

        keep_session: have the broker keep what is sent to us while we are away, where it can
        forget that again (MQTT 5). watchful: notice a broker that is connected and does not
        answer. largest: bytes of a payload; none of more is received.
        """
        self.broker = broker
        self._will = will
        self._subscriptions = subscriptions
        self._on_message = on_message
        self._on_link = on_link
        self._on_refused = on_refused
        self._keep_session = keep_session
        self._watchful = watchful
        self._largest = largest
        # The same in all connections, so that the broker ends the last one before the next.
        self._identifier = f"kempelen{secrets.token_hex(7)}"
        self._lock = threading.Lock()
        self._snapshots: dict[str, bytes] = {}
        self._changed: dict[str, None] = {}
        self._standing: dict[str, tuple[str, bytes]] = {}
        self._unsent: dict[str, None] = {}
        self._messages: deque[tuple[str, bytes]] = deque(maxlen=KEPT_MESSAGES)
        self._hints: dict[str, bytes] = {}
        self._attempts: tuple[_Item | None, int] = (None, 0)
        self._told: bool | None = None
        self._left = time.monotonic()
        self._closing = False
        self.connected = threading.Event()
        # Whether it has come to a first connection, or a first failure to connect.
        self.settled = threading.Event()
        self.problem = ""
        self.published = 0
        self.dropped = 0
        self.refused: dict[str, str] = {}
        self._wake: Callable[[], None] = _nothing
        self._thread = threading.Thread(target=self._run, name="mqtt", daemon=True)
        self._thread.start()

    def snapshot(self, topic: str, payload: Payload) -> None:
        """Publish a retained payload (QoS 1); it replaces one of the same topic not yet sent."""
        data = payloads.encode(payload)
        with self._lock:
            self._snapshots[topic] = data
            self._changed[topic] = None
        self._wake()

    def stand(self, key: str, topic: str, payload: Payload) -> None:
        """Publish a payload (QoS 1) now, and anew whenever the broker is back, until withdrawn."""
        data = payloads.encode(payload)
        with self._lock:
            self._standing[key] = topic, data
            self._unsent[key] = None
        self._wake()

    def repeat(self, key: str) -> None:
        """Publish a standing payload once more."""
        with self._lock:
            if key in self._standing:
                self._unsent[key] = None
        self._wake()

    def withdraw(self, key: str) -> None:
        """Let a standing payload be."""
        with self._lock:
            self._standing.pop(key, None)
            self._unsent.pop(key, None)

    def message(self, topic: str, payload: Payload) -> None:
        """Publish a payload in order, at least once (QoS 1)."""
        data = payloads.encode(payload)
        with self._lock:
            self.dropped += len(self._messages) == KEPT_MESSAGES
            self._messages.append((topic, data))
        self._wake()

    def hint(self, topic: str, payload: Payload) -> None:
        """Publish a payload at most once (QoS 0), the last one of its topic if many wait."""
        with self._lock:
            self._hints[topic] = payloads.encode(payload)
        self._wake()

    def close(self, limit: float = 5.0) -> None:
        """Send what waits, for at most `limit` seconds, and disconnect; the will is not sent."""
        deadline = time.monotonic() + limit
        while self.connected.is_set() and self.waiting and time.monotonic() < deadline:
            time.sleep(0.01)
        self._closing = True
        self._wake()
        self._thread.join(max(1.0, deadline - time.monotonic()))

    @property
    def waiting(self) -> int:
        """How many payloads, hints aside, are still to be published."""
        with self._lock:
            return len(self._changed) + len(self._unsent) + len(self._messages)

    @property
    def away(self) -> float:
        """For how many seconds the broker has been away; 0 if it is there."""
        return 0.0 if self._told else time.monotonic() - self._left

    def _run(self) -> None:
        # The selector loop is the one that aiomqtt works on, on every system.
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(self._stay_connected())

    async def _stay_connected(self) -> None:
        loop = asyncio.get_running_loop()
        work = asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(work.set)

        self._wake = wake
        work.set()
        pause = RETRY_FIRST
        while not self._closing:
            try:
                version_5 = await speaks_version_5(self.broker)
                async with self._client(version_5=version_5) as client:
                    pause = RETRY_FIRST
                    await self._serve(client, work)
            except Exception as error:  # noqa: BLE001 - whatever a broker does, we try again
                self.problem = _describe(error)
                _log.info("broker %s: %s", self.broker, self.problem)
            if self._closing:
                return
            self.connected.clear()
            self.settled.set()
            self._tell_link(False, self.problem)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause * _JITTER.uniform(0.8, 1.2)):
                    while not self._closing:
                        await work.wait()
                        work.clear()
            work.set()
            pause = min(2 * pause, RETRY_LONGEST)

    def _client(self, *, version_5: bool) -> "_Client":
        will = None
        options: dict[str, Any] = {}
        if self._will is not None:
            topic, payload = self._will
            will = aiomqtt.Will(topic, payloads.encode(payload), qos=1, retain=True)
        if version_5:
            connecting = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            connecting.SessionExpiryInterval = SESSION_EXPIRY if self._keep_session else 0
            connecting.MaximumPacketSize = self._largest
            options = {
                "protocol": aiomqtt.ProtocolVersion.V5,
                "properties": connecting,
                "clean_start": not self._keep_session,
            }
        return _Client(
            self.broker.host,
            self.broker.port,
            identifier=self._identifier,
            username=self.broker.user,
            password=self.broker.password,
            tls_context=self.broker.tls_context(),
            will=will,
            keepalive=KEEPALIVE,
            timeout=CONNECT_LIMIT,
            socket_options=_AT_ONCE,
            **options,
        )

    async def _serve(self, client: "_Client", work: asyncio.Event) -> None:
        """Receive and publish until closed, or until the broker is gone, which raises."""
        # Each by itself: what waits for an answer does not notice that the connection is gone.
        doing = [self._receive(client), self._publish_until_closed(client, work)]
        if self._watchful:
            doing.append(self._beat(client))
        tasks = [asyncio.create_task(one) for one in doing]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await cancel_all(tasks)

    async def _subscribe(self, client: "_Client") -> None:
        for topic in self._subscriptions:
            for code in await client.subscribe(topic, qos=1):
                if isinstance(code, ReasonCode) and code.is_failure:
                    self._note_refusal(topic, str(code))

    async def _publish_until_closed(self, client: "_Client", work: asyncio.Event) -> None:
        await self._subscribe(client)
        self._tell_link(True, "")
        with self._lock:
            self._changed = dict.fromkeys(self._snapshots)
            self._unsent = dict.fromkeys(self._standing)
        self.problem = ""
        self.connected.set()
        self.settled.set()
        while not self._closing:
            with self._lock:
                item = self._next()
                hints, self._hints = self._hints, {}
            for name, data in hints.items():
                await client.publish(name, data, qos=0, timeout=PUBLISH_LIMIT)
            if item is not None:
                await self._publish(client, item)
            else:
                await work.wait()
                work.clear()

    def _next(self) -> _Item | None:
        if self._messages:
            topic, data = self._messages[0]
            return _Item("messages", "", topic, data)
        if self._unsent:
            key = next(iter(self._unsent))
            return _Item("standing", key, *self._standing[key])
        if self._changed:
            topic = next(iter(self._changed))
            return _Item("snapshots", topic, topic, self._snapshots[topic])
        return None

    async def _publish(self, client: "_Client", item: _Item) -> None:
        """Publish one payload; what cannot be published at all is noted and given up."""
        tries = self._attempts[1] + 1 if self._attempts[0] == item else 1
        self._attempts = item, tries
        if tries > ATTEMPTS:
            reason = "the connection breaks when it is published"
        else:
            try:
                retain = item.place == "snapshots"
                reason = await client.publish_and_hear(item.topic, item.data, retain=retain)
            except ValueError as error:
                reason = str(error)
        self._attempts = None, 0
        if reason:
            self._note_refusal(item.topic, reason)
        else:
            self.published += 1
        with self._lock:
            self._done(item)

    def _done(self, item: _Item) -> None:
        """Take a published item from where it waited, unless another has taken its place."""
        if item.place == "messages":
            if self._messages and self._messages[0][1] is item.data:
                self._messages.popleft()
        elif item.place == "standing":
            self._unsent.pop(item.key, None)
        elif self._snapshots[item.key] is item.data:
            self._changed.pop(item.key, None)

    def _note_refusal(self, topic: str, reason: str) -> None:
        if len(self.refused) < KEPT_REFUSALS:
            self.refused[topic] = reason
        if self._on_refused is not None:
            self._on_refused(topic, reason)

    async def _receive(self, client: "_Client") -> None:
        async for message in client.messages:
            if self._on_message is None:
                continue
            payload = payloads.decode(message.payload, self._largest)
            try:
                self._on_message(str(message.topic), payload)
            except Exception:  # noqa: BLE001 - no message may end the connection
                _log.exception("a message on %s", message.topic)

    async def _beat(self, client: "_Client") -> None:
        """Ask again and again for what the broker must acknowledge, and what changes nothing."""
        while True:
            await asyncio.sleep(BEAT)
            if not self.connected.is_set():
                continue
            asked = time.monotonic()
            answer = asyncio.create_task(client.unsubscribe(topics.NOTHING))
            try:
                await asyncio.wait((answer,), timeout=SILENCE)
                if not answer.done():
                    self._tell_link(False, "it does not answer", asked)
                await answer
            finally:
                answer.cancel()
            if not self._told:
                self._tell_link(True, "")
                await self._subscribe(client)  # for the retained messages, which are the state

    def _tell_link(self, there: bool, problem: str, since: float | None = None) -> None:
        if there == self._told:
            return
        since = time.monotonic() if since is None else since
        if self._told:
            self._left = since
        self._told = there
        if self._on_link is not None:
            self._on_link(there, problem, since)


class _Client(aiomqtt.Client):
    """A client that knows what the broker refused: aiomqtt takes all that is answered for done.

    It publishes one payload at a time.
    """

    _refusal = ""

    async def publish_and_hear(self, topic: str, data: bytes, *, retain: bool) -> str:
        """Publish (QoS 1) and return why the broker refused it, if it did and says so (MQTT 5)."""
        self._refusal = ""
        await self.publish(topic, data, qos=1, retain=retain, timeout=PUBLISH_LIMIT)
        return self._refusal

    def _on_publish(
        self, client: Any, userdata: Any, mid: int, reason_code: ReasonCode, properties: Any
    ) -> None:
        if reason_code.is_failure:
            self._refusal = str(reason_code)
        super()._on_publish(client, userdata, mid, reason_code, properties)


def _describe(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, aiomqtt.MqttError) and str(error).startswith("Disconnected"):
        return "the connection broke"
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__


def _nothing() -> None:
    """Stand in for the wake-up call until the loop runs."""
