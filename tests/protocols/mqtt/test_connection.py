"""A connection to brokers of all kinds."""

import asyncio
import time

from protocols.mqtt.broker import Broker
from protocols.mqtt.connection import Connection
from protocols.mqtt.version import speaks_version_5
from tests.mosquitto import Listening, Mosquitto, until


async def test_versions(mosquitto):
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


async def test_what_the_broker_refuses_is_said(tmp_path):
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


async def test_what_cannot_be_published_stops_nothing(tmp_path):
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


async def test_a_receiver_that_fails_receives_on(mosquitto):
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


async def test_a_broker_that_does_not_answer_is_away(mosquitto):
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


async def test_one_who_is_back_is_not_taken_for_lost(mosquitto):
    """Its last connection, half open, ends before the next begins, and so does that one's will."""
    listening = Listening(mosquitto.broker, "t")
    connection = Connection(mosquitto.broker, will=("t", {"state": "lost"}))
    connection.snapshot("t", {"state": "online"})
    await until(lambda: listening.of("t"))
    again = Connection(mosquitto.broker, will=("t", {"state": "lost"}))
    await until(lambda: again.connected.is_set())
    again._identifier = connection._identifier
    assert connection._identifier
    again.close()
    connection.close()
    listening.connection.close()
