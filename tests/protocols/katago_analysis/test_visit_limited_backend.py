"""The backend of analysis: the compiled search and the Python search."""

import json
import threading

import pytest

from agent.kernel.backend import CompiledBackend, SearchConfig
from agent.limits import Cp, Info, Progress
from agent.threads.one_shot_event import OneShotEvent
from protocols.katago_analysis import visit_limited_backend


class Searcher:
    """A fake compiled search that yields one line and records its requests."""

    supports_multipv = True
    nodes = 0

    def __init__(self):
        self.asked = []
        self.games = 0

    def clear_stop(self):
        pass

    def stop(self):
        pass

    def save(self):
        pass

    def new_game(self):
        self.games += 1

    def progress(self):
        return Progress()

    def search(self, position, limits, lines=1, /):
        self.asked.append((limits, lines))
        move = (limits.search_moves or position.moves())[0]
        owners = (0.5,) * position.size**2
        yield Info(
            1, Cp(0), (move,), visits=7, expected_outcome=0.0, prior=1.0, lead=1.5, ownership=owners
        )


class Compiled(CompiledBackend):
    """A fake backend of a compiled search, loaded when `ready` is set."""

    def __init__(self, searcher):
        self.made = OneShotEvent()
        self.begun = threading.Event()
        self.given = searcher
        self.times = 0

    ready = property(lambda self: self.made)
    max_lines = None
    runs_user_code = False

    def start(self):
        self.begun.set()

    def get_searcher(self, clock, stop):
        return self.given

    def abandon(self, thread):
        return None

    def close(self, timeout):
        return True


def compiled(monkeypatch):
    source = Compiled(Searcher())

    def create_backend(*_, **__):
        source.times += 1
        return source

    monkeypatch.setattr(visit_limited_backend, "create_backend", create_backend)
    return source


def test_query_waits_for_compiled_search_and_passes_limits(start, monkeypatch):
    source = compiled(monkeypatch)
    talk = start(algorithm=None)
    talk.ask(rules="chinese", maxVisits=70, includeOwnership=True, overrideSettings={"maxTime": 20})
    assert source.begun.wait(30)
    assert talk.sent.empty()
    source.made.set()
    answer = talk.answer()
    assert (answer["rootInfo"]["scoreLead"], answer["moveInfos"][0]["prior"]) == (1.5, 1.0)
    assert answer["ownership"] == [0.5] * 25
    ((limits, lines),) = source.given.asked
    assert (limits.nodes, limits.movetime, limits.search_moves, lines) == (70, 20, (), 1)


def test_each_query_starts_fresh_and_may_restrict_moves(start, monkeypatch):
    source = compiled(monkeypatch)
    source.made.set()
    talk = start(algorithm=None)
    chosen = [{"player": "B", "moves": ["B2", "A1"], "untilDepth": 1}]
    talk.ask(rules="chinese", allowMoves=chosen)
    talk.ask(rules="chinese", avoidMoves=chosen)
    first, second = talk.answers()
    assert first["moveInfos"][0]["move"] == "A1"
    assert second["moveInfos"][0]["move"] == "B1"
    assert source.given.games == 2
    assert [len(limits.search_moves) for limits, _ in source.given.asked] == [2, 24]


def test_all_board_sizes_share_one_search(start, monkeypatch):
    """A search needs much memory."""
    source = compiled(monkeypatch)
    source.made.set()
    talk = start(algorithm=None)
    trials = source.times
    for size in (5, 9, 2, 19):
        talk.ask(rules="chinese", boardXSize=size, boardYSize=size)
    assert len(talk.answers()) == 4
    assert source.times == trials + 1


def test_query_waiting_for_compilation_can_be_terminated(start, monkeypatch):
    source = compiled(monkeypatch)
    talk = start(algorithm=None)
    talk.ask(rules="chinese")
    assert source.begun.wait(30)
    talk.act("terminate", terminateId="a")
    answers = {answer["id"]: answer for answer in talk.answers()}
    assert answers["a"]["noResults"]
    assert source.given.asked == []


@pytest.mark.parametrize(
    ("rules", "lead"), [("chinese", -5), ("japanese", -1), ("stone-scoring", -5), ("korean", -1)]
)
def test_score_lead_follows_the_rules_of_the_query(start, rules, lead):
    """All empty points are eyes. Black has 10 points of area or 3 of territory, White 15 or 4."""
    rows = (". X O . O", "X X O O .", ". X O O O", "X X O . O", ". X O O .")
    stones = [
        ["BW"["XO".index(sign)], f"{'ABCDE'[column]}{5 - line}"]
        for line, row in enumerate(rows)
        for column, sign in enumerate(row.split())
        if sign != "."
    ]
    talk = start(algorithm=None)
    talk.ask("a", rules=rules, initialStones=stones, initialPlayer="B", komi=0, maxVisits=50)
    assert talk.final()["rootInfo"]["scoreLead"] == lead


def test_compiled_go_search_reports_all_requested_fields(start):
    """White owns the two columns on the left, Black everything behind the wall."""
    talk = start(algorithm=None)
    stones = [[player, f"{column}{row}"] for player, column in ("WB", "BC") for row in range(1, 8)]
    avoided = [{"player": "B", "moves": ["F4"], "untilDepth": 30}]
    query = {
        "rules": "chinese", "komi": 0, "boardXSize": 7, "boardYSize": 7, "initialStones": stones,
        "initialPlayer": "B", "maxVisits": 300, "includeOwnership": True, "includePolicy": True,
        "avoidMoves": avoided, "includePVVisits": True, "includeMovesOwnership": True,
    }  # fmt: skip
    talk.ask(**query)
    answer = json.loads(talk.sent.get(timeout=600))  # it may have to be compiled first
    moves, root = answer["moveInfos"], answer["rootInfo"]
    assert root["visits"] == sum(move["visits"] for move in moves) == 300
    assert root["scoreLead"] > 0
    assert root["winrate"] > 0.5
    assert "F4" not in {move["move"] for move in moves}
    for row in range(7):
        white, black = answer["ownership"][7 * row : 7 * row + 2], answer["ownership"][7 * row + 2]
        assert max(white) < -0.5
        assert black > 0.5
        for move in moves:
            assert max(move["ownership"][7 * row : 7 * row + 2]) < -0.3
    for move in moves:
        assert "F4" not in move["pv"][::2]
        assert len(move["pv"]) == len(move["pvVisits"])
        assert move["pvVisits"][0] == move["visits"]
        assert move["pvVisits"] == move["pvEdgeVisits"]
    talk.ask(**query, overrideSettings={"reportAnalysisWinratesAs": "WHITE"})
    other = talk.answer()
    assert other["ownership"] == [-share for share in answer["ownership"]]
    assert [move["ownership"] for move in other["moveInfos"]] == [
        [-share for share in move["ownership"]] for move in moves
    ]
    policy = answer["policy"]
    assert sum(prior for prior in policy if prior > 0) == pytest.approx(1, abs=0.01)
    assert [index for index, prior in enumerate(policy) if prior == -1] == [
        7 * row + column for row in range(7) for column in (1, 2)
    ]


def test_policy_needs_only_one_visit(start):
    talk = start(algorithm=None)
    talk.ask(rules="chinese", komi=0, boardXSize=5, boardYSize=5, maxVisits=1, includePolicy=True)
    answer = json.loads(talk.sent.get(timeout=600))
    assert answer["rootInfo"]["visits"] == 1
    policy = answer["policy"]
    assert sum(policy) == pytest.approx(1, abs=0.01)
    assert sum(0 < prior < 0.5 for prior in policy) > 10


def test_each_move_is_reported_once_after_termination(start):
    talk = start(algorithm=None)
    moves = [["B", "C3"], ["W", "C2"], ["B", "B2"], ["W", "C4"]]
    talk.ask("all", rules="chinese", moves=moves, maxVisits=3000)
    talk.ask("end", rules="chinese", moves=moves, maxVisits=10**8, reportDuringSearchEvery=0.02)
    answer = json.loads(talk.sent.get(timeout=600))
    assert answer["rootInfo"]["visits"] == 3000
    while talk.answer()["rootInfo"]["visits"] < 1000:
        pass
    talk.act("terminate", terminateId="end")
    last = [each for each in talk.answers() if each["id"] == "end"][-1]
    for said in (answer, last):
        moves = [move["move"] for move in said["moveInfos"]]
        assert len(moves) == len(set(moves)) > 5


def test_progress_is_available_while_search_starts():
    """Reports during the search may be requested at any time."""
    from agent.go.search import GoSearch

    search = GoSearch(SearchConfig(megabytes=1))
    search._workers.begin(lambda board: None)
    search._workers._active = []  # as before the first one is loaded
    assert search.progress().seldepth == 0
