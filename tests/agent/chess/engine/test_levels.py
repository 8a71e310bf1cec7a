"""Levels of strength, over a fake searcher with fixed lines and nodes."""

import threading
from collections import Counter
from itertools import pairwise

import chess
import pytest

from agent.chess.engine.levels import (
    ELO_CALIBRATION,
    MAX_ELO,
    MAX_SKILL,
    MIN_ELO,
    SkillLevel,
    skill_for_elo,
)
from agent.chess.engine.limited_strength import CANDIDATE_LINES, LimitedStrengthSearch
from agent.limits import Cp, Info, Limits, Mate, Progress

SCORES = (Cp(50), Cp(40), Cp(0), Cp(-400))


class Lines:
    """A searcher whose iteration d takes 100 * d nodes and yields moves with fixed scores."""

    def __init__(self, scores=SCORES):
        self.scores = scores
        self.calls = []
        self.closed = False
        self._stop = threading.Event()

    def clear_stop(self):
        self._stop.clear()

    def stop(self):
        self._stop.set()

    def new_game(self):
        pass

    def progress(self):
        return Progress(nodes=7)

    def search(self, board, limits, lines=1):
        self.calls.append((limits, lines))
        nodes = 0
        moves = sorted(limits.search_moves or board.legal_moves, key=chess.Move.uci)
        try:
            for depth in range(1, 50):
                for line in range(lines):
                    nodes += 100 * depth // lines
                    if nodes > limits.nodes or self._stop.is_set():
                        yield Info(depth, self.scores[0], (moves[0],), nodes=nodes, complete=False)
                        return
                    score = self.scores[min(line, len(self.scores) - 1)]
                    yield Info(depth, score, (moves[line],), multipv=line + 1, nodes=nodes)
        finally:
            self.closed = True


def choices(skill, scores=SCORES, seeds=300):
    """Return how often each candidate move, best first, is chosen at a skill."""
    counts = Counter()
    board = chess.Board()
    moves = sorted(board.legal_moves, key=chess.Move.uci)
    for seed in range(seeds):
        *_, last = LimitedStrengthSearch(Lines(scores), SkillLevel(skill), seed).search(
            board, Limits()
        )
        counts[moves.index(last.pv[0])] += 1
    return [counts[n] / seeds for n in range(CANDIDATE_LINES)]


def test_higher_levels_have_stronger_settings():
    levels = [SkillLevel(skill / 2) for skill in range(40)]
    for weak, strong in pairwise(levels):
        assert strong.nodes > weak.nodes
        assert strong.temperature < weak.temperature
        assert strong.margin < weak.margin


def test_levels_below_zero_choose_among_more_moves_that_lose_more() -> None:
    for weak, strong in pairwise([SkillLevel(skill / 2) for skill in range(-20, 1)]):
        assert weak.nodes == strong.nodes
        assert weak.temperature > strong.temperature
        assert weak.margin > strong.margin
        assert weak.candidates >= strong.candidates
    assert SkillLevel(0).candidates == SkillLevel(10).candidates == CANDIDATE_LINES
    assert SkillLevel(-10).candidates == CANDIDATE_LINES + 10
    lines = Lines()
    level = SkillLevel(-10)
    list(LimitedStrengthSearch(lines, level, 1).search(chess.Board(), Limits()))
    ((_, count),) = lines.calls
    assert count == CANDIDATE_LINES + 10


@pytest.mark.thorough
def test_a_weak_level_errs_more_than_a_strong_one():
    weak, strong = choices(2), choices(18)
    assert weak[0] < strong[0]
    assert weak[1] > 0.2
    assert weak[2] > 0.1
    assert weak[3] == 0, "no level plays a move that visibly loses a piece"
    assert strong[2] == strong[3] == 0


@pytest.mark.thorough
def test_move_probability_is_softmax_with_temperature():
    behind = round(SkillLevel(0).temperature)
    first, second, third, fourth = choices(0, (Cp(0), Cp(-behind)), 2000)
    assert first == pytest.approx(1 / (1 + 3 / 2.718), abs=0.04)
    assert second == pytest.approx(third, abs=0.04)
    assert second == pytest.approx(fourth, abs=0.04)


@pytest.mark.parametrize("skill", [0, 19])
def test_levels_play_and_avoid_visible_mates(skill, thorough):
    seeds = 300 if thorough else 60
    assert choices(skill, (Mate(1), Cp(900)), seeds)[0] == 1
    assert choices(skill, (Cp(-900), Mate(-1)), seeds)[0] == 1


def test_same_seed_repeats_moves_and_other_seed_differs():
    def game(seed):
        board = chess.Board()
        for _ in range(30):
            *_, last = LimitedStrengthSearch(Lines(), SkillLevel(1), seed).search(board, Limits())
            board.push(last.pv[0])
        return board.fen()

    assert game(5) == game(5)
    assert game(5) != game(6)


def test_weak_search_stops_at_node_limit_and_keeps_its_move():
    lines = Lines()
    level = SkillLevel(10)
    infos = list(LimitedStrengthSearch(lines, level, 1).search(chess.Board(), Limits()))
    assert level.nodes * 0.9 < infos[-1].nodes < level.nodes * 4
    assert lines.closed
    assert len({info.pv[0] for info in infos}) == 1
    assert {info.multipv for info in infos} == {1}


def test_user_limits_apply_to_weak_search():
    lines = Lines()
    board = chess.Board()
    allowed = (chess.Move.from_uci("e2e4"), chess.Move.from_uci("d2d4"))
    limits = Limits(nodes=50, depth=3, search_moves=allowed)
    infos = list(LimitedStrengthSearch(lines, SkillLevel(10), 1).search(board, limits, 3))
    ((seen, count),) = lines.calls
    assert (seen.nodes, seen.depth, count) == (50, 3, 2)
    assert infos[-1].pv[0] in allowed


def test_weak_search_reports_all_multipv_lines():
    infos = list(
        LimitedStrengthSearch(Lines(), SkillLevel(0), 3).search(chess.Board(), Limits(), 6)
    )
    assert [info.multipv for info in infos][:6] == [1, 2, 3, 4, 5, 6]
    assert len({info.pv[0] for info in infos[:6]}) == 6


def test_weak_search_answers_when_stopped_immediately():
    weak = LimitedStrengthSearch(Lines(), SkillLevel(5), 3)
    weak.stop()
    (info,) = weak.search(chess.Board(), Limits())
    assert info.multipv == 1
    weak.clear_stop()
    assert len(list(weak.search(chess.Board(), Limits()))) > 1
    assert weak.progress().nodes == 7


def test_elo_maps_to_calibrated_skill():
    assert ELO_CALIBRATION[0][1] <= MIN_ELO, "the minimum Elo is covered by the calibration"
    assert -10 <= skill_for_elo(MIN_ELO) < -8
    assert skill_for_elo(0) == ELO_CALIBRATION[0][0]
    assert 0 <= skill_for_elo(1350) < 4
    assert skill_for_elo(MAX_ELO) == MAX_SKILL == skill_for_elo(MAX_ELO + 100)
    for skill, elo in ELO_CALIBRATION:
        assert skill_for_elo(elo) == pytest.approx(skill)
    skills = [skill_for_elo(elo) for elo in range(ELO_CALIBRATION[0][1], MAX_ELO + 1, 10)]
    assert skills == sorted(set(skills))
