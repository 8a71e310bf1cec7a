"""Go rules of a session: scoring and prisoners."""

import json
from itertools import product

import pytest

from agent.games import catalogue
from agent.games.chain_status import stones_with_status
from agent.games.go_rules import FIELDS, RULESETS, handicap_bonus
from agent.games.stones import PASS
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import GtpError
from protocols.gtp.rules import read_rules, with_field
from tests.agent.games.test_go import at, from_diagram, played

WALLS = [". X . O .", ". X . O .", "X X . O .", ". X . O O", ". X . O ."]


def test_rules_can_be_read_from_names_and_json():
    for name, rules in RULESETS.items():
        assert read_rules(name) == read_rules(name.upper()) == rules
        assert read_rules(str(rules)) == read_rules(rules.katago_string) == rules


def test_named_rules_are_those_of_katago():
    def values(name):
        fields = json.loads(str(read_rules(name)))
        return tuple(fields[field] for field in ("ko", "scoring", "tax", "suicide", "hasButton"))

    assert values("tromp-taylor") == ("POSITIONAL", "AREA", "NONE", True, False)
    assert values("chinese") == ("SIMPLE", "AREA", "NONE", False, False)
    assert values("chinese-ogs") == ("POSITIONAL", "AREA", "NONE", False, False)
    assert values("japanese") == values("korean") == ("SIMPLE", "TERRITORY", "SEKI", False, False)
    assert values("aga") == ("SITUATIONAL", "AREA", "NONE", False, False)
    assert values("aga-button") == ("SITUATIONAL", "AREA", "NONE", False, True)
    assert values("new-zealand") == ("SITUATIONAL", "AREA", "NONE", True, False)
    assert values("stone-scoring") == ("SIMPLE", "AREA", "ALL", False, False)
    assert values("ancient-chinese") == values("ancient area") == values("stone_scoring")
    assert values("ancient-territory") == ("SIMPLE", "TERRITORY", "ALL", False, False)


def test_every_combination_of_rules_is_accepted_and_reported():
    fields = {name: choices for name, (_, choices) in FIELDS.items()}
    for values in product(*fields.values()):
        wanted = dict(zip(fields, values, strict=True))
        if wanted["hasButton"] and wanted["scoring"] == "TERRITORY":
            continue
        assert json.loads(str(read_rules(json.dumps(wanted)))) == wanted


def test_each_rule_can_be_set_alone():
    for name, (_, choices) in FIELDS.items():
        for value in choices:
            text = value if isinstance(value, str) else json.dumps(value)
            rules = with_field(read_rules("chinese"), name, text.lower())
            assert json.loads(str(rules))[name] == value


def test_parts_of_katagos_notation_may_be_missing():
    assert read_rules("koSIMPLE") == read_rules('{"ko":"SIMPLE"}')
    assert read_rules("scoringTERRITORY") == read_rules('{"scoring":"TERRITORY"}')
    assert read_rules("sui0 whbN-1 koSITUATIONAL fpok1") == read_rules("aga")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("martian", "unknown rules: martian"),
        ('{"ko":"SPIGHT"}', 'ko: unsupported value "SPIGHT"'),
        ('{"tax":"SOME"}', 'tax: unsupported value "SOME"'),
        ('{"suicide":"yes"}', 'suicide: unsupported value "yes"'),
        ('{"dice":true}', "unknown rule: dice"),
        ('{"komi":7}', "unknown rule: komi"),
        ('{"hasButton":true,"scoring":"TERRITORY"}', "hasButton: not supported with scoring"),
        ("koSIMPLEscoreTERRITORYtaxSEKIsui0button1", "hasButton: not supported with scoring"),
        ("komi7koSIMPLE", "unknown rule: komi"),
        ("koSIMPLEdice1", "unknown rules: koSIMPLEdice1"),
        ('{"komi":NaN}', "komi: invalid value NaN"),
    ],
)
def test_rules_that_cannot_be_played_are_refused_by_name(text, reason):
    with pytest.raises(GtpError, match=reason):
        read_rules(text)


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


def test_setting_one_rule_keeps_the_others():
    rules = with_field(read_rules("japanese"), "scoring", "AREA")
    assert (rules.territory, rules.tax, rules.ko) == (False, "SEKI", "SIMPLE")


@pytest.mark.parametrize(("bonus", "number"), [*product(["0", "N-1", "N"], [0, 1, 2, 9])])
def test_handicap_bonus_follows_the_rule(bonus, number):
    expected = {"0": 0, "N-1": number - 1, "N": number}[bonus] if number > 1 else 0
    assert handicap_bonus(bonus, number) == expected


def by_rules(game, text):
    game.rules = read_rules(text)
    return game


def test_territory_score_counts_surrounded_empty_points():
    game = from_diagram(*WALLS, komi=0.5)
    assert game.score() == 10 - 10 - 0.5
    assert by_rules(game, "japanese").score() == 4 - 4 - 0.5


def test_dead_stones_are_prisoners_on_territory():
    game = by_rules(from_diagram(*WALLS), "japanese")
    game.set_up(1, [at(game, "A5")])
    dead = 1 << at(game, "A5")
    assert game.score() == 2 - 4
    assert game.score(dead) == 4 + 1 - 4


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
    game = by_rules(from_diagram(*WALLS), "japanese")
    seki = sum(1 << at(game, text) for text in ("A3", "B1", "B2", "B3", "B4", "B5"))
    assert game.score(0, seki) == -4
    assert by_rules(game, '{"scoring":"TERRITORY","tax":"NONE"}').score(0, seki) == 0
    assert by_rules(game, '{"scoring":"AREA","tax":"SEKI"}').score(0, seki) == 6 - 10
    assert by_rules(game, '{"scoring":"AREA","tax":"NONE"}').score(0, seki) == 0


@pytest.mark.parametrize(
    ("rules", "score"),
    [
        ("tromp-taylor", 10 - 15),
        # Black's one group has three eyes, and White's has four.
        ("stone-scoring", 8 - 13),
        ("japanese", 3 - 4),
        ("ancient-territory", 1 - 2),
    ],
)
def test_tax_takes_two_points_from_each_group(rules, score):
    game = from_diagram(". X O . O", "X X O O .", ". X O O O", "X X O . O", ". X O O .")
    assert by_rules(game, rules).score() == score


def test_tax_counts_separate_groups_and_small_eyes():
    game = from_diagram(". X O . X", "X X O X X", "O O O O O", ". . . . .", ". . . . .")
    score = by_rules(game, "stone-scoring").score()
    # Black has one point as an eye, on the left; D5 is neutral.
    assert score == 7 - 1 - (17 - 2)


def test_button_gives_half_a_point_to_the_player_who_passes_first():
    game = by_rules(from_diagram(*WALLS), "aga-button")
    game.play_as(1, PASS)
    assert (game.button_taker, game.passes, game.score()) == (1, 0, -0.5)
    game.play(PASS)
    assert not game.is_over()
    game.play(PASS)
    assert game.is_over()
    assert game.outcome() == -0.5
    game.undo()
    game.undo()
    game.undo()
    assert (game.button_taker, game.score()) == (None, 0)


def test_suicide_of_several_stones_is_legal_if_the_rules_allow_it():
    game = from_diagram(". X O . .", "X O O . .", "O O . . .", ". . . . .", ". . . . .")
    assert at(game, "A5") not in game.moves()
    by_rules(game, "new-zealand")
    assert at(game, "A5") in game.moves()
    game.play(at(game, "A5"))
    assert game.stones.sets[1] == 0
    assert game.stones.liberties[game.stones.head[at(game, "B4")]].bit_count() > 3
    assert game.prisoners == (0, 3)
    game.undo()
    assert game.prisoners == (0, 0)
    single = by_rules(from_diagram(". O .", "O . .", ". . ."), "new-zealand")
    assert at(single, "A3") not in single.moves()


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
        ("stone-scoring", 79 - 7.5),
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


def test_eyes_in_seki_are_dame_if_the_rules_tax_them():
    def judge(game):
        heads = {game.stones.head[at(game, text)] for text in ("B1", "C3")}
        return {tuple(sorted(game.stones.chains[head])): "seki" for head in heads}

    board = GtpGoBoard(catalogue.find("go"), {"size": 3, "komi": 0}, judge)
    board.set_position([(0, "B1"), (0, "B2"), (0, "A2"), (1, "C3")])
    assert board.final_status(at(board.game, "A1")) == "black_territory"
    assert board.vertices_with_status("dame") == "A3 B3 C2 C1"
    assert board.vertices_with_status("seki") == "B1 A2 B2\nC3"
    board.set_rules(read_rules("japanese"))
    assert board.final_status(at(board.game, "A1")) == "dame"
    assert board.vertices_with_status("black_territory") == ""
