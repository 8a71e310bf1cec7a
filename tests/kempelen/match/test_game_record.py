"""Game records in files, with arbitrary names and details."""

import contextlib
import dataclasses
import io
import json
import tempfile

import chess.pgn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.io.sanitize import sanitize_line
from kempelen.cli import main
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.config.settings import Settings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.game_result import Termination
from kempelen.match.live.events import GameFinished
from kempelen.match.live.latency import LatencyMeter
from kempelen.match.records.game_record import (
    PGN_FIELDS,
    TAG_LENGTH,
    GameRecord,
    MoveRecord,
    Notation,
    PgnFormat,
    to_pgn,
    unescape_tag_value,
)
from kempelen.match.records.ledger import Ledger
from kempelen.match.records.record_formats import to_json, to_sgf, to_text
from tests.support import ANY_TEXT

WORDS = ANY_TEXT | st.text('"\\[]{}%;:()')


def record(white, black, detail, moves=("e2e4", "c7c5"), fen=chess.STARTING_FEN):
    played = tuple(MoveRecord(move) for move in moves)
    ending = Termination.CRASH
    return GameRecord("1.1-2.1", 1, white, black, fen, (), played, "1-0", ending, detail)


@settings(deadline=None)
@given(WORDS, WORDS, WORDS, WORDS)
def test_pgn_is_valid_for_any_names_and_details(white, black, detail, event):
    text = to_pgn(record(white, black, detail), event)
    assert all(line.isprintable() for line in text.split("\n"))
    file = io.StringIO(text)
    game = chess.pgn.read_game(file)
    assert not game.errors
    assert [move.uci() for move in game.mainline_moves()] == ["e2e4", "c7c5"]
    assert game.headers["Result"] == "1-0"
    for tag, value in [("White", white), ("Black", black), ("Event", event)]:
        assert unescape_tag_value(game.headers[tag]) == sanitize_line(value, TAG_LENGTH)
    assert chess.pgn.read_game(file) is None


def detailed_record():
    first = MoveRecord(
        "g1f3", cp=31, depth=9, nodes=2000, time=0.5, clock=9.5, seldepth=14, hashfull=2, tbhits=0,
        reported_time=0.4, pv=("g1f3", "d7d5", "e1g1"),
    )  # fmt: skip
    moves = (first, MoveRecord("d7d5", mate=-2, depth=3, time=0.25))
    end = Termination.MAX_MOVES
    return GameRecord("1.1-2.1", 1, "A", "B", chess.STARTING_FEN, (), moves, "1/2-1/2", end)


def test_pgn_has_the_requested_fields():
    every = PgnFormat(fields=tuple(PGN_FIELDS), site="Home")
    text = " ".join(to_pgn(detailed_record(), "match", every).split())
    assert (
        "{ +0.31/9 0.500s n=2000 sd=14 nps=5000 hashfull=2 tbhits=0 tl=9.500s latency=0.100s "
        'pv="Nf3 d5" }'
    ) in text
    assert "{ -M2/3 0.250s; maximum number of moves }" in text
    assert '[Site "Home"]' in text
    assert "{ +0.31/9 0.500s }" in to_pgn(detailed_record(), "match", PgnFormat(fields=()))
    assert "{ +0.31/9 0.500s n=2000 }" in to_pgn(detailed_record(), "match")


@pytest.mark.parametrize(
    ("moves", "tags"),
    [
        (("e2e4", "c7c5", "b2b4"), '[ECO "B20"]\n[Opening "Sicilian Defence'),
        (("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "h7h5"), '[ECO "C60"]\n[Opening "Ruy Lopez'),
    ],
)
def test_pgn_names_the_opening(moves, tags):
    assert tags in to_pgn(record("A", "B", "", moves), "match")
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    assert "[ECO" not in to_pgn(record("A", "B", "", ("e2e4",), fen), "match")


@pytest.mark.parametrize(
    ("notation", "moves"), [("san", "1. Nf3"), ("lan", "1. Ng1-f3"), ("uci", "1. g1f3")]
)
def test_pgn_in_every_notation_is_readable(notation, moves):
    text = to_pgn(detailed_record(), "match", PgnFormat(notation=Notation(notation)))
    assert moves in text
    game = chess.pgn.read_game(io.StringIO(text))
    assert [move.uci() for move in game.mainline_moves()] == ["g1f3", "d7d5"]


def test_ledger_keeps_the_fields_of_a_move():
    chosen = Settings(
        engines=(EngineSettings("a", name="A"), EngineSettings("b", name="B")),
        time=TimeControl(depth=1),
    )
    ledger = Ledger()
    ledger.begin(chosen, resume=False)
    assert ledger.record(detailed_record())
    assert list(ledger.records()) == [detailed_record()]
    ledger.close()


@pytest.mark.parametrize(
    ("fen", "opening", "slow"),
    [
        (chess.STARTING_FEN, (), "A"),
        (chess.STARTING_FEN, ("e2e4",), "B"),
        ("4k3/8/8/8/8/8/8/4K2R b - - 0 1", (), "B"),
    ],
)
def test_latency_is_the_time_that_an_engine_does_not_report(fen, opening, slow):
    moves = tuple(
        MoveRecord("e2e4", time=time, reported_time=reported)
        for time, reported in [(0.5, 0.4), (0.2, 0.2), (0.4, 0.1), (0.1, None)]
    )
    played = GameRecord("1.1-2.1", 1, "A", "B", fen, opening, moves, "1-0", Termination.RESIGNATION)
    meter = LatencyMeter()
    meter(GameFinished(1, played))
    fast = {"A": "B", "B": "A"}[slow]
    assert set(meter.lines()) == {
        f"latency of {slow}: 200.0 ms, at most 300.0 ms",
        f"latency of {fast}: 0.0 ms, at most 0.0 ms",
    }


@pytest.mark.parametrize(
    ("limits", "tag"),
    [
        (TimeControl(nodes=100), "-"),
        (TimeControl(depth=8), "-"),
        (TimeControl(moves=40, base=60), "40/60"),
        (TimeControl(base=10, increment=0.1), "10+0.1"),
        (TimeControl(base=5_000_000, nodes=7), "5000000"),
        (TimeControl(movetime=0.5), "1/0.5"),
        (TimeControl(base=60, hourglass=True), "*60"),
        (None, "?"),
    ],
)
def test_time_control_tag_has_notation_of_pgn(limits, tag):
    written = str(limits or "")
    played = dataclasses.replace(record("A", "B", ""), white_time=written, black_time=written)
    headers = chess.pgn.read_game(io.StringIO(to_pgn(played, "match"))).headers
    assert headers["TimeControl"] == tag
    assert headers.get("SearchLimits", tag) == (written or tag)


def test_time_controls_of_both_sides_are_recorded():
    played = dataclasses.replace(record("A", "B", ""), white_time="100 nodes", black_time="1+0.1")
    headers = chess.pgn.read_game(io.StringIO(to_pgn(played, "match"))).headers
    assert (headers["WhiteTimeControl"], headers["BlackTimeControl"]) == ("-", "1+0.1")
    assert (headers["WhiteSearchLimits"], headers["BlackSearchLimits"]) == ("100 nodes", "1+0.1")


@pytest.mark.thorough
@settings(deadline=None)
@given(WORDS, WORDS)
def test_ratings_command_reads_names_from_pgn(white, black):
    names = {sanitize_line(white, TAG_LENGTH), sanitize_line(black, TAG_LENGTH)}
    if len(names) == 2:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".pgn") as file:
            file.write(to_pgn(record(white, black, ""), "match"))
            file.flush()
            with contextlib.redirect_stdout(io.StringIO()) as output:
                assert main(["match", "ratings", file.name]) == 0
                assert main(["match", "ratings", "--json", file.name]) == 0
        *table, rows = output.getvalue().splitlines()
        assert {row["name"] for row in json.loads(rows)} == names
        assert all(line.isprintable() for line in table)


@settings(deadline=None)
@given(WORDS, WORDS, WORDS, WORDS)
def test_sgf_keeps_any_names_and_details(white, black, detail, event):
    from sgfmill import sgf

    go = GameSettings("go", {"size": 5})
    text = to_sgf(record(white, black, detail, ("a1", "pass"), ""), go, event)
    root = sgf.Sgf_game.from_bytes(text.encode()).get_root()
    assert [root.get(tag) for tag in ("PW", "PB", "EV")] == [
        sanitize_line(white),
        sanitize_line(black),
        sanitize_line(event),
    ]
    assert sanitize_line(detail) in root.get("C")


@settings(deadline=None)
@given(WORDS, WORDS, WORDS, WORDS)
def test_text_and_json_records_keep_any_names(white, black, detail, event):
    game = GameSettings("tic-tac-toe")
    played = record(white, black, detail, ("a1",), "")
    lines = to_text(played, game, event).split("\n")
    assert len(lines) == 6
    assert all(line.isprintable() for line in lines)
    assert sanitize_line(white) in lines[1]
    line = to_json(played, game, event)
    assert line.count("\n") == 1
    assert line.isascii()
    assert json.loads(line)["white"] == white


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_ledger_keeps_any_names_and_details(name, detail):
    chosen = Settings(
        engines=(EngineSettings("a", name=name), EngineSettings("b", name=f"not {name}")),
        time=TimeControl(depth=1),
    ).with_unique_names()
    played = record(*(engine.name for engine in chosen.engines), sanitize_line(detail))
    ledger = Ledger()
    ledger.begin(chosen, resume=False)
    assert ledger.record(played)
    assert list(ledger.records()) == [played]
    ledger.close()
