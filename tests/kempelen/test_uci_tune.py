"""`kempelen uci --tune`: the constants of the search as options."""

import re

import pytest

from agent.chess.search.parameters import PARAMETERS


@pytest.fixture
def engine(start_engine, warm_cache):
    engine = start_engine("uci", "--tune")
    engine.send("uci")
    engine.greeting = engine.read_until("uciok")
    return engine


def nodes(engine):
    """Search from scratch; return the nodes of the last iteration."""
    engine.send("ucinewgame", "position startpos", "go depth 8")
    lines = engine.read_until("bestmove")
    return int(re.search(r" nodes (\d+)", lines[-2])[1])


def test_every_constant_is_an_option(engine):
    for parameter in PARAMETERS.values():
        assert (
            f"option name {parameter.name} type spin default {parameter.default} "
            f"min {parameter.minimum} max {parameter.maximum}"
        ) in engine.greeting
        assert parameter.minimum <= parameter.default <= parameter.maximum


def test_option_value_changes_the_search(engine):
    before = nodes(engine)
    parameter = PARAMETERS["ReverseFutilityMargin"]
    engine.send(f"setoption name {parameter.name} value {parameter.maximum}")
    assert nodes(engine) != before
    engine.send(f"setoption name {parameter.name} value {parameter.default}")
    assert nodes(engine) == before


@pytest.mark.thorough
def test_out_of_range_value_is_reported_and_ignored(engine):
    before = nodes(engine)
    parameter = PARAMETERS["ReverseFutilityMargin"]
    engine.send(f"setoption name {parameter.name} value {parameter.maximum + 1}", "isready")
    output = "\n".join(engine.read_until("readyok"))
    assert "info string" in output
    assert parameter.name in output
    assert nodes(engine) == before
