"""The compiled rules of Go compared with the Python board in random games."""

from random import Random

import numpy as np
import pytest

from agent.games.go import Go
from agent.games.stones import BORDER, EMPTY, NO_VERTEX, PASS, Stones, iter_bits
from agent.go.kernel_board import KernelBoard, to_kernel_move
from agent.go.records import BOARD_CELLS
from agent.go.search import GoSearch
from agent.kernel.backend import SearchConfig
from agent.limits import Limits
from tests.agent.go.positions import (
    CAPTURES,
    LEGAL,
    LIBERTIES,
    SELF_ATARI,
    SIDES,
    after,
    at,
    empties,
    from_diagram,
    in_the_game,
    may,
    random_game,
    random_move,
    survey,
)

# Board size and number of games.
GAMES: list[tuple[int | str, int]] = [
    *((2, 40), (3, 40), (4, 30), (5, 20), (6, 8), (7, 6), (9, 3), (13, 1), (19, 1)),
    *(("2x3", 40), ("3x2", 40), ("2x19", 6), ("19x2", 6), ("1x9", 20), ("9x1", 20)),
    *(("4x7", 10), ("7x4", 10), ("9x13", 3), ("13x9", 3), ("18x19", 1), ("19x18", 1)),
]


def assert_same(board: KernelBoard, stones: Stones) -> None:
    """Check the complete state of the root board."""
    root, of = board.worker.root, stones.shape
    colours = np.full(BOARD_CELLS, BORDER)
    colours[: len(stones.board)] = stones.board
    assert np.array_equal(root.colours, colours)
    heads: dict[int, int] = {}
    for vertex in iter_bits(stones.sets[1] | stones.sets[2]):
        heads.setdefault(stones.head[vertex], int(root.chain_heads[vertex]))
        assert root.chain_heads[vertex] == heads[stones.head[vertex]]
    for plain, head in heads.items():
        chain = set(stones.chains[plain])
        assert head in chain
        assert root.chain_sizes[head] == len(chain)
        stone, seen = int(root.next_in_chain[head]), {head}
        while stone != head:
            assert stone not in seen
            seen.add(stone)
            stone = int(root.next_in_chain[stone])
        assert seen == chain
        free = list(iter_bits(stones.liberties[plain]))
        assert root.liberties[head] == len(free)
        assert root.liberty_sums[head] == sum(free)
        assert root.liberty_square_sums[head] == sum(vertex * vertex for vertex in free)
    free = empties(stones)
    for vertex in free:
        assert root.chain_heads[vertex] == NO_VERTEX
        assert root.empty_vertices[root.empty_index[vertex]] == vertex
    assert sorted(root.empty_vertices[: root.empty_count]) == free
    assert root.ko == stones.ko
    assert root.key == board.zobrist_key(stones.sets[1], stones.sets[2])
    for vertex in of.vertices:
        around = (vertex + x + y * of.step for x, y in SIDES)
        code = sum(int(colours[beside]) << 2 * side for side, beside in enumerate(around))
        assert root.neighbour_codes[vertex] == code


def assert_foreseen(board: KernelBoard, stones: Stones, colour: int) -> int:
    """Check the kernels' results for every move of a colour; return the number of self-ataris."""
    found = survey(board, colour)
    threatened = 0
    for vertex in empties(stones):
        result = found[vertex]
        assert result[LEGAL] == may(stones, vertex, colour)
        if not result[LEGAL]:
            continue
        _, size, liberties = after(stones, vertex, colour)
        taken = stones.captured_by(vertex, colour).bit_count()
        assert (result[CAPTURES] > 0) == (taken > 0)
        assert taken <= result[CAPTURES] <= 4 * taken
        # A capture of two or more stones counts as safe, even if a recapture is possible.
        if taken < 2:
            assert result[SELF_ATARI] == (size if liberties == 1 else 0)
            assert result[LIBERTIES] <= min(liberties, 3)
        else:
            assert result[SELF_ATARI] in (0, size)
        assert result[LIBERTIES] >= min(liberties, 2)
        threatened += result[SELF_ATARI] > 0
    return threatened


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize(("size", "games"), GAMES)
def test_random_games_equal_the_plain_board(size: int | str, games: int) -> None:
    random = Random(f"kempelen {size}")
    board = KernelBoard()
    kos = captures = threatened = 0
    for _ in range(games):
        game = Go(size)
        vertices = game.width * game.height
        board.load(game)
        for ply in range(min(3 * vertices, 200) if vertices < 100 else 400):
            move = random_move(game, random)
            before = game.stones.sets[EMPTY].bit_count()
            game.play(move)
            board.play(move)
            taken = game.stones.sets[EMPTY].bit_count() - before + (move != PASS)
            root = board.worker.root
            assert (root.turn, root.passes) == (game.turn + 1, game.passes)
            assert [root.last_move, root.previous_move] == [
                to_kernel_move(each) for each in game.last_moves(2)
            ]
            assert root.last_captured == taken
            if vertices < 81 or ply % 5 == 0:
                assert_same(board, game.stones)
                for colour in (1, 2):
                    threatened += assert_foreseen(board, game.stones, colour)
            captures += taken > 0
            kos += game.stones.ko != NO_VERTEX
            if game.is_over():
                break
    assert captures > 2 * games
    # A ko needs a board of at least two by three.
    assert kos or size == 2 or 1 in (game.width, game.height)
    assert threatened


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("size", [1, 2, 5, 9, 19, "2x3", "5x4", "9x19", "19x9", "19x2"])
def test_loaded_positions_equal_the_plain_board(size: int | str) -> None:
    random, board = Random(size), KernelBoard()
    for _ in range(10):
        game = random_game(size, random, 200)
        board.load(game)
        assert_same(board, game.stones)
        root = board.worker.root
        assert (root.turn, root.passes) == (game.turn + 1, game.passes)
        assert [root.last_move, root.previous_move] == [
            to_kernel_move(each) for each in game.last_moves(2)
        ]
        assert board.worker.komi == game.komi


@pytest.mark.parametrize("size", [2, 5, 9, "3x2", "5x9"])
def test_superko_history_contains_exactly_the_game_positions(size: int | str) -> None:
    random, board = Random(size), KernelBoard()
    repeatable = 0
    for _ in range(10):
        game = random_game(size, random, 200)
        board.load(game)
        played = {board.zobrist_key(*position) for position in game.positions}
        other = random_game(size, random, 200)
        for position in [*game.positions, *other.positions]:
            is_known = in_the_game(board, position)
            # The empty board has key 0 and cannot be repeated: a capture leaves a stone.
            assert is_known == (board.zobrist_key(*position) in played - {0})
        repeatable += game.repeatable
    assert repeatable > 3


@pytest.mark.thorough
def test_superko_history_holds_thousands_of_positions() -> None:
    """Random games that fill eyes are long under superko."""
    random, board = Random(2), KernelBoard()
    game = Go(9)
    while len(game.positions) < 5000:
        game.play(random.choice(game.moves()[:-1] or [PASS]))
    board.load(game)
    assert all(in_the_game(board, position) for position in game.positions if any(position))
    *_, last = GoSearch(SearchConfig(megabytes=1, seed=1)).search(game, Limits(nodes=500))
    assert last.pv[0] in game.moves()


def test_position_keys_do_not_collide() -> None:
    random, board = Random(1), KernelBoard()
    keys: dict[int, tuple[int, int]] = {}
    for size in (3, 9, 19):
        for _ in range(10):
            game = random_game(size, random, 200)
            for position in game.positions:
                assert keys.setdefault(board.zobrist_key(*position), position) == position
    assert len(keys) > 1000


def test_player_who_took_a_ko_may_connect_it() -> None:
    """Over GTP a colour may move twice in a row; its own ko does not restrict it."""
    game = from_diagram(".XO..", "X.XO.", ".XO..", ".....", ".....", turn=1)
    game.play(at(game, "B4"))
    ko = game.stones.ko
    assert ko == at(game, "C4")
    board = KernelBoard()
    board.load(game)
    assert not board.is_legal(ko, 1)
    game.set_turn(1)
    board.load(game)
    assert board.is_legal(ko, 2)
