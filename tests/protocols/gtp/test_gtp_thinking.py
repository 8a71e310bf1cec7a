"""Analysis output, resignation and pondering over GTP."""

import json
import re
import threading
from dataclasses import replace

import pytest

from agent.games.stones import PASS
from agent.limits import Cp, Info, Progress, Result
from protocols.gtp.analysis import AnalysisReporter, AnalysisRequest, ReportContext, kata_line
from protocols.gtp.resignation import ResignationTracker, ResignPolicy, winrate_upper_bound
from tests.waiting import PATIENCE, until


class Oracle:
    """A backend and searcher that yields scripted lines."""

    max_lines = None
    runs_user_code = False

    def __init__(self, infos=(), endless=False):
        self.infos = infos
        self.endless = endless  # search until stopped
        self.limits = []
        self.searching = threading.Event()
        self._stop = threading.Event()

    def search(self, position, limits, lines=1, /):
        self.limits.append((position.turn, limits))
        self.searching.set()
        infos = self.infos(position) if callable(self.infos) else self.infos
        yield from infos[:lines]
        if limits.infinite or self.endless:
            self._stop.wait(PATIENCE)

    def get_searcher(self, clock, stop, /):
        return self

    def clear_stop(self):
        self._stop.clear()

    def stop(self):
        self._stop.set()

    def progress(self):
        return Progress()

    def abandon(self, thread, /):
        return None

    def start(self):
        pass

    new_game = save = start

    def close(self, timeout):
        return True


@pytest.fixture
def scripted(start):
    """Start a session whose search yields these lines."""

    def scripted(infos, **options):
        talk = start(**{"size": 3, "komi": 0.5, **options})
        oracle = Oracle(infos)
        talk.gtp.session.backend = talk.gtp.session.agent.source = oracle
        return talk, oracle

    return scripted


def vertex(talk, text):
    return talk.gtp.session.board.vertex(text)


def two_lines(talk):
    """Two moves with visits, and one without."""
    owners = (1.0, 0.5, 0.0, -0.5, -1.0, 0.25, 0.125, -0.125, 0.75)
    line = (vertex(talk, "B2"), vertex(talk, "A1"), PASS)
    best = Info(
        3, Cp(20), line, visits=300, expected_outcome=0.5, prior=0.25, lead=4.5, ownership=owners
    )
    second = Info(3, Cp(10), (vertex(talk, "C1"),), multipv=2, visits=100, expected_outcome=-0.1)
    third = Info(3, Cp(0), (vertex(talk, "C3"),), multipv=3, prior=0.0625, expected_outcome=0.0)
    return [best, replace(second, prior=0.125, lead=-1.5), third]


@pytest.fixture
def known(scripted):
    talk, oracle = scripted(())
    oracle.infos = two_lines(talk)
    return talk, oracle


def test_lz_genmove_analyze_reports_priors(known):
    talk, _ = known
    assert talk.answer("lz-genmove_analyze b").splitlines() == [
        "=",
        "info move B2 visits 300 winrate 7500 prior 2500 lcb 7009 order 0 pv B2 A1 pass"
        " info move C1 visits 100 winrate 4500 prior 1250 lcb 3525 order 1 pv C1",
        "play B2",
        "",
    ]


def test_kata_genmove_analyze_reports_score_root_and_ownership(known):
    talk, _ = known
    line = talk.answer("kata-genmove_analyze b rootInfo true ownership true maxmoves 1")
    assert line.splitlines()[1] == (
        "info move B2 visits 300 utility 0.500000 winrate 0.750000 scoreMean 4.500"
        " scoreLead 4.500 scoreSelfplay 4.500 prior 0.250000 lcb 0.700892"
        " utilityLcb 0.401785 weight 300 order 0 pv B2 A1 pass"
        " rootInfo visits 400 utility 0.350000 winrate 0.675000 scoreMean 3.000 scoreLead 3.000"
        " scoreSelfplay 3.000 ownership 1.000000 0.500000 0.000000 -0.500000 -1.000000 0.250000"
        " 0.125000 -0.125000 0.750000"
    )


@pytest.mark.parametrize("command", ["kata", "cgos"])
def test_numbers_rounded_to_zero_have_no_sign(scripted, command):
    talk, oracle = scripted(())
    best = two_lines(talk)[0]
    tiny = {"expected_outcome": -1e-9, "lead": -1e-9, "ownership": (-1e-9,) * 9}
    oracle.infos = [replace(best, **tiny, visits=10**9)]
    arguments = " rootInfo true ownership true" if command == "kata" else ""
    line = talk.answer(f"{command}-genmove_analyze b{arguments}").splitlines()[1]
    assert "0.0" in line
    assert not re.search(r"-0(\.0+)?\b(?!\.)", line)
    assert "-" not in talk.answer("kempelen-ownership b")


def test_cgos_genmove_analyze_sends_one_json_line(known):
    talk, _ = known
    head, line, play = talk.answer("7 cgos-genmove_analyze b").splitlines()[:3]
    assert (head, play) == ("=7", "play B2")
    said = json.loads(line)
    assert said["ownership"] == "+ufQAnjb2"
    assert (said["winrate"], said["score"], said["visits"]) == (0.675, 3.0, 400)
    first, second = said["moves"]
    assert first.pop("pv") == "A1 pass"
    assert list(first.values()) == ["B2", 300, 0.75, 4.5, 0.25]
    assert list(first) == ["move", "visits", "winrate", "score", "prior"]
    assert second["pv"] == ""


def test_minmoves_adds_unvisited_moves(known):
    talk, _ = known
    answer = talk.answer("lz-genmove_analyze b minmoves 5")
    reported = [part.split()[0:3:2] for part in answer.splitlines()[1].split("info move ")[1:]]
    assert reported[:3] == [["B2", "300"], ["C1", "100"], ["C3", "0"]]
    assert [visits for _, visits in reported[3:]] == ["0", "0"]
    assert len({move for move, _ in reported}) == 5
    assert "prior 625 lcb" in answer


def test_analysis_pv_len_limits_the_pv(known):
    talk, _ = known
    talk.answer("kata-set-param analysisPVLen 2")
    assert "pv B2 A1 info" in talk.answer("lz-genmove_analyze b")


def test_minmoves_and_maxmoves_bound_the_reported_moves(known):
    talk, oracle = known
    talk.answer("boardsize 7")
    oracle.infos = two_lines(talk)
    for said, number in (("", 2), ("minmoves 40", 40), ("minmoves 99", 50), ("maxmoves 1", 1),
                         ("minmoves 40 maxmoves 35", 35)):  # fmt: skip
        (line,) = [
            line
            for line in talk.answer(f"kata-genmove_analyze b {said}").splitlines()
            if line.startswith("info")
        ]
        moves = [part.split()[0] for part in line.split("info move ")[1:]]
        assert len(set(moves)) == len(moves) == number
        talk.answer("undo")


def test_lz_genmove_analyze_reports_requested_root_and_ownership(known):
    talk, _ = known
    line = talk.answer("lz-genmove_analyze b rootInfo true ownership true maxmoves 1")
    assert (
        "pv B2 A1 pass rootInfo visits 400 utility 0.350000 winrate 0.675000 scoreMean 3.000"
        " scoreLead 3.000 scoreSelfplay 3.000 ownership 1.000000 0.500000" in line
    )


def level(*moves, depth=3, visits=100, nodes=0):
    """The lines of a complete or partial iteration."""
    return [
        Info(depth, Cp(0), (move,), multipv=number, visits=visits // number, nodes=nodes)
        for number, move in enumerate(moves, 1)
    ]


@pytest.mark.parametrize(
    ("infos", "reported"),
    [
        # Complete and partial iterations.
        ([*level(1, 2, 3), *level(1, 2, 3, visits=600)], [(1, 600), (2, 300), (3, 200)]),
        ([*level(1, 2, 3), *level(3, 1, visits=600)], [(3, 600), (1, 300)]),
        # An incomplete iteration reports only its best line, as does the end of the search.
        ([*level(1, 2, 3), *level(2, depth=4, visits=90)], [(2, 90), (1, 100), (3, 33)]),
        ([*level(1, 2, 3), *level(1)], [(1, 100), (2, 50), (3, 33)]),
        ([*level(1, 2), *level(4, 5, depth=4), *level(5)], [(5, 100), (4, 100)]),
        # With one line per iteration, earlier lines are dropped.
        ([*level(1), *level(2, depth=4, visits=90)], [(2, 90)]),
    ],
)
def test_partial_iterations_report_each_move_once(infos, reported):
    shown = []
    reporter = AnalysisReporter(print, shown.append, max_lines=3)
    for info in infos:
        reporter.info(info)
    reporter.result(Result(reported[0][0]))
    assert [(line.pv[0], line.visits) for line in shown[-1]] == reported


def test_final_report_keeps_the_latest_progress():
    shown = []
    reporter = AnalysisReporter(print, shown.append, max_lines=3)
    for info in level(1, 2):
        reporter.info(info)
    first, second = level(2, 1, visits=800, nodes=1200)
    reporter.progress(Progress(lines=(replace(first, ownership=(1.0,)), second)), 1.0)
    reporter.result(Result(1))
    assert [[(line.pv[0], line.visits) for line in lines] for lines in shown] == [
        [(2, 800), (1, 400)],
        [(1, 400), (2, 800)],
    ]
    assert shown[-1][0].ownership == (1.0,)


def test_partial_iteration_replaces_earlier_progress():
    """With `maxmoves` 1 of three known moves."""
    shown = []
    reporter = AnalysisReporter(print, shown.append, max_lines=1)
    reporter.progress(Progress(lines=tuple(level(2, 1, 3, visits=800, nodes=1466))), 1.0)
    reporter.info(level(1, visits=900, nodes=2000)[0])
    reporter.result(Result(1))
    assert [[(line.pv[0], line.visits) for line in lines] for lines in shown[1:]] == [[(1, 900)]]


def test_ownership_is_reported_from_blacks_perspective(known):
    talk, _ = known
    rows = [line.split() for line in talk.answer("kempelen-ownership b").splitlines()[1:4]]
    assert rows == [["1.00", "0.50", "0.00"], ["-0.50", "-1.00", "0.25"], ["0.12", "-0.12", "0.75"]]
    whites = talk.answer("kempelen-ownership w").splitlines()[1].split()
    assert whites == ["-1.00", "-0.50", "0.00"]


def test_visits_display_reuses_the_last_search(known):
    talk, oracle = known
    talk.say("lz-analyze b")
    assert until(lambda: talk.gtp.session.board.turn == 0 and oracle.limits)
    talk.say("")
    assert talk.rest()[-1].startswith("info move B2")
    talk._heard.clear()
    drawing = talk.answer("kempelen-visits").splitlines()
    assert drawing == [
        "= COLOR #ff3030 B2",
        "COLOR #8050ba C1",
        "LABEL B2 300 C1 100",
        "TEXT 400 visits, black wins 67.5 %, B2 75.0 %",
        "",
    ]
    assert len(oracle.limits) == 1
    talk.answer("play b A1")
    talk.answer("kempelen-visits")
    assert len(oracle.limits) == 2


def test_allow_and_avoid_set_the_root_search_moves(known):
    talk, oracle = known
    talk.answer("lz-genmove_analyze b allow b B2,C3 5")
    talk.answer("undo")
    assert set(oracle.limits[0][1].search_moves) == {vertex(talk, "B2"), vertex(talk, "C3")}
    talk.answer("lz-genmove_analyze b avoid w B2 5")
    assert oracle.limits[1][1].search_moves == ()


# Resignation.


def lost(visits=1000, expected=-1.0):
    def infos(game):
        move = next(iter(game.moves()))
        return [Info(1, Cp(-100), (move,), visits=visits, expected_outcome=expected)]

    return infos


def play_moves(talk, number):
    """Play on a 5x5 board without contact."""
    for text in [f"{column}{row}" for row in (1, 3) for column in "ABCDE"][:number]:
        assert talk.answer(f"play b {text}") == "=\n\n"


def moves(talk, *commands):
    return [talk.answer(command).split()[-1] for command in commands]


def test_resigns_at_the_second_lost_move(scripted):
    talk, _ = scripted(lost(), size=5)
    play_moves(talk, 7)
    first, second, third = moves(talk, "genmove w", "genmove w", "lz-genmove_analyze w")
    assert first != "resign"
    assert (second, third) == ("resign", "resign")
    before = talk.answer("showboard")
    assert talk.answer("genmove w") == "= resign\n\n"
    assert talk.answer("showboard") == before


@pytest.mark.parametrize("command", ["undo", "clear_board", "komi 1", "gg-undo 1"])
def test_undo_clear_or_komi_resets_resignation(scripted, command):
    talk, _ = scripted(lost(), size=5)
    play_moves(talk, 8)
    assert moves(talk, "genmove w")[0] != "resign"
    talk.answer(command)
    play_moves(talk, 8 if command == "clear_board" else 0)
    assert moves(talk, "genmove w")[0] != "resign"
    assert moves(talk, "genmove w")[0] == "resign"


@pytest.mark.parametrize(
    ("infos", "number", "options"),
    [
        (lost(), 2, {}),  # too early
        (lost(visits=20), 7, {}),  # not significant
        (lost(expected=-0.85), 7, {}),
        (lost(expected=None), 7, {}),
        (lost(), 7, {"resigns": False}),
        (lambda game: [Info(1, Cp(-100), (PASS,), visits=1000, expected_outcome=-1.0)], 7, {}),
    ],
)
def test_does_not_resign_if_early_unclear_or_disabled(scripted, infos, number, options):
    talk, _ = scripted(infos, size=5, **options)
    play_moves(talk, number)
    assert "resign" not in moves(talk, "genmove w", "genmove w", "genmove w")


def test_resignation_requires_a_search_result():
    resignation = ResignationTracker()
    rate = ResignPolicy(0.05, 1)
    assert not resignation.should_resign(0, None, rate)
    assert not resignation.should_resign(0, Info(1, Cp(0), (1,)), rate)
    assert resignation.should_resign(
        0, Info(1, Cp(0), (1,), visits=500, expected_outcome=-1.0), rate
    )
    assert not resignation.should_resign(
        1, Info(1, Cp(0), (1,), visits=500, expected_outcome=0.0), rate
    )


def test_upper_bound_converges_to_the_win_rate():
    def bound(visits):
        return winrate_upper_bound(Info(1, Cp(0), (1,), visits=visits, expected_outcome=-0.9))

    assert bound(10) > bound(100) > bound(10_000) > 0.05
    assert bound(10_000_000) == pytest.approx(0.05, abs=0.001)


def test_reg_genmove_and_cleanup_do_not_resign(scripted):
    talk, _ = scripted(lost(), size=5)
    play_moves(talk, 7)
    commands = ("reg_genmove w", "kgs-genmove_cleanup w", "reg_genmove w", "kgs-genmove_cleanup w")
    assert "resign" not in moves(talk, *commands)


# Pondering.


def first_move(game):
    return [Info(1, Cp(0), (next(iter(game.moves())),), visits=10, expected_outcome=0.0)]


def test_cgos_genmove_requires_capturing_dead_stones(scripted):
    captures = []

    def look(game):
        captures.append(game.capture_dead_stones)
        return first_move(game)

    talk, _ = scripted(look)
    assert talk.answer("cgos-genmove_analyze b").splitlines()[-2].startswith("play ")
    talk.answer("genmove w")
    assert captures == [True, False]


def test_ponders_after_its_move_until_the_next_command(scripted):
    talk, oracle = scripted(first_move, ponders=True)
    talk.say("genmove b")
    assert talk.hear().startswith("= ")
    assert until(lambda: len(oracle.limits) == 2)
    turn, limits = oracle.limits[1]
    assert (turn, limits.infinite) == (1, True)
    assert talk.gtp.session.agent.busy
    talk.say("play w C3")
    assert talk.hear() == "="
    assert talk.gtp.drain(PATIENCE)
    assert len(oracle.limits) == 2


def test_ponders_after_a_search_stopped_by_the_clock(scripted):
    talk, oracle = scripted(first_move, ponders=True)
    oracle.endless = True
    talk.say("genmove b")
    assert talk.hear().startswith("= ")
    assert until(lambda: len(oracle.limits) == 2)
    assert not talk.gtp.session.agent.wait(0.2)
    talk.say("play w C3")
    assert talk.hear() == "="
    assert talk.gtp.drain(PATIENCE)
    assert len(oracle.limits) == 2


def test_ponders_only_if_enabled(scripted):
    talk, oracle = scripted(first_move)
    talk.answer("genmove b")
    assert len(oracle.limits) == 1
    talk.answer("kata-set-param ponderingEnabled true")
    talk.say("genmove w")
    assert until(lambda: len(oracle.limits) == 3)
    talk.say("stop")
    assert talk.gtp.drain(PATIENCE)


def test_does_not_ponder_after_game_end_or_reg_genmove(scripted):
    talk, oracle = scripted(lambda game: [Info(1, Cp(0), (PASS,), visits=9)], ponders=True)
    talk.say("play w pass", "genmove b")
    assert [talk.hear(), talk.hear()] == ["=", "= pass"]
    talk.say("reg_genmove b")
    assert talk.hear() == "= pass"
    assert talk.gtp.session.agent.wait(PATIENCE)
    assert not any(limits.infinite for _, limits in oracle.limits)


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor"])
@pytest.mark.parametrize("command", ["genmove b", "reg_genmove b", "kata-genmove_analyze b"])
def test_searches_ignore_earlier_passes(scripted, command, rules):
    seen = []

    def infos(game):
        seen.append(game.passes)
        return first_move(game)

    talk, _ = scripted(infos, size=5)
    for line in (f"kata-set-rules {rules}", "play b C3", "play w pass"):
        assert talk.answer(line) == "=\n\n"
    talk.answer(command)
    assert seen[0] == 0
    for line in ("clear_board", "kata-set-param conservativePass false", "play w pass"):
        assert talk.answer(line) == "=\n\n"
    seen.clear()
    talk.answer(command)
    assert seen[0] == 1


def test_passes_count_in_the_cleanup_phase(scripted):
    seen = []

    def infos(game):
        seen.append(game.passes)
        return first_move(game)

    talk, _ = scripted(infos, size=5)
    for line in ("play b C3", "play w pass", "kgs-genmove_cleanup b", "play w pass"):
        assert talk.answer(line).startswith("=")
    talk.answer("genmove b")
    assert seen == [1, 0]


def test_changing_thread_count_replaces_the_search(start):
    talk = start(size=3)
    before = talk.gtp.session.backend
    assert talk.answer("kata-set-param numSearchThreads 3") == "=\n\n"
    assert talk.gtp.session.backend is not before
    assert talk.gtp.session.agent.source is talk.gtp.session.backend
    kept = talk.gtp.session.backend
    assert talk.answer("kata-set-param maxTime 3") == "=\n\n"
    assert talk.gtp.session.backend is kept
    talk.answer("kata-set-param maxVisits 7")
    assert "TEXT 7 visits" in talk.answer("kempelen-visits b")


def test_zero_ownership_has_no_minus_sign():
    line = Info(1, Cp(0), (7,), visits=1, expected_outcome=0.0, ownership=(-0.0, 0.5, -1.0))
    scene = ReportContext(AnalysisRequest(ownership=True), [7], str, 5)
    assert kata_line(scene, [line]).endswith(" pv 7 ownership 0.000000 0.500000 -1.000000")
