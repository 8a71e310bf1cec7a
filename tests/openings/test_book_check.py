"""Checking a book: unreachable, illegal and losing moves."""

import chess
import pytest

from agent.limits import Cp, Mate
from openings import book_check, polyglot
from openings.polyglot import Entry

FOOLS_MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]


def entries(moves, board=None):
    """Return an entry for each move of a line."""
    board = board or chess.Board()
    found = []
    for text in moves:
        move = chess.Move.from_uci(text)
        found.append(
            Entry(chess.polyglot.zobrist_hash(board), polyglot.encode_move(board, move), 1, 0)
        )
        board.push(move)
    return found


@pytest.fixture
def walked(tmp_path):
    def walk(found):
        polyglot.write(tmp_path / "book.bin", sorted(found, key=lambda entry: entry.key))
        with polyglot.opened_book(tmp_path / "book.bin") as reader:
            return book_check.walk_book(reader)

    return walk


def test_walk_follows_line_to_its_end(walked):
    walk = walked(entries(FOOLS_MATE))
    assert [chess.Board().variation_san(line) for line in walk.lines] == [
        "1. f3",
        "1. f3 e5",
        "1. f3 e5 2. g4",
        "1. f3 e5 2. g4 Qh4#",
    ]
    assert (walk.illegal, walk.unreachable) == (0, 0)


def test_illegal_and_unreachable_entries_are_counted(walked):
    board = chess.Board()
    key = chess.polyglot.zobrist_hash(board)
    illegal = Entry(key, polyglot.encode_move(board, chess.Move.from_uci("e2e5")), 1, 0)
    elsewhere = entries(["e7e5", "g1f3"], chess.Board("4k3/4p3/8/8/8/8/8/4K1N1 b - - 0 1"))
    walk = walked([*entries(["d2d4"]), illegal, *elsewhere])
    assert [chess.Board().variation_san(line) for line in walk.lines] == ["1. d4"]
    assert (walk.illegal, walk.unreachable) == (1, 2)


def test_move_is_scored_for_side_that_plays_it():
    lines = [tuple(map(chess.Move.from_uci, FOOLS_MATE[:n])) for n in range(1, len(FOOLS_MATE) + 1)]
    scores = {3: Mate(1), 2: Cp(-30), 1: Cp(50)}
    scored = dict(book_check.score_lines(lines, lambda board: scores[board.ply()]))
    # The last move gives mate and needs no search.
    mate = book_check.centipawns(Mate(1))
    assert list(scored.values()) == [-50, 30, -mate, mate]


def test_centipawns_preserve_score_order():
    scores = [Mate(-1), Mate(-9), Cp(-3000), Cp(0), Cp(3000), Mate(9), Mate(1)]
    numbers = list(map(book_check.centipawns, scores))
    assert numbers == sorted(set(numbers))
