import asyncio
import logging
import threading
from concurrent.futures import Future

import amqtt.broker

from protocols.mqtt.broker import Broker, BrokerError

HOST = "127.0.0.1"
START_TIMEOUT_S = 10.0


class EmbeddedBroker:
    """A small MQTT broker (amqtt) in a thread, for programs on this machine."""

    def __init__(self, port: int = 1883) -> None:
        """Start the broker. Raise BrokerError on failure, for example if the port is in use."""
        self.address = Broker(HOST, port)
        self._started: Future[None] = Future()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        logging.getLogger("amqtt").setLevel(logging.CRITICAL)
        logging.getLogger("transitions").setLevel(logging.ERROR)
        self._thread = threading.Thread(target=self._run, name="mqtt-broker", daemon=True)
        self._thread.start()
        try:
            self._started.result(START_TIMEOUT_S)
        except Exception as error:
            raise BrokerError(f"embedded broker on port {port}: {error}") from error

    def close(self) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(START_TIMEOUT_S)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        plugins = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}
        listener = {"type": "tcp", "bind": f"{self.address.host}:{self.address.port}"}
        try:
            broker = amqtt.broker.Broker({"listeners": {"default": listener}, "plugins": plugins})
            await broker.start()
        except Exception as error:  # noqa: BLE001
            self._started.set_exception(error.__cause__ or error)
            return
        self._started.set_result(None)
        await self._stop.wait()
        await broker.shutdown()
