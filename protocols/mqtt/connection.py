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
from protocols.mqtt.protocol_version import supports_mqtt5
from protocols.tasks import cancel_all

MAX_QUEUED_MESSAGES = 10_000
MAX_REJECTIONS = 1000
PUBLISH_TIMEOUT_S = 10.0
CONNECT_TIMEOUT_S = 10.0
MIN_RETRY_DELAY_S = 0.25
MAX_RETRY_DELAY_S = 2.0
KEEPALIVE_S = 15
# How often a watchful connection asks whether the broker answers, and when that takes too long.
HEARTBEAT_INTERVAL_S = 1.0
HEARTBEAT_TIMEOUT_S = 2.0
# How long a broker that speaks MQTT 5 keeps the session of a client that is gone.
SESSION_EXPIRY_S = 300
# A message is sent at once: it does not wait until the last has been acknowledged, 40 ms later.
_NO_DELAY = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)
# A payload of more bytes is not for us.
MAX_PAYLOAD_BYTES = 1 << 20
# A message that the connection breaks at so often is what breaks it.
MAX_PUBLISH_ATTEMPTS = 5

Payload = Mapping[str, Any]
# Called in the connection's thread with a topic and its payload; None where it is no JSON object.
OnMessage = Callable[[str, dict[str, Any] | None], None]
# Called in the connection's thread with whether the broker is there, why not, and since when by
# time.monotonic(): on each change, and when it is not there at first.
OnBrokerChange = Callable[[bool, str, float], None]
# Called in the connection's thread with a topic that the broker does not allow us, and why.
OnRejected = Callable[[str, str], None]

_log = logging.getLogger(__name__)
_JITTER = random.Random()


@dataclass(frozen=True, slots=True)
class _Publication:
    """One payload to be published with acknowledgement, and where it waits under which key."""

    queue: str
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
        on_broker_change: OnBrokerChange | None = None,
        on_rejected: OnRejected | None = None,
        keep_session: bool = False,
        use_heartbeat: bool = False,
        max_payload: int = MAX_PAYLOAD_BYTES,
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
        self._on_broker_change = on_broker_change
        self._on_rejected = on_rejected
        self._keep_session = keep_session
        self._use_heartbeat = use_heartbeat
        self._max_payload = max_payload
        # The same in all connections, so that the broker ends the last one before the next.
        self._identifier = f"kempelen{secrets.token_hex(7)}"
        self._lock = threading.Lock()
        self._retained: dict[str, bytes] = {}
        self._unsent_retained: dict[str, None] = {}
        self._persistent: dict[str, tuple[str, bytes]] = {}
        self._unsent_persistent: dict[str, None] = {}
        self._messages: deque[tuple[str, bytes]] = deque(maxlen=MAX_QUEUED_MESSAGES)
        self._best_effort: dict[str, bytes] = {}
        self._attempts: tuple[_Publication | None, int] = (None, 0)
        self._reported: bool | None = None
        self._disconnected_at = time.monotonic()
        self._closing = False
        self.connected = threading.Event()
        # Whether it has come to a first connection, or a first failure to connect.
        self.first_attempt_done = threading.Event()
        self.error = ""
        self.published = 0
        self.dropped = 0
        self.rejected: dict[str, str] = {}
        self._wake: Callable[[], None] = _no_op
        self._thread = threading.Thread(target=self._run, name="mqtt", daemon=True)
        self._thread.start()

    def publish_retained(self, topic: str, payload: Payload) -> None:
        """Publish a retained payload (QoS 1); it replaces one of the same topic not yet sent."""
        data = payloads.encode(payload)
        with self._lock:
            self._retained[topic] = data
            self._unsent_retained[topic] = None
        self._wake()

    def publish_persistent(self, key: str, topic: str, payload: Payload) -> None:
        """Publish a payload (QoS 1) now, and anew whenever the broker is back, until withdrawn."""
        data = payloads.encode(payload)
        with self._lock:
            self._persistent[key] = topic, data
            self._unsent_persistent[key] = None
        self._wake()

    def republish(self, key: str) -> None:
        """Publish a standing payload once more."""
        with self._lock:
            if key in self._persistent:
                self._unsent_persistent[key] = None
        self._wake()

    def cancel_persistent(self, key: str) -> None:
        """Let a standing payload be."""
        with self._lock:
            self._persistent.pop(key, None)
            self._unsent_persistent.pop(key, None)

    def publish(self, topic: str, payload: Payload) -> None:
        """Publish a payload in order, at least once (QoS 1)."""
        data = payloads.encode(payload)
        with self._lock:
            self.dropped += len(self._messages) == MAX_QUEUED_MESSAGES
            self._messages.append((topic, data))
        self._wake()

    def publish_best_effort(self, topic: str, payload: Payload) -> None:
        """Publish a payload at most once (QoS 0), the last one of its topic if many wait."""
        with self._lock:
            self._best_effort[topic] = payloads.encode(payload)
        self._wake()

    def close(self, limit: float = 5.0) -> None:
        """Send what waits, for at most `limit` seconds, and disconnect; the will is not sent."""
        deadline = time.monotonic() + limit
        while self.connected.is_set() and self.pending_count and time.monotonic() < deadline:
            time.sleep(0.01)
        self._closing = True
        self._wake()
        self._thread.join(max(1.0, deadline - time.monotonic()))

    @property
    def pending_count(self) -> int:
        """How many payloads, hints aside, are still to be published."""
        with self._lock:
            return len(self._unsent_retained) + len(self._unsent_persistent) + len(self._messages)

    @property
    def seconds_disconnected(self) -> float:
        """For how many seconds the broker has been away; 0 if it is there."""
        return 0.0 if self._reported else time.monotonic() - self._disconnected_at

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
        pause = MIN_RETRY_DELAY_S
        while not self._closing:
            try:
                version_5 = await supports_mqtt5(self.broker)
                async with self._client(version_5=version_5) as client:
                    pause = MIN_RETRY_DELAY_S
                    await self._serve(client, work)
            except Exception as error:  # noqa: BLE001 - whatever a broker does, we try again
                self.error = _describe(error)
                _log.info("broker %s: %s", self.broker, self.error)
            if self._closing:
                return
            self.connected.clear()
            self.first_attempt_done.set()
            self._report_broker(False, self.error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause * _JITTER.uniform(0.8, 1.2)):
                    while not self._closing:
                        await work.wait()
                        work.clear()
            work.set()
            pause = min(2 * pause, MAX_RETRY_DELAY_S)

    def _client(self, *, version_5: bool) -> "_Client":
        will = None
        options: dict[str, Any] = {}
        if self._will is not None:
            topic, payload = self._will
            will = aiomqtt.Will(topic, payloads.encode(payload), qos=1, retain=True)
        if version_5:
            connecting = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            connecting.SessionExpiryInterval = SESSION_EXPIRY_S if self._keep_session else 0
            connecting.MaximumPacketSize = self._max_payload
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
            keepalive=KEEPALIVE_S,
            timeout=CONNECT_TIMEOUT_S,
            socket_options=_NO_DELAY,
            **options,
        )

    async def _serve(self, client: "_Client", work: asyncio.Event) -> None:
        """Receive and publish until closed, or until the broker is gone, which raises."""
        # Each by itself: what waits for an answer does not notice that the connection is gone.
        doing = [self._receive(client), self._publish_until_closed(client, work)]
        if self._use_heartbeat:
            doing.append(self._heartbeat(client))
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
                    self._note_rejection(topic, str(code))

    async def _publish_until_closed(self, client: "_Client", work: asyncio.Event) -> None:
        await self._subscribe(client)
        self._report_broker(True, "")
        with self._lock:
            self._unsent_retained = dict.fromkeys(self._retained)
            self._unsent_persistent = dict.fromkeys(self._persistent)
        self.error = ""
        self.connected.set()
        self.first_attempt_done.set()
        while not self._closing:
            with self._lock:
                item = self._next_item()
                hints, self._best_effort = self._best_effort, {}
            for name, data in hints.items():
                await client.publish(name, data, qos=0, timeout=PUBLISH_TIMEOUT_S)
            if item is not None:
                await self._publish(client, item)
            else:
                await work.wait()
                work.clear()

    def _next_item(self) -> _Publication | None:
        if self._messages:
            topic, data = self._messages[0]
            return _Publication("messages", "", topic, data)
        if self._unsent_persistent:
            key = next(iter(self._unsent_persistent))
            return _Publication("standing", key, *self._persistent[key])
        if self._unsent_retained:
            topic = next(iter(self._unsent_retained))
            return _Publication("snapshots", topic, topic, self._retained[topic])
        return None

    async def _publish(self, client: "_Client", item: _Publication) -> None:
        """Publish one payload; what cannot be published at all is noted and given up."""
        tries = self._attempts[1] + 1 if self._attempts[0] == item else 1
        self._attempts = item, tries
        if tries > MAX_PUBLISH_ATTEMPTS:
            reason = "the connection breaks when it is published"
        else:
            try:
                retain = item.queue == "snapshots"
                reason = await client.publish_checked(item.topic, item.data, retain=retain)
            except ValueError as error:
                reason = str(error)
        self._attempts = None, 0
        if reason:
            self._note_rejection(item.topic, reason)
        else:
            self.published += 1
        with self._lock:
            self._remove_published(item)

    def _remove_published(self, item: _Publication) -> None:
        """Take a published item from where it waited, unless another has taken its place."""
        if item.queue == "messages":
            if self._messages and self._messages[0][1] is item.data:
                self._messages.popleft()
        elif item.queue == "standing":
            self._unsent_persistent.pop(item.key, None)
        elif self._retained[item.key] is item.data:
            self._unsent_retained.pop(item.key, None)

    def _note_rejection(self, topic: str, reason: str) -> None:
        if len(self.rejected) < MAX_REJECTIONS:
            self.rejected[topic] = reason
        if self._on_rejected is not None:
            self._on_rejected(topic, reason)

    async def _receive(self, client: "_Client") -> None:
        async for message in client.messages:
            if self._on_message is None:
                continue
            payload = payloads.decode(message.payload, self._max_payload)
            try:
                self._on_message(str(message.topic), payload)
            except Exception:  # noqa: BLE001 - no message may end the connection
                _log.exception("a message on %s", message.topic)

    async def _heartbeat(self, client: "_Client") -> None:
        """Ask again and again for what the broker must acknowledge, and what changes nothing."""
        while True:
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)
            if not self.connected.is_set():
                continue
            asked = time.monotonic()
            answer = asyncio.create_task(client.unsubscribe(topics.UNUSED))
            try:
                await asyncio.wait((answer,), timeout=HEARTBEAT_TIMEOUT_S)
                if not answer.done():
                    self._report_broker(False, "it does not answer", asked)
                await answer
            finally:
                answer.cancel()
            if not self._reported:
                self._report_broker(True, "")
                await self._subscribe(client)  # for the retained messages, which are the state

    def _report_broker(self, connected_now: bool, problem: str, since: float | None = None) -> None:
        if connected_now == self._reported:
            return
        since = time.monotonic() if since is None else since
        if self._reported:
            self._disconnected_at = since
        self._reported = connected_now
        if self._on_broker_change is not None:
            self._on_broker_change(connected_now, problem, since)


class _Client(aiomqtt.Client):
    """A client that knows what the broker refused: aiomqtt takes all that is answered for done.

    It publishes one payload at a time.
    """

    _rejection = ""

    async def publish_checked(self, topic: str, data: bytes, *, retain: bool) -> str:
        """Publish (QoS 1) and return why the broker refused it, if it did and says so (MQTT 5)."""
        self._rejection = ""
        await self.publish(topic, data, qos=1, retain=retain, timeout=PUBLISH_TIMEOUT_S)
        return self._rejection

    def _on_publish(
        self, client: Any, userdata: Any, mid: int, reason_code: ReasonCode, properties: Any
    ) -> None:
        if reason_code.is_failure:
            self._rejection = str(reason_code)
        super()._on_publish(client, userdata, mid, reason_code, properties)


def _describe(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, aiomqtt.MqttError) and str(error).startswith("Disconnected"):
        return "the connection broke"
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__


def _no_op() -> None:
    """Stand in for the wake-up call until the loop runs."""
