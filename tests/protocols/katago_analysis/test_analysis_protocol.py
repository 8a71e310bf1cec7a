"""Concurrent queries: order, termination, reports, failures and invalid input."""

import json
import threading
import time
from random import Random

import pytest

from agent.games.go import Go
from agent.kernel.backend import SearchConfig
from protocols.katago_analysis import workers
from protocols.katago_analysis.protocol import ACTIONS, Settings
from protocols.katago_analysis.visit_limited_backend import SearchSettings

ENDLESS = {"maxVisits": 10**9, "rules": "chinese"}
REPORTED = {**ENDLESS, "reportDuringSearchEvery": 0.02}


def visits(answer):
    return sum(move["visits"] for move in answer["moveInfos"])


def test_each_requested_turn_is_answered_once(start):
    talk = start(max_workers=2)
    moves = [["B", "C3"], ["W", "C4"], ["B", "D4"]]
    talk.ask("game", moves=moves, rules="chinese", analyzeTurns=[3, 0, 2, 0])
    talk.ask("last", moves=moves, rules="chinese")
    found = {(each["id"], each["turnNumber"]): each for each in talk.answers()}
    assert sorted(found) == [("game", 0), ("game", 2), ("game", 3), ("last", 3)]
    for (_, turn), answer in found.items():
        assert answer["rootInfo"]["currentPlayer"] == "BW"[turn % 2]
        assert answer["rootInfo"]["visits"] == visits(answer) == 8
        assert [move["order"] for move in answer["moveInfos"]] == [*range(len(answer["moveInfos"]))]
        assert not answer["isDuringSearch"]


def test_queue_orders_by_priority_then_arrival(start):
    talk = start()
    talk.ask("busy", **ENDLESS)
    talk.ask("low", rules="chinese", priority=-1)
    talk.ask("usual", rules="chinese")
    talk.ask("second", rules="chinese")
    moves = [["B", "C3"], ["W", "C4"]]
    talk.ask("turns", moves=moves, rules="chinese", analyzeTurns=[0, 1, 2], priorities=[-2, 9, 5])
    talk.act("terminate", terminateId="busy")
    order = [(each["id"], each.get("turnNumber")) for each in talk.answers()]
    assert order.index(("busy", 0)) < 2
    assert [each for each in order if each[0] not in ("busy", "act")] == [
        ("turns", 1), ("turns", 2), ("usual", 0), ("second", 0), ("low", 0), ("turns", 0),
    ]  # fmt: skip


def test_terminated_search_reports_its_partial_result(start):
    talk = start()
    talk.ask("long", **REPORTED)
    reports = [talk.answer()]
    while visits(reports[-1]) == visits(reports[0]):
        reports.append(talk.answer())
    assert all(report["isDuringSearch"] for report in reports)
    talk.act("terminate", terminateId="long")
    *more, last = [each for each in talk.answers() if each["id"] == "long"]
    counts = [visits(each) for each in (*reports, *more, last)]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0] > 0
    assert not last["isDuringSearch"]
    assert "noResults" not in last


def test_first_report_option_sends_one_interim_report(start):
    talk = start()
    talk.ask(**ENDLESS, firstReportDuringSearchAfter=0.3)
    report = talk.answer()
    talk.act("terminate_all")
    answers = talk.answers()
    (last,) = [each for each in answers if each["id"] == "a"]
    assert (report["isDuringSearch"], last["isDuringSearch"]) == (True, False)
    assert 0 < visits(report) <= visits(last)


def test_max_time_ends_a_search(start):
    talk = start()
    began = time.monotonic()
    talk.ask(**ENDLESS, overrideSettings={"maxTime": 0.05, "reportAnalysisWinratesAs": "WHITE"})
    assert visits(talk.answer()) > 0
    assert time.monotonic() - began < 30


def test_terminate_cancels_waiting_positions_by_id_and_turn(start):
    talk = start()
    moves = [["B", "C3"], ["W", "C4"]]
    talk.ask("busy", **ENDLESS)
    talk.ask("game", moves=moves, rules="chinese", analyzeTurns=[0, 1, 2])
    talk.ask("other", rules="chinese")
    talk.act("terminate", "t", terminateId="game", turnNumbers=[2, 0, 7])
    for turn in (0, 2):
        expected = {"id": "game", "isDuringSearch": False, "noResults": True, "turnNumber": turn}
        assert talk.answer() == expected
    echo = {"id": "t", "action": "terminate", "terminateId": "game", "turnNumbers": [2, 0, 7]}
    assert talk.answer() == echo
    talk.act("terminate", terminateId="busy")
    assert [(each["id"], each["turnNumber"]) for each in talk.answers() if each["id"] != "act"] == [
        ("busy", 0), ("game", 1), ("other", 0),
    ]  # fmt: skip


def test_terminate_all_cancels_every_query(start):
    talk = start(max_workers=2)
    for name in "abcd":
        talk.ask(name, **ENDLESS)
    talk.act("terminate_all", "first", turnNumbers=[1])
    assert talk.answer()["id"] == "first"
    talk.act("terminate_all", "second")
    answers = talk.answers()
    assert sorted(each["id"] for each in answers) == ["a", "b", "c", "d", "second"]
    cancelled = [each["id"] for each in answers if each.get("noResults")]
    assert [each for each in cancelled if each in "cd"] == ["c", "d"]  # the others had started


def test_concurrent_searches_are_limited_to_analysts(start):
    talk = start(max_workers=2)
    for name in "abc":
        talk.ask(name, **REPORTED)
    reported = set()
    while reported != {"a", "b"}:
        reported.add(talk.answer()["id"])
        assert "c" not in reported
    talk.act("terminate_all")
    talk.rest()


def test_memory_is_divided_among_analysts():
    settings = Settings(
        search_settings=SearchSettings(search_config=SearchConfig(threads=3, megabytes=100)),
        max_workers=3,
    )
    assert settings.worker_search_settings.search_config == SearchConfig(threads=3, megabytes=33)


def test_failed_search_returns_error_and_next_one_works(start, monkeypatch):
    talk = start()
    with monkeypatch.context() as patch:
        patch.setattr(Go, "playout", lambda *_: 1 / 0)
        talk.ask("bad", rules="chinese")
        answer = talk.answer()
        assert talk.engine.drain(10)
    assert (answer["id"], answer["turnNumber"]) == ("bad", 0)
    assert "ZeroDivisionError" in answer["error"]
    talk.ask("good", rules="chinese")
    assert visits(talk.answer()) == 8


def test_full_queue_blocks_the_reader(start, monkeypatch):
    monkeypatch.setattr(workers, "MAX_PENDING", 3)
    talk = start()
    talk.ask("busy", **ENDLESS)
    for name in "abc":
        talk.ask(name, rules="chinese")
    reader = threading.Thread(target=talk.ask, args=("d",), kwargs={"rules": "chinese"})
    reader.start()
    reader.join(0.2)
    assert reader.is_alive()
    talk.engine._pool.terminate(lambda assignment: assignment.query.id == "busy")
    reader.join(30)
    assert not reader.is_alive()
    assert [each["id"] for each in talk.answers()] == ["busy", "a", "b", "c", "d"]


def test_close_drops_unanswered_queries_silently(start):
    talk = start(wait=False)
    talk.ask("a", **ENDLESS)
    talk.ask("b", rules="chinese")
    assert talk.engine.drain()
    talk.close()
    assert talk.sent.empty()


def test_close_releases_a_blocked_reader(start, monkeypatch):
    monkeypatch.setattr(workers, "MAX_PENDING", 1)
    talk = start()
    talk.ask("busy", **ENDLESS)
    talk.ask("a", rules="chinese")
    reader = threading.Thread(target=talk.ask, args=("b",), kwargs={"rules": "chinese"})
    reader.start()
    talk.close()
    reader.join(30)
    assert not reader.is_alive()


def test_katrain_query_is_answered(start):
    talk = start()
    talk.ask(
        "QUERY:1",
        rules="japanese",
        priority=1,
        analyzeTurns=[1],
        maxVisits=5,
        komi=6.5,
        includeOwnership=True,
        includeMovesOwnership=True,
        includePolicy=True,
        initialStones=[],
        initialPlayer="B",
        moves=[["B", "C3"]],
        overrideSettings={
            "reportAnalysisWinratesAs": "BLACK", "maxTime": 8.0, "wideRootNoise": 0.04,
        },
        reportDuringSearchEvery=1,
    )  # fmt: skip
    answer = talk.final()
    assert answer["id"] == "QUERY:1"
    assert visits(answer) == 5
    assert len(answer["policy"]) == 26
    assert talk.rest() == []


def test_rejects_deep_nesting_long_ids_and_huge_numbers(start):
    talk = start()
    talk.say('{"id":"a","moves":' + "[" * 200_000)
    assert "could not parse input line" in talk.answer()["error"]
    talk.ask("x" * 2000)
    assert talk.answer() == {"error": '"id" field too long (maximum 1000 characters)'}
    talk.say('{"id":"a","komi":' + "9" * 10_000 + "}")
    assert "could not parse input line" in talk.answer()["error"]


def test_rejects_too_many_moves(start):
    talk = start()
    talk.ask(moves=[["B", "pass"]] * 2001)
    message = "Too many moves: 2001 (maximum 2000)"
    assert talk.answer() == {"error": message, "field": "moves", "id": "a"}


def test_overlong_line_returns_an_error(start):
    (line,) = start().engine.handle_overlong_line()
    assert json.loads(line) == {"error": "Line too long, ignoring"}


VALUES = [
    None, True, False, 0, 1, 2, 5, 9, -1, 3.5, 1e300, 2**70, "", "B", "W", "C3", "pass", "chinese",
    "japanese", "a", [], {}, [1], [[]], ["C3"], ["B", "C3"], [["B", "C3"]],
    [["W", "B2"], ["B", "A1"]], [["B", "pass"], ["W", "pass"]], {"player": "B"}, {"ko": "SIMPLE"},
    {"maxVisits": 2}, [0, 1], "\ud800", [{"player": "B", "moves": ["C3"], "untilDepth": 1}],
    {"maxTime": "1e9"}, "\x00\u202e",
]  # fmt: skip
NAMES = [
    "id", "moves", "initialStones", "initialPlayer", "rules", "komi", "whiteHandicapBonus",
    "boardXSize", "boardYSize", "analyzeTurns", "maxVisits", "analysisPVLen", "includeOwnership",
    "includeMovesOwnership", "includePolicy", "includePVVisits", "avoidMoves", "allowMoves",
    "overrideSettings", "reportDuringSearchEvery", "firstReportDuringSearchAfter", "priority",
    "priorities", "rootPolicyTemperature", "action", "terminateId", "turnNumbers", "fly",
]  # fmt: skip


def nonsense(random):
    """A query with changed, missing or damaged fields."""
    size = random.choice([2, 3, 5])
    query = {
        "id": random.choice("abc"), "moves": [], "rules": "chinese", "boardXSize": size,
        "boardYSize": size, "maxVisits": 1,
    }  # fmt: skip
    if random.random() < 0.1:
        query = {"id": "t", "action": random.choice(ACTIONS), "terminateId": random.choice("abc")}
    for _ in range(random.randrange(3)):
        query[random.choice(NAMES)] = random.choice(VALUES)
    if random.random() < 0.2:
        query.pop(random.choice([*query]))
    line = json.dumps(query)
    if random.random() < 0.2:
        at = random.randrange(len(line))
        line = (
            line[:at] + random.choice(["", "{", "]", '"', "\\", "9" * 50, "\x00"]) + line[at + 1 :]
        )
    return line


@pytest.mark.thorough
def test_malformed_queries_cause_no_internal_error(start):
    random = Random(20)
    talk = start(visits=2, max_workers=2)
    ended = found = 0
    for _ in range(100):
        lines = [nonsense(random) for _ in range(20)]
        talk.say(*lines)
        answers = talk.answers()
        assert not [each for each in answers if "internal error" in each.get("error", "")], lines
        ended += sum(not each.get("isDuringSearch", "warning" in each) for each in answers)
        found += sum("moveInfos" in each for each in answers)
    assert ended >= 2000  # one answer per line, or per turn
    assert 200 < found < 1500
    talk.ask("after", rules="chinese")
    assert visits(talk.answer()) == 2
    assert talk.reports == []


def test_rejects_unknown_algorithms_and_those_without_visits(start):
    with pytest.raises(ValueError, match="alpha-beta: does not report visits of moves"):
        start(algorithm="alpha-beta")
    with pytest.raises(ValueError, match="unknown algorithm 'luck'"):
        start(algorithm="luck")
