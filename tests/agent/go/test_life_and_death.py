"""Dead stones of positions that playouts alone do not settle."""

from collections.abc import Iterator
from typing import Any

import pytest

from agent.games.chain_status import stones_with_status
from agent.games.dragons import dragons
from agent.games.go import Go
from agent.games.stones import BLACK, EMPTY, PASS, iter_bits
from agent.go import life_and_death
from agent.go.dead_stones import chain_statuses, playout_chain_statuses
from agent.go.life_and_death import (
    CLEAR_PLAYOUTS,
    CLEAR_VALUE,
    DECISIVE_VALUE,
    PLAYOUT_OVERHEAD,
    RegionSearch,
    fate_search,
)
from agent.go.search import GoSearch
from agent.limits import Info, Limits, MoveRestriction
from tests.agent.games.contest_positions import CONTESTS, contest
from tests.agent.go.positions import at, from_diagram, symmetry, turned
from tests.agent.go.test_search import HALVES, last_info, searching

# Black in the lower left has only one eye.
ONE_EYED = (
    ".......XOOO..",
    ".XXXX..XXO.O.",
    ".X.XOXXXXXO.O",
    "X.XOOXOOOXOOX",
    "XXOO.OOOOXXXX",
    "OOOX.O.OX.XO.",
    ".XXX.O.OX.XX.",
    ".OX.XOOXXXXXX",
    ".OXXO..OOOOOO",
    ".OXOO.O....OX",
    "XXOXO.XO.O.O.",
    ".OOXO.XOO....",
    "....XXXXO....",
)
ONE_EYED_STONES = "A3 B3 B7 C4 C5 C6 C7 D5 D7 D8 E6"
# White in the upper right lives if it moves first.
OPEN_SIDE = (
    "..XOO....",
    ".X.XO....",
    "...XO..O.",
    ".XXXOO.XX",
    ".XOOX.XXO",
    ".OX.XXXOO",
    ".XOXOXO.O",
    "..OXOO.O.",
    "...XO....",
)
ABOVE = (".........",) * 5
# White's only eye space has two, three and four vertices.
TWO = (*ABOVE, ".........", "XXX......", "OOOX.....", "..OX.....")
THREE = (*ABOVE, ".........", "XXXX.....", "OOOOX....", "...OX....")
FOUR = (*ABOVE, ".........", "XXXXX....", "OOOOOX...", "....OX...")
CORNERS = ("...OX....",) * 6
SEKI = (*CORNERS, "OOOOXXXXX", "XXXXOOOOX", ".XX.OO.OX")
# Each half is settled, and has a dead stone.
FINISHED = (
    "X.X.XO.O.",
    "XXXXXOOOO",
    "X.X.XO.O.",
    "XXXXXOOOO",
    ".X.OXO.XO",
    "XXXXXOOOO",
    "X.X.XO.O.",
    "XXXXXOOOO",
    "X.X.XO.O.",
)
CAUGHT = (".X.XO", "XXXX.", "..X..", "XXXX.", ".X.X.")

# Games that GNU Go ended early. White, to move, cannot save these stones, but no search proves it
# clearly.
HOPELESS = {
    "invasion": (
        "....OOX..",
        "...OOXX..",
        "...OXX...",
        "...OX....",
        "...OX.XX.",
        "..OX...O.",
        "OOOX..O..",
        "OXXX.X.O.",
        "XXX......",
    ),
    "six points of eye space": (
        "...X.X...",
        ".OOX.X...",
        ".OXX.XXO.",
        ".OOXXOOO.",
        "OXOOOX...",
        ".XXXXX...",
        "...OX.XXX",
        "..XOOXXOO",
        "...O.OXO.",
    ),
}
HOPELESS_STONES = {"invasion": "G3 H2 H4", "six points of eye space": "A5 B6 B7 B8 C5 C6 C8 D5 E5"}


def texts(game: Go, status: str) -> set[str]:
    return {game.text(at) for at in iter_bits(stones_with_status(status, chain_statuses(game)))}  # type: ignore[arg-type]


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("turn", [0, 1])
def test_group_with_one_eye_is_dead_for_either_side_to_move(turn: int) -> None:
    game = from_diagram(*ONE_EYED, turn=turn)
    dead = texts(game, "dead")
    assert set(ONE_EYED_STONES.split()) <= dead
    assert not {"B4", "B6", "C2", "A8", "E4", "E10"} & dead


@pytest.mark.parametrize(("turn", "dies"), [(0, True), (1, False)])
def test_side_to_move_decides_an_unsettled_group(turn: int, dies: bool) -> None:
    game = from_diagram(*OPEN_SIDE, turn=turn)
    dead = texts(game, "dead")
    assert {"C5", "D5", "C2", "C3", "B4"} <= dead
    for stone in ("D9", "E6", "E7", "E8", "E9", "F6", "H7"):
        assert (stone in dead) == dies


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    ("rows", "dies"),
    [(TWO, (True, True)), (THREE, (True, False)), (FOUR, (False, False))],
    ids=["two", "three", "four"],
)
def test_eye_size_and_side_to_move_decide_life_and_death(
    rows: tuple[str, ...], dies: tuple[bool, bool], swap: bool, number: int
) -> None:
    for turn, death in enumerate(dies):
        game = from_diagram(*rows, turn=turn)
        taken = symmetry(game.size, number)
        white = {taken[at] for at in iter_bits(game.stones.sets[2])}
        other = turned(game, number, swap)
        expected = {other.text(at) for at in white} if death else set()
        assert texts(other, "dead") == expected


@pytest.mark.parametrize("turn", [0, 1])
def test_seki_is_detected_for_either_side_to_move(turn: int) -> None:
    game = from_diagram(*SEKI, turn=turn)
    assert texts(game, "dead") == set()
    assert texts(game, "seki") == {
        *("A2", "B1", "B2", "C1", "C2", "D2"),
        *("E1", "E2", "F1", "F2", "G2", "H1", "H2"),
    }


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("name", CONTESTS)
def test_contests_between_groups_without_two_eyes_are_searched(name: str, turn: int) -> None:
    game, dead = contest(CONTESTS[name], turn)
    assert set(iter_bits(stones_with_status("dead", chain_statuses(game)))) == dead


def test_group_in_seki_between_two_others_counts_its_stones_only() -> None:
    game, _ = contest(CONTESTS["a chain between two groups"])
    assert texts(game, "seki") == {"D5", "D6", "D4", "E4", "F4", "F5", "F6"}
    assert game.score(stones_with_status("dead", chain_statuses(game))) == -4


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", HOPELESS)
def test_dead_stones_despite_inconclusive_search(name: str, seed: int) -> None:
    game = from_diagram(*HOPELESS[name], turn=1)
    dead = stones_with_status("dead", chain_statuses(game, seed=seed))
    assert {game.text(vertex) for vertex in iter_bits(dead)} >= set(HOPELESS_STONES[name].split())


def test_lone_stone_in_living_territory_is_dead() -> None:
    game = from_diagram(*CAUGHT)
    assert texts(game, "dead") == {"E5"}
    assert game.score(stones_with_status("dead", chain_statuses(game))) == 25 - 0.5


def test_statuses_are_repeatable_and_do_not_change_the_game() -> None:
    game = from_diagram(*OPEN_SIDE, komi=7.5, turn=1)
    before = game.key(), game.komi, game.capture_dead_stones
    assert chain_statuses(game) == chain_statuses(game)
    assert (game.key(), game.komi, game.capture_dead_stones) == before


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_interrupted_statuses_fall_back_to_playouts(steps: int) -> None:
    game, asked = from_diagram(*OPEN_SIDE), []

    def should_continue() -> bool:
        asked.append(game.turn)
        return len(asked) <= steps

    assert (
        chain_statuses(game, should_continue=should_continue)
        == playout_chain_statuses(game)
        != chain_statuses(game)
    )
    assert len(asked) > steps


def test_an_empty_board_has_no_chains() -> None:
    assert chain_statuses(Go(9)) == {}


def test_search_scores_only_the_counted_vertices() -> None:
    """Black owns all of the three columns that count."""
    game = from_diagram(*HALVES, komi=10.5)
    search = searching()
    assert (last_info(search, game, Limits(nodes=500)).expected_outcome or 0.0) < 0
    search.score_only(
        game.stones.shape.vertex(column, row) for column in range(3) for row in range(7)
    )
    info = last_info(search, game, Limits(nodes=500))
    assert (info.expected_outcome or 0.0) > 0.9
    assert info.lead == pytest.approx(21 - 10.5, abs=1)
    search.score_only(game.stones.shape.vertices)
    assert (last_info(search, game, Limits(nodes=500)).expected_outcome or 0.0) < 0


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    ("rows", "attack", "defence"),
    [(TWO, True, False), (THREE, True, True), (FOUR, False, True), (SEKI, False, True)],
)
def test_fate_of_stones_depends_on_the_side_that_moves_first(
    rows: tuple[str, ...], attack: bool, defence: bool
) -> None:
    game = from_diagram(*rows)
    search, stones = fate_search(game, lambda: True), game.stones
    head = stones.head[stones.shape.vertex(0, 1)]
    group, owner = sum(1 << at for at in stones.chains[head]), stones.board[head] - 1
    assert search(group, 1 - owner).value * (1 if attack else -1) > DECISIVE_VALUE
    assert search(group, owner).value * (1 if defence else -1) > DECISIVE_VALUE


@pytest.mark.parametrize("player", [0, 1])
def test_search_of_a_region_finds_the_vital_point_for_either_side(player: int) -> None:
    game = from_diagram(*THREE, turn=player)
    region = [game.stones.shape.vertex(column, row) for column in range(5) for row in range(3)]
    allowed = frozenset([*region, PASS])
    restrictions = tuple(MoveRestriction(side, allowed, True, plies=99) for side in (0, 1))
    search = RegionSearch(game, player, region)
    *_, level = search.levels(Limits(nodes=500, restrictions=restrictions))
    assert game.text(level[0].pv[0]) == "B1"
    assert (level[0].expected_outcome or 0.0) > DECISIVE_VALUE
    assert all(set(line.pv) <= allowed for line in level)


@pytest.fixture
def playouts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each search adds its number of playouts."""
    searched: list[int] = []
    search_game = GoSearch.search

    def search(self: GoSearch, *arguments: Any) -> Iterator[Info[int]]:
        try:
            yield from search_game(self, *arguments)
        finally:
            searched.append(self.nodes)

    monkeypatch.setattr(GoSearch, "search", search)
    return searched


def test_fate_of_settled_stones_needs_few_playouts(playouts: list[int]) -> None:
    game = from_diagram(*FINISHED)
    fate = fate_search(game, lambda: True)
    for text, lives in (("A1", True), ("F1", True), ("D5", False), ("H5", False)):
        vertex = at(game, text)
        owner = game.stones.board[vertex] - BLACK
        for player in (0, 1):
            value = fate(game.stones.chain_at(vertex), player).value
            assert value * (1 if (player == owner) == lives else -1) > CLEAR_VALUE
    assert len(playouts) == 8
    assert max(playouts) < CLEAR_PLAYOUTS


@pytest.mark.parametrize("turn", [0, 1])
def test_searches_of_a_position_share_a_budget(
    turn: int, playouts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = from_diagram(*OPEN_SIDE, turn=turn)
    cost = game.stones.sets[EMPTY].bit_count() + PLAYOUT_OVERHEAD
    monkeypatch.setattr(life_and_death, "WORK_BUDGET", 3000 * cost)
    chain_statuses(game)
    assert 0 < sum(playouts) <= 3000
    playouts.clear()
    monkeypatch.setattr(life_and_death, "FATE_BUDGET", 3000 * cost)
    fate = fate_search(game, lambda: True)
    groups = [group for group in dragons(game.stones) for _ in range(5)]
    for number, group in enumerate(groups):
        fate(group, number % 2)
    assert 1000 < sum(playouts) <= 3000
