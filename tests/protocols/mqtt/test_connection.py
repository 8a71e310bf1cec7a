"""Connections to brokers of all kinds."""

import asyncio
import contextlib
import time

import pytest

from protocols.client.uci import SearchRequest
from protocols.mqtt.bot import NameTakenError
from protocols.mqtt.broker import Broker
from protocols.mqtt.client import BotClient
from protocols.mqtt.connection import Connection
from protocols.mqtt.embedded import EmbeddedBroker
from protocols.mqtt.protocol_version import supports_mqtt5
from tests.mosquitto import Listening, Mosquitto
from tests.protocols.mqtt.support import serving
from tests.waiting import PATIENCE, eventually, free_port


async def test_mqtt_version_5_support_is_detected(mosquitto):
    assert await supports_mqtt5(mosquitto.broker)

    async def old(reader, writer):
        await reader.read(15)
        writer.write(b"\x20\x02\x00\x01")
        writer.close()

    async def rude(reader, writer):
        writer.close()

    for behave in (old, rude):
        server = await asyncio.start_server(behave, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        assert not await supports_mqtt5(Broker("127.0.0.1", port))
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize(
    ("answer", "tls", "problem"),
    [
        (b"\x15\x03\x01\x00\x02\x02\x46", False, "the port requires TLS (use mqtts://)"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", False, "not an MQTT broker (use another port)"),
        (b"\x20\x02\x00\x01", True, "not a TLS port (use mqtt://, or another port)"),
        (b"", True, "not a TLS port (use mqtt://, or another port)"),
        (b"\x15\x03\x01\x00\x02\x02\x46", True, "alert protocol version"),
    ],
    ids=["TLS", "HTTP", "MQTT without TLS", "closed", "other version of TLS"],
)
async def test_wrong_ports_are_reported(answer, tls, problem):
    clients = []

    async def behave(reader, writer):
        clients.append(writer)
        await reader.read(15)
        writer.write(answer)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        clients.remove(writer)

    server = await asyncio.start_server(behave, "127.0.0.1", 0)
    connection = Connection(Broker("127.0.0.1", server.sockets[0].getsockname()[1], tls=tls))
    await asyncio.to_thread(connection.first_attempt_done.wait, PATIENCE)
    assert problem in connection.error
    await asyncio.to_thread(connection.close)
    server.close()
    await server.wait_closed()
    await eventually(lambda: not clients)


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
async def test_refused_topics_are_reported(tmp_path):
    mosquitto = Mosquitto(tmp_path, acl="user runner\ntopic readwrite allowed/#\n")
    refused = []
    connection = Connection(mosquitto.broker, on_rejected=lambda *item: refused.append(item))
    connection.publish("allowed/a", {})
    connection.publish("denied/a", {})
    connection.publish_retained("denied/b", {})
    connection.publish_persistent("key", "denied/c", {})
    connection.publish("allowed/b", {})
    await eventually(lambda: not connection.pending_count)
    expected = {f"denied/{name}": "Not authorized" for name in "abc"}
    assert connection.rejected == dict(refused) == expected
    assert connection.published == 2
    connection.close()
    mosquitto.kill()


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
async def test_unpublishable_messages_do_not_block_others(tmp_path):
    mosquitto = Mosquitto(tmp_path, settings="max_packet_size 10000\n")
    listening = Listening(mosquitto.broker, "t/#")
    connection = Connection(mosquitto.broker)
    for topic in ("t/+", "t/\ud800", "t/" + "x" * 70_000, ""):
        connection.publish(topic, {})
    connection.publish_retained("t/long", {"x": "x" * 20_000})
    await eventually(lambda: not connection.pending_count, 30)
    connection.publish("t/last", {"x": 1})
    await eventually(lambda: listening.of("t/last"))
    assert len(connection.rejected) == 5
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
        connection.publish(f"t/{number}", {})
    await eventually(lambda: len(heard) == 3)
    connection.close()


async def test_unresponsive_broker_is_detected(mosquitto):
    changes = []
    connection = Connection(
        mosquitto.broker,
        subscriptions=["t"],
        on_broker_change=lambda *change: changes.append(change),
        use_heartbeat=True,
    )
    assert connection.connected.wait(10)
    mosquitto.freeze()
    frozen = time.monotonic()
    await eventually(lambda: connection.seconds_disconnected)
    assert changes[-1][1] == "no answer"
    assert changes[-1][2] - frozen < 2.0
    mosquitto.thaw()
    await eventually(lambda: not connection.seconds_disconnected)
    assert [connected for connected, _, _ in changes] == [True, False, True]
    connection.close()


async def test_status_is_online_again_after_reconnecting(mosquitto):
    """After a one-sided disconnect the old connection ends, with its will, before the new one."""
    ends, closed = [], []
    tasks = set()  # asyncio itself does not keep a task that waits for another connection

    async def proxy(reader, writer):
        tasks.add(asyncio.current_task())
        source_reader, target_writer = await asyncio.open_connection("127.0.0.1", mosquitto.port)

        async def forward(source, target, ended):
            while data := await source.read(1000):
                target.write(data)
            ended.set()

        ends.append((writer, asyncio.Event()))
        await asyncio.gather(
            forward(source_reader, writer, ends[-1][1]),
            forward(reader, target_writer, asyncio.Event()),
            return_exceptions=True,
        )
        for end in (target_writer, writer):
            end.close()
            await end.wait_closed()
        closed.append(writer)

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    listening = Listening(mosquitto.broker, "t")
    broker = Broker("127.0.0.1", port, "runner", "secret")
    connection = Connection(broker, will=("t", {"state": "lost"}))
    connection.publish_retained("t", {"state": "online"})
    await eventually(lambda: listening.of("t"))
    await eventually(lambda: not connection.pending_count)
    writer, ended = ends[-1]
    writer.close()
    await asyncio.wait_for(ended.wait(), PATIENCE)
    await eventually(lambda: connection.connected.is_set() and not connection.pending_count)
    await eventually(lambda: len(listening.of("t")) >= 2)
    assert listening.of("t")[-1] == {"state": "online"}
    await asyncio.to_thread(connection.close)
    listening.connection.close()
    await eventually(lambda: len(closed) == len(ends))
    await asyncio.gather(*tasks)
    server.close()
    await server.wait_closed()


async def test_bots_work_over_the_embedded_broker(monkeypatch):
    monkeypatch.setattr("protocols.mqtt.bot.CLAIM_TIMEOUT_S", PATIENCE)  # the other bot answers
    embedded = EmbeddedBroker(free_port())
    client = BotClient(embedded.address)
    async with serving(embedded.address) as bot:
        await client.wait_for_bot("bot", PATIENCE)
        answer = await client.request_move(
            "bot", "g", SearchRequest(None, ("e2e4",), nodes=1), PATIENCE
        )
        assert answer.move == "a7a5"
        async with serving(embedded.address) as second:
            with pytest.raises(NameTakenError):
                await asyncio.wait_for(second.task, PATIENCE)
        assert not bot.task.done()
    await client.close()
    embedded.close()
