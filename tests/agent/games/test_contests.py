"""Local searches find seki, bent four and nakade without playouts."""

import pytest

from agent.games.contests import CaptureSearch, find_contests, settle_contests
from agent.games.go import Go
from tests.agent.games.contest_positions import CONTESTS, OBVIOUS, TEN_THOUSAND_YEAR_KO, contest
from tests.agent.go.positions import at, from_diagram, symmetry, turned


@pytest.mark.thorough(keep=12)
@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("name", [name for name in CONTESTS if name not in OBVIOUS])
def test_contests_are_settled_for_both_colours_and_either_side_to_move(
    name: str, number: int
) -> None:
    game, dead = contest(CONTESTS[name], number % 2)
    images = symmetry(game.size, number)
    for swap in (False, True):
        other = turned(game, number, swap)
        lives = settle_contests(other)
        stones = other.stones
        assert {stones.board[head] for head in lives} == {1, 2}
        found = {vertex for head in lives if not lives[head] for vertex in stones.chains[head]}
        assert found == {images[vertex] for vertex in dead}


@pytest.mark.parametrize("name", sorted(OBVIOUS))
def test_groups_with_two_eyes_are_not_searched(name: str) -> None:
    assert find_contests(contest(CONTESTS[name])[0].stones) == []


@pytest.mark.parametrize("turn", [0, 1])
def test_ten_thousand_year_ko_is_a_seki(turn: int) -> None:
    game = from_diagram(*TEN_THOUSAND_YEAR_KO, turn=turn)
    lives = settle_contests(game)
    for stone in ("A3", "B1"):
        assert lives[game.stones.head[at(game, stone)]]


def test_side_to_move_wins_a_capturing_race() -> None:
    """Both groups of three have two liberties, none of them shared."""
    corners = ("...OX....",) * 3
    game = from_diagram(*corners, "OOOOXXXXX", "O.OOXX.XX", ".XXXOOO.X")
    for player in (0, 1):
        game.set_turn(player)
        lives = settle_contests(game)
        own = {lives[head] for head in lives if game.stones.board[head] == player + 1}
        others = {lives[head] for head in lives if game.stones.board[head] == 2 - player}
        assert (own, others) == ({True}, {False})


def test_capture_that_costs_a_larger_group_does_not_count() -> None:
    """White can capture three stones, but Black then plays on the middle of their eye."""
    game, _ = contest(CONTESTS["three stones in a row, with a liberty outside"])
    (fight,) = find_contests(game.stones)
    inner = game.stones.head[at(game, "B1")]
    region = fight.empty
    for head in fight.chains:
        region |= sum(1 << vertex for vertex in game.stones.chains[head])
    ring = game.stones.head[at(game, "A2")]
    for rivals, captured in (((), True), ((ring,), False)):
        search = CaptureSearch(game.stones, inner, region, 10_000, lambda: True, rivals)
        assert search.captures(attacker_first=True) is captured


@pytest.mark.parametrize("turn", [0, 1])
def test_capture_counts_although_a_smaller_stone_was_lost_before(turn: int) -> None:
    """If White takes the stone on C9 first, Black takes five stones by A8."""
    rows = ("XOXO.XXXX", ".O.XOXXXX", *("XXXXXXXXX",) * 6, ".X.XXXXXX")
    game = from_diagram(*rows, turn=turn)
    lives = settle_contests(game)
    heads = {name: game.stones.head[at(game, name)] for name in ("A9", "B9", "C9", "D9", "E8")}
    assert {name for name, head in heads.items() if lives[head]} == {"A9", "C9"}


@pytest.mark.parametrize("turn", [0, 1])
def test_capture_of_two_stones_may_cost_one(turn: int) -> None:
    """If White takes the stone on C9, Black takes two stones there, and White takes it again."""
    rows = (".OX.OXXXX", "OOOXXXXXX", "OOOXOXXXX", "OXOOOXXXX", *("XXXXXXXXX",) * 4, ".X.XXXXX.")
    game = from_diagram(*rows, turn=turn)
    lives = settle_contests(game)
    heads = {name: game.stones.head[at(game, name)] for name in ("B9", "C9", "E9")}
    assert {name for name, head in heads.items() if lives[head]} == {"C9"}


def test_interrupted_searches_prove_nothing() -> None:
    game, _ = contest(CONTESTS["three stones in a row"])
    assert settle_contests(game, lambda: False) == {}
    (fight,) = find_contests(game.stones)
    head = game.stones.head[at(game, "A2")]
    search = CaptureSearch(game.stones, head, fight.empty, 0, lambda: True)
    assert search.captures(attacker_first=True) is None


def test_open_boards_have_no_contests() -> None:
    game = Go(19)
    assert find_contests(game.stones) == []
    game.set_up(0, [at(game, text) for text in ("D4", "Q16")])
    game.set_up(1, [at(game, text) for text in ("D16", "Q4")])
    assert settle_contests(game) == {}
