import asyncio
import os
import sys

import pytest

from agent.limits import Cp, Mate, SideClock
from protocols.client.engine import (
    EngineOptionError,
    EngineState,
    EngineTimeoutError,
    EngineUnresponsiveError,
)
from protocols.client.own_engine import AUTHORS
from protocols.client.process import EngineDiedError, EngineNotFoundError
from protocols.client.uci import (
    Option,
    SearchRequest,
    UciClient,
    parse_info,
    parse_option,
)
from tests.external import program
from tests.support import failing

START = SearchRequest(fen=None, nodes=100)


def make(failure, after=1, **settings):
    command, arguments = failing(failure, after)
    return UciClient(
        command, arguments, **{"start_limit": 10, "ready_limit": 5, "quit_limit": 0.3, **settings}
    )


async def gone(pid):
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        await asyncio.sleep(0.02)
    return False


@pytest.mark.needs("stockfish")
async def test_stockfish_answers_a_search_and_exits():
    engine = UciClient(program("stockfish"))
    await engine.start()
    assert engine.name.startswith("Stockfish")
    await engine.configure({"hash": 16, "Threads": 1})
    await engine.new_game()
    infos = []
    answer = await engine.search(SearchRequest(None, ["e2e4"], depth=8), 30, infos.append)
    assert len(answer.move) == 4
    assert answer.info.depth == 8
    assert answer.info.pv[0] == answer.move
    pid = engine._process.pid
    await engine.close()
    assert engine.state is EngineState.CLOSED
    assert await gone(pid)


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    ("failure", "error"),
    [
        ("dies-at-once", EngineDiedError),
        ("no-uciok", EngineTimeoutError),
        ("no-readyok", EngineTimeoutError),
        ("noise-at-once", EngineTimeoutError),
    ],
)
async def test_failed_start_raises_and_leaves_no_process(failure, error):
    engine = make(failure, **({"start_limit": 1.5} if error is EngineTimeoutError else {}))
    with pytest.raises(error):
        await engine.start()
    pid = engine._process.pid
    assert engine.state is EngineState.FAILED
    await engine.close()
    assert await gone(pid)


async def test_error_includes_exit_status_and_stderr():
    engine = make("dies-at-once")
    with pytest.raises(EngineDiedError, match="status 1: no licence found"):
        await engine.start()
    await engine.close()


@pytest.mark.parametrize("failure", ["dies", "killed", "closes-output"])
async def test_engine_death_during_search_raises(failure):
    engine = make(failure)
    await engine.start()
    with pytest.raises(EngineDiedError):
        await engine.search(START, 5)
    assert engine.state is EngineState.FAILED
    await engine.close()


@pytest.mark.parametrize("failure", ["hangs", "noise"])
async def test_missing_search_answer_times_out(failure):
    engine = make(failure, ready_limit=0.5)
    await engine.start()
    with pytest.raises(EngineTimeoutError):
        await engine.search(START, 0.5)
    with pytest.raises(EngineTimeoutError, match="readyok"):
        await engine.new_game()
    pid = engine._process.pid
    await engine.close()
    assert await gone(pid)


async def test_late_answer_is_not_attributed_to_next_search():
    engine = make("late", after=1)
    await engine.start()
    with pytest.raises(EngineTimeoutError):
        await engine.search(START, 0.1)
    answer = await engine.search(SearchRequest(None, ["a2a3"], nodes=1), 5)
    assert answer.move == "a7a5"
    await engine.close()


@pytest.mark.thorough(keep=4)
@pytest.mark.parametrize(
    ("failure", "move"),
    [
        ("two-bestmoves", "a2a3"),
        ("no-info", "a2a3"),
        ("binary", "a2a3"),
        ("huge-lines", "a2a3"),
        ("bad-info", "a2a3"),
        ("upper-case", "A2A3"),
        ("san", "Nh3"),
        ("no-move", "(none)"),
        ("null-move", "0000"),
        ("empty-bestmove", ""),
    ],
)
async def test_unusual_bestmoves_are_passed_through(failure, move):
    engine = make(failure)
    await engine.start()
    assert (await engine.search(START, 10)).move == move
    assert (await engine.search(START, 10)).move == move
    await engine.close()


async def test_engine_that_ignores_quit_is_killed():
    engine = make("ignores-quit")
    await engine.start()
    pid = engine._process.pid
    await engine.close()
    assert await gone(pid)


async def test_configure_validates_options():
    engine = make("chatty")
    await engine.start()
    await engine.configure({"style of play": "very risky", "OwnBook": False, "HASH": "32"})
    for options, message in [
        ({"Hash": 65}, "from 1 to 64"),
        ({"Hash": "much"}, "expected an integer"),
        ({"OwnBook": "maybe"}, "true or false"),
        ({"Style of Play": "Wild"}, "one of: Solid, Very Risky"),
        ({"Contempt": 1}, "unknown option Contempt"),
    ]:
        with pytest.raises(EngineOptionError, match=message):
            await engine.configure(options)
    assert (await engine.search(START, 10)).move == "a2a3"
    await engine.close()


@pytest.mark.parametrize("name", ["final choice", "MoveSelection"])
async def test_configure_accepts_old_option_names(monkeypatch, name):
    sent = []
    engine = UciClient("unused", state=EngineState.IDLE)
    engine.options = {
        "moveselection": Option("MoveSelection", "combo", choices=("visits", "value"))
    }
    monkeypatch.setattr(engine, "_send", sent.append)

    async def ready(limit):
        return []

    monkeypatch.setattr(engine, "_ready", ready)
    await engine.configure({name: "value"})
    assert sent == ["setoption name MoveSelection value value"]


@pytest.mark.parametrize(("forfeit", "value"), [(False, "1-0"), (True, "1-0 forfeit")])
async def test_kempelen_learns_the_result_although_it_declares_no_option(
    monkeypatch, forfeit, value
):
    sent = []
    engine = UciClient("unused", state=EngineState.IDLE)
    monkeypatch.setattr(engine, "_send", sent.append)

    async def ready(limit):
        return []

    monkeypatch.setattr(engine, "_ready", ready)
    await engine.report_result("1-0", "checkmate", forfeit=forfeit)
    assert sent == []
    engine.author = AUTHORS
    await engine.report_result("1-0", "checkmate", forfeit=forfeit)
    assert sent == [f"setoption name GameResult value {value}"]


async def test_missing_command_or_directory_raises():
    with pytest.raises(EngineNotFoundError, match="no-such-engine"):
        await UciClient("no-such-engine").start()
    with pytest.raises(EngineNotFoundError, match="does not exist"):
        await UciClient("sh", directory="/no/such/place").start()


def test_search_request_formats_position_and_go():
    request = SearchRequest(
        None, ["e2e4"], white=SideClock(1.5, 0.1), black=SideClock(0.0004, 0), moves_to_go=3
    )
    assert request.position_line() == "position startpos moves e2e4"
    assert request.go_line() == "go wtime 1500 btime 1 winc 100 binc 0 movestogo 3"
    assert SearchRequest("8/8 w", movetime=0.25).go_line() == "go movetime 250"


def test_info_and_option_lines_are_parsed():
    info = parse_info("info depth 9 seldepth 12 score mate -3 upperbound nodes 7 pv e2e4 e7e5")
    assert (info.depth, info.seldepth, info.score, info.bound) == (9, 12, Mate(-3), "upperbound")
    assert info.pv == ("e2e4", "e7e5")
    assert parse_info("info score cp 12 wdl 1 2 3 time 1500").score == Cp(12)
    assert parse_info("info string score cp 12") is None
    assert parse_info("") is None
    info = parse_info("info pv e2e4 e7e5 depth 3 score cp 20 nodes 7")
    assert (info.pv, info.score, info.nodes) == (("e2e4", "e7e5"), Cp(20), 7)
    declared = parse_option("option name Clear Hash type button")
    assert declared == Option("Clear Hash", "button")
    assert parse_option("option name Style type combo default A b var A b var C").choices == (
        "A b",
        "C",
    )
    assert parse_option("option") is None


PONDERER = """
import sys
for line in sys.stdin:
    word = line.strip()
    if word == "uci":
        print("option name Ponder type check default false\\nuciok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word.startswith("go ponder"):
        if FAILURE == "dies":
            sys.exit("out of memory")
        if FAILURE == "early":
            print("bestmove g1f3", flush=True)
    elif word.startswith("go") or (word == "ponderhit" and FAILURE == "none"):
        print("bestmove g1f3", flush=True)
    elif word == "stop" and FAILURE != "deaf":
        print("bestmove g1f3", flush=True)
"""
EXPECTED = SearchRequest(None, ("e2e4", "e7e5"), nodes=9)
OTHER = SearchRequest(None, ("e2e4", "c7c5"), nodes=9)


async def pondering(failure):
    script = f"FAILURE = {failure!r}\n{PONDERER}"
    client = UciClient(sys.executable, ("-c", script), start_limit=10, ready_limit=2, quit_limit=1)
    await client.start()
    client.ponder(EXPECTED)
    return client


@pytest.mark.parametrize("failure", ["none", "early"])
@pytest.mark.parametrize("request_", [EXPECTED, OTHER])
async def test_search_after_pondering_is_answered(failure, request_):
    client = await pondering(failure)
    if failure == "early":
        await asyncio.wait([client._ponder_task])
    answer = await client.search(request_, 10)
    assert (answer.move, answer.pondered) == ("g1f3", request_ is EXPECTED)
    assert client.state is EngineState.IDLE
    await client.new_game()
    await client.close()


@pytest.mark.parametrize("request_", [EXPECTED, OTHER])
async def test_death_while_pondering_is_reported_by_the_next_search(request_):
    client = await pondering("dies")
    with pytest.raises(EngineDiedError, match="out of memory"):
        await client.search(request_, 10)
    await client.close()


async def test_engine_that_does_not_stop_pondering_is_unresponsive():
    client = await pondering("deaf")
    client.ready_limit = 0.3
    with pytest.raises(EngineUnresponsiveError, match="no bestmove within"):
        await client.search(OTHER, 10)
    assert client.state is EngineState.FAILED
    await client.close()


async def test_pondering_engine_is_closed():
    client = await pondering("deaf")
    await client.close()
    assert client.state is EngineState.CLOSED
