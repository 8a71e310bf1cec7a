"""Limits of valid requests, and replies."""

import pytest

from agent.limits import Cp, SideClock
from protocols.client.engine import EngineTimeoutError
from protocols.client.process import EngineError
from protocols.mqtt.request_codec import (
    BotUnavailableError,
    RequestError,
    parse_limits,
    parse_reply,
    time_limit,
)
from tests.protocols.mqtt.support import request


def test_parse_limits_drops_or_rejects_unsupported_limits():
    found = parse_limits({"nodes": 5.0, "white": {"time": 3}}, {"nodes", "depth"})
    assert (found["nodes"], found["white"], found["depth"]) == (5, SideClock(3, 0.0), None)
    with pytest.raises(RequestError, match=r"playouts not supported \(this bot supports movetime,"):
        parse_limits({"nodes": 5, "playouts": 5}, {"nodes", "depth"})
    with pytest.raises(RequestError, match="expected movetime, depth, or white and black clocks"):
        parse_limits({"white": {"time": 3}}, {"depth"})


def test_time_limit_is_bounded():
    assert time_limit(request(limit=7), 600) == 7
    assert time_limit(request(limit=3600), 600) == 600
    assert time_limit(request(), 600) == 60
    with pytest.raises(RequestError, match="at most 600 s"):
        time_limit(request(limits={"movetime": 3600}), 600)


@pytest.mark.parametrize(
    "reply",
    [
        {"move": 5},
        {"move": "e2e4", "time": 1, "info": {"depth": 1, "cp": 10**400, "nodes": 1}},
        {"move": "e2e4", "time": 1, "info": {"depth": 1, "mate": True}},
        {"move": "e2e4", "time": 1, "info": {"cp": 1, "pv": [["e2e4"]]}},
        {"move": "e2e4", "time": 1, "info": {"cp": 1, "pv": "e2e4"}},
        {"move": "e2e4", "time": 1, "info": [], "ponder": None},
        {"move": "e2e4", "time": 1, "info": None, "ponder": 5},
        {"error": "busy"},
        {"error": {"code": [], "message": "x"}},
        {"error": {"code": "engine", "message": None}},
        {},
    ],
)
def test_invalid_reply_raises_engine_error(reply):
    with pytest.raises(EngineError, match="bot b: invalid reply"):
        parse_reply({"id": "1", **reply}, "b", 1.0)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("bad_request", EngineError),
        ("busy", BotUnavailableError),
        ("not_started", BotUnavailableError),
        ("time_limit", EngineTimeoutError),
        ("engine", EngineError),
    ],
)
def test_error_codes_tell_failures_of_the_engine_from_others(code, error):
    reply = {"id": "1", "error": {"code": code, "message": "x"}}
    with pytest.raises(EngineError, match=f"bot b: {code}: x") as raised:
        parse_reply(reply, "b", 1.0)
    assert raised.type is error


def test_parse_reply_reads_moves_and_errors():
    info = {"depth": 3.0, "cp": 5, "mate": None, "nodes": 8, "pv": ["e2e4"]}
    answer = parse_reply({"id": "1", "move": "e2e4", "time": 1, "info": info}, "b", 2.0)
    assert (answer.move, answer.elapsed, answer.info.depth) == ("e2e4", 2.0, 3)
    assert answer.info.score == Cp(5)
    error = {"code": "time_limit", "message": "x" * 5000}
    with pytest.raises(EngineTimeoutError) as caught:
        parse_reply({"id": "1", "error": error}, "b", 2.0)
    assert len(str(caught.value)) < 500
