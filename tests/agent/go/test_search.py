"""The compiled Go search: its tree, reuse, results and interface."""

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from agent.games.go import Go
from agent.games.stones import PASS
from agent.go.kernel_board import KernelBoard, from_kernel_move
from agent.go.mcts import AMAF, SCORE_SUM, SCORE_UNITS_PER_POINT
from agent.go.search import GoSearch
from agent.kernel.backend import SearchConfig
from agent.kernel.mcts_tree import FULL, ROOT, VALUE_SCALE
from agent.kernel.node_pool import NodePool
from agent.limits import Info, Limits, MoveRestriction
from tests.agent.go.positions import at, from_diagram, in_the_game, random_game
from tests.systems import module_or_skip

resource = module_or_skip("resource")
SIZES: list[int | str] = [2, 3, 5, 9, 19, "2x3", "5x4", "13x6"]


def searching(threads: int = 1, megabytes: int = 16, seed: int | None = 1) -> GoSearch:
    return GoSearch(SearchConfig(threads=threads, megabytes=megabytes, seed=seed))


def infos(search: GoSearch, game: Go, limits: Limits[int], lines: int = 1) -> list[Info[int]]:
    search.clear_stop()
    return list(search.search(game, limits, lines))


def last_info(search: GoSearch, game: Go, limits: Limits[int]) -> Info[int]:
    return [info for info in infos(search, game, limits) if info.multipv == 1][-1]


def pool_of(search: GoSearch) -> NodePool:
    return search._pool


def visits_by_move(search: GoSearch) -> dict[int, int]:
    pool = pool_of(search)
    return {from_kernel_move(pool.move(child)): pool.visits(child) for child in pool.children(ROOT)}


def check_tree(search: GoSearch, game: Go, node: int = ROOT) -> int:
    """Check a tree for legal moves, including superko, and consistent visits; return its size.

    A total beyond the visits would be a virtual loss that was not undone.
    """
    pool = pool_of(search)
    children = pool.children(node)
    moves = [from_kernel_move(pool.move(child)) for child in children]
    assert len(moves) == len(set(moves))
    legal = set(game.moves())
    assert set(moves) <= legal
    if children:
        assert PASS in moves or node == ROOT
        eyes = {move for move in legal if game.stones.is_own_eye(move, game.turn + 1)}
        assert legal - set(moves) <= eyes or node == ROOT
    visits = [pool.visits(child) for child in children]
    assert sum(visits) <= pool.visits(node)
    total = int(pool.columns["totals"][node])
    assert abs(total) <= pool.visits(node) * VALUE_SCALE
    nodes = 1
    for child, move in zip(children, moves, strict=True):
        assert child > node
        if pool.children(child):
            game.play(move)
            nodes += check_tree(search, game, child)
            game.undo()
        else:
            nodes += 1
    return nodes


@pytest.mark.parametrize("size", SIZES)
def test_tree_has_only_legal_moves_and_consistent_visits(size: int | str, thorough: bool) -> None:
    random, playouts, nodes = Random(size), 2000 if thorough else 700, 0
    for _ in range(3):
        search = searching()
        game = random_game(size, random, len(Go(size).stones.shape.vertices))
        info = last_info(search, game, Limits(nodes=playouts))
        assert info.nodes == pool_of(search).visits(ROOT) == playouts
        assert sum(visits_by_move(search).values()) == playouts
        nodes += check_tree(search, game)
        assert info.pv[0] in game.moves()
    assert nodes > 50


def test_node_totals_are_sums_of_playout_results() -> None:
    """Each playout is a win or a loss, so the totals of a level are integers."""
    search, game = searching(), Go(5, komi=0.5)
    last_info(search, game, Limits(nodes=3000))
    pool = pool_of(search)
    for node in (ROOT, *pool.children(ROOT)):
        visits, total = pool.visits(node), int(pool.columns["totals"][node])
        assert total % VALUE_SCALE == 0
        assert (total // VALUE_SCALE - visits) % 2 == 0
    children = pool.children(ROOT)
    assert sum(int(pool.columns["totals"][child]) for child in children) == -int(
        pool.columns["totals"][ROOT]
    )


def test_seed_determines_the_search() -> None:
    game = random_game(9, Random(2), 30)
    found = []
    for seed in (5, 5, 6):
        search = searching(seed=seed)
        last_info(search, game, Limits(nodes=1500))
        found.append(visits_by_move(search))
        search.new_game()
        last_info(search, game, Limits(nodes=1500))
        assert visits_by_move(search) == found[-1]
    assert found[0] == found[1] != found[2]


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("size", [5, 9, 19])
def test_threads_share_one_tree(size: int) -> None:
    search, game = searching(threads=3), Go(size)
    info = last_info(search, game, Limits(nodes=6000))
    pool = pool_of(search)
    assert info.nodes == 6000
    assert pool.visits(ROOT) == 6000
    workers = [board.worker for board in search._workers]
    assert sum(worker.playout_count for worker in workers) == 6000
    points = sum(worker.score_sum for worker in workers)
    assert int(pool.extra_words[ROOT, SCORE_SUM]) / SCORE_UNITS_PER_POINT == pytest.approx(points)
    # All virtual losses are undone: the totals of the children sum up to the root's.
    totals = [int(pool.columns["totals"][child]) for child in pool.children(ROOT)]
    assert abs(sum(totals) + int(pool.columns["totals"][ROOT])) <= 3 * VALUE_SCALE
    # A thread that finds the root locked runs its playout from the root.
    assert 6000 - 3 <= sum(visits_by_move(search).values()) <= 6000
    check_tree(search, game)
    assert not pool.columns["marks"].any()
    assert not any(worker.first_played_ply.any() for worker in workers)
    last_info(search, game, Limits(nodes=500))
    assert pool.visits(ROOT) == 6500


def repeating_games(size: int, count: int) -> list[tuple[Go, set[int]]]:
    """Return positions of random games with the moves that only superko forbids."""
    found: list[tuple[Go, set[int]]] = []
    random = Random(size)
    while len(found) < count:
        game = Go(size, komi=0.5)
        for _ in range(60):
            legal = set(game.moves())
            stones, colour = game.stones, game.turn + 1
            forbidden = {
                vertex
                for vertex in stones.shape.vertices
                if not stones.board[vertex]
                and vertex not in legal
                and vertex != stones.ko
                and not stones.is_suicide(vertex, colour)
            }
            if forbidden:
                found.append((game, forbidden))
                break
            moves = [move for move in legal if move != PASS]
            game.play(random.choice(moves) if moves and random.random() < 0.9 else PASS)
            if game.is_over():
                break
    return found


@pytest.mark.parametrize("size", [2, 3, 4])
def test_tree_obeys_superko(size: int) -> None:
    """Includes cycles longer than a simple ko, in the game and in the tree."""
    for game, forbidden in repeating_games(size, 10):
        search = searching(megabytes=2)
        info = last_info(search, game, Limits(nodes=1000))
        assert not forbidden & visits_by_move(search).keys()
        assert info.pv[0] not in forbidden
        check_tree(search, game)


def test_tree_forbids_sending_two_returning_one() -> None:
    """White sends two by A1, Black captures them by C1, and B1 would repeat the position."""
    game = from_diagram("X.XO.", "XXXO.", "XXXOO", "XXOO.", ".O.O.", turn=1)
    sent, taken, returned = (at(game, text) for text in ("A1", "C1", "B1"))
    before = searching()
    last_info(before, game, Limits(nodes=5000, search_moves=(sent,)))
    check_tree(before, game)
    pool, node = pool_of(before), ROOT
    for move in (sent, taken):
        node = next(child for child in pool.children(node) if pool.move(child) == move)
    answers = {from_kernel_move(pool.move(child)) for child in pool.children(node)}
    assert len(answers) > 2
    assert returned not in answers
    game.play(sent)
    game.play(taken)
    assert returned not in game.moves()
    assert not game.stones.is_suicide(returned, 2)
    later = searching()
    last_info(later, game, Limits(nodes=1000))
    assert returned not in visits_by_move(later)


def test_tree_is_reused_for_the_next_moves() -> None:
    search, game = searching(), Go(7)
    info = last_info(search, game, Limits(nodes=4000))
    before = visits_by_move(search)[info.pv[0]]
    game.play(info.pv[0])
    search._set_root(game, Limits())
    assert pool_of(search).visits(ROOT) == before
    check_tree(search, game)
    reply = max(visits_by_move(search).items(), key=lambda item: item[1])
    game.play(reply[0])
    search._set_root(game, Limits())
    kept = pool_of(search).visits(ROOT)
    assert kept == reply[1] > 50
    later = last_info(search, game, Limits(nodes=1000))
    assert later.nodes == 1000
    assert pool_of(search).visits(ROOT) == kept + 1000
    check_tree(search, game)
    # The tree is reused for the same position, and for one two moves later.
    search._set_root(game, Limits())
    assert pool_of(search).visits(ROOT) == kept + 1000
    for move in later.pv[:2]:
        game.play(move)
    search._set_root(game, Limits())
    assert 0 < pool_of(search).visits(ROOT) < kept + 1000


def changed_by_undo(game: Go) -> Go:
    game.undo()
    return game


def changed_by_komi(game: Go) -> Go:
    game.komi += 1
    return game


def changed_by_stones(game: Go) -> Go:
    game.set_up(0, [at(game, "A1")])
    return game


def changed_by_turn(game: Go) -> Go:
    game.set_turn(1 - game.turn)
    return game


def changed_to_another(game: Go) -> Go:
    return Go(6)


@pytest.mark.parametrize(
    "change",
    [changed_by_undo, changed_by_komi, changed_by_stones, changed_by_turn, changed_to_another],
)
def test_tree_is_dropped_for_another_position(change: object) -> None:
    search, game = searching(), Go(7)
    game.play(at(game, "D4"))
    last_info(search, game, Limits(nodes=300))
    assert callable(change)
    game = change(game)
    search._set_root(game, Limits())
    assert pool_of(search).visits(ROOT) == 0
    assert last_info(search, game, Limits(nodes=300)).pv[0] in game.moves()
    check_tree(search, game)


def test_tree_is_dropped_after_new_game_or_search_moves() -> None:
    search, game = searching(), Go(7)
    last_info(search, game, Limits(nodes=300))
    search.new_game()
    search._set_root(game, Limits())
    assert pool_of(search).visits(ROOT) == 0
    chosen = (at(game, "A1"), at(game, "B1"))
    last_info(search, game, Limits(nodes=300, search_moves=chosen))
    assert set(visits_by_move(search)) == set(chosen)
    game.play(chosen[0])
    search._set_root(game, Limits())
    assert pool_of(search).visits(ROOT) == 0


def test_tree_is_dropped_when_width_and_height_are_swapped() -> None:
    """Both empty boards have the same key, but different moves."""
    search = searching()
    last_info(search, Go("4x9"), Limits(nodes=300))
    search._set_root(Go("9x4"), Limits())
    assert pool_of(search).visits(ROOT) == 0
    info = last_info(search, Go("9x4"), Limits(nodes=300))
    assert info.pv[0] in Go("9x4").moves()
    assert info.ownership is not None
    assert len(info.ownership) == 36


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("size", "playouts"), [(9, 20_000), (19, 5_000)])
def test_full_node_pool_is_pruned_and_search_continues(
    size: int, playouts: int, thorough: bool
) -> None:
    playouts *= 5 if thorough else 1
    search, game = searching(threads=2, megabytes=1), Go(size)
    found = infos(search, game, Limits(nodes=playouts))
    pool = pool_of(search)
    assert found[-1].nodes == playouts
    assert pool.state != FULL
    assert all(info.hashfull <= 1000 for info in found)
    # Visits in progress are cancelled when the pool is full; all others are counted.
    assert playouts - 100 * len(found) < pool.visits(ROOT) <= playouts
    assert check_tree(search, game) <= pool.tree.capacity
    x, y = game.stones.shape.coordinates(found[-1].pv[0])
    assert min(x, y, size - 1 - x, size - 1 - y) >= 1, "no first move lies at the edge"
    game.play(found[-1].pv[0])
    assert last_info(search, game, Limits(nodes=500)).pv[0] in game.moves()
    check_tree(search, game)


@pytest.mark.thorough
def test_stop_from_another_thread_ends_the_search_at_once() -> None:
    for threads in (1, 2):
        search = searching(threads)
        delays = []
        for _ in range(3):
            search.clear_stop()
            asked: list[float] = []

            def stop(asked: list[float] = asked, search: GoSearch = search) -> None:
                asked.append(time.perf_counter())
                search.stop()

            timer = threading.Timer(0.1, stop)
            timer.start()
            last = list(search.search(Go(19), Limits()))[-1]
            delays.append(time.perf_counter() - asked[0])
            timer.join()
            assert last.pv[0] in Go(19).moves()
        assert min(delays) < 0.2
    check_tree(search, Go(19))


def test_stop_before_the_search_still_returns_a_move() -> None:
    search, game = searching(), Go(9)
    search.clear_stop()
    search.stop()
    chosen = at(game, "C3")
    (info,) = search.search(game, Limits(search_moves=(chosen,)))
    assert info.pv == (chosen,)
    assert not info.complete
    first, *others = search.search(game, Limits(), 5)
    assert not any(info.complete or info.visits for info in (first, *others))
    # Moves are ordered by prior, which is low on the first line.
    assert len({info.pv[0] for info in (first, *others)}) == 5
    assert first.prior == max(info.prior or 0.0 for info in (first, *others))
    assert not game.text(first.pv[0]).startswith("A")
    assert last_info(search, game, Limits(nodes=50)).nodes == 50


def test_line_follows_most_visits_then_highest_prior() -> None:
    search = searching()
    infos(search, Go(7), Limits(nodes=3000))
    pool = search._pool

    def best_below(node: int) -> int | None:
        tried = [child for child in pool.children(node) if pool.visits(child)]
        return max(tried, key=lambda child: (pool.visits(child), pool.prior(child)), default=None)

    longest = 0
    for first in pool.children(ROOT):
        line = list(pool.best_line(first))
        assert line[0] == first
        assert [*line[1:], None] == [best_below(node) for node in line]
        longest = max(longest, len(line))
    assert longest > 3


def test_only_requested_moves_are_searched_and_reported() -> None:
    search, game = searching(), Go(9)
    chosen = tuple(at(game, text) for text in ("A1", "J9", "E5"))
    found = infos(search, game, Limits(nodes=800, search_moves=chosen), lines=10)
    assert {info.pv[0] for info in found} == set(chosen)
    assert max(info.multipv for info in found) == 3
    assert found[-3].pv[0] == at(game, "E5")
    info = last_info(search, game, Limits(nodes=50, search_moves=(PASS,)))
    assert info.pv[0] == PASS


def moves_by_ply(search: GoSearch, node: int = ROOT, ply: int = 0) -> Iterator[tuple[int, int]]:
    """Yield each move of the tree with its ply."""
    for child in pool_of(search).children(node):
        yield ply, from_kernel_move(pool_of(search).move(child))
        yield from moves_by_ply(search, child, ply + 1)


@pytest.mark.parametrize("mover", [0, 1])
def test_move_restrictions_apply_up_to_their_depth(mover: int) -> None:
    search, game = searching(), Go(5)
    game.set_turn(mover)
    centre = at(game, "C3")
    few = frozenset(at(game, text) for text in ("B2", "C3", "D4"))
    limits: Limits[int] = Limits(
        nodes=3000,
        restrictions=(
            MoveRestriction(mover, frozenset((centre,)), allowed=False, plies=3),
            MoveRestriction(1 - mover, few, allowed=True, plies=2),
        ),
    )
    last_info(search, game, limits)
    made = set(moves_by_ply(search))
    assert {ply for ply, move in made if move == centre} & {0, 1, 2} == {1}
    assert {move for ply, move in made if ply == 1} == few
    assert (4, centre) in made
    assert len({move for ply, move in made if ply == 3}) > len(few)
    last_info(search, game, Limits(nodes=200))  # without restrictions
    assert (0, centre) in set(moves_by_ply(search))


def test_ownership_after_each_move_comes_from_its_playouts() -> None:
    search, game = searching(), Go(5)
    (info, *others) = infos(search, game, Limits(nodes=900, moves_ownership=True), lines=30)[-26:]
    assert info.multipv == 1
    assert info.ownership is not None
    lines = [info, *others]
    tried = [line for line in lines if line.visits]
    assert sum(line.visits for line in tried) == 900
    total = np.zeros(25)
    for line in lines:
        assert (line.moves_ownership is None) == (line.visits == 0)
        if line.moves_ownership is not None:
            total += line.visits * np.asarray(line.moves_ownership)
    assert np.allclose(total / 900, info.ownership, atol=1e-3)
    # The mover owns a vertex more often after playing there.
    gains = []
    for line in tried:
        if line.pv[0] != PASS:
            assert line.moves_ownership is not None
            column, row = game.stones.shape.coordinates(line.pv[0])
            number = 5 * (4 - row) + column
            gain = line.moves_ownership[number] - info.ownership[number]
            gains.append(line.visits / 900 * gain)
    assert sum(gains) > 0.05
    game.play(info.pv[0])
    assert last_info(search, game, Limits(nodes=50)).moves_ownership is None


def test_lines_report_the_visits_of_each_position() -> None:
    search, game = searching(), Go(7)
    for line in infos(search, game, Limits(nodes=2000), lines=5)[-5:]:
        assert len(line.pv_visits) == len(line.pv) > 1
        assert line.pv_visits[0] == line.visits
        assert list(line.pv_visits) == sorted(line.pv_visits, reverse=True)
        assert line.pv_visits[-1] > 0


def test_lines_are_ranked_by_visits() -> None:
    search, game = searching(), Go(7)
    found = infos(search, game, Limits(nodes=2000), lines=5)[-5:]
    assert [info.multipv for info in found] == [1, 2, 3, 4, 5]
    visits = visits_by_move(search)
    ranked = sorted(visits.values(), reverse=True)[:5]
    assert [info.visits for info in found] == ranked
    for info in found:
        assert info.visits == visits[info.pv[0]]
        assert info.expected_outcome is not None
        assert -1 <= info.expected_outcome <= 1
        assert info.prior is not None
        assert 0 <= info.prior <= 1
        for move in info.pv:
            assert move in game.moves()
            game.play(move)
        for _ in info.pv:
            game.undo()
    owners = found[0].ownership
    assert owners is not None
    assert len(owners) == 49
    assert all(-1 <= share <= 1 for share in owners)


@pytest.mark.thorough
def test_progress_is_readable_during_the_search() -> None:
    search, game = searching(threads=2, megabytes=1), Go(9)
    seen = []
    thread = threading.Thread(target=lambda: infos(search, game, Limits(nodes=15_000), 3))
    thread.start()
    while thread.is_alive():
        seen.append(search.progress())
    thread.join()
    counts = [progress.nodes for progress in seen]
    # A thread that exceeds the goal decrements the count again.
    assert all(later >= before - 2 for before, later in pairwise(counts))
    reports = [progress for progress in seen if progress.lines]
    assert reports
    for progress in reports:
        assert all(info.pv[0] in game.moves() for info in progress.lines)
        assert progress.hashfull <= 1000


HALVES = ("..XO...",) * 7


def test_answers_a_pass_with_a_pass_only_when_winning() -> None:
    """Black has three of seven columns, so komi decides who wins."""
    for komi, wins in ((-40.5, True), (20.5, False)):
        game = from_diagram(*HALVES, komi=komi, turn=1)
        game.play(PASS)
        info = last_info(searching(), game, Limits(nodes=2000))
        assert (info.pv[0] == PASS) == wins
    game.capture_dead_stones = True
    game.komi = -40.5
    assert last_info(searching(), game, Limits(nodes=2000)).pv[0] in game.moves()


def test_passes_first_when_everything_is_settled() -> None:
    game = from_diagram("X.XO.", "XXXOO", ".XXO.", "XXXOO", "XXXOO")
    assert last_info(searching(), game, Limits(nodes=500)).pv[0] == PASS


def test_does_not_pass_before_the_board_is_settled() -> None:
    """This holds even with a large lead."""
    game = Go(9, komi=-60.5)
    assert last_info(searching(), game, Limits(nodes=2000)).pv[0] != PASS
    game.play(PASS)
    assert last_info(searching(), game, Limits(nodes=2000)).pv[0] != PASS


@pytest.mark.parametrize("komi", [-0.5, 0.5])
def test_plays_the_capture_that_decides_the_game(komi: float) -> None:
    game = from_diagram(".XO..", ".XO..", ".XOO.", "XXXXO", "OOOO.", komi=komi)
    capture = at(game, "E1")
    assert game.stones.captured_by(capture, 1).bit_count() == 4
    info = last_info(searching(), game, Limits(nodes=3000))
    assert info.pv[0] == capture
    assert info.expected_outcome is not None
    assert info.expected_outcome > 0


def test_first_move_on_5x5_is_the_centre() -> None:
    """Black wins all of 5x5 from there."""
    for seed in (1, 2):
        game = Go(5, komi=0.5)
        info = last_info(searching(seed=seed), game, Limits(nodes=5000))
        assert game.text(info.pv[0]) == "C3"
        assert info.expected_outcome is not None
        assert info.expected_outcome > 0.3


@pytest.mark.parametrize("passes", [0, 1, 2])
@pytest.mark.parametrize("size", [1, 2])
def test_tiny_and_finished_games_can_be_searched(size: int, passes: int) -> None:
    game = Go(size)
    for _ in range(passes):
        game.play(PASS)
    info = last_info(searching(), game, Limits(nodes=300))
    assert info.pv[0] in (game.moves() or [PASS])


def test_draw_with_integer_komi_has_value_zero() -> None:
    """With perfect play 2x2 is a win by one point for Black."""
    info = last_info(searching(), Go(2, komi=1.0), Limits(nodes=3000))
    assert info.expected_outcome == pytest.approx(0.0, abs=0.2)


def test_other_moves_are_tried_while_the_best_move_draws() -> None:
    """Black wins all of 3x3 from the centre, so komi 9 makes a draw."""
    search, game = searching(), Go(3, komi=9.0)
    last_info(search, game, Limits(nodes=20_000))
    visits = visits_by_move(search)
    assert max(visits, key=lambda move: visits[move]) == at(game, "B2")
    assert visits.pop(at(game, "B2")) > 12_000
    assert min(visits.values()) > 200


# GNU Go's game tiny/4x4a after 8 moves. A2 wins by 1 point, C4 and D2 draw.
WIN_OR_DRAW = (".X..", "XOX.", ".OX.", ".OO.")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_settled_draw_does_not_stop_the_search_for_a_win(threads: int) -> None:
    game = from_diagram(*WIN_OR_DRAW, komi=0.0)
    info = last_info(searching(threads), game, Limits(nodes=100_000))
    assert game.text(info.pv[0]) == "A2"
    assert info.expected_outcome is not None
    assert info.expected_outcome > 0.5
    assert info.visits > 50_000


def test_amaf_counters_do_not_overflow() -> None:
    search, game = searching(), Go(5)
    last_info(search, game, Limits(nodes=200))
    pool = pool_of(search)
    nearly_full = (1 << 31) - 64
    for child in pool.children(ROOT):
        pool.extra_words[child, AMAF] = nearly_full << 32 | nearly_full // 2
    last_info(search, game, Limits(nodes=2000))
    words = [int(pool.extra_words[child, AMAF]) % (1 << 64) for child in pool.children(ROOT)]
    assert max(word >> 32 for word in words) >= 1 << 31
    assert all(nearly_full <= word >> 32 <= nearly_full + 128 for word in words)


def resident_memory() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_memory_does_not_grow_with_playouts(thorough: bool) -> None:
    search, game = searching(megabytes=1), Go(9 if thorough else 5)
    infos(search, game, Limits(nodes=10_000))
    before = resident_memory()
    for _ in range(4):
        infos(search, game, Limits(nodes=50_000 if thorough else 10_000), lines=3)
    assert resident_memory() - before < 20 << 20


def test_tree_obeys_superko_for_positions_before_a_capture() -> None:
    """After the capture of all white stones, B2 would repeat the position after move 3."""
    game = Go("2x3")
    for text in ("A2", "B2", "A1", "B3"):
        game.play(at(game, text))
    assert not game.repeatable
    search = searching()
    last_info(search, game, Limits(nodes=3000))
    check_tree(search, game)
    board = KernelBoard()
    board.load(game)
    assert all(in_the_game(board, position) for position in game.positions if any(position))
