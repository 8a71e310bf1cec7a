import logging
import re

import pytest

from agent.limits import Cp, SideClock
from protocols.client.engine import (
    EngineOptionError,
    EngineState,
    EngineTimeoutError,
    EngineUnresponsiveError,
)
from protocols.client.process import EngineDiedError, EngineError
from protocols.client.uci import RESIGNATION, SearchRequest
from protocols.client.xboard import XboardClient
from tests.external import program
from tests.support import failing_xboard

FEN = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
CLOCK = SearchRequest(None, white=SideClock(10, 0.1), black=SideClock(9.5, 0.1))


def make(failure="none", after=1, **settings):
    command, arguments = failing_xboard(failure, after)
    return XboardClient(
        command, arguments, **{"start_limit": 10, "ready_limit": 5, "quit_limit": 1, **settings}
    )


@pytest.fixture
async def start():
    """Start engines, and close them after the test."""
    started = []

    async def start(engine):
        started.append(engine)
        await engine.start()
        return engine

    yield start
    for engine in started:
        await engine.close()


async def test_xboard_client_plays_two_games(start):
    engine = await start(make())
    assert engine.name == "Failing none"
    await engine.configure({"STYLE": 5, "memory": "32"})
    await engine.new_game()
    answer = await engine.search(CLOCK, 10)
    assert (answer.move, answer.info.score, answer.info.pv) == ("a2a3", Cp(25), ("a2a3",))
    assert 0 < answer.elapsed < 5
    for moves in (("a2a3", "e7e5"), ("a2a3", "e7e5", "a1a2", "e5e4")):
        answer = await engine.search(SearchRequest(None, moves, movetime=1), 10)
    assert answer.move == "a2a1"
    await engine.new_game()
    assert (await engine.search(SearchRequest(FEN, depth=1), 10)).move == "a2a3"


async def test_clocks_are_sent_to_the_engine(start, tmp_path):
    from protocols.client.process import IoLog

    with (tmp_path / "log").open("w") as file:
        engine = await start(make(log=IoLog(file)))
        await engine.new_game()
        await engine.search(CLOCK, 10)
        await engine.search(SearchRequest(None, ("a2a3", "e7e5"), CLOCK.white, CLOCK.black), 10)
        await engine.close()
    said = re.findall(r"> (.*)", (tmp_path / "log").read_text())
    assert said.count("level 0 0:10 0.1") == 1
    assert said.count("time 1000") == said.count("otim 950") == 2
    assert said.count("new") == 1
    assert said[-1] == "quit"


async def test_options_with_spaces_are_set(start, tmp_path):
    from protocols.client.process import IoLog

    with (tmp_path / "log").open("w") as file:
        engine = await start(make(log=IoLog(file)))
        await engine.configure(
            {"book mode": "very wide", "Clear-up Now": "", "Book File": "a b.bin"}
        )
        await engine.configure({"Own Book": "false", "Speed Limit": 7, "Style": 3})
        with pytest.raises(EngineOptionError, match="available: narrow, very wide"):
            await engine.configure({"Book Mode": "wide"})
        await engine.close()
    said = re.findall(r"> option (.*)", (tmp_path / "log").read_text())
    assert said == [
        "Book Mode=very wide",
        "Clear-up Now",
        "Book File=a b.bin",
        "Own Book=0",
        "Speed Limit=7",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"Hash": 1}, "expected one of: .*memory"),
        ({"Style": 10}, "Style"),
        ({"Style": "x"}, "Style"),
    ],
)
async def test_configure_rejects_invalid_options(start, options, message):
    engine = await start(make())
    with pytest.raises(EngineOptionError, match=message):
        await engine.configure(options)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("failure", "error", "message"),
    [
        ("dies-at-once", EngineDiedError, "status 1: no licence found"),
        ("no-features", EngineUnresponsiveError, "no features within 0.5 s"),
        ("no-ping", EngineError, "required feature: ping"),
        ("nonsense", EngineError, "protocol error of the engine: No closing quotation"),
    ],
)
async def test_failed_start_raises(start, failure, error, message):
    limit = 0.5 if failure == "no-features" else 10
    with pytest.raises(error, match=message):
        await start(make(failure, start_limit=limit))


@pytest.mark.parametrize("failure", ["slow-features", "no-done"])
async def test_slow_or_unfinished_features_are_accepted(start, failure):
    engine = await start(make(failure))
    assert engine.state is EngineState.IDLE
    assert (await engine.search(CLOCK, 10)).move == "a2a3"


@pytest.mark.parametrize(
    ("failure", "answer"), [("illegal", "a1a1"), ("resigns", RESIGNATION), ("claims", "")]
)
async def test_unusual_moves_are_passed_through(start, failure, answer):
    engine = await start(make(failure))
    assert (await engine.search(CLOCK, 10)).move == answer


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    ("failure", "error", "message"),
    [
        ("dies", EngineDiedError, "status 3: cannot go on"),
        ("hangs", EngineTimeoutError, "no move within 0.5 s"),
        ("no-pong", EngineTimeoutError, "no move within 0.5 s"),
        ("noise", EngineTimeoutError, "no move within 0.5 s"),
        ("error", EngineError, "too tired"),
    ],
)
async def test_failed_search_raises(start, failure, error, message, caplog):
    caplog.set_level(logging.CRITICAL, "chess.engine")
    engine = await start(make(failure))
    with pytest.raises(error, match=message):
        await engine.search(CLOCK, 10 if error is EngineDiedError else 0.5)


@pytest.mark.needs("phalanx")
async def test_phalanx_answers_a_search(start):
    engine = await start(XboardClient(program("phalanx"), ("-b-", "-l-")))
    await engine.new_game()
    answer = await engine.search(SearchRequest(FEN, ("f1b5",), CLOCK.white, CLOCK.black), 20)
    assert len(answer.move) == 4


async def test_opponent_name_and_result_are_sent(start):
    lines = []

    class Log:
        def write(self, pid, direction, line):
            lines.append(line)

    engine = await start(make(log=Log()))
    await engine.set_opponent("Ann Other")
    await engine.report_result("1-0", "checkmate", forfeit=False)
    await engine.new_game()
    assert lines.index("name Ann Other") < lines.index("result 1-0 {checkmate}")
