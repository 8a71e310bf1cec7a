"""A connection to an MQTT broker that reconnects automatically.

It has its own thread, because MQTT and subprocesses need different event loops on Windows.
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
# Heartbeat: interval, and timeout for the broker's acknowledgement.
HEARTBEAT_INTERVAL_S = 1.0
HEARTBEAT_TIMEOUT_S = 2.0
# How long an MQTT 5 broker keeps the session of a disconnected client.
SESSION_EXPIRY_S = 300
# Without TCP_NODELAY, a message would wait 40 ms for the previous acknowledgement.
_NO_DELAY = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)
# Larger payloads are ignored.
MAX_PAYLOAD_BYTES = 1 << 20
# A broker that requires TLS may just close a connection without TLS.
NO_ANSWER = "no answer (check the port, and whether it requires TLS)"
# A message is dropped if the connection breaks this many times after sending it.
MAX_PUBLISH_ATTEMPTS = 5

Payload = Mapping[str, Any]
# Called in the connection's thread with a topic and its payload, which is None if it is not a JSON
# object.
OnMessage = Callable[[str, dict[str, Any] | None], None]
# Called in the connection's thread on each change, and if the first connection attempt fails.
# Arguments: whether the broker is connected, the problem, and the time of the change
# (time.monotonic()).
OnBrokerChange = Callable[[bool, str, float], None]
# Called in the connection's thread with a topic that the broker rejects, and the reason.
OnRejected = Callable[[str, str], None]

_log = logging.getLogger(__name__)
_JITTER = random.Random()


@dataclass(frozen=True, slots=True)
class _Publication:
    """A payload to be published (QoS 1), with its queue and its key in that queue."""

    queue: str
    key: str
    topic: str
    data: bytes


class Connection:
    """A broker connection that reconnects when lost. Publishing never blocks."""

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
        """Start connecting in a thread.

        - `will`: the topic and payload that the broker publishes (retained) if the client is lost.
        - `keep_session`: whether an MQTT 5 broker keeps messages while the client is disconnected.
        - `use_heartbeat`: whether to detect a connected broker that does not respond.
        - `max_payload`: the maximum size of a received payload in bytes.
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
        # All connections of this client use the same id, so that the broker closes the old one
        # first.
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
        # Set after the first connection, or after the first failure to connect.
        self.first_attempt_done = threading.Event()
        self.error = ""
        self.published = 0
        self.dropped = 0
        self.rejected: dict[str, str] = {}
        self._wake: Callable[[], None] = _no_op
        self._thread = threading.Thread(target=self._run, name="mqtt", daemon=True)
        self._thread.start()

    def publish_retained(self, topic: str, payload: Payload) -> None:
        """Publish a retained payload (QoS 1) now and after each reconnection.

        It replaces the previous payload on the same topic.
        """
        data = payloads.encode(payload)
        with self._lock:
            self._retained[topic] = data
            self._unsent_retained[topic] = None
        self._wake()

    def publish_persistent(self, key: str, topic: str, payload: Payload) -> None:
        """Publish a payload (QoS 1) now and after each reconnection, until cancelled."""
        data = payloads.encode(payload)
        with self._lock:
            self._persistent[key] = topic, data
            self._unsent_persistent[key] = None
        self._wake()

    def republish(self, key: str) -> None:
        """Publish a persistent payload again."""
        with self._lock:
            if key in self._persistent:
                self._unsent_persistent[key] = None
        self._wake()

    def cancel_persistent(self, key: str) -> None:
        with self._lock:
            self._persistent.pop(key, None)
            self._unsent_persistent.pop(key, None)

    def publish(self, topic: str, payload: Payload) -> None:
        """Publish a payload in order (QoS 1). A full queue drops its oldest payload."""
        data = payloads.encode(payload)
        with self._lock:
            self.dropped += len(self._messages) == MAX_QUEUED_MESSAGES
            self._messages.append((topic, data))
        self._wake()

    def publish_best_effort(self, topic: str, payload: Payload) -> None:
        """Publish a payload at most once (QoS 0). It replaces an unsent one on the same topic."""
        with self._lock:
            self._best_effort[topic] = payloads.encode(payload)
        self._wake()

    def close(self, limit: float = 5.0) -> None:
        """Disconnect without a will, after sending pending payloads for at most `limit` seconds."""
        deadline = time.monotonic() + limit
        while self.connected.is_set() and self.pending_count and time.monotonic() < deadline:
            time.sleep(0.01)
        self._closing = True
        self._wake()
        self._thread.join(max(1.0, deadline - time.monotonic()))

    @property
    def pending_count(self) -> int:
        """The number of unsent payloads, not counting best-effort payloads."""
        with self._lock:
            return len(self._unsent_retained) + len(self._unsent_persistent) + len(self._messages)

    @property
    def seconds_disconnected(self) -> float:
        """The seconds since the connection was lost, or 0 while connected."""
        return 0.0 if self._reported else time.monotonic() - self._disconnected_at

    def _run(self) -> None:
        # aiomqtt needs the selector loop on all platforms.
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
        delay = MIN_RETRY_DELAY_S
        while not self._closing:
            try:
                version_5 = await supports_mqtt5(self.broker)
                async with self._client(version_5=version_5) as client:
                    delay = MIN_RETRY_DELAY_S
                    await self._serve(client, work)
            except Exception as error:  # noqa: BLE001 - retry after any broker failure
                self.error = _describe(error)
                if self.error == "no answer" and not self.connected.is_set():
                    self.error = NO_ANSWER
                _log.info("broker %s: %s", self.broker, self.error)
            if self._closing:
                return
            self.connected.clear()
            self.first_attempt_done.set()
            self._report_broker(False, self.error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(delay * _JITTER.uniform(0.8, 1.2)):
                    while not self._closing:
                        await work.wait()
                        work.clear()
            work.set()
            delay = min(2 * delay, MAX_RETRY_DELAY_S)

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
        # Separate tasks, because a task that waits for a message does not notice a lost connection.
        coroutines = [self._receive(client), self._publish_until_closed(client, work)]
        if self._use_heartbeat:
            coroutines.append(self._heartbeat(client))
        tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
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
        """Publish one payload. A rejected payload is dropped, and the reason is recorded."""
        attempts = self._attempts[1] + 1 if self._attempts[0] == item else 1
        self._attempts = item, attempts
        if attempts > MAX_PUBLISH_ATTEMPTS:
            reason = "publishing it breaks the connection"
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
        """Remove a published item from its queue, unless it was replaced in the meantime."""
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
            except Exception:  # noqa: BLE001 - no message may break the connection
                _log.exception("could not handle a message on %s", message.topic)

    async def _heartbeat(self, client: "_Client") -> None:
        """Periodically send a harmless request that the broker must acknowledge."""
        while True:
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)
            if not self.connected.is_set():
                continue
            asked = time.monotonic()
            answer = asyncio.create_task(client.unsubscribe(topics.UNUSED))
            try:
                await asyncio.wait((answer,), timeout=HEARTBEAT_TIMEOUT_S)
                if not answer.done():
                    self._report_broker(False, "no answer", asked)
                await answer
            finally:
                answer.cancel()
            if not self._reported:
                self._report_broker(True, "")
                await self._subscribe(client)  # to receive the retained messages again

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
    """An aiomqtt client that reports rejected payloads.

    Only one payload may be published at a time.
    """

    _rejection = ""

    async def publish_checked(self, topic: str, data: bytes, *, retain: bool) -> str:
        """Publish a payload (QoS 1) and wait for the acknowledgement.

        Return the broker's reason for a rejection, or "". Only MQTT 5 reports rejections.
        """
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
    # The texts are those of aiomqtt.
    if isinstance(error, TimeoutError) or str(error) == "Operation timed out":
        return "no answer"
    if isinstance(error, aiomqtt.MqttError) and str(error).startswith("Disconnected"):
        return "connection lost"
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__


def _no_op() -> None:
    """Do nothing before the event loop runs."""
