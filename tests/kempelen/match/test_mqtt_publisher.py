"""Tournaments over MQTT, and with bots, with a real Mosquitto broker."""

import asyncio
import functools
import io
import json
import os
import signal
import subprocess
import sys
import time

import jsonschema
import pytest

from kempelen.console.settings_codec import encode
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.settings import Adjudication
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.game_result import Termination
from kempelen.match.live.events import GameFinished, GameStarted, Notice, Status
from kempelen.match.live.live_state import LiveState
from kempelen.match.live.mqtt_publisher import MqttPublisher, MqttSubscriber
from kempelen.match.pairing.formats import Format
from kempelen.match.records.game_record import GameRecord, encode_record
from kempelen.match.runner import LocalExecutor
from protocols import tasks
from protocols.client.engine import EngineError, EngineTimeoutError
from protocols.client.uci import SearchRequest
from protocols.mqtt import topics
from protocols.mqtt.bot import Bot
from protocols.mqtt.broker import PASSWORD_VARIABLE, USER_VARIABLE, Broker, BrokerError
from protocols.mqtt.client import BotClient
from protocols.mqtt.connection import Connection
from tests.kempelen.match.support import bots, engine, play, play_with, settings
from tests.kempelen.match.test_standings import played
from tests.mosquitto import Listening
from tests.protocols.mqtt.support import FakeBotEngine, serving
from tests.support import failing
from tests.waiting import PATIENCE, eventually, free_port

pytestmark = pytest.mark.early

KINDS = {
    "runner": "runner",
    "status": "status",
    "standings": "standings",
    "boards": "board",
    "moves": "move",
    "info": "info",
    "result": "result",
    "record": "record",
    "curve": "curve",
}


def quick_settings(*engines, **changes):
    changes.setdefault("adjudication", Adjudication(maxmoves=4))
    return settings(*(engines or (engine(), engine())), **changes)


def slow_pair(games=4):
    control = TimeControl(movetime=0.25, margin=5)
    return quick_settings(engine("late"), engine("late"), games=games, time=control)


def retained_snapshots(broker, name="match"):
    receiver = MqttSubscriber(name)
    connection = Connection(
        broker, subscriptions=[receiver.subscription], on_message=receiver.on_message
    )
    return receiver, connection


@functools.cache
def validator(kind):
    """Return a validator for payloads of a kind, by the published schema."""
    schema = {**json.loads(topics.schema_text()), "$ref": f"#/$defs/{kind}"}
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def kind_of(topic):
    return KINDS[next(part for part in topic.split("/")[4:] if part in KINDS)]


async def test_published_messages_follow_schema_and_match_records(mosquitto):
    listening = Listening(mosquitto.broker)
    broadcast = MqttPublisher(mosquitto.broker, "match")
    _, records = await play(quick_settings(games=4), listeners=[broadcast])
    await asyncio.to_thread(broadcast.close)
    await eventually(lambda: any(p["state"] == "offline" for p in listening.of("/runner")))
    for topic, payload in listening.messages:
        validator(kind_of(topic)).validate(payload)
    moves = [p for p in listening.of("/moves") if (p["pair"], p["game"]) == ("1.1-2.1", 1)]
    assert [m["move"] for m in moves] == [m.move for m in records[0].moves]
    sequences = [p["sequence"] for p in listening.of("/moves")]
    assert sequences == sorted(set(sequences))
    assert [p["result"] for p in listening.of("/result")] == [r.result for r in records]
    listening.connection.close()


def test_schema_describes_rules_and_reason_of_games():
    """They are known to subscribers that read nothing but the schema."""
    state = LiveState()
    end = GameRecord("1", 1, "A", "B", "", (), (), "1-0", Termination.CHECKMATE, variant="atomic")
    state.apply(GameStarted(0, "1", 1, "A", "B", "", (), "", "white", None, None, "atomic"))
    state.apply(GameFinished(0, end))
    source = {"run": "r", "sequence": 1}
    for kind, payload in (("board", state.boards[0]), ("record", encode_record(end))):
        validator(kind).validate({**payload, **source})
        described = validator(kind).schema["$defs"][kind]["properties"]
        assert {"variant", "chess960", "detail"} <= payload.keys() & described.keys()


@pytest.mark.parametrize("format_", list(Format))
def test_standings_of_every_format_follow_the_schema(format_):
    chosen = settings(*map(engine, "ABC"), format=format_)
    for _, summary in played(chosen, lambda key, game: 1.0 if key.first == 0 else 0.5):
        payload = {**encode(summary), "run": "r", "sequence": 1}
        validator("standings").validate(payload)
        assert payload["format"] == format_


@pytest.mark.thorough
async def test_a_late_watcher_sees_the_whole_state(mosquitto):
    broadcast = MqttPublisher(mosquitto.broker, "match")
    await play(quick_settings(games=4), listeners=[broadcast])
    await asyncio.to_thread(broadcast.close)
    receiver, connection = retained_snapshots(mosquitto.broker)
    await eventually(lambda: receiver.state.boards and receiver.state.status and receiver.runner)
    assert receiver.runner == "offline"
    assert receiver.state.status["state"] == "complete"
    assert receiver.state.status["played"] == 4
    assert receiver.state.standings["played"] == 4
    assert len(receiver.state.boards[0]["moves"]) > 0
    await eventually(lambda: len(receiver.games) == 4 and "curve" in receiver.state.snapshots)
    assert sorted(receiver.games)[0] == "1.1-2.1.1"
    points = receiver.state.snapshots["curve"]["points"]
    assert points[-1]["played"] == 4
    connection.close()
    command = [sys.executable, "-m", "kempelen.cli", "mqtt", "watch", "--once", "match"]
    shown = subprocess.run(
        [*command, "--mqtt", f"mqtt://127.0.0.1:{mosquitto.port}"],
        env={**os.environ, USER_VARIABLE: "runner", PASSWORD_VARIABLE: "secret"},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert "4/4" in shown.stdout
    refused = subprocess.run(
        [*command, "--wait", "3", "--mqtt", f"mqtt://127.0.0.1:{mosquitto.port}"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert refused.returncode == 2
    assert "uthori" in refused.stderr


@pytest.mark.thorough
async def test_broadcast_recovers_after_broker_restart(mosquitto):
    broadcast = MqttPublisher(mosquitto.broker, "match")
    assert broadcast.connection.connected.wait(10)
    playing = asyncio.create_task(play(slow_pair(), boards=2, listeners=[broadcast]))
    await asyncio.sleep(1.0)
    mosquitto.kill()
    await asyncio.sleep(1.0)
    mosquitto.start()
    receiver, connection = retained_snapshots(mosquitto.broker)
    await eventually(lambda: receiver.state.status and len(receiver.state.boards) == 2)
    assert receiver.state.status["state"] == "running"
    assert receiver.runner == "online"
    finish, records = await playing
    assert finish.complete
    assert len(records) == 4
    await asyncio.to_thread(broadcast.close)
    await eventually(lambda: receiver.state.status["state"] == "complete")
    connection.close()


@pytest.mark.thorough
async def test_unreachable_broker_does_not_slow_match():
    broadcast = MqttPublisher(Broker("127.0.0.1", free_port()), "match")
    began = time.monotonic()
    finish, _ = await play(quick_settings(games=4), boards=2, listeners=[broadcast])
    assert finish.complete
    assert time.monotonic() - began < 30
    began = time.monotonic()
    await asyncio.to_thread(broadcast.close)
    assert time.monotonic() - began < 8


@pytest.mark.thorough
async def test_killed_runner_is_reported_as_lost(mosquitto, tmp_path):
    command, arguments = failing("late")
    spec = f"cmd={command},args={' '.join(arguments)},name=late"
    runner = subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli", "match", "--engine", spec, "--engine", spec,
         "--movetime", "9", "--games", "100", "--mqtt", f"mqtt://127.0.0.1:{mosquitto.port}"],
        env={**os.environ, USER_VARIABLE: "runner", PASSWORD_VARIABLE: "secret"},
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    receiver, connection = retained_snapshots(mosquitto.broker)
    await eventually(lambda: receiver.runner == "online" and receiver.state.boards, 30)
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    await eventually(lambda: receiver.runner == "lost", 30)
    connection.close()


async def make_bot(mosquitto, failure="none", **options):
    from kempelen.commands.mqtt_bot import RestartingEngine

    thinker = RestartingEngine(engine(failure))
    await thinker.get()
    bot = Bot(mosquitto.broker, failure, "tests", thinker.get, **options)
    serving = asyncio.create_task(bot.serve())

    async def stop():
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await thinker.close()

    return stop


async def test_bot_answers_valid_requests_and_rejects_invalid_ones(mosquitto):
    stop = await make_bot(mosquitto)
    client = BotClient(mosquitto.broker)
    await client.wait_for_bot("none", PATIENCE)
    answer = await client.request_move("none", "g", SearchRequest(None, ["e2e4"], nodes=5), 10)
    assert answer.move == "a7a5"
    assert answer.info.depth == 1
    for request, message in [
        (SearchRequest("8/8/8/8/8/8/8/8 w - - 0 1", nodes=1), "bad_request"),
        (SearchRequest(None, ["e2e5"], nodes=1), "illegal"),
        (SearchRequest(None), "limits"),
    ]:
        with pytest.raises(EngineError, match=message):
            await client.request_move("none", "g", request, 10)
    with pytest.raises(EngineTimeoutError, match="not online"):
        await client.wait_for_bot("nobody", 0.2)
    await client.close()
    await stop()


async def test_bot_limits_queue_length_and_waiting_time(mosquitto):
    listening = Listening(mosquitto.broker)
    stop = await make_bot(mosquitto, "late", queue_limit=2)
    client = BotClient(mosquitto.broker)
    await client.wait_for_bot("late", PATIENCE)
    limits = (30, 0.1, 30, 30, 30, 30)  # seconds; the second request times out in the queue
    asked = [
        client.request_move("late", "g", SearchRequest(None, nodes=1), limit) for limit in limits
    ]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    words = [str(answer) for answer in answers if isinstance(answer, EngineError)]
    assert sum(not isinstance(answer, Exception) for answer in answers) >= 1
    assert any("busy" in word for word in words)
    assert any("within" in word or "longer" in word for word in words)
    replies = [p for t, p in listening.messages if "/replies/" in t]
    for reply in replies:
        validator("reply").validate(reply)
    await client.close()
    await stop()
    listening.connection.close()


async def test_bot_survives_engine_crash(mosquitto):
    stop = await make_bot(mosquitto, "dies")
    client = BotClient(mosquitto.broker)
    await client.wait_for_bot("dies", PATIENCE)
    for _ in range(2):
        with pytest.raises(EngineError, match="cannot go on"):
            await client.request_move("dies", "g", SearchRequest(None, nodes=1), 10)
    await client.close()
    await stop()


async def test_bots_play_chess_match(mosquitto):
    stops = [await make_bot(mosquitto), await make_bot(mosquitto, "no-info")]
    players = [
        EngineSettings(command=name, name=name, protocol=EngineProtocol.MQTT)
        for name in ("none", "no-info")
    ]
    chosen = quick_settings(*players)
    executor = LocalExecutor(chosen, connect=lambda tell: BotClient(mosquitto.broker))
    finish, records = await play_with(chosen, executor)
    assert finish.complete
    assert all(len(record.moves) > 5 for record in records)
    for stop in stops:
        await stop()


@pytest.mark.thorough
async def test_broker_restarts_lose_no_game(mosquitto, tmp_path):
    """Each outage is longer than a bot's time for a move."""
    ledger = str(tmp_path / "ledger")
    control = TimeControl(base=0.6, increment=0.3, margin=0.2)
    chosen = quick_settings(*bots("one", "two"), games=4, time=control)
    notices = []

    def keep(event):
        if isinstance(event, Notice):
            notices.append(event.text)

    def connect(tell):
        return BotClient(mosquitto.broker, tell=tell)

    async with (
        serving(mosquitto.broker, "one", FakeBotEngine(0.15)) as one,
        serving(mosquitto.broker, "two", FakeBotEngine(0.15)) as two,
    ):
        playing = asyncio.create_task(
            play_with(chosen, LocalExecutor(chosen, connect=connect), path=ledger, listeners=[keep])
        )

        def thought():
            return len(one.thinker.requests) + len(two.thinker.requests)

        for restart in range(3):
            await eventually(lambda: thought() > 4 * restart + 3)  # noqa: B023
            mosquitto.kill()
            await asyncio.sleep(1.2)
            mosquitto.start()
            await eventually(lambda: "connected after" in notices[-1])
        finish, records = await playing
        # No search was repeated.
        assert thought() == sum(len(record.moves) for record in records)
    assert finish.complete
    assert len({(record.pair, record.game) for record in records}) == len(records) == 4
    assert {record.termination for record in records} == {Termination.MAX_MOVES}


@pytest.mark.thorough
async def test_game_voided_by_broker_outage_is_replayed(mosquitto):
    chosen = quick_settings(*bots("one", "two"), games=2)
    notices, finished = [], []

    def keep(event):
        if isinstance(event, Notice):
            notices.append(event.text)
        elif isinstance(event, GameFinished):
            finished.append(event.record)

    def connect(tell):
        return BotClient(mosquitto.broker, tell=tell, patience=5.0)

    async with (
        serving(mosquitto.broker, "one", FakeBotEngine(0.1)) as one,
        serving(mosquitto.broker, "two", FakeBotEngine(0.1)),
    ):
        executor = LocalExecutor(chosen, connect=connect)
        playing = asyncio.create_task(play_with(chosen, executor, listeners=[keep]))
        await eventually(lambda: len(one.thinker.requests) == 2)
        mosquitto.kill()
        await eventually(lambda: any("void" in text for text in notices))
        assert not finished
        mosquitto.start()
        finish, records = await playing
    assert finish.complete
    assert [record.termination for record in records] == [Termination.MAX_MOVES] * 2
    assert sum("void, will be replayed" in text for text in notices) == 1


@pytest.mark.thorough
async def test_match_stops_on_long_broker_outage_and_resumes(mosquitto, tmp_path):
    chosen = quick_settings(*bots("one", "two"), games=4)

    def connect(tell):
        return BotClient(mosquitto.broker, tell=tell, patience=0.5)

    ledger = str(tmp_path / "ledger")
    async with (
        serving(mosquitto.broker, "one", FakeBotEngine(0.05)) as one,
        serving(mosquitto.broker, "two", FakeBotEngine(0.05)),
    ):
        executor = LocalExecutor(chosen, connect=connect)
        playing = asyncio.create_task(play_with(chosen, executor, path=ledger))
        await eventually(lambda: len(one.thinker.requests) == 7)
        mosquitto.kill()
        stopped, _ = await playing
        assert stopped.status is Status.FAILED
        assert "no connection for 0.5 s" in stopped.reason
        mosquitto.start()
        executor = LocalExecutor(chosen, connect=connect)
        finish, records = await play_with(chosen, executor, path=ledger, resume=True)
    assert finish.complete
    assert len(records) == 4
    assert {record.termination for record in records} == {Termination.MAX_MOVES}


async def test_match_fails_if_bot_never_comes_online(mosquitto, monkeypatch):
    monkeypatch.setattr(tasks, "RETRY_TIMEOUT_S", 0)
    chosen = quick_settings(engine(), *bots("nobody", start_limit=0.3), games=2)
    async with serving(mosquitto.broker, "one"):
        executor = LocalExecutor(chosen, connect=lambda tell: BotClient(mosquitto.broker))
        finish, records = await play_with(chosen, executor)
    assert records == []
    assert finish.status is Status.FAILED
    assert "bot nobody: not online after 0.3 s" in finish.reason


async def test_games_of_an_absent_bot_are_played_on_resume(mosquitto, monkeypatch, tmp_path):
    monkeypatch.setattr(tasks, "RETRY_TIMEOUT_S", 0)
    ledger = str(tmp_path / "ledger")
    chosen = quick_settings(engine(), *bots("one", start_limit=1), games=4)

    def leave(event):
        if isinstance(event, GameFinished):
            one.task.cancel()

    async with serving(mosquitto.broker, "one") as one:
        executor = LocalExecutor(chosen, connect=lambda tell: BotClient(mosquitto.broker))
        finish, before = await play_with(chosen, executor, path=ledger, listeners=[leave])
    # The bot may be gone before or during the second game, which it loses then.
    assert len(before) in (1, 2)
    assert before[0].termination is Termination.MAX_MOVES
    assert finish.status is Status.FAILED
    assert "could not begin: " in finish.reason
    assert "(one): bot one: not online after 1 s" in finish.reason
    monkeypatch.undo()
    async with serving(mosquitto.broker, "one"):
        executor = LocalExecutor(chosen, connect=lambda tell: BotClient(mosquitto.broker))
        finish, records = await play_with(chosen, executor, path=ledger, resume=True)
    assert finish.complete
    new = records[len(before) :]
    assert [record.termination for record in new] == [Termination.MAX_MOVES] * (4 - len(before))


async def test_game_is_replayed_if_bot_cannot_start_its_engine(mosquitto):
    class Restarting(FakeBotEngine):
        async def get(self, variant):
            await super().get(variant)
            if len(self.variants) in (2, 3):
                raise EngineError("program not found")
            return self

    notices = []

    def listen(event):
        if isinstance(event, Notice):
            notices.append(event.text)

    chosen = quick_settings(engine(), *bots("one"), games=2)
    async with serving(mosquitto.broker, "one", Restarting()):
        executor = LocalExecutor(chosen, connect=lambda tell: BotClient(mosquitto.broker))
        finish, records = await play_with(chosen, executor, listeners=[listen])
    assert finish.complete
    assert [record.termination for record in records] == [Termination.MAX_MOVES] * 2
    void = "game 1.1-2.1.1: void, will be replayed: bot one: not_started: program not found"
    assert notices == [f"{void}; retrying for 60 s"]


async def test_bots_play_chess960(mosquitto):
    chosen = quick_settings(*bots("one", "two"), chess960=True)
    async with (
        serving(mosquitto.broker, "one") as one,
        serving(mosquitto.broker, "two") as two,
    ):
        executor = LocalExecutor(chosen, connect=lambda tell: BotClient(mosquitto.broker))
        finish, records = await play_with(chosen, executor)
    assert finish.complete
    assert {record.termination for record in records} == {Termination.MAX_MOVES}
    variants = one.thinker.variants + two.thinker.variants
    assert all(variant.rules.chess960 for variant in variants)


def strange_payloads(valid):
    """Yield a valid payload, with something else in one place after the other."""
    for key in valid:
        yield {name: value for name, value in valid.items() if name != key}
        for value in (None, True, -1, 10**300, 1e300, "x", [], {}, [[]], ["x"], [{}], {"x": []}):
            yield {**valid, key: value}


@pytest.mark.thorough
async def test_watcher_survives_malformed_messages(mosquitto):
    listening = Listening(mosquitto.broker)
    broadcast = MqttPublisher(mosquitto.broker, "match")
    await play(quick_settings(games=2), listeners=[broadcast])
    await asyncio.to_thread(broadcast.close)
    await eventually(lambda: any(p["state"] == "offline" for p in listening.of("/runner")))
    valid = {kind_of(topic): (topic, payload) for topic, payload in listening.messages}
    listening.connection.close()
    receiver = MqttSubscriber("+")
    for topic, payload in valid.values():
        receiver.on_message(topic, payload)
    run = receiver.state.status["run"]
    number = 10**6
    for topic, payload in valid.values():
        for strange in strange_payloads(payload):
            number += 1
            if isinstance(strange.get("sequence"), int) and strange["sequence"] > 0:
                strange["sequence"] = number
            receiver.on_message(topic, strange)
            if number % 7 == 0:
                assert render(receiver)
        number += 1
        receiver.on_message(topic, {**payload, "run": run, "sequence": number})
    for topic in ("boards/x", "boards/-1", "boards/10000000", "status/x", "", "games/info"):
        receiver.on_message(topics.tournament("match", topic), {"run": run, "sequence": number + 9})
    assert "cannot be shown" not in render(receiver)
    assert "2/2" in render(receiver)
    standings = {**receiver.state.standings, "players": [], "sequence": number + 10}
    receiver.on_message(topics.tournament("match", "standings"), standings)
    assert render(receiver)


def render(receiver):
    from rich.console import Console

    from kempelen.commands.mqtt_watch import _render

    console = Console(file=io.StringIO(), width=200)
    console.print(_render(receiver))
    return console.file.getvalue()


@pytest.mark.thorough
async def test_embedded_broker_serves_match_and_reports_used_port():
    from protocols.mqtt.embedded import EmbeddedBroker

    embedded = EmbeddedBroker(free_port())
    broadcast = MqttPublisher(embedded.address, "match")
    await play(quick_settings(), listeners=[broadcast])
    await asyncio.to_thread(broadcast.close)
    receiver, connection = retained_snapshots(embedded.address)
    await eventually(lambda: receiver.state.status and receiver.state.boards)
    assert receiver.state.status["state"] == "complete"
    connection.close()
    with pytest.raises(BrokerError, match="embedded broker on port"):
        EmbeddedBroker(embedded.address.port)
    embedded.close()


def test_broker_urls_are_parsed_or_rejected(tmp_path, monkeypatch):
    monkeypatch.setenv(USER_VARIABLE, "me")
    monkeypatch.setenv(PASSWORD_VARIABLE, "word")
    broker = Broker.from_url("mqtts://example.org")
    assert (broker.port, broker.user, broker.tls) == (8883, "me", True)
    assert "word" not in repr(broker)
    credentials = tmp_path / "credentials"
    credentials.write_text("you\nother\n")
    assert Broker.from_url("host:77", credentials=str(credentials)).user == "you"
    for url, message in [
        ("mqtt://me:word@host", "must not contain user or password"),
        *(
            (url, "invalid address")
            for url in ("http://host", "mqtt://[", "mqtt://h:x", "mqtt://a..b")
        ),
    ]:
        with pytest.raises(BrokerError, match=message) as caught:
            Broker.from_url(url)
        assert "word@" not in str(caught.value)
    with pytest.raises(BrokerError, match="no such file"):
        Broker.from_url("mqtts://host", ca_file="/no/such/file")
