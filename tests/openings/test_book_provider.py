import random

import chess
import chess.polyglot
import chess.variant
import pytest

from agent.limits import Limits, SideClock
from openings.book_provider import BookProvider
from openings.polyglot import Entry, encode_move, write

CLOCK = Limits(clock=SideClock(60.0))


@pytest.fixture
def reports():
    return []


@pytest.fixture
def provider(reports):
    found = BookProvider(reports.append, random.Random(1))
    yield found
    found.close()


def one_move_book(path, *moves):
    board = chess.Board()
    key = 0x463B96181691FC9C
    entries = [
        Entry(key, encode_move(board, board.parse_san(san)), weight) for san, weight in moves
    ]
    write(path, entries)
    return str(path)


def test_the_shipped_book_plays_and_names_the_opening(provider, reports):
    board = chess.Board()
    for san in ("e4", "c5"):
        board.push_san(san)
    info = provider.probe(board, CLOCK, 1)
    board.push(info.pv[0])
    assert board.is_valid()
    assert info.pv[1] in board.legal_moves
    assert len(reports) == 1
    assert reports[0].startswith("book kempelen.bin: B2")
    assert "Sicilian Defence" in reports[0]


def test_no_book_is_used_in_variants(provider):
    """The start position of the king of the hill has the same key."""
    board = chess.variant.KingOfTheHillBoard()
    assert provider.probe(board, CLOCK, 1) is None
    assert provider.move_probabilities(board) == []


def test_a_book_move_without_a_name_is_reported_without_one(provider, reports, tmp_path):
    provider.set_books(one_move_book(tmp_path / "mine.bin", ("a3", 1)))
    provider.probe(chess.Board(), CLOCK, 1)
    assert reports == ["book mine.bin"]


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(infinite=True),
        Limits(depth=5),
        Limits(nodes=5),
        Limits(movetime=1.0, mate=3),
        Limits(movetime=1.0, search_moves=(chess.Move.from_uci("e2e4"),)),
    ],
)
def test_book_is_not_used_when_search_is_requested(provider, reports, limits):
    assert provider.probe(chess.Board(), limits, 1) is None
    assert reports == []


def test_book_is_not_used_in_analysis_or_beyond_depth(provider):
    board = chess.Board()
    assert provider.probe(board, CLOCK, 2) is None
    provider.analysing = True
    assert provider.probe(board, CLOCK, 1) is None
    provider.analysing, provider.depth = False, 0
    assert provider.probe(board, CLOCK, 1) is None
    provider.depth, provider.enabled = 1, False
    assert provider.probe(board, CLOCK, 1) is None
    provider.enabled = True
    assert provider.probe(board, CLOCK, 1) is not None


def test_variety_setting_controls_move_choice(provider, tmp_path):
    provider.set_books(
        one_move_book(tmp_path / "a.bin", ("a3", 1), ("e4", 50), ("d4", 49), ("h4", 0))
    )
    played = {}
    for variety in ("best", "weighted", "uniform"):
        provider.variety = variety
        found = [provider.probe(chess.Board(), CLOCK, 1).pv[0].uci() for _ in range(300)]
        played[variety] = {move: found.count(move) for move in found}
    assert played["best"] == {"e2e4": 300}
    assert played["weighted"].get("a2a3", 0) < 30 < played["weighted"]["d2d4"]
    assert min(played["uniform"][move] for move in ("a2a3", "e2e4", "d2d4")) > 60
    assert "h2h4" not in played["uniform"]


def test_books_are_tried_in_order_and_broken_ones_reported(provider, reports, tmp_path):
    broken = tmp_path / "broken.bin"
    broken.write_bytes(b"seventeen bytes..")
    first = one_move_book(tmp_path / "first.bin", ("a3", 1))
    second = one_move_book(tmp_path / "second.bin", ("h3", 1))
    provider.set_books(f"{tmp_path / 'none.bin'}; {broken};{first};{second}")
    assert [text for text in reports if "none.bin" in text or "broken.bin" in text] == reports
    assert len(reports) == 2
    assert provider.probe(chess.Board(), CLOCK, 1).pv[0].uci() == "a2a3"
    provider.set_books("")
    assert provider.probe(chess.Board(), CLOCK, 1) is None


def test_book_avoids_repeating_position(provider, tmp_path):
    board = chess.Board()
    for uci in ("g1f3", "g8f6", "f3g1"):
        board.push_uci(uci)
    entries = []
    for san in ("Ng8", "d5"):
        key = chess.polyglot.zobrist_hash(board)
        entries.append(Entry(key, encode_move(board, board.parse_san(san)), 1))
    write(tmp_path / "a.bin", entries)
    provider.set_books(str(tmp_path / "a.bin"))
    for _ in range(20):
        assert provider.probe(board, CLOCK, 1).pv[0].uci() == "d7d5"


def test_disabled_book_still_lists_moves(provider, reports, tmp_path):
    second = one_move_book(tmp_path / "second.bin", ("d4", 1), ("e4", 3), ("a3", 0))
    provider.set_books(f"{tmp_path}/missing.bin;{second}")
    provider.enabled = False
    moves = provider.move_probabilities(chess.Board())
    assert [(move.uci(), share) for move, share in moves] == [("e2e4", 0.75), ("d2d4", 0.25)]
    assert provider.move_probabilities(chess.Board("7k/8/8/8/8/8/8/K6R w - - 0 1")) == []
