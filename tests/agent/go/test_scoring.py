"""The compiled search plays and scores by the rules of the game."""

from dataclasses import replace
from itertools import product
from random import Random

import numba
import pytest

from agent.games.go import Go
from agent.games.go_rules import DEFAULT_RULES, KO_RULES, RULESETS, TAX_RULES, Ruleset
from agent.games.stones import PASS
from agent.go.kernel_board import KernelBoard, from_kernel_move
from agent.go.records import Worker, copy_board
from agent.go.scoring import score_end, score_playout
from agent.kernel.mcts_tree import ROOT
from agent.limits import Limits
from tests.agent.go.positions import at, from_diagram, random_game
from tests.agent.go.test_search import (
    check_tree,
    last_info,
    pool_of,
    searching,
    visits_by_move,
)
from tests.support import compiled_when_called

# Every empty vertex is an eye, so the game is over. Black has 10 points of area and 3 of territory,
# White has 15 and 4.
FINISHED = (".XO.O", "XXOO.", ".XOOO", "XXO.O", ".XOO.")
# A seki: each side has one eye and shares D2. Whoever plays there is captured.
SEKI = (".XX.OO.", "XXXXOOO")


@compiled_when_called(numba.float64(Worker))
def _score_end(worker: Worker) -> float:
    copy_board(worker.board, worker.root)
    worker.placed = 0
    return score_end(worker, worker.board)


@compiled_when_called(numba.float64(Worker))
def _score_playout(worker: Worker) -> float:
    copy_board(worker.board, worker.root)
    worker.placed = 0
    return score_playout(worker, worker.board)


def with_rules(game: Go, rules: Ruleset | str) -> Go:
    game.rules = RULESETS[rules] if isinstance(rules, str) else rules
    return game


def loaded(game: Go) -> KernelBoard:
    board = KernelBoard()
    board.load(game)
    return board


@pytest.mark.parametrize(("scoring", "tax"), [*product(("AREA", "TERRITORY"), TAX_RULES)], ids=str)
def test_finished_game_has_the_score_of_the_plain_game(scoring: str, tax: str) -> None:
    game = from_diagram(*FINISHED)
    with_rules(game, replace(DEFAULT_RULES, scoring=scoring, tax=tax))
    board = loaded(game)
    assert _score_end(board.worker) == game.score()
    assert _score_playout(board.worker) == game.score()


@pytest.mark.parametrize("rules", ["tromp-taylor", "stone-scoring", "japanese"])
def test_search_reports_the_points_of_the_rules(rules: str) -> None:
    game = with_rules(from_diagram(*FINISHED, komi=-2), rules)
    info = last_info(searching(), game, Limits(nodes=100))
    assert info.lead == game.score()
    assert info.expected_outcome == (1 if game.score() > 0 else -1)


def test_prisoners_count_in_the_search_under_territory_scoring() -> None:
    """Black has captured two stones, of which area scoring knows nothing."""
    game = with_rules(from_diagram(*FINISHED, komi=0), "japanese")
    game._states[-1] = replace(game._states[-1], prisoners=(2, 0))
    assert game.score() == 1
    assert last_info(searching(), game, Limits(nodes=100)).lead == 1
    game.rules = DEFAULT_RULES
    assert last_info(searching(), game, Limits(nodes=100)).lead == -5


def test_move_into_own_territory_costs_a_point_under_territory_scoring() -> None:
    """Black fills one of three eyes."""
    leads = {}
    for rules, text in product(("chinese", "japanese"), ("pass", "A5")):
        game = with_rules(from_diagram(*FINISHED, komi=0), rules)
        move = PASS if text == "pass" else at(game, text)
        leads[rules, text] = last_info(
            searching(), game, Limits(nodes=100, search_moves=(move,))
        ).lead
    assert leads["chinese", "pass"] == leads["chinese", "A5"] == -5
    assert (leads["japanese", "pass"], leads["japanese", "A5"]) == (-1, -2)


def test_dead_stones_are_prisoners_after_two_passes_under_territory_scoring() -> None:
    """White's lone stone in Black's territory is dead, though nobody has captured it."""
    game = from_diagram("...XO..", ".O.XO..", "...XO..", "...XO..", "...XO..", "...XO..", "...XO..")
    dead = 1 << at(game, "B6")
    with_rules(game, "japanese")
    board = loaded(game)
    board.worker.root.passes = 2
    scores = [_score_end(board.worker) for _ in range(100)]
    assert max(set(scores), key=scores.count) == game.score(dead)


@pytest.mark.parametrize("tax", TAX_RULES)
def test_tax_equals_that_of_the_plain_game(tax: str) -> None:
    """A group is in seki if its area touches an empty vertex without an owner."""
    random, taxed = Random(1), 0
    for size in (2, 3, 4, 5, 7, "3x5"):
        for _ in range(50):
            game = with_rules(random_game(size, random), replace(DEFAULT_RULES, tax=tax))
            empty, *colours = game.stones.sets
            black, white = game.stones.areas()
            neutral = empty & ~(black | white)
            flood = game.stones.shape.flood_fill
            seki = (colours[0] & flood(neutral, black)) | (colours[1] & flood(neutral, white))
            assert _score_end(loaded(game).worker) == game.score(0, seki)
            taxed += game.score(0, seki) != with_rules(game, DEFAULT_RULES).score()
    assert (taxed > 20) == (tax != "NONE")


@pytest.mark.parametrize("tax", TAX_RULES)
def test_search_leaves_a_seki_alone(tax: str) -> None:
    rules = replace(DEFAULT_RULES, scoring="TERRITORY", tax=tax)
    game = with_rules(from_diagram(*SEKI, komi=0), rules)
    info = last_info(searching(), game, Limits(nodes=500))
    assert (info.pv[0], info.lead) == (PASS, 0)


@pytest.mark.parametrize("player", [0, 1])
def test_button_is_worth_half_a_point_to_the_first_pass(player: int) -> None:
    """Without the button the game is a draw. The only moves are passes."""
    game = with_rules(from_diagram(*FINISHED, komi=-5, turn=player), "aga-button")
    info = last_info(searching(), game, Limits(nodes=100))
    assert (info.pv[0], info.lead, info.expected_outcome) == (PASS, 0.5, 1)
    game.play(PASS)
    info = last_info(searching(), game, Limits(nodes=100))
    assert (info.lead, info.expected_outcome) == (-0.5, -1)
    assert last_info(searching(), with_rules(game, "aga"), Limits(nodes=100)).lead == 0


@pytest.mark.parametrize("ko", KO_RULES)
def test_search_obeys_the_ko_rule_of_the_game(ko: str) -> None:
    """White sends two by A1, Black captures them by C1, and B1 repeats the position."""
    game = from_diagram("X.XO.", "XXXO.", "XXXOO", "XXOO.", ".O.O.", turn=1)
    game.rules = replace(DEFAULT_RULES, ko=ko)
    for text in ("A1", "C1"):
        game.play(at(game, text))
    returned = at(game, "B1")
    search = searching()
    last_info(search, game, Limits(nodes=1000))
    assert (returned in visits_by_move(search)) == (returned in game.moves())
    assert (returned in game.moves()) == (ko != "POSITIONAL")
    check_tree(search, game)


def test_repetition_without_a_pass_is_a_draw_under_simple_ko() -> None:
    repeated = 0

    def check(node: int) -> None:
        nonlocal repeated
        for child in pool.children(node):
            move, before = from_kernel_move(pool.move(child)), game.situations
            game.play(move)
            black, white = game.stones.sets[1:]
            if move != PASS and (black, white, game.turn) in before and pool.visits(child):
                repeated += 1
                assert pool.mean(child) == 0
                assert not pool.children(child)
            check(child)
            game.undo()

    random = Random(1)
    for _ in range(20):
        game = with_rules(random_game(2, random), replace(DEFAULT_RULES, ko="SIMPLE"))
        search = searching(megabytes=2)
        pool = pool_of(search)
        last_info(search, game, Limits(nodes=1000))
        check(ROOT)
    assert repeated > 20


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_tree_has_the_legal_moves_of_every_ko_rule(size: int, suicide: bool) -> None:
    random = Random(size)
    for ko in KO_RULES:
        for _ in range(10):
            game = random_game(size, random)
            game.rules = replace(DEFAULT_RULES, ko=ko, suicide=suicide)
            search = searching(megabytes=2)
            last_info(search, game, Limits(nodes=1000))
            check_tree(search, game)


def test_suicide_is_searched_only_if_the_rules_allow_it() -> None:
    game = from_diagram(".XO..", "XOO..", "OO...", ".....", ".....")
    move = at(game, "A5")
    for rules, expected in ((DEFAULT_RULES, False), (RULESETS["new-zealand"], True)):
        search = searching()
        last_info(search, with_rules(game, rules), Limits(nodes=500))
        assert (move in visits_by_move(search)) == expected == (move in game.moves())
        check_tree(search, game)


def test_tree_is_not_reused_after_a_change_of_rules() -> None:
    search, game = searching(), Go(5)
    last_info(search, game, Limits(nodes=500))
    search._set_root(with_rules(game, "japanese"), Limits())
    assert pool_of(search).visits(ROOT) == 0
