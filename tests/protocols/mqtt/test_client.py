"""A client of bots, with a broker that fails and bots that answer anything."""

import asyncio
import json
import random
import time
from contextlib import asynccontextmanager

import pytest

from protocols.client.engine import EngineTimeoutError
from protocols.client.process import EngineError
from protocols.client.uci import PlayResult, SearchRequest
from protocols.mqtt import topics
from protocols.mqtt.broker_monitor import BrokerLostError
from protocols.mqtt.client import MAX_STATUS_LENGTH, BotClient
from protocols.mqtt.connection import HEARTBEAT_INTERVAL_S, HEARTBEAT_TIMEOUT_S, Connection
from tests.mosquitto import Mosquitto
from tests.protocols.mqtt.support import FakeBotEngine, serving
from tests.waiting import PATIENCE, eventually

REQUEST = SearchRequest(None, ("e2e4",), nodes=1)


@asynccontextmanager
async def asking(broker, **options):
    client = BotClient(broker, **options)
    yield client
    await client.close()


async def test_request_does_not_wait_for_tcp_acknowledgement(mosquitto):
    """Without TCP_NODELAY small messages wait 40 ms, twice per request and reply."""
    times = []
    async with serving(mosquitto.broker), asking(mosquitto.broker) as client:
        await client.wait_for_bot("bot", PATIENCE)
        for _ in range(20):
            began = time.perf_counter()
            await client.request_move("bot", "g", REQUEST, 10)
            times.append(time.perf_counter() - began)
    assert min(times) < 0.03


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
@pytest.mark.parametrize("settings", ["", "persistence true\npersistence_location {}/\n"])
async def test_request_survives_a_broker_restart(tmp_path, settings):
    mosquitto = Mosquitto(tmp_path, settings=settings.format(tmp_path))
    thinker = FakeBotEngine(0.3)
    reports = []
    async with (
        serving(mosquitto.broker, thinker=thinker),
        asking(mosquitto.broker, tell=reports.append) as client,
    ):
        await client.wait_for_bot("bot", PATIENCE)
        pending = asyncio.create_task(client.request_move("bot", "g", REQUEST, 1.0))
        await eventually(lambda: thinker.requests)
        mosquitto.kill()
        await asyncio.sleep(1.5)
        assert not pending.done()
        mosquitto.start()
        answer = await pending
        assert answer.move == "a7a5"
        assert answer.elapsed < 1.0
        assert len(thinker.requests) == 1
        await eventually(lambda: len(reports) == 2)
        assert "no connection" in reports[0]
        assert "connected after" in reports[1]
        await client.wait_for_bot("bot", PATIENCE)
        assert (await client.request_move("bot", "g", REQUEST, 5.0)).move == "a7a5"
    mosquitto.kill()


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
async def test_request_made_while_broker_is_down_is_answered(tmp_path):
    mosquitto = Mosquitto(tmp_path)
    async with serving(mosquitto.broker), asking(mosquitto.broker) as client:
        await client.wait_for_bot("bot", PATIENCE)
        mosquitto.kill()
        await eventually(lambda: client._connection.seconds_disconnected)
        pending = asyncio.create_task(client.request_move("bot", "g", REQUEST, 1.0))
        await asyncio.sleep(1.5)
        mosquitto.start()
        assert (await pending).elapsed < 1.0
    mosquitto.kill()


async def test_request_survives_a_hung_broker(mosquitto):
    thinker = FakeBotEngine(0.3)
    async with serving(mosquitto.broker, thinker=thinker), asking(mosquitto.broker) as client:
        await client.wait_for_bot("bot", PATIENCE)
        limit = HEARTBEAT_INTERVAL_S + HEARTBEAT_TIMEOUT_S + 0.5  # longer than the detection
        pending = asyncio.create_task(client.request_move("bot", "g", REQUEST, limit))
        await eventually(lambda: thinker.requests)
        mosquitto.freeze()
        await asyncio.sleep(limit + 0.5)
        mosquitto.thaw()
        assert (await pending).elapsed < limit
        await client.wait_for_bot("bot", PATIENCE)


async def test_slow_bot_times_out(mosquitto):
    async with (
        serving(mosquitto.broker, thinker=FakeBotEngine(5.0)),
        asking(mosquitto.broker) as client,
    ):
        await client.wait_for_bot("bot", PATIENCE)
        began = time.monotonic()
        with pytest.raises(EngineTimeoutError, match=r"no answer within 0\.5 s|no move within"):
            await client.request_move("bot", "g", REQUEST, 0.5)
        assert time.monotonic() - began < 3.0


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
async def test_client_gives_up_waiting_for_a_lost_broker(tmp_path):
    mosquitto = Mosquitto(tmp_path)
    async with (
        serving(mosquitto.broker, thinker=FakeBotEngine(9)),
        asking(mosquitto.broker, patience=1.0) as client,
    ):
        await client.wait_for_bot("bot", PATIENCE)
        pending = asyncio.create_task(client.request_move("bot", "g", REQUEST, 0.5))
        await asyncio.sleep(0.2)
        mosquitto.kill()
        with pytest.raises(BrokerLostError, match="no connection for 1 s"):
            await pending
        began = time.monotonic()
        with pytest.raises(BrokerLostError):
            await client.wait_for_broker()
        assert time.monotonic() - began > 0.9
    mosquitto.kill()


async def test_request_is_resent_to_a_restarted_bot(mosquitto):
    async with asking(mosquitto.broker) as client:
        async with serving(mosquitto.broker, thinker=FakeBotEngine(9)):
            await client.wait_for_bot("bot", PATIENCE)
            pending = asyncio.create_task(client.request_move("bot", "g", REQUEST, 20.0))
            await asyncio.sleep(0.2)
        async with serving(mosquitto.broker):
            assert (await pending).move == "a7a5"


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
async def test_request_refused_by_the_broker_raises(tmp_path):
    acl = (
        "user runner\ntopic readwrite kempelen/v1/bots/+/status\ntopic read kempelen/v1/replies/#\n"
    )
    mosquitto = Mosquitto(tmp_path, acl=acl)
    async with asking(mosquitto.broker) as client:
        with pytest.raises(EngineError, match="the broker does not allow requests: Not authorized"):
            await client.request_move("bot", "g", REQUEST, 20.0)
    mosquitto.kill()


def rubbish(number, generator):
    """Yield invalid replies to the request with an id."""
    reply = {
        "id": number,
        "move": "a7a5",
        "ponder": None,
        "time": 1.0,
        "info": {"depth": 1, "cp": 1},
    }
    strange = [None, True, -1, 10**300, 1.5, "x" * 5000, "\x1b[31m", [], {}, [[]], {"cp": 10**40}]
    yield json.dumps({**reply, "time": float("nan")}).encode()
    yield json.dumps({**reply, "id": "X"}).encode().replace(b'"X"', b"[" * 9000 + b"]" * 9000)
    yield b"\xff\xfe"
    yield b"x" * 2_000_000
    for key in (*reply, "error"):
        for value in strange:
            yield json.dumps({**reply, key: value}).encode()
    for _ in range(50):
        data = bytearray(json.dumps(reply).encode())
        data[generator.randrange(len(data))] = generator.randrange(256)
        yield bytes(data)


async def test_statuses_use_a_limited_amount_of_memory():
    client = BotClient.__new__(BotClient)  # not connected to a broker
    client._bots = {}
    kind = {"name": "nim", "options": {"heaps": [1] * MAX_STATUS_LENGTH}}
    client._on_status("bot", {"name": "bot", "state": "online", "kind": kind})
    client._on_status("x" * MAX_STATUS_LENGTH, {"name": "bot", "state": "online"})
    assert client._bots == {}


@pytest.mark.thorough
async def test_malformed_replies_and_statuses_do_not_stop_the_client(mosquitto):
    bad = Connection(mosquitto.broker)
    assert bad.connected.wait(10)
    status = topics.bot("bad", "status")

    def send(topic, data):
        bad._messages.append((topic, data))
        bad._wake()

    generator = random.Random(2)
    async with asking(mosquitto.broker) as client:
        for payload in (b"", b"[]", b'{"state": []}', b'{"name": 1, "state": "online"}', b"\xff"):
            send(status, payload)
            send("kempelen/v1/bots//status", payload)
        outcomes = []
        for _ in range(3):
            for data in rubbish("NUMBER", generator):
                pending = asyncio.create_task(client.request_move("bad", "g", REQUEST, 5.0))
                await asyncio.sleep(0)
                number = next(iter(client._pending))
                send(client._replies, data.replace(b"NUMBER", number.encode()))
                good = {"id": number, "move": "a7a5", "time": 1, "info": None}
                send(client._replies, json.dumps(good).encode())
                outcomes += await asyncio.gather(pending, return_exceptions=True)
        errors = [outcome for outcome in outcomes if isinstance(outcome, EngineError)]
        moves = [outcome.move for outcome in outcomes if isinstance(outcome, PlayResult)]
        assert len(outcomes) == len(errors) + len(moves)
        assert errors
        assert "a7a5" in moves
        assert all(len(str(error)) < 500 for error in errors)
    async with serving(mosquitto.broker), asking(mosquitto.broker) as client:
        await client.wait_for_bot("bot", PATIENCE)
        assert (await client.request_move("bot", "g", REQUEST, 5.0)).move == "a7a5"
    bad.close()
