"""MQTT bots of games other than chess: matches with them, and rejected requests."""

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from agent.limits import SideClock
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.config.settings import Adjudication, OpeningSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.game_result import Termination
from kempelen.match.runner import LocalExecutor
from protocols.client.engine import EngineOptionError
from protocols.client.process import EngineError
from protocols.client.uci import PlayResult, SearchRequest
from protocols.mqtt import topics
from protocols.mqtt.broker import PASSWORD_VARIABLE, USER_VARIABLE
from protocols.mqtt.client import BotClient
from protocols.mqtt.request_codec import GameVariant
from protocols.mqtt.request_parser import GameRequestParser
from tests.kempelen.match.support import bots, play_with, settings
from tests.mosquitto import Listening
from tests.protocols.mqtt.support import Asker, FakeBotEngine, serving
from tests.support import failing_gtp
from tests.systems import module_or_skip
from tests.waiting import PATIENCE, eventually, free_port

supervisor = module_or_skip("protocols.client.supervisor")

pytestmark = pytest.mark.early

CHOMP = f"{Path(__file__).parents[2] / 'data/games/chomp.py'}:Chomp"
SMALL_GO = GameSettings("go", {"size": 5, "komi": 0.5})
QUICK = TimeControl(playouts=20, patience=60)


@contextlib.asynccontextmanager
async def served(broker, name, *words):
    """Run `kempelen mqtt bot` in its own process; yield it when the bot answers."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kempelen.cli", "mqtt", "bot", "--name", name, *words),
        *("--mqtt", f"mqtt://{broker.host}:{broker.port}"),
        env={
            **os.environ,
            USER_VARIABLE: broker.user or "",
            PASSWORD_VARIABLE: broker.password or "",
        },
        stderr=subprocess.PIPE,
    )
    output = b""
    try:
        while b"online on" not in output:
            line = await asyncio.wait_for(process.stderr.readline(), PATIENCE)
            assert line, output
            output += line
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.communicate(), PATIENCE)


def match(game, *engines, **changes):
    changes.setdefault("time", QUICK)
    return settings(*engines, game=game, **changes)


async def play(broker, chosen):
    executor = LocalExecutor(chosen, connect=lambda tell: BotClient(broker, tell=tell))
    return await play_with(chosen, executor)


@pytest.mark.thorough
async def test_bots_play_go_at_match_size_and_komi(mosquitto):
    """The match has a size and a komi that neither bot was started with."""
    listening = Listening(mosquitto.broker)
    game = GameSettings("go", {"size": 9, "komi": 6.5})
    async with (
        served(mosquitto.broker, "go1", "--game", "go", "--size", "13"),
        served(mosquitto.broker, "go2", "--game", "go", "--engine", "algorithm=compiled,seed=1"),
    ):
        limit = Adjudication(maxmoves=14)
        finish, records = await play(
            mosquitto.broker, match(game, *bots("go1", "go2"), adjudication=limit)
        )
    assert finish.complete
    assert len(records) == 2
    known = {Termination.MAX_MOVES, Termination.RULES, Termination.RESIGNATION}
    assert {record.termination for record in records} <= known
    assert all(len(record.moves) > 10 for record in records)
    schema = json.loads(topics.schema_text())
    for ending, kind in (("/requests", "request"), ("/status", "bot"), ("replies", "reply")):
        valid = jsonschema.Draft202012Validator({**schema, "$ref": f"#/$defs/{kind}"})
        found = [
            p for topic, p in listening.messages if ending in topic and "/tournaments/" not in topic
        ]
        assert found
        for payload in found:
            valid.validate(payload)
    kinds = [p["kind"] for p in listening.of("/status") if p["name"] == "go1" and "kind" in p]
    assert kinds[0] == {"name": "go", "options": {"size": 13, "komi": 7.5}}
    listening.connection.close()


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("game", "words", "plies"),
    [
        (GameSettings("othello", {"size": 4}), ("--game", "othello"), 2),
        (GameSettings("pig", {"target": 10}), ("--game", "pig", "--option", "target=10"), 0),
        (GameSettings(CHOMP), ("--game", CHOMP), 1),
    ],
)
async def test_bot_plays_other_games_against_lab_agent(mosquitto, game, words, plies):
    lab = EngineSettings("alpha-beta", "lab", protocol=EngineProtocol.LAB)
    if game.name == "pig":
        lab = EngineSettings("expectiminimax", "lab", protocol=EngineProtocol.LAB)
    async with served(mosquitto.broker, "bot", *words):
        chosen = match(
            game, lab, *bots("bot"), time=TimeControl(depth=2), games=4,
            openings=OpeningSettings(plies=plies),
        )  # fmt: skip
        finish, records = await play(mosquitto.broker, chosen)
    assert finish.complete
    assert {record.termination for record in records} == {Termination.RULES}


@pytest.mark.thorough
async def test_lab_chess_bot_accepts_start_position_only(mosquitto):
    async with served(mosquitto.broker, "bot", "--engine", "algorithm=alpha-beta"):
        client = BotClient(mosquitto.broker)
        await client.wait_for_bot("bot", PATIENCE)
        request = SearchRequest(None, ("f2f3", "e7e5", "g2g4"), depth=2)
        assert (await client.request_move("bot", "g", request, 20)).move == "d8h4"
        request = SearchRequest("4k3/8/8/8/8/8/8/4K2R w K - 0 1", depth=2)
        with pytest.raises(
            EngineError, match=r"fen: not supported .this bot plays chess from the start"
        ):
            await client.request_move("bot", "g", request, 20)
        await client.close()


async def test_match_with_clocks_runs_over_embedded_broker():
    from protocols.mqtt.embedded import EmbeddedBroker

    embedded = EmbeddedBroker(free_port())
    command, arguments = failing_gtp("none")
    spec = f"cmd={command},args={' '.join(arguments)},proto=gtp"
    try:
        async with served(embedded.address, "bot", "--game", "go", "--engine", spec):
            chosen = match(
                SMALL_GO, *bots("bot", "bot"), time=TimeControl(base=20, increment=1),
                adjudication=Adjudication(maxmoves=5),
            )  # fmt: skip
            finish, records = await play(embedded.address, chosen)
    finally:
        embedded.close()
    assert finish.complete
    assert [move.move for move in records[0].moves][:3] == ["A1", "B1", "C1"]


async def test_match_uses_default_board_size_not_size_of_bot(mosquitto):
    thinker = FakeGoEngine()
    positions = GameRequestParser("go", {"size": 13, "komi": 0.5}, {"playouts"})
    async with serving(mosquitto.broker, thinker=thinker, positions=positions):
        chosen = match(GameSettings("go"), *bots("bot", "bot"), games=1)
        _, (record,) = await play(mosquitto.broker, chosen)
    assert (record.result, record.detail) == ("1-0", "W+7.5")
    assert {tuple(each.items()) for each in thinker.begun} == {(("size", 9), ("komi", 7.5))}


async def test_bot_resignation_ends_game(mosquitto):
    command, arguments = failing_gtp("resigns")
    spec = f"cmd={command},args={' '.join(arguments)},proto=gtp"
    async with served(mosquitto.broker, "bot", "--game", "go", "--engine", spec):
        time = TimeControl(movetime=5)
        chosen = match(SMALL_GO, *bots("bot", "bot"), time=time, games=1)
        _, (record,) = await play(mosquitto.broker, chosen)
    assert record.termination is Termination.RESIGNATION


@pytest.mark.parametrize(
    ("game", "names", "message"),
    [
        (GameSettings("othello"), ("chess", "chess"), "bot chess plays chess, not othello"),
        (GameSettings(), ("chess", "go"), "engine go: bot go plays go, not chess"),
        (GameSettings("nim"), ("nim", "nim"), r"nim with heaps=\[2, 1\], not \[3, 4, 5\]"),
    ],
)
async def test_match_rejects_bots_that_play_another_game(mosquitto, game, names, message):
    async with (
        serving(mosquitto.broker, "chess"),
        serving(mosquitto.broker, "go", positions=GameRequestParser("go", {"size": 5})),
        serving(mosquitto.broker, "nim", positions=GameRequestParser("nim", {"heaps": [2, 1]})),
    ):
        chosen = settings(*bots(*names), game=game, time=TimeControl(movetime=1))
        with pytest.raises(SettingsError, match=message):
            await play(mosquitto.broker, chosen)


class FakeGoEngine(FakeBotEngine):
    """Answers with a pass, and records the games that it began."""

    def __init__(self):
        super().__init__()
        self.begun = []

    async def new_game(self):
        self.begun.append(dict(self.variants[-1].options))

    async def search(self, request, limit):
        self.requests.append(request)
        return PlayResult("pass", None, None, self.delay)


async def test_bot_alternates_between_clients_with_different_board_sizes(mosquitto):
    thinker = FakeGoEngine()
    async with serving(mosquitto.broker, thinker=thinker, positions=GameRequestParser("go", {})):
        client = BotClient(mosquitto.broker)
        await client.wait_for_bot("bot", PATIENCE, GameVariant("go"))
        clock = SideClock(10, 1)
        for _ in range(2):
            for size in (5, 19):
                variant = GameVariant("go", {"size": size})
                request = SearchRequest(None, ("a1",), clock, clock, movers=(0,))
                assert (
                    await client.request_move("bot", f"g{size}", request, 10, variant)
                ).move == "pass"
        assert [each["size"] for each in thinker.begun] == [5, 19, 5, 19]
        assert {request.mover for request in thinker.requests} == {1}
        with pytest.raises(EngineOptionError, match="bot bot plays go, not chess"):
            await client.wait_for_bot("bot", PATIENCE)
        await client.close()


def strange_requests(topic, generator):
    """Yield requests that are malformed or malicious."""
    base = {
        "id": "x", "reply_to": topic, "game": "g", "kind": {"name": "go", "options": {"size": 5}},
        "moves": ["a1", "b2"], "limits": {"playouts": 1, "movetime": 0.05},
    }  # fmt: skip
    strange = [
        None, True, -1, 0, 2.5, 10**300, "", "0000", "x" * 5000, "a1\nquit", "a1\n", "\ud800", [],
        {}, [[]], "go", {"name": "go"}, {"name": "chess"}, {"name": "os:system"}, {"name": "x"},
        {"name": "/etc/passwd"}, {"name": "go", "options": {"size": 10**9}}, ["a1"] * 18_000,
        {"name": "go", "options": {"size": 25}}, {"name": "go", "options": {"komi": 1e308}},
        {"name": "go", "options": {"size": "5\nquit"}}, {"name": "go", "options": [5]},
        ["pass", "pass"], ["a1", "a1"], ["z9"], ["resign"], ["pass"] * 5000, {"nodes": 10},
        {"playouts": 10**18}, {"movetime": 3600}, {"depth": 2}, {"white": {"time": 1}},
    ]  # fmt: skip
    for key in (*base, "fen", "chess960", "limit"):
        for value in strange:
            yield json.dumps({**base, key: value}).encode()
        yield json.dumps({k: v for k, v in base.items() if k != key}).encode()
    for _ in range(200):
        data = bytearray(json.dumps(base).encode())
        data[generator.randrange(len(data))] = generator.randrange(256)
        yield bytes(data)


@pytest.mark.thorough
async def test_go_bot_survives_malformed_requests(mosquitto):
    listening = Listening(mosquitto.broker, topics.replies("#"))
    words = ("--game", "go", "--engine", "proto=lab,algorithm=mcts", "--max-time", "5")
    async with served(mosquitto.broker, "bot", *words) as process:
        asker = Asker(mosquitto.broker)
        kind = {"name": "go", "options": {"size": 5}}
        for number, data in enumerate(strange_requests(asker.topic, random.Random(3))):
            asker.send(data)
            if number % 8 == 7:  # as many as wait
                await eventually(lambda: not asker.connection.pending_count)
                ask = f"between {number}"
                while ask:
                    asker.ask(ask, kind=kind, moves=["a1"], limits={"playouts": 2})
                    reply = await asker.reply(ask)
                    ask = f"{ask} again" if reply.get("error", {}).get("code") == "busy" else ""
                assert "move" in reply, reply
        assert process.returncode is None
        await asker.close()
    valid = jsonschema.Draft202012Validator(
        {**json.loads(topics.schema_text()), "$ref": "#/$defs/reply"}
    )
    replies = [payload for _, payload in listening.messages]
    assert len(replies) > 300
    for payload in replies:
        valid.validate(payload)
    errors = [p["error"] for p in replies if "error" in p]
    assert {error["code"] for error in errors} <= {"bad_request", "busy", "time_limit"}
    words = {error["message"] for error in errors}
    assert "kind: this bot plays go, not chess" in words
    assert "kind: size: must be from 1 to 19 (got 25)" in words
    assert any("illegal move 'z9'" in word for word in words)
    listening.connection.close()


@pytest.mark.thorough
async def test_refused_move_does_not_restart_engine(mosquitto):
    """A GTP error response does not restart the program."""
    command, arguments = failing_gtp("refuses", 2)
    spec = f"cmd={command},args={' '.join(arguments)},proto=gtp"
    async with served(mosquitto.broker, "bot", "--game", "go", "--engine", spec) as process:
        client = BotClient(mosquitto.broker)
        await client.wait_for_bot("bot", PATIENCE, GameVariant("go"))
        variant = GameVariant("go", {"size": 5})
        before = supervisor.children(process.pid)
        for _ in range(2):
            two = SearchRequest(None, ("c3", "d3"), movetime=2, movers=(0, 1))
            with pytest.raises(EngineError, match="rejects play white D3: illegal move"):
                await client.request_move("bot", "g", two, 10, variant)
            one = SearchRequest(None, ("c3",), movetime=2, movers=(0,))
            assert (await client.request_move("bot", "h", one, 10, variant)).move == "a1"
        assert before == supervisor.children(process.pid)
        await client.close()


async def test_go_bot_survives_engine_crash(mosquitto):
    command, arguments = failing_gtp("dies", 2)
    spec = f"cmd={command},args={' '.join(arguments)},proto=gtp"
    async with served(mosquitto.broker, "bot", "--game", "go", "--engine", spec):
        client = BotClient(mosquitto.broker)
        await client.wait_for_bot("bot", PATIENCE, GameVariant("go"))
        variant = GameVariant("go", {"size": 5})
        for _ in range(2):
            first = SearchRequest(None, movetime=2)
            assert (await client.request_move("bot", "g", first, 10, variant)).move == "a1"
            third = SearchRequest(None, ("a1", "c3"), movetime=2, movers=(0, 1))
            with pytest.raises(EngineError, match="cannot go on"):
                await client.request_move("bot", "g", third, 10, variant)
        await client.close()
