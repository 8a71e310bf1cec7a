"""Parsing of queries, and formatting of answers."""

import json

import pytest

from agent.games.go import Go
from agent.games.go_rules import Ruleset, handicap_bonus
from agent.games.stones import PASS
from agent.limits import Cp, Info
from protocols.katago_analysis import responses
from protocols.katago_analysis.fields import FieldReader, QueryError
from protocols.katago_analysis.query import DEFAULTS, QueryDefaults, read_query, read_vertex
from protocols.rulesets import read_ruleset


def read(usual=DEFAULTS, **fields):
    given = {"moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5, **fields}
    return read_query("a", FieldReader(given), usual)[0]


@pytest.mark.parametrize(
    ("text", "place"),
    [("A1", (0, 0)), ("e5", (4, 4)), (" c2 ", (2, 1)), ("(0,0)", (0, 4)), ("(3, 4)", (3, 0))],
)
def test_read_vertex_parses_coordinates(text, place):
    game = Go(5)
    assert read_vertex(text, (5, 5)) == game.stones.shape.vertex(*place)


@pytest.mark.parametrize("text", ["A6", "F1", "A0", "I1", "A", "(5,0)", "(0,5)", "A٣", "", None, 3])
def test_read_vertex_rejects_invalid_text(text):
    assert read_vertex(text, (5, 5)) is None


def test_vertex_letters_skip_i():
    game = Go(19)
    assert read_vertex("T19", (19, 19)) == game.stones.shape.vertex(18, 18)
    assert read_vertex("J10", (19, 19)) == read_vertex("(8,9)", (19, 19))
    assert read_vertex("PASS", (19, 19)) == PASS


def test_read_vertex_handles_rectangular_boards():
    game = Go("4x7")
    assert read_vertex("D7", (4, 7)) == game.stones.shape.vertex(3, 6)
    assert read_vertex("(3,0)", (4, 7)) == game.stones.shape.vertex(3, 6)
    assert read_vertex("(0,6)", (4, 7)) == game.stones.shape.vertex(0, 0)
    assert read_vertex("E1", (4, 7)) is read_vertex("A8", (4, 7)) is read_vertex("(4,0)", (4, 7))
    assert read_vertex("E1", (4, 7)) is None


@pytest.mark.parametrize(
    ("value", "komi", "bonus"),
    [
        ("tromp-taylor", 7.5, 0),
        ("Tromp Taylor", 7.5, 0),
        ("chinese", 7.5, 4),
        ("chinese-ogs", 7.5, 4),
        ("japanese", 6.5, 0),
        ("korean", 6.5, 0),
        ("aga", 7.5, 3),
        ("aga-button", 7.0, 3),
        ("new_zealand", 7.5, 0),
        ("stone-scoring", 7.5, 0),
        ("ancient-area", 7.5, 0),
        ("ancient_territory", 6.5, 0),
        ({"scoring": "TERRITORY", "suicide": False}, 6.5, 0),
        ({"ko": "simple", "suicide": False, "whiteHandicapBonus": "N-1"}, 7.5, 3),
        ({"komi": 0.5}, 0.5, 0),
    ],
)
def test_ruleset_sets_komi_and_handicap_bonus(value, komi, bonus):
    rules = read_ruleset(value)
    assert (rules.default_komi, handicap_bonus(rules.handicap_bonus_rule, 4)) == (komi, bonus)


def test_game_is_played_by_the_rules_of_the_query():
    game = read(rules={"ko": "SITUATIONAL", "tax": "ALL", "hasButton": True}).game(0)
    assert (game.rules.ko, game.rules.tax, game.rules.has_button) == ("SITUATIONAL", "ALL", True)
    assert read(rules="tromp-taylor").game(0).capture_dead_stones
    assert not read(rules="ancient-territory").game(0).capture_dead_stones


def test_empty_rules_default_to_tromp_taylor():
    assert read_ruleset({}) == read_ruleset("tromp-taylor")
    assert read_ruleset({"friendlyPassOk": True}) == Ruleset()


@pytest.mark.parametrize(
    ("fields", "komi", "turn"),
    [
        ({}, 7.5, 0),
        ({"komi": 0}, 0, 0),
        ({"moves": [["B", "C3"], ["W", "A1"]]}, 7.5, 0),
        ({"initialStones": [["B", "C3"]]}, 7.5, 0),
        ({"initialStones": [["B", "C3"], ["B", "B2"]], "komi": 0.5}, 2.5, 1),
        ({"initialStones": [["B", "C3"], ["B", "B2"]], "whiteHandicapBonus": "0"}, 7.5, 1),
        ({"rules": {"komi": 5.5}, "whiteHandicapBonus": "0"}, 5.5, 0),
        ({"initialStones": [["B", "C3"], ["B", "B2"], ["W", "A1"]]}, 7.5, 0),
        ({"moves": [["B", "C3"], ["B", "B2"], ["B", "D4"], ["W", "A1"]], "rules": "aga"}, 9.5, 0),
        ({"moves": [["B", "C3"], ["B", "B2"]], "rules": "japanese"}, 6.5, 0),
    ],
)
def test_query_sets_komi_and_side_to_move(fields, komi, turn):
    query = read(**fields)
    game = query.game(0)
    assert (query.komi, game.komi, game.turn) == (komi, komi, turn)


def test_query_reproduces_the_position_at_each_turn():
    moves = [["B", "C3"], ["B", "C4"], ["W", "pass"], ["B", "pass"]]
    query = read(moves=moves, initialStones=[["W", "A1"]], analyzeTurns=[4, 0, 1])
    assert query.turns == ((0, 0), (1, 0), (4, 0))
    board = str(query.game(4)).splitlines()
    assert board[:3] == [" 5 . . . . .", " 4 . . X . .", " 3 . . X . ."]
    assert board[4] == " 1 O . . . ."
    assert [query.game(turn).turn for turn in range(5)] == [0, 1, 1, 0, 1]
    assert not query.game(4).is_over()
    assert len(query.game(4).moves()) > 1


KO = [["B", "B1"], ["W", "C1"], ["B", "A2"], ["W", "D2"], ["B", "B3"], ["W", "C3"], ["B", "C2"],
      ["W", "B2"]]  # fmt: skip


def test_ko_recapture_is_accepted_in_a_record_but_not_offered():
    query = read(moves=[*KO, ["B", "C2"]])
    assert read_vertex("C2", (5, 5)) not in query.game(8).moves()
    assert query.game(9).stones.board[read_vertex("C2", (5, 5))] == 1
    with pytest.raises(QueryError, match="Illegal move 8: B2"):
        read(moves=[*KO, ["B", "B2"]])


def test_game_record_may_repeat_a_position_under_simple_ko():
    """Passes during a ko: simple ko allows what positional superko forbids."""
    moves = [*KO, ["B", "pass"], ["W", "pass"], ["B", "C2"]]
    for rules, legal in (("japanese", True), ("tromp-taylor", False)):
        query = read(moves=moves, rules=rules)
        assert (read_vertex("C2", (5, 5)) in query.game(10).moves()) == legal
        assert query.game(11).stones.board[read_vertex("C2", (5, 5))] == 1


def test_queries_share_move_objects():
    first, second = (read(moves=[["B", "C3"], ["W", "D4"]]) for _ in range(2))
    assert all(a is b for a, b in zip(first.moves, second.moves, strict=True))


def test_query_settings_override_engine_settings():
    usual = QueryDefaults(visits=9, seconds=3.0, perspective=1)
    query = read(usual)
    assert (query.visits, query.seconds, query.perspective) == (9, 3.0, 1)
    settings = {"maxVisits": "12", "maxTime": 1, "reportAnalysisWinratesAs": "sidetomove"}
    query = read(usual, overrideSettings=settings)
    assert (query.visits, query.seconds, query.perspective) == (12, 1.0, None)
    assert read(usual, overrideSettings=settings, maxVisits=15).visits == 15


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor"])
def test_a_pass_in_the_record_does_not_count_towards_the_end(rules):
    fields = {"moves": [["B", "C3"], ["W", "pass"]], "rules": rules}
    game = read(**fields).game(2)
    assert (game.passes, game.turn, game.last_move) == (0, 0, PASS)
    for value in (False, "false"):
        query = read(**fields, overrideSettings={"conservativePass": value})
        assert query.game(2).passes == 1
    assert read(QueryDefaults(conservative_pass=False), **fields).game(2).passes == 1


def lines(game):
    """Lines of a search on a 3x3 board; the first has no visits."""
    b2, c1 = (game.stones.shape.vertex(*place) for place in ((1, 1), (2, 0)))
    owners = tuple(number / 10 for number in range(9))
    b1 = game.stones.shape.vertex(1, 0)
    return [
        Info(1, Cp(0), (b1,), visits=0, expected_outcome=0.9, prior=0.1, lead=9.0,
             ownership=owners),
        Info(1, Cp(0), (b2, c1, PASS), multipv=2, visits=30, expected_outcome=0.5, prior=0.7,
             lead=4.0),
        Info(1, Cp(0), (c1,), multipv=3, visits=10, expected_outcome=-0.5, prior=0.2, lead=-2.0),
    ]  # fmt: skip


def answer(viewer, **fields):
    """White is to move, and leads."""
    small = {"boardXSize": 3, "boardYSize": 3, "moves": [["B", "A3"]]}
    query = read(QueryDefaults(perspective=viewer), **small, **fields)
    game = query.game(1)
    found = responses.analysis_result(query, 1, game, lines(game), is_during_search=False)
    return json.loads(responses.to_json_line(found))


def test_answer_contains_all_fields():
    said = answer(None, includeOwnership=True, includePolicy=True)
    first, second = said["moveInfos"]
    assert first["pv"] == ["B2", "C1", "pass"]
    assert (first["move"], first["order"], first["visits"]) == ("B2", 0, 30)
    assert (first["winrate"], first["utility"], first["prior"]) == (0.75, 0.5, 0.7)
    assert {first[name] for name in ("scoreLead", "scoreMean", "scoreSelfplay")} == {4.0}
    assert 0.5 < first["lcb"] < 0.75
    assert first["utilityLcb"] == pytest.approx(2 * first["lcb"] - 1, abs=1e-5)
    assert (second["move"], second["order"], second["winrate"]) == ("C1", 1, 0.25)
    root = said["rootInfo"]
    assert (root["currentPlayer"], root["visits"]) == ("W", 40)
    assert (root["winrate"], root["scoreLead"], root["utility"]) == (0.625, 2.5, 0.25)
    assert said["ownership"] == [number / 10 for number in range(9)]
    # Rows from the top: A3 is occupied, B2 is the centre, C1 the last before the pass.
    assert said["policy"] == [-1, 0, 0, 0, 0.7, 0, 0, 0.1, 0.2, 0]


@pytest.mark.parametrize(("viewer", "ours"), [(0, False), (1, True), (None, True)])
def test_viewer_sets_the_perspective_of_values(viewer, ours):
    said = answer(viewer, includeOwnership=True)
    mine, root = said["moveInfos"][0], said["rootInfo"]
    assert mine["winrate"] == (0.75 if ours else 0.25)
    assert mine["scoreLead"] == (4.0 if ours else -4.0)
    assert mine["utility"] == (0.5 if ours else -0.5)
    assert (mine["lcb"] < mine["winrate"]) == ours
    assert root["winrate"] == (0.625 if ours else 0.375)
    assert said["ownership"][8] == (0.8 if ours else -0.8)
    assert mine["prior"] == 0.7


def test_analysis_pv_len_limits_the_variation():
    assert answer(None, analysisPVLen=1)["moveInfos"][0]["pv"] == ["B2", "C1"]


def test_ownership_and_policy_are_omitted_by_default():
    assert {"ownership", "policy"}.isdisjoint(answer(None))


def hashes(*moves, **fields):
    query = read(moves=[list(move) for move in moves], **fields)
    game = query.game(len(moves))
    root = responses.analysis_result(query, 0, game, lines(game), is_during_search=False)[
        "rootInfo"
    ]
    return root["thisHash"], root["symHash"]


def test_symmetry_hash_is_equal_for_mirrored_positions():
    one = hashes(("B", "B1"), ("W", "C1"))
    other_way = hashes(("W", "C1"), ("B", "B1"), initialPlayer="W")
    assert one[1] == other_way[1] or one[0] != other_way[0]  # the other side is to move
    images = [("D1", "C1"), ("B5", "C5"), ("D5", "C5"), ("A2", "A3"), ("A4", "A3"), ("E2", "E3"),
              ("E4", "E3")]  # fmt: skip
    for black, white in images:
        image = hashes(("B", black), ("W", white))
        assert image[0] != one[0]
        assert image[1] == one[1]
    assert hashes(("B", "B1"), ("W", "D1"))[1] != one[1]
    tall = {"boardXSize": 4, "boardYSize": 7}
    wide = {"boardXSize": 7, "boardYSize": 4}
    here = hashes(("B", "A2"), ("W", "C1"), **tall)
    assert here[1] == hashes(("B", "D2"), ("W", "B1"), **tall)[1]
    assert here[1] == hashes(("B", "B1"), ("W", "A3"), **wide)[1]
    assert here[0] != hashes(("B", "B1"), ("W", "A3"), **wide)[0]
    assert here[1] != hashes(("B", "A2"), ("W", "C1"), **wide)[1]
    assert hashes(("B", "B1"), ("W", "C1"), ("B", "pass"))[1] != one[1]


def test_query_without_turns_is_refused_by_name():
    """KataGo would never answer it."""
    with pytest.raises(QueryError, match="Must specify at least one turn") as caught:
        read(analyzeTurns=[])
    assert caught.value.field == "analyzeTurns"
    assert read(analyzeTurns=[0]).turns == ((0, 0),)


@pytest.mark.parametrize("komi", [float("nan"), float("inf"), 1e400, "7.5", True, 0.25])
def test_komi_that_is_no_valid_number_is_refused_by_name(komi):
    with pytest.raises(QueryError, match="Must be a integer or half-integer") as caught:
        read(komi=komi)
    assert caught.value.field == "komi"
    with pytest.raises(QueryError) as caught:
        read(rules={"komi": komi})
    assert caught.value.field == "rules"
    assert "omi" in str(caught.value) or "Must be a integer" in str(caught.value)
