"""What a bot makes of a valid request, and a client of a reply."""

import chess
import pytest

from agent.limits import Cp, SideClock
from protocols.client.engine import EngineTimeoutError
from protocols.client.process import EngineError
from protocols.client.uci import SearchRequest
from protocols.mqtt import payloads
from protocols.mqtt.requests import (
    RequestError,
    encode_request,
    parse_reply,
    parse_request,
    time_limit,
)

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


def request(**changes):
    payload = {"id": "1", "reply_to": "kempelen/v1/replies/me", "limits": {"nodes": 5}, **changes}
    assert payloads.problem("request", payload) == ""
    return payload


def test_a_request_goes_and_comes():
    asked = SearchRequest(
        None, ("e2e4", "e7e5"), SideClock(1.5, 0.5), SideClock(2.0, 0.0), moves_to_go=3
    )
    assert parse_request(request(**encode_request(asked))) == asked
    black = SearchRequest(None, ("e2e4",), depth=3, side=1)
    assert parse_request(request(**encode_request(black))) == black


@pytest.mark.parametrize(
    ("changes", "position"),
    [
        ({"fen": chess.STARTING_FEN.replace(" ", "\n")}, f"fen {chess.STARTING_FEN}"),
        ({"fen": CASTLING, "moves": ["e1h1"]}, f"fen {CASTLING} moves e1g1"),
        ({"fen": "  8/8/8/8/8/k7/7q/K7   b"}, "fen 8/8/8/8/8/k7/7q/K7 b - - 0 1"),
        ({}, "startpos"),
    ],
)
def test_engines_read_our_spelling(changes, position):
    assert parse_request(request(**changes)).position_line() == f"position {position}"


def test_chess960_has_its_own_castling():
    asked = parse_request(request(fen=CASTLING, moves=["e1h1"], chess960=True))
    assert asked.position_line() == (f"position fen {CASTLING.replace('KQkq', 'HAha')} moves e1h1")
    assert encode_request(asked, chess960=True)["chess960"] is True
    assert "chess960" not in encode_request(asked)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"moves": ["e2e5"]}, "illegal uci"),
        ({"moves": ["e2e4", "e2e4"]}, "illegal uci"),
        ({"fen": "nonsense"}, "fen"),
        ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "not a legal position"),
        ({"fen": "8/8/8/8/8/k7/8/K6q w - - 0 1"}, "game is over"),
        ({"limits": {"moves_to_go": 5}}, "limits"),
        ({"limits": {"white": {"time": 5}}}, "limits"),
    ],
)
def test_what_cannot_be_asked(changes, message):
    with pytest.raises(RequestError, match=message):
        parse_request(request(**changes))


def test_null_moves_are_no_moves():
    payload = {**request(), "moves": ["0000"]}
    assert "0000" in payloads.problem("request", payload)


def test_limits():
    assert time_limit(request(limit=7), 600) == 7
    assert time_limit(request(limit=3600), 600) == 600
    assert time_limit(request(), 600) == 60
    with pytest.raises(RequestError, match="600 s at most"):
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
def test_an_invalid_reply_is_the_bots_failure(reply):
    with pytest.raises(EngineError, match="bot b: its reply is not valid"):
        parse_reply({"id": "1", **reply}, "b", 1.0)


def test_replies():
    info = {"depth": 3.0, "cp": 5, "mate": None, "nodes": 8, "pv": ["e2e4"]}
    answer = parse_reply({"id": "1", "move": "e2e4", "time": 1, "info": info}, "b", 2.0)
    assert (answer.move, answer.elapsed, answer.info.depth) == ("e2e4", 2.0, 3)
    assert answer.info.score == Cp(5)
    error = {"code": "time_limit", "message": "x" * 5000}
    with pytest.raises(EngineTimeoutError) as caught:
        parse_reply({"id": "1", "error": error}, "b", 2.0)
    assert len(str(caught.value)) < 500
