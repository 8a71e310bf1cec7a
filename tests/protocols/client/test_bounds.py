"""Limits of what an engine declares, answers and reports."""

import asyncio

import chess
import chess.engine
import pytest

from agent.limits import Cp, Mate
from protocols.client.engine import MAX_COUNT, MAX_KEPT_LENGTH, MAX_SCORE, EngineState
from protocols.client.gtp import GtpClient
from protocols.client.process import EngineError
from protocols.client.uci import UciClient, parse_info, parse_option
from protocols.client.xboard import XboardClient, _info, _Protocol

HUGE = "9" * 400


class EndlessProcess:
    """An engine that prints a line without end. It fails if far too many lines are read."""

    arrived = 0.0

    def __init__(self, *lines):
        self._lines = list(lines)
        self._read = 0

    def send(self, text):
        pass

    async def read_line(self):
        await asyncio.sleep(0)
        self._read += 1
        line = self._lines[0] if len(self._lines) == 1 else self._lines.pop(0)
        assert self._read * len(line) < 4 * MAX_KEPT_LENGTH, "the limit is not enforced"
        return line.replace("NUMBER", str(self._read))


@pytest.mark.parametrize("padding", [50, 60_000])
async def test_uci_options_without_end_are_an_error(padding):
    client = UciClient("engine")
    client._process = EndlessProcess(f"option name N NUMBER type string default {'x' * padding}")
    with pytest.raises(EngineError, match="list of options too long"):
        await client._read_declarations()
    assert client.state is EngineState.FAILED
    assert sum(len(option.default) for option in client.options.values()) <= MAX_KEPT_LENGTH


async def test_gtp_answer_without_end_is_an_error():
    client = GtpClient("engine")
    client._process = EndlessProcess("= name", "commandNUMBER" * 100)
    with pytest.raises(EngineError, match="answer to list_commands too long"):
        await client._ask("list_commands", 5.0)
    assert client.state is EngineState.FAILED


@pytest.mark.parametrize(
    "line", ['feature option="N NUMBER -string x"', "feature NUMBER=1", "feature x=" + "x" * 60_000]
)
async def test_xboard_features_without_end_are_an_error(line):
    client = XboardClient("engine")
    client._process = EndlessProcess(line)
    client._protocol = _Protocol(client._process)
    with pytest.raises(EngineError, match="list of features too long"):
        await client._ask(30.0, "features", client._protocol.request_features())
    assert client.state is EngineState.FAILED


def test_option_with_overlong_name_is_ignored():
    assert parse_option(f"option name {'x' * 201} type button") is None
    assert parse_option(f"option name {'x' * 200} type button") is not None
    assert parse_option(f"option name X type spin default 1 min 0 max {HUGE}").max is None


@pytest.mark.parametrize("number", [HUGE, f"-{HUGE}", str(MAX_SCORE + 1), "9" * 5000])
@pytest.mark.parametrize("kind", ["cp", "mate"])
def test_uci_score_out_of_range_is_ignored(kind, number):
    assert parse_info(f"info depth 1 score {kind} {number} pv e2e4") is None


def test_other_uci_numbers_out_of_range_are_ignored():
    names = ("depth", "seldepth", "nodes", "time", "hashfull", "tbhits")
    for number in (HUGE, str(MAX_COUNT + 1), "-5"):
        words = " ".join(f"{name} {number}" for name in names)
        info = parse_info(f"info {words} score cp {MAX_SCORE} pv e2e4")
        assert (info.depth, info.nodes, info.time, info.score) == (0, 0, 0.0, Cp(MAX_SCORE))
        assert info.pv == ("e2e4",)
    assert parse_info(f"info nodes {MAX_COUNT} score mate -3").nodes == MAX_COUNT


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("number", [HUGE, "9" * 5000])
async def test_xboard_thinking_with_number_out_of_range_is_ignored(place, number):
    protocol = _Protocol(EndlessProcess())
    numbers = ["3", "-25", "100", "2000"]
    protocol.receive(f"{' '.join(numbers)} e2e4")
    kept = protocol._last_thinking_line
    numbers[place] = number
    protocol.receive(f"{' '.join(numbers)} e2e4")
    protocol.receive(" ".join(numbers))
    assert protocol._last_thinking_line == kept == "3 -25 100 2000 e2e4"


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (chess.engine.Cp(MAX_SCORE + 1), None),
        (chess.engine.Mate(-MAX_SCORE - 1), None),
        (chess.engine.Cp(-25), Cp(-25)),
        (chess.engine.Mate(-3), Mate(-3)),
    ],
)
def test_xboard_score_out_of_range_is_ignored(score, expected):
    info = _info({"score": chess.engine.PovScore(score, chess.WHITE)})
    assert (info and info.score) == expected


def test_xboard_numbers_below_zero_are_ignored():
    score = chess.engine.PovScore(chess.engine.Cp(20), chess.WHITE)
    info = _info({"score": score, "time": -0.05, "nodes": -7})
    assert (info.score, info.time, info.nodes) == (Cp(20), 0.0, 0)
