"""Working and broken ladders in all symmetries and for both colours."""

from itertools import product
from random import Random

import pytest

from agent.games.go import Go
from agent.games.stones import iter_bits
from agent.go.kernel_board import KernelBoard
from agent.go.ladders import MAX_LADDER_NODES, can_escape, find_ladder_attack
from agent.go.records import Worker
from agent.kernel.intrinsics import int64
from tests.agent.go.positions import at, from_diagram, random_game, symmetry, turned
from tests.support import compiled_when_called


@compiled_when_called(int64(Worker, int64))
def _gets_away(worker: Worker, stone: int) -> int:
    return int64(can_escape(worker, worker.root, stone))


@compiled_when_called(int64(Worker, int64))
def _attack(worker: Worker, stone: int) -> int:
    return int64(find_ladder_attack(worker, worker.root, stone))


SIDES = list(product(range(8), (False, True)))


def ladder(size: int | str, *breakers: str, turn: int = 0) -> Go:
    """Return a position in which Black can capture C3 in a ladder towards the upper right."""
    game = Go(size, 0.5)
    game.set_up(1, [at(game, "C3")])
    game.set_up(0, [at(game, text) for text in ("B3", "C2", "B4")])
    game.set_up(1, [at(game, text) for text in breakers])
    game.set_turn(turn)
    return game


def gets_away(game: Go, stone: int) -> bool:
    board = KernelBoard()
    board.load(game)
    return bool(_gets_away(board.worker, stone))


def attacked(game: Go, stone: int) -> int | None:
    board = KernelBoard()
    board.load(game)
    return _attack(board.worker, stone) or None


@pytest.mark.thorough(keep=28)
@pytest.mark.parametrize("size", [5, 9, 13, 19, "5x6", "9x12", "7x19"])
@pytest.mark.parametrize(("number", "swap"), SIDES)
def test_a_ladder_works_across_the_board(size: int | str, number: int, swap: bool) -> None:
    game = ladder(size)
    taken = symmetry(size, number)
    other = turned(game, number, swap)
    stone = taken[at(game, "C3")]
    move = attacked(other, stone)
    assert move in {taken[at(game, "C4")], taken[at(game, "D3")]}
    other.play(move)
    assert not gets_away(other, stone)
    # Play the ladder to its end: the runner has one liberty at each of its turns.
    while True:
        free = other.stones.liberties[other.stones.head[stone]]
        assert free.bit_count() == 1
        other.play(free.bit_length() - 1)
        head = other.stones.head[stone]
        if other.stones.liberties[head].bit_count() < 2:
            break
        move = attacked(other, stone)
        assert move is not None
        other.play(move)


@pytest.mark.parametrize(
    ("size", "breaker"),
    [(9, "G7"), (9, "F6"), (19, "Q16"), (19, "K10"), ("8x13", "F6"), ("19x9", "G7")],
)
@pytest.mark.parametrize(("number", "swap"), SIDES)
def test_ladder_breaker_lets_the_stone_escape(
    size: int | str, breaker: str, number: int, swap: bool
) -> None:
    game = ladder(size, breaker)
    taken = symmetry(size, number)
    other = turned(game, number, swap)
    stone = taken[at(game, "C3")]
    assert attacked(other, stone) is None
    for text in ("C4", "D3"):
        other.play(taken[at(game, text)])
        assert gets_away(other, stone)
        other.undo()


def test_stone_beside_the_path_does_not_break_the_ladder() -> None:
    for breaker in ("A9", "J1", "G3"):
        game = ladder(9, breaker)
        assert attacked(game, at(game, "C3")) is not None


def test_capturing_a_surrounding_stone_allows_the_escape() -> None:
    """White's corner stones cannot run, but can capture a surrounding stone in atari."""
    hangs = from_diagram(".....", ".....", "XO...", "OX...", ".OX..", turn=1)
    holds = from_diagram(".....", ".....", "X....", "OX...", ".OX..", turn=1)
    assert gets_away(hangs, at(hangs, "B1"))
    assert not gets_away(holds, at(holds, "B1"))


def test_ladder_reading_does_not_change_the_position() -> None:
    game = ladder(9)
    board = KernelBoard()
    board.load(game)
    before = board.worker.root.tobytes()
    _attack(board.worker, at(game, "C3"))
    _gets_away(board.worker, at(game, "C3"))
    assert board.worker.root.tobytes() == before


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("size", [5, 9, 19, "4x9", "13x6"])
def test_ladder_reading_is_bounded_and_finds_legal_moves(size: int | str) -> None:
    """Random positions have many chains in atari."""
    random, board = Random(size), KernelBoard()
    found = 0
    for _ in range(3 if size == 19 else 20):
        game = random_game(size, random)
        stones = game.stones
        board.load(game)
        for head in {stones.head[vertex] for vertex in iter_bits(stones.sets[1] | stones.sets[2])}:
            free = stones.liberties[head]
            if free.bit_count() == 1:
                _gets_away(board.worker, head)
                assert board.worker.ladder_nodes <= MAX_LADDER_NODES + 1
            elif free.bit_count() == 2:
                move = _attack(board.worker, head)
                assert board.worker.ladder_nodes <= MAX_LADDER_NODES + 1
                if move:
                    assert free >> move & 1
                    assert not stones.is_suicide(move, 3 - stones.board[head])
                    found += 1
    assert found
