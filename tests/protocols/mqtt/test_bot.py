"""A bot with hostile clients, and with other bots of its name."""

import asyncio
import json
import random
import threading

import jsonschema
import pytest

from protocols.client.process import EngineError
from protocols.client.uci import PlayResult
from protocols.mqtt import topics
from protocols.mqtt.bot import NameTakenError
from protocols.mqtt.broker import Broker
from protocols.mqtt.broker_monitor import BrokerLostError
from protocols.mqtt.connection import Connection
from protocols.mqtt.request_parser import GameRequestParser
from tests.mosquitto import Listening, Mosquitto
from tests.protocols.mqtt.support import Asker, FakeBotEngine, serving
from tests.waiting import PATIENCE, eventually, free_port

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def garbage(topic, generator):
    """Yield invalid and unusual requests."""
    base = {"id": "x", "reply_to": topic, "game": "g", "moves": ["e2e4"], "limits": {"nodes": 1}}
    strange = [
        None, True, -1, 0, 2.5, 10**300, "", "0000", "x" * 5000, "\ud800", "\0", [], {}, [[]],
        "kempelen/v1/replies/+", "kempelen/v1/replies/#", "kempelen/v1/bots/bot/status", "$SYS/x",
        "kempelen/v1/replies/\ud800", "kempelen/v1/replies/\0", "kempelen/v1/replies/\x01",
        "kempelen/v1/replies/" + "x" * 70_000, ["0000"], ["e2e4"] * 30_000, {"time": "x"},
        {"nodes": 10**30}, {"depth": 0}, {"movetime": 1e300}, {"movetime": 3600}, f"{START}\nquit",
    ]  # fmt: skip
    yield json.dumps({**base, "id": float("nan")}).encode()
    yield json.dumps({**base, "limit": float("inf")}).encode()
    yield json.dumps(base).encode().replace(b"1}", b"1e999}")
    yield json.dumps({**base, "fen": "FEN"}).encode().replace(b'"FEN"', b"[" * 900 + b"]" * 900)
    yield json.dumps({**base, "x": "X"}).encode().replace(b'"X"', b"[" * 9000 + b"]" * 9000)
    yield json.dumps({**base, "x": "X"}).encode().replace(b'"X"', b"9" * 9000)
    yield b"\xff\xfe\x00{"
    yield json.dumps(base).encode("utf-16")
    yield b"x" * 3_000_000
    yield b'{"id": "' + b"x" * 900_000 + b'"}'
    for key in (*base, "fen", "limit", "chess960"):
        yield json.dumps({k: v for k, v in base.items() if k != key}).encode()
        for value in strange:
            yield json.dumps({**base, key: value}).encode()
    for _ in range(100):
        data = bytearray(json.dumps(base).encode())
        data[generator.randrange(len(data))] = generator.randrange(256)
        yield bytes(data)


@pytest.mark.thorough
async def test_malformed_requests_do_not_stop_the_bot(mosquitto):
    listening = Listening(mosquitto.broker)
    async with serving(mosquitto.broker) as bot:
        asker = Asker(mosquitto.broker)
        for number, data in enumerate(garbage(asker.topic, random.Random(1))):
            asker.send(data)
            if number % 50 == 49:
                await eventually(lambda: not asker.connection.pending_count)
        asker.ask("last", limit=30)
        assert (await asker.reply("last"))["move"] == "a2a3"
        assert not bot.task.done()
        assert bot.thinker.requests
        assert [
            request.position_line() for request in bot.thinker.requests if "\n" in str(request)
        ] == []
        await asker.close()
    written = {topic for topic, _ in listening.messages} - {asker.requests}
    assert all(topic == "kempelen/v1/bots/bot/status" or "/replies/" in topic for topic in written)
    schema = {**json.loads(topics.schema_text()), "$ref": "#/$defs/reply"}
    validator = jsonschema.Draft202012Validator(schema)
    replies = [payload for topic, payload in listening.messages if "/replies/" in topic]
    assert len(replies) > 100
    for payload in replies:
        validator.validate(payload)
    listening.connection.close()


async def test_null_move_is_rejected_and_chess960_accepted(mosquitto):
    async with serving(mosquitto.broker) as bot:
        asker = Asker(mosquitto.broker)
        asker.ask("null", moves=["0000"])
        assert (await asker.reply("null"))["error"]["code"] == "bad_request"
        asker.ask("castling", chess960=True)
        assert (await asker.reply("castling"))["move"] == "a2a3"
        assert [variant.rules.chess960 for variant in bot.thinker.variants] == [True]
        await asker.close()


async def test_repeated_request_is_searched_once(mosquitto):
    async with serving(mosquitto.broker, thinker=FakeBotEngine(0.3)) as bot:
        asker = Asker(mosquitto.broker)
        for _ in range(3):
            asker.ask("1", moves=["e2e4"])
        await asker.reply("1")
        asker.ask("1", moves=["e2e4"])
        await eventually(lambda: len(asker.replies) == 2)
        assert asker.replies[0] == asker.replies[1]
        assert len(bot.thinker.requests) == 1
        asker.ask("1", moves=["d2d4"])  # another request in spite of its id
        await eventually(lambda: len(asker.replies) == 3)
        assert len(bot.thinker.requests) == 2
        await asker.close()


async def test_one_client_cannot_monopolize_the_bot(mosquitto):
    thinker = FakeBotEngine(0.1)
    limits = {"queue_limit": 6, "client_limit": 4, "longest": 0.5}
    async with serving(mosquitto.broker, thinker=thinker, **limits):
        greedy, modest = Asker(mosquitto.broker), Asker(mosquitto.broker)
        for number in range(8):
            greedy.ask(f"g{number}", limit=3600)
        await eventually(lambda: any("error" in reply for reply in greedy.replies))
        modest.ask("m")
        assert (await modest.reply("m"))["move"]
        served = [reply for reply in greedy.replies if "move" in reply]
        assert len(served) <= 3
        modest.ask("hour", limits={"movetime": 3600})
        error = (await modest.reply("hour"))["error"]
        assert error["code"] == "bad_request"
        assert "at most 0.5 s" in error["message"]
        thinker.delay = 5
        modest.ask("slow", limit=3600)
        assert (await modest.reply("slow"))["error"]["code"] == "time_limit"
        await greedy.close()
        await modest.close()


async def test_engine_failure_affects_only_one_request(mosquitto):
    class Broken(FakeBotEngine):
        async def search(self, request, limit):
            if not self.requests:
                self.requests.append(request)
                raise self.error
            return await super().search(request, limit)

    for error in (ZeroDivisionError("x"), EngineError("died")):
        thinker = Broken()
        thinker.error = error
        async with serving(mosquitto.broker, thinker=thinker):
            asker = Asker(mosquitto.broker)
            asker.ask("1")
            assert (await asker.reply("1"))["error"]["code"] == "engine"
            asker.ask("2")
            assert (await asker.reply("2"))["move"]
            await asker.close()


STUCK = """
import time
from agent.games.nim import Nim

class Stuck(Nim):
    def play(self, move):
        while self.text(move) == "c5":
            time.sleep(0.01)
        super().play(move)
"""


async def test_hanging_game_code_affects_only_its_request(mosquitto, tmp_path):
    (tmp_path / "stuck.py").write_text(STUCK)
    positions = GameRequestParser(f"{tmp_path / 'stuck.py'}:Stuck", {})

    class First(FakeBotEngine):
        async def search(self, request, limit):
            return PlayResult("a1", None, None, 0.0)

    async with serving(mosquitto.broker, thinker=First(), positions=positions):
        asker, kind = Asker(mosquitto.broker), {"name": "Stuck"}
        for number in range(8):  # more than the threads of a default pool on few cores
            asker.ask(f"stuck {number}", kind=kind, moves=["c5"], limit=0.2)
            reply = await asker.reply(f"stuck {number}")
            assert reply["error"]["code"] == "time_limit", reply
        asker.ask("well", kind=kind, moves=["b2"])
        assert (await asker.reply("well"))["move"] == "a1"
        await asker.close()
    await eventually(lambda: "request" not in [thread.name for thread in threading.enumerate()])


async def test_second_bot_with_the_same_name_is_rejected(mosquitto, monkeypatch):
    monkeypatch.setattr("protocols.mqtt.bot.CLAIM_TIMEOUT_S", PATIENCE)  # the other bot answers
    listening = Listening(mosquitto.broker, topics.bot("+", "status"))
    async with serving(mosquitto.broker) as first:
        async with serving(mosquitto.broker) as second:
            with pytest.raises(NameTakenError, match="bot: another bot of this name is online"):
                await asyncio.wait_for(second.task, PATIENCE)
        await asyncio.sleep(0.2)
        assert listening.of("/status")[-1]["run"] == first._run_id
        assert {p["state"] for p in listening.of("/status")} == {"online"}
        asker = Asker(mosquitto.broker)
        asker.ask("1")
        assert (await asker.reply("1"))["move"]
        await asker.close()
    await eventually(lambda: listening.of("/status")[-1]["state"] == "offline")
    async with serving(mosquitto.broker) as third:
        assert not third.task.done()
    listening.connection.close()


async def test_only_one_of_concurrent_bots_gets_the_name(mosquitto, monkeypatch):
    monkeypatch.setattr("protocols.mqtt.bot.CLAIM_GRACE_S", PATIENCE)
    contexts = [serving(mosquitto.broker) for _ in range(5)]
    bots = await asyncio.gather(*(context.__aenter__() for context in contexts))
    await eventually(lambda: sum(bot.task.done() for bot in bots) == 4)
    await asyncio.sleep(0.5)
    refused = [bot for bot in bots if bot.task.done()]
    assert len(refused) == 4
    assert all(isinstance(bot.task.exception(), NameTakenError) for bot in refused)
    asker = Asker(mosquitto.broker)
    asker.ask("1")
    assert (await asker.reply("1"))["move"]
    await asker.close()
    for context in contexts:
        await context.__aexit__(None, None, None)


async def test_refused_bot_answers_no_claim(mosquitto, monkeypatch):
    monkeypatch.setattr("protocols.mqtt.bot.CLAIM_GRACE_S", PATIENCE)
    status = topics.bot("bot", "status")
    listening = Listening(mosquitto.broker, topics.bot("+", "status"))
    async with serving(mosquitto.broker) as bot:
        rival = {"name": "bot", "state": "online", "engine": "rival"}
        listening.connection.publish(status, {**rival, "run": "0"})  # less than any other id
        listening.connection.publish(status, {**rival, "run": "x", "claim": True})
        with pytest.raises(NameTakenError):
            await asyncio.wait_for(bot.task, PATIENCE)
    await eventually(lambda: any(p["run"] == "x" for p in listening.of("/status")))
    assert not any("answers" in payload for payload in listening.of("/status"))
    listening.connection.close()


async def test_crashed_bot_can_be_replaced(mosquitto):
    dead = Connection(mosquitto.broker)
    stale = {"name": "bot", "state": "online", "engine": "dead", "run": "0"}
    dead.publish_retained(topics.bot("bot", "status"), stale)
    await eventually(lambda: not dead.pending_count)
    listening = Listening(mosquitto.broker, topics.bot("+", "status"))
    async with serving(mosquitto.broker) as bot:
        assert not bot.task.done()
        assert bot.reports == [f"bot: online on {mosquitto.broker}"]
        await eventually(lambda: listening.of("/status")[-1].get("run") == bot._run_id)
        # The broker notices late that the other bot is dead, and sends its last will.
        dead.publish_retained(topics.bot("bot", "status"), {**stale, "state": "lost"})
        await eventually(lambda: any(p["state"] == "lost" for p in listening.of("/status")))
        await eventually(lambda: listening.of("/status")[-1].get("run") == bot._run_id)
        assert listening.of("/status")[-1]["state"] == "online"
    dead.close()
    listening.connection.close()


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
async def test_name_denied_by_the_broker_is_rejected(tmp_path):
    acl = (
        "user runner\ntopic readwrite kempelen/v1/bots/mine/#\ntopic write kempelen/v1/replies/#\n"
    )
    mosquitto = Mosquitto(tmp_path, acl=acl)
    async with serving(mosquitto.broker, "mine") as bot:
        assert not bot.task.done()
    async with serving(mosquitto.broker, "yours") as bot:
        with pytest.raises(NameTakenError, match=r"bots/yours/status: Not authorized"):
            await asyncio.wait_for(bot.task, PATIENCE)
    mosquitto.kill()


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
async def test_bot_reconnects_after_a_broker_restart(tmp_path):
    mosquitto = Mosquitto(tmp_path)
    async with serving(mosquitto.broker, patience=5.0) as bot:
        mosquitto.kill()
        await eventually(lambda: "no connection" in bot.reports[-1])
        await asyncio.sleep(1.0)
        mosquitto.start()
        await eventually(lambda: "connected after" in bot.reports[-1])
        asker = Asker(mosquitto.broker)
        asker.ask("1")
        assert (await asker.reply("1"))["move"]
        await asker.close()
    mosquitto.kill()


async def test_bot_gives_up_on_an_unreachable_broker():
    nowhere = Broker("127.0.0.1", free_port())
    async with serving(nowhere, patience=0.5) as bot:
        with pytest.raises(BrokerLostError, match=r"no connection for 0.5 s: Connection refused"):
            await asyncio.wait_for(bot.task, PATIENCE)
        assert "retrying for at most 0.5 s" in bot.reports[0]
        assert not any("online on" in text for text in bot.reports)
