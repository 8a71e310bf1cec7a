"""Adjustment of root moves by an opponent's profile, with a search that returns fixed scores."""

from dataclasses import replace

import chess
import pytest

from agent.learning.opponent_game_record import centipawns
from agent.learning.opponent_profile import LineStats
from agent.learning.opponent_search import OpponentAwareSearch
from agent.limits import Cp, Info, Limits, Mate
from tests.support import board_after

LIMITS = Limits(nodes=1000)


class ScoredSearch:
    """A search with a fixed score for each move, which records its calls."""

    def __init__(self, **scores):
        self.scores = scores
        self.asked = []

    def score(self, move):
        score = self.scores.get(move.uci(), -300)
        return score if isinstance(score, Mate) else Cp(score)

    def search(self, board, limits, lines=1):
        self.asked.append((limits, lines))
        moves = limits.search_moves or tuple(board.legal_moves)
        best = sorted(moves, key=lambda move: -centipawns(self.score(move)))
        for depth in (1, 2):
            for line, move in enumerate(best[:lines], 1):
                yield Info(depth, self.score(move), (move,), multipv=line, nodes=10 * depth)


# White can undo its knight move, and then Black can too.
OPEN = "e2e4 e7e5 g1f3 g8f6"


def chosen(inner, board, acceptance=0.5, draw_value=0, line=None, limits=LIMITS, lines=1):
    infos = list(
        OpponentAwareSearch(inner, acceptance, draw_value, line).search(board, limits, lines)
    )
    return infos[-1].pv[0].uci()


def test_search_is_unchanged_without_habits():
    inner, board = ScoredSearch(b1c3=10), board_after(OPEN)
    infos = list(OpponentAwareSearch(inner, 0.5, 0, LineStats(0.5)).search(board, LIMITS))
    assert infos == list(inner.search(board, LIMITS))
    assert inner.asked[0] == (LIMITS, 1)


@pytest.mark.parametrize(
    ("acceptance", "draw_value", "score", "move"),
    [
        (0.9, 150, -40, "f3g1"),  # a stronger opponent repeats: a draw is good
        (0.9, 150, 200, "b1c3"),  # not if we are winning
        (0.05, 150, -40, "b1c3"),  # nor if it never repeats
        (0.9, -150, -40, "b1c3"),  # against a weaker opponent it is bad
        (0.9, 0, -40, "b1c3"),
    ],
)
def test_repetition_is_played_if_wanted_and_likely_accepted(acceptance, draw_value, score, move):
    inner = ScoredSearch(b1c3=score, f3g1=score - 30)
    assert chosen(inner, board_after(OPEN), acceptance, draw_value) == move


def test_repetition_that_costs_too_much_is_not_played():
    inner = ScoredSearch(b1c3=-40, f3g1=-200)
    assert chosen(inner, board_after(OPEN), 0.9, 200) == "b1c3"


def test_third_repetition_counts_as_certain_draw():
    board = board_after("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8 e2e4 e7e5")
    assert chosen(ScoredSearch(b1c3=-40), board, 0.0, 150) == "b1c3"
    board = board_after("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 b8c6 g1f3 c6b8")
    # The knight back on g1 gives the position with the knight on f6 for the third time.
    inner = ScoredSearch(b1c3=-40, f3g1=0)
    assert chosen(inner, board, 0.0, 150) == "f3g1"
    assert chosen(inner, board, 0.0, -150) == "b1c3"


def test_move_with_bad_results_yields_to_nearly_equal_move():
    line = LineStats(0.5, 8, 4.0, 8, 4.0)
    line.children["b1c3"] = LineStats(0.5, 4, 0.0, 4, 0.0)
    line.children["d2d4"] = LineStats(0.5, 4, 4.0, 4, 4.0)
    near = ScoredSearch(b1c3=30, f1c4=10)
    assert chosen(near, board_after(OPEN), line=line) == "f1c4"
    assert chosen(ScoredSearch(b1c3=300, f1c4=10), board_after(OPEN), line=line) == "b1c3"


def test_mate_is_preferred_to_wanted_draw():
    inner = ScoredSearch(b1c3=Mate(3), f3g1=0)
    assert chosen(inner, board_after(OPEN), 1.0, 200) == "b1c3"


def test_nodes_are_split_between_searches():
    inner, board = ScoredSearch(b1c3=0), board_after(OPEN)
    infos = list(OpponentAwareSearch(inner, 0.5, 100, None).search(board, LIMITS))
    (few, alone), (rest, _) = inner.asked
    assert [move.uci() for move in few.search_moves] == ["f3g1"]
    assert (few.nodes, alone, rest.nodes) == (250, 1, 980)
    assert chess.Move.from_uci("f3g1") not in rest.search_moves
    assert len(rest.search_moves) == board.legal_moves.count() - 1
    assert [info.nodes for info in infos] == [30, 40]


def test_separate_search_is_shortened_when_time_is_short():
    """The clock loses two seconds per call. Without that the separate search has two iterations."""
    for seconds, looked in ((100, 2), (8, 1)):
        times = iter(range(seconds, 0, -2))
        inner = ScoredSearch(b1c3=0)
        search = OpponentAwareSearch(inner, 0.5, 100, None, lambda times=times: next(times))
        infos = list(search.search(board_after(OPEN), Limits()))
        assert [info.nodes for info in infos] == [10 * looked + 10, 10 * looked + 20]


@pytest.mark.parametrize(
    "limits",
    [
        Limits(infinite=True),
        Limits(mate=3),
        replace(LIMITS, search_moves=(chess.Move.from_uci("a2a3"),)),
    ],
)
def test_analysis_search_is_unchanged(limits):
    inner = ScoredSearch()
    list(OpponentAwareSearch(inner, 1.0, 200, None).search(board_after(OPEN), limits))
    assert inner.asked == [(limits, 1)]
