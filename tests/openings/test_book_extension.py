import random

import chess
import pytest
from chess.polyglot import zobrist_hash

from agent.limits import Cp, Info, Mate
from openings import repertoire
from openings.book_extension import BookExtender, BookMove, write_lines
from openings.polyglot import Entry, MoveStatistics, encode_move


def entries(*lines):
    lines = [repertoire.Line(moves=played(line)) for line in lines]
    return repertoire.build(lines).entries()


def played(text):
    board = chess.Board()
    return tuple(board.push_san(san) for san in text.split())


def after(text):
    board = chess.Board()
    for move in played(text):
        board.push(move)
    return board


class Search:
    """Returns the first legal moves in alphabetical order, with given scores."""

    def __init__(self, scores=(20, 0, -40), white_wins_after=None):
        self.scores = scores
        self.white_wins_after = white_wins_after
        self.asked = []

    def __call__(self, board, nodes, lines):
        self.asked.append((board.ply(), nodes))
        if self.white_wins_after is not None and board.ply() > self.white_wins_after:
            score = Mate(3) if board.turn else Mate(-3)
            return [Info(1, score, (next(iter(board.legal_moves)),))]
        moves = sorted(board.legal_moves, key=chess.Move.uci)[:lines]
        return [
            Info(1, Cp(score), (move,)) for score, move in zip(self.scores, moves, strict=False)
        ]


def grower(search, *lines, **options):
    extender = BookExtender(search, random.Random(1), nodes=1000, **options)
    extender.add_entries(entries(*lines))
    return extender


def book_moves(grown, text):
    return {known.move.uci(): known for known in grown.book[zobrist_hash(after(text))].values()}


def contents(grown):
    return {
        (known.path, known.move): (known.weight, known.comment) for known in grown.learned_moves()
    }


def test_moves_near_best_are_added_at_end_of_book():
    search = Search(white_wins_after=2)
    grown = grower(search, "e4 e5")
    assert grown.step()
    moves = book_moves(grown, "e4 e5")
    assert list(moves) == ["a2a3", "a2a4"]  # the third is too much worse
    assert moves["a2a3"].weight > moves["a2a4"].weight > 0
    assert "+0.20" in moves["a2a3"].comment
    assert search.asked[0] == (2, 1000)


def test_self_play_result_updates_weights():
    grown = grower(Search(white_wins_after=2), "e4 e5")
    grown.step()
    first, reply = book_moves(grown, "")["e2e4"], book_moves(grown, "e4")["e7e5"]
    assert MoveStatistics.unpack(first.learn) == MoveStatistics(1, 1.0)
    assert MoveStatistics.unpack(reply.learn) == MoveStatistics(1, 0.0)
    assert (first.weight, reply.weight) == (11, 9)


@pytest.mark.thorough
def test_losing_move_gets_zero_weight():
    for score, loser in ((300, "e4"), (-300, "")):
        search = Search((score, 0), white_wins_after=2)
        grown = grower(search, "e4 e5")
        grown.step()
        assert search.asked[:2] == [(2, 1000), (2, 20_000)]
        known = next(iter(book_moves(grown, loser).values()))
        assert (known.weight, known.learned) == (0, True)
        assert "loses" in known.comment


def test_longer_search_can_clear_suspected_move():
    search = Search((300, 0), white_wins_after=2)

    def wiser(board, nodes, lines):
        found = search(board, nodes, lines)
        return [Info(1, Cp(20), found[0].pv)] if nodes == 20_000 else found

    grown = grower(wiser, "e4 e5")
    grown.step()
    assert book_moves(grown, "e4")["e7e5"].weight > 0


def test_growing_stops_when_book_is_complete():
    grown = grower(Search(white_wins_after=2), "e4 e5", plies=3)
    assert grown.step()
    assert not grown.step()


def test_learned_lines_survive_round_trip(tmp_path):
    path = tmp_path / "learned.yaml"
    first = grower(Search(white_wins_after=2), "e4 e5", "d4 d5")
    assert all(first.step() for _ in range(4))
    assert write_lines(path, first.learned_moves()) == len(first.learned_moves())
    lines = repertoire.read([path])
    again = grower(Search(white_wins_after=2), "e4 e5", "d4 d5")
    again.add_lines(lines)
    assert contents(again) == contents(first)
    weights = repertoire.build(lines).weights
    assert weights[zobrist_hash(after("e4 e5"))] == {
        raw_move: known.weight
        for raw_move, known in first.book[zobrist_hash(after("e4 e5"))].items()
    }


def test_illegal_and_unknown_entries_are_kept(tmp_path):
    board = after("e4")
    illegal = Entry(zobrist_hash(board), encode_move(chess.Board(), chess.Move.from_uci("a2a3")), 5)
    grown = grower(Search(white_wins_after=1), "e4")
    grown.add_entries([illegal, Entry(7, 7, 7, 7)])
    grown.step()
    assert Entry(7, 7, 7, 7) in grown.entries()
    assert illegal in grown.entries()


def test_positive_weights_stay_positive_and_zero_stays_zero():
    known, avoided = BookMove(chess.Move.null(), 1), BookMove(chess.Move.null(), 0)
    for each in (known, avoided):
        each.add_result(0)
        each.add_result(1)
        each.add_result(0.5)
    assert (known.weight, avoided.weight) == (2, 0)
