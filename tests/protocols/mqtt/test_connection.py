"""A connection to brokers of all kinds."""

import asyncio
import time

import pytest

from protocols.client.uci import SearchRequest
from protocols.mqtt.bot import NameTakenError
from protocols.mqtt.broker import Broker
from protocols.mqtt.client import BotClient
from protocols.mqtt.connection import Connection
from protocols.mqtt.embedded import EmbeddedBroker
from protocols.mqtt.version import speaks_version_5
from tests.mosquitto import Listening, Mosquitto, free_port, until
from tests.protocols.mqtt.support import serving
from tests.waiting import PATIENCE


async def test_mqtt_version_5_support_is_detected(mosquitto):
    assert await speaks_version_5(mosquitto.broker)

    async def old(reader, writer):
        await reader.read(15)
        writer.write(b"\x20\x02\x00\x01")
        writer.close()

    async def rude(reader, writer):
        writer.close()

    for behave in (old, rude):
        server = await asyncio.start_server(behave, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        assert not await speaks_version_5(Broker("127.0.0.1", port))
        server.close()
        await server.wait_closed()


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
async def test_refused_topics_are_reported(tmp_path):
    mosquitto = Mosquitto(tmp_path, acl="user runner\ntopic readwrite allowed/#\n")
    refused = []
    connection = Connection(mosquitto.broker, on_refused=lambda *what: refused.append(what))
    connection.message("allowed/a", {})
    connection.message("denied/a", {})
    connection.snapshot("denied/b", {})
    connection.stand("key", "denied/c", {})
    connection.message("allowed/b", {})
    await until(lambda: not connection.waiting)
    expected = {f"denied/{name}": "Not authorized" for name in "abc"}
    assert connection.refused == dict(refused) == expected
    assert connection.published == 2
    connection.close()
    mosquitto.kill()


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
async def test_unpublishable_messages_do_not_block_others(tmp_path):
    mosquitto = Mosquitto(tmp_path, settings="max_packet_size 10000\n")
    listening = Listening(mosquitto.broker, "t/#")
    connection = Connection(mosquitto.broker)
    for topic in ("t/+", "t/\ud800", "t/" + "x" * 70_000, ""):
        connection.message(topic, {})
    connection.snapshot("t/long", {"x": "x" * 20_000})
    await until(lambda: not connection.waiting, 30)
    connection.message("t/last", {"x": 1})
    await until(lambda: listening.of("t/last"))
    assert len(connection.refused) == 5
    connection.close()
    listening.connection.close()
    mosquitto.kill()


async def test_failing_message_callback_keeps_receiving(mosquitto):
    heard = []

    def hear(topic, payload):
        heard.append(topic)
        raise TypeError("a defect")

    connection = Connection(mosquitto.broker, subscriptions=["t/#"], on_message=hear)
    assert connection.connected.wait(10)
    for number in range(3):
        connection.message(f"t/{number}", {})
    await until(lambda: len(heard) == 3)
    connection.close()


async def test_unresponsive_broker_is_detected(mosquitto):
    changes = []
    connection = Connection(
        mosquitto.broker,
        subscriptions=["t"],
        on_link=lambda *change: changes.append(change),
        watchful=True,
    )
    assert connection.connected.wait(10)
    mosquitto.freeze()
    frozen = time.monotonic()
    await until(lambda: connection.away)
    assert changes[-1][1] == "it does not answer"
    assert changes[-1][2] - frozen < 2.0
    mosquitto.thaw()
    await until(lambda: not connection.away)
    assert [there for there, _, _ in changes] == [True, False, True]
    connection.close()


async def test_status_is_online_again_after_reconnecting(mosquitto):
    """A connection that broke on one side ends, and its will is sent, before the next begins."""
    ends, closed = [], []

    async def proxy(reader, writer):
        there, away = await asyncio.open_connection("127.0.0.1", mosquitto.port)

        async def forward(source, target, ended):
            while data := await source.read(1000):
                target.write(data)
            ended.set()

        ends.append((writer, asyncio.Event()))
        await asyncio.gather(
            forward(there, writer, ends[-1][1]),
            forward(reader, away, asyncio.Event()),
            return_exceptions=True,
        )
        for end in (away, writer):
            end.close()
            await end.wait_closed()
        closed.append(writer)

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    listening = Listening(mosquitto.broker, "t")
    broker = Broker("127.0.0.1", port, "runner", "secret")
    connection = Connection(broker, will=("t", {"state": "lost"}))
    connection.snapshot("t", {"state": "online"})
    await until(lambda: listening.of("t"))
    await until(lambda: not connection.waiting)
    writer, ended = ends[-1]
    writer.close()
    await asyncio.wait_for(ended.wait(), PATIENCE)
    await until(lambda: connection.connected.is_set() and not connection.waiting)
    await until(lambda: len(listening.of("t")) >= 2)
    assert listening.of("t")[-1] == {"state": "online"}
    await asyncio.to_thread(connection.close)
    listening.connection.close()
    await until(lambda: len(closed) == len(ends))
    server.close()
    await server.wait_closed()


async def test_bots_work_over_the_embedded_broker():
    embedded = EmbeddedBroker(free_port())
    client = BotClient(embedded.address)
    async with serving(embedded.address) as bot:
        await client.wait_for("bot", PATIENCE)
        answer = await client.ask("bot", "g", SearchRequest(None, ("e2e4",), nodes=1), 10.0)
        assert answer.move == "a7a5"
        async with serving(embedded.address) as second:
            with pytest.raises(NameTakenError):
                await asyncio.wait_for(second.task, PATIENCE)
        assert not bot.task.done()
    await client.close()
    embedded.close()
