"""Go rules of a session: scoring and prisoners."""

import json
from itertools import product

import pytest

from agent.games import catalogue
from agent.games.chain_status import stones_with_status
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import GtpError
from protocols.gtp.rules import read_rules, with_field
from protocols.rulesets import handicap_bonus
from tests.agent.games.test_go import at, from_diagram, played

WALLS = [". X . O .", ". X . O .", "X X . O .", ". X . O O", ". X . O ."]


def test_rules_can_be_read_from_names_and_json():
    for name in ("chinese", "japanese", "aga", "new-zealand", "tromp-taylor"):
        rules = read_rules(name)
        assert read_rules(name.upper()) == rules
        assert read_rules(str(rules)) == rules
        assert json.loads(str(rules))["ko"] == "POSITIONAL"


@pytest.mark.parametrize(
    ("text", "territory", "taxed"),
    [
        ('{"scoring":"TERRITORY"}', True, True),
        ('{"score":"territory"}', True, True),
        ('{"scoring":"TERRITORY","tax":"NONE"}', True, False),
        ('{"score":"AREA"}', False, False),
    ],
)
def test_rules_json_is_read_like_katago(text, territory, taxed):
    rules = read_rules(text)
    assert (rules.territory, rules.tax == "SEKI") == (territory, taxed)


def test_scoring_rule_can_be_set_by_either_name():
    rules = read_rules("tromp-taylor")
    for name in ("scoring", "score"):
        assert with_field(rules, name, "Territory").territory


def test_area_scoring_has_no_tax():
    rules = with_field(read_rules("japanese"), "scoring", "AREA")
    assert (rules.territory, rules.tax) == (False, "NONE")
    with pytest.raises(GtpError, match="tax SEKI is not supported with scoring AREA"):
        with_field(rules, "tax", "SEKI")


@pytest.mark.parametrize(("bonus", "number"), [*product(["0", "N-1", "N"], [0, 1, 2, 9])])
def test_handicap_bonus_follows_the_rule(bonus, number):
    expected = {"0": 0, "N-1": number - 1, "N": number}[bonus] if number > 1 else 0
    assert handicap_bonus(bonus, number) == expected


def test_territory_score_counts_surrounded_empty_points():
    game = from_diagram(*WALLS, komi=0.5)
    assert game.score() == 10 - 10 - 0.5
    assert game.territory_score() == 4 - 4 - 0.5


def test_dead_stones_are_prisoners_on_territory():
    game = from_diagram(*WALLS)
    game.set_up(1, [at(game, "A5")])
    dead = 1 << at(game, "A5")
    assert game.territory_score() == 2 - 4
    assert game.territory_score(dead) == 4 + 1 - 4


def test_prisoners_are_counted_and_restored_by_undo():
    game = played("A2 A1 B1 C3")
    assert game.prisoners == (1, 0)
    game.play(at(game, "B2"))
    game.play(at(game, "C2"))
    game.undo()
    game.undo()
    game.undo()
    game.undo()
    assert game.prisoners == (0, 0)
    game.play(at(game, "B1"))
    game.set_turn(0)
    game.play_as(1, at(game, "E5"))
    assert game.prisoners == (1, 0)


def test_territory_score_excludes_eyes_of_seki_chains():
    """The eye on A5 belongs to a chain without shared liberties whose stones are judged seki."""
    game = from_diagram(*WALLS)
    seki = sum(1 << at(game, text) for text in ("A3", "B1", "B2", "B3", "B4", "B5"))
    assert game.territory_score(0, seki) == -4


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("name", "score"),
    [
        # 9x9 with only four handicap stones: everything is Black's.
        ("new-zealand", 81 - 7.5),
        ("aga", 81 - 7.5 - 3),
        ("chinese", 81 - 7.5 - 4),
        ("japanese", 77 - 7.5),
        ("tromp-taylor", 81 - 7.5),
    ],
)
def test_handicap_score_depends_on_the_rules(name, score):
    board = GtpGoBoard(catalogue.find("go"), {"size": 9})
    board.fixed_handicap(4)
    board.set_rules(read_rules(name))
    assert board.result() == score
    assert board.game.capture_dead_stones == (name == "tromp-taylor")
    board.clear()
    assert board.game.komi == 7.5


def test_dead_stone_judgement_is_cached_per_position():
    asked = []

    def judge(game):
        asked.append(str(game))
        return {(at(game, "C3"),): "dead"} if game.stones.sets[2] else {}

    board = GtpGoBoard(catalogue.find("go"), {"size": 3, "komi": 0}, judge)
    board.play_text(0, "A1")
    board.play_text(1, "C3")
    assert board.result() == 9
    assert board.chains_with_status("dead") == "C3"
    assert board.chains_with_status("alive") == ""
    assert len(asked) == 1
    board.undo()
    assert board.chains_with_status("dead") == ""
    assert len(asked) == 2
    board.set_komi(1.5)
    assert board.result() == 9 - 1.5
    assert board.result({(at(board.game, "A1"),): "dead"}) == -1.5
    assert len(asked) == 2


def test_result_uses_the_given_judge():
    def judge(game):
        return {(at(game, "A1"),): "dead"}

    board = GtpGoBoard(catalogue.find("go"), {"size": 3, "komi": 0}, judge)
    board.play_text(0, "A1")
    board.play_text(1, "C3")
    assert board.result() == -9
    assert board.chains_with_status("dead") == "A1"
    board.set_rules(read_rules("japanese"))
    assert board.result() == -8 - 1
    board.set_rules(read_rules("tromp-taylor"))
    assert board.result() == 0
    assert stones_with_status("dead", judge(board.game)) == 1 << at(board.game, "A1")
