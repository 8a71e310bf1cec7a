"""A connection to a broker that no caller ever waits for.

It lives in a thread with an event loop of its own (on Windows, MQTT and sub-processes need
different loops). What is to be published is left in three places: snapshots, of which only the
last of each topic counts and which are all sent again after a reconnection; messages, in order,
of which the oldest give way when the broker is absent for long; and hints, which are sent if
the broker is there and forgotten if it is not.
"""

import asyncio
import contextlib
import json
import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import aiomqtt

from protocols.mqtt.broker import Broker

KEPT_MESSAGES = 10_000
PUBLISH_LIMIT = 10.0
CONNECT_LIMIT = 10.0
RETRY_FIRST = 0.25
RETRY_LONGEST = 10.0
KEEPALIVE = 15

Payload = Mapping[str, Any]
# Called in the connection's thread with a topic and its payload; None where it is no JSON object.
OnMessage = Callable[[str, dict[str, Any] | None], None]

_log = logging.getLogger(__name__)


class Connection:
    """Publishes and receives until closed, reconnecting as often as it takes."""

    def __init__(
        self,
        broker: Broker,
        *,
        will: tuple[str, Payload] | None = None,
        subscriptions: Sequence[str] = (),
        on_message: OnMessage | None = None,
    ) -> None:
        """Start connecting. will: a retained message that the broker sends if we are lost."""
        self._broker = broker
        self._will = will
        self._subscriptions = subscriptions
        self._on_message = on_message
        self._lock = threading.Lock()
        self._snapshots: dict[str, bytes] = {}
        self._changed: dict[str, None] = {}
        self._messages: deque[tuple[str, bytes]] = deque(maxlen=KEPT_MESSAGES)
        self._hints: dict[str, bytes] = {}
        self._closing = False
        self.connected = threading.Event()
        self.problem = ""
        self._wake: Callable[[], None] = _nothing
        self._thread = threading.Thread(target=self._run, name="mqtt", daemon=True)
        self._thread.start()

    def snapshot(self, topic: str, payload: Payload) -> None:
        """Publish a retained payload (QoS 1); it replaces one of the same topic not yet sent."""
        data = _encode(payload)
        with self._lock:
            self._snapshots[topic] = data
            self._changed[topic] = None
        self._wake()

    def message(self, topic: str, payload: Payload) -> None:
        """Publish a payload in order, at least once (QoS 1)."""
        with self._lock:
            self._messages.append((topic, _encode(payload)))
        self._wake()

    def hint(self, topic: str, payload: Payload) -> None:
        """Publish a payload at most once (QoS 0), the last one of its topic if many wait."""
        with self._lock:
            self._hints[topic] = _encode(payload)
        self._wake()

    def close(self, limit: float = 5.0) -> None:
        """Send what waits, for at most `limit` seconds, and disconnect; the will is not sent."""
        deadline = time.monotonic() + limit
        while self.connected.is_set() and self._waiting() and time.monotonic() < deadline:
            time.sleep(0.01)
        self._closing = True
        self._wake()
        self._thread.join(max(1.0, deadline - time.monotonic()))

    def _waiting(self) -> bool:
        with self._lock:
            return bool(self._changed or self._messages)

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
                async with self._client() as client:
                    pause = RETRY_FIRST
                    await self._serve(client, work)
            except (aiomqtt.MqttError, OSError, TimeoutError, ValueError) as error:
                if self._closing:
                    return
                self.problem = str(error)
                _log.info("broker %s: %s", self._broker, error)
            self.connected.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause * random.uniform(0.8, 1.2)):
                    while not self._closing:
                        await work.wait()
                        work.clear()
            work.set()
            pause = min(2 * pause, RETRY_LONGEST)

    def _client(self) -> aiomqtt.Client:
        will = None
        if self._will is not None:
            topic, payload = self._will
            will = aiomqtt.Will(topic, _encode(payload), qos=1, retain=True)
        return aiomqtt.Client(
            self._broker.host,
            self._broker.port,
            username=self._broker.user,
            password=self._broker.password,
            tls_context=self._broker.tls_context(),
            will=will,
            keepalive=KEEPALIVE,
            timeout=CONNECT_LIMIT,
        )

    async def _serve(self, client: aiomqtt.Client, work: asyncio.Event) -> None:
        receiving = asyncio.create_task(self._receive(client))
        try:
            for topic in self._subscriptions:
                await client.subscribe(topic, qos=1)
            with self._lock:
                self._changed = dict.fromkeys(self._snapshots)
            self.connected.set()
            self.problem = ""
            while not self._closing:
                await self._publish_all(client)
                waiting = asyncio.create_task(work.wait())
                await asyncio.wait((waiting, receiving), return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                if receiving.done():
                    receiving.result()
                work.clear()
        finally:
            receiving.cancel()
            await asyncio.gather(receiving, return_exceptions=True)

    async def _publish_all(self, client: aiomqtt.Client) -> None:
        while not self._closing:
            with self._lock:
                message = self._messages[0] if self._messages else None
                topic = next(iter(self._changed), None)
                hints, self._hints = self._hints, {}
            for name, data in hints.items():
                await client.publish(name, data, qos=0, timeout=PUBLISH_LIMIT)
            if message is not None:
                await client.publish(*message, qos=1, timeout=PUBLISH_LIMIT)
                with self._lock:
                    if self._messages and self._messages[0] is message:
                        self._messages.popleft()
            elif topic is not None:
                with self._lock:
                    del self._changed[topic]
                    data = self._snapshots[topic]
                try:
                    await client.publish(topic, data, qos=1, retain=True, timeout=PUBLISH_LIMIT)
                except BaseException:
                    with self._lock:
                        self._changed[topic] = None
                    raise
            else:
                return

    async def _receive(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            if self._on_message is not None:
                payload = message.payload
                self._on_message(str(message.topic), _decode(payload))


def _encode(payload: Payload) -> bytes:
    return json.dumps(payload, separators=(",", ":"), allow_nan=False).encode()


def _decode(payload: object) -> dict[str, Any] | None:
    try:
        value = json.loads(payload) if isinstance(payload, bytes | bytearray) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _nothing() -> None:
    """Stand in for the wake-up call until the loop runs."""
