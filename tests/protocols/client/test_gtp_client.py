import re
import sys

import pytest

from agent.limits import SideClock
from protocols.client.engine import (
    EngineOptionError,
    EngineState,
    EngineTimeoutError,
    EngineUnresponsiveError,
)
from protocols.client.gtp import GtpClient
from protocols.client.process import EngineDiedError, EngineError, IoLog
from protocols.client.uci import RESIGNATION, SearchRequest
from tests.support import failing_gtp

BLACK = {"side": 1, "mover": 0}
WHITE = {"side": 0, "mover": 1}
CLOCK = {"white": SideClock(59.9, 0.5), "black": SideClock(60.5, 0.5)}
SETUP = ("boardsize 5", "clear_board", "komi 0.5")


def make(failure="none", after=1, **settings):
    command, arguments = failing_gtp(failure, after)
    limits = {"start_limit": 10, "ready_limit": 1, "quit_limit": 1}
    return GtpClient(command, arguments, **{"setup_commands": SETUP, **limits, **settings})


@pytest.fixture
async def start(tmp_path):
    """Start engines with a log, and close them after the test."""
    started = []
    with (tmp_path / "log").open("w") as file:

        async def start(engine):
            engine.log = IoLog(file)
            started.append(engine)
            await engine.start()
            await engine.new_game()
            return engine

        yield start
        for engine in started:
            await engine.close()


def said(tmp_path):
    return re.findall(r"> (.*)", (tmp_path / "log").read_text())


async def test_gtp_client_plays_two_games(start, tmp_path):
    engine = await start(make())
    assert (engine.name, engine.state) == ("Failing none", EngineState.IDLE)
    opening = SearchRequest(None, ("c3", "d3"), movers=(0, 1), movetime=2, **BLACK)
    answer = await engine.search(opening, 10)
    assert (answer.move, answer.info) == ("a1", None)
    moves = ("c3", "d3", "A1", "e5")
    going_on = SearchRequest(None, moves, movers=(0, 1, 0, 1), movetime=2, **BLACK)
    assert (await engine.search(going_on, 10)).move == "b1"
    await engine.new_game()
    assert (
        await engine.search(SearchRequest(None, ("c3",), movers=(0,), **WHITE), 10)
    ).move == "a1"
    assert said(tmp_path) == [
        *("name", "list_commands", *SETUP, "time_settings 0 2 1", "play black c3"),
        *("play white d3", "genmove black", "play white e5", "genmove black"),
        *(*SETUP, "time_settings 0 1 0", "play black c3", "genmove white"),
    ]


async def test_position_is_replayed_unless_it_continues_the_last_one(start, tmp_path):
    engine = await start(make())
    for moves in (("c3",), ("c3", "a1", "d3"), ("c3", "b1", "d3"), ()):
        movers = tuple(number % 2 for number in range(len(moves)))
        side = BLACK if len(moves) % 2 == 0 else WHITE
        await engine.search(SearchRequest(None, moves, movers=movers, movetime=2, **side), 10)
    assert said(tmp_path)[2:] == [
        *(*SETUP, "time_settings 0 2 1", "play black c3", "genmove white"),
        *("play black d3", "genmove white"),
        *(*SETUP, "time_settings 0 2 1", "play black c3", "play white b1", "play black d3"),
        *("genmove white", *SETUP, "time_settings 0 2 1", "genmove black"),
    ]


async def test_only_changed_time_settings_are_sent(start, tmp_path):
    engine = await start(make())
    for limits in ({"movetime": 2}, {"movetime": 2}, {"movetime": 3}, CLOCK, {}):
        moves = tuple(engine._played)
        movers = tuple(number % 2 for number in range(len(moves)))
        side = BLACK if len(moves) % 2 == 0 else WHITE
        await engine.search(SearchRequest(None, moves, movers=movers, **limits, **side), 10)
    assert [line for line in said(tmp_path) if line.startswith("time")] == [
        *("time_settings 0 2 1", "time_settings 0 3 1", "time_settings 59 0 0"),
        *("time_left white 59 0", "time_settings 0 1 0"),
    ]


@pytest.mark.thorough
async def test_kempelen_receives_search_limits_as_parameters(start, tmp_path):
    arguments = ("-m", "kempelen.cli", "gtp", "--game", "othello", "--algorithm", "alpha-beta")
    engine = await start(GtpClient(sys.executable, arguments, game_id="othello"))
    for limits in (
        {"depth": 1},
        {"depth": 1},
        {"nodes": 50, "movetime": 1},
        {"playouts": 3, "movetime": 1},
    ):
        await engine.search(SearchRequest(None, **limits, **BLACK), 30)
    assert [line for line in said(tmp_path) if "kata-set-param" in line] == [
        *("kata-set-param maxDepth 1", "kata-set-param maxTime 15"),
        *("kata-set-param maxNodes 50", f"kata-set-param maxDepth {1 << 50}"),
        *("kata-set-param maxPlayouts 3", f"kata-set-param maxNodes {1 << 50}"),
    ]


async def test_clocks_are_sent_as_time_settings(start, tmp_path):
    engine = await start(make())
    await engine.search(SearchRequest(None, **CLOCK, **BLACK), 10)
    await engine.new_game()
    await engine.search(SearchRequest(None, moves_to_go=10, **CLOCK, **BLACK), 10)
    times = [line for line in said(tmp_path) if line.startswith("time")]
    assert times == [
        *("time_settings 60 0 0", "time_left black 60 0"),
        *("time_settings 0 60 10", "time_left black 60 10"),
    ]


@pytest.mark.thorough
async def test_kempelen_receives_fractional_fischer_clocks(start, tmp_path):
    arguments = ("-m", "kempelen.cli", "gtp", "--playouts", "1")
    engine = await start(GtpClient(sys.executable, arguments, setup_commands=SETUP, game_id="go"))
    await engine.search(SearchRequest(None, **CLOCK, **BLACK), 30)
    times = [line for line in said(tmp_path) if "time_" in line]
    assert times == ["kata-time_settings fischer 60.500 0.5", "time_left black 60.500 0"]


async def test_kempelen_for_go_is_refused_for_another_game(start):
    arguments = ("-m", "kempelen.cli", "gtp", "--algorithm", "mcts")
    with pytest.raises(EngineOptionError, match="plays Go \\(expected othello\\)"):
        await start(GtpClient(sys.executable, arguments, game_id="othello"))


@pytest.mark.parametrize(
    ("failure", "error", "message"),
    [
        ("dies-at-once", EngineDiedError, "status 1: no licence found"),
        ("no-answer", EngineUnresponsiveError, "no answer to name within 0.5 s"),
        ("other-game", EngineOptionError, "plays hex \\(expected go\\)"),
    ],
)
async def test_failed_start_raises(start, failure, error, message):
    limit = 0.5 if failure == "no-answer" else 10
    with pytest.raises(error, match=message):
        await start(make(failure, start_limit=limit, game_id="go"))


@pytest.mark.parametrize(
    ("failure", "error", "message"),
    [
        ("dies", EngineDiedError, "status 3: cannot go on"),
        ("hangs", EngineTimeoutError, "no move within 0.5 s"),
        ("refuses", EngineError, "rejects play black c3: illegal move"),
        ("deaf", EngineUnresponsiveError, "no answer to play within 1 s"),
    ],
)
async def test_failed_search_raises(start, failure, error, message):
    engine = await start(make(failure))
    with pytest.raises(error, match=message):
        await engine.search(
            SearchRequest(None, ("c3",), movers=(0,), **WHITE), 0.5 if failure == "hangs" else 10
        )


async def test_unsupported_requests_raise(start):
    engine = await start(make("resigns"))
    assert (await engine.search(SearchRequest(None, **BLACK), 10)).move == RESIGNATION
    with pytest.raises(EngineError, match="start positions are not supported"):
        await engine.search(SearchRequest("8/8/8/8/8/8/8/8 w - -", **BLACK), 10)
    with pytest.raises(
        EngineError, match="limits are not supported: maxPlayouts \\(no kata-set-param"
    ):
        await engine.search(SearchRequest(None, playouts=5, **BLACK), 10)
    with pytest.raises(
        EngineOptionError, match=r"options are not supported: Hash .*kata-set-param"
    ):
        await engine.configure({"Hash": 1})


async def test_configure_sets_kempelen_parameters(start, tmp_path):
    arguments = ("-m", "kempelen.cli", "gtp", "--algorithm", "mcts")
    engine = await start(GtpClient(sys.executable, arguments, setup_commands=SETUP, game_id="go"))
    await engine.configure({"Threads": "2", "memory": 64, "maxVisits": 9, "ponderingEnabled": True})
    assert [line for line in said(tmp_path) if "param" in line] == [
        "kata-set-param numSearchThreads 2",
        "kata-set-param memory 64",
        "kata-set-param maxVisits 9",
        "kata-set-param ponderingEnabled true",
    ]
    with pytest.raises(EngineOptionError, match=r"option Hash: .*unknown parameter: Hash"):
        await engine.configure({"Hash": 1})
    with pytest.raises(EngineOptionError, match="must not be empty or contain spaces"):
        await engine.configure({"Threads": "2\nquit"})
    assert (await engine.search(SearchRequest(None, **BLACK), 30)).move
