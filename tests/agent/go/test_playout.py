"""Compiled playouts: legal moves, eyes are kept, and seeds reproduce them."""

from random import Random

import numba
import pytest

from agent.games.go import Go, format_size
from agent.games.stones import NO_VERTEX, PASS
from agent.go.kernel_board import KernelBoard, from_kernel_move
from agent.go.playout import MAX_EYE_SIZE, _vital_point, run_playouts
from agent.go.records import Worker
from agent.go.scoring import region_points
from agent.go.settings import SETTING_INDEX
from agent.kernel.intrinsics import int64
from tests.agent.games.contest_positions import CONTESTS, OBVIOUS, contest
from tests.agent.go.positions import (
    SELF_ATARI,
    empties,
    from_diagram,
    may,
    random_game,
    survey,
    symmetry,
    turned,
)
from tests.support import compiled_when_called

LIGHT, HEAVY = 0, 1


@compiled_when_called(int64(Worker, int64))
def _vital(worker: Worker, start: int) -> int:
    return int64(_vital_point(worker, worker.root, start))


@compiled_when_called(numba.float64(Worker))
def _exact(worker: Worker) -> float:
    return region_points(worker, worker.root, False) - worker.komi


def played_out(board: KernelBoard, game: Go, heavy: int) -> list[int]:
    """Run one playout and return its moves, as vertices or PASS."""
    board.load(game)
    run_playouts(board.worker, 1, heavy)
    return [
        from_kernel_move(int(move))
        for move in board.worker.played_moves[: board.worker.played_count]
    ]


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("heavy", [LIGHT, HEAVY])
@pytest.mark.parametrize("size", [2, 3, 5, 9, 13, 19, "2x3", "9x4", "4x9", "19x7", "7x19"])
def test_playouts_follow_the_rules_and_end(size: int | str, heavy: int) -> None:
    """The moves are replayed on the Python board; playouts ignore superko."""
    random, board = Random(size), KernelBoard()
    ended = filled = 0
    vertices = len(Go(size).stones.shape.vertices)
    number = 20 if vertices < 100 else 4
    for _ in range(number):
        game = random_game(size, random, vertices)
        moves = played_out(board, game, heavy)
        stones, colour, passes = game.stones.copy(), game.turn + 1, game.passes
        for move in moves:
            assert passes < 2
            if move == PASS:
                passes += 1
                stones.ko = NO_VERTEX
            else:
                assert stones.board[move] == 0
                assert may(stones, move, colour)
                filled += stones.is_own_eye(move, colour)
                stones.put(move, colour)
                passes = 0
            colour = 3 - colour
        end = board.worker.board
        assert end.colours[: len(stones.board)].tolist() == stones.board
        assert (end.passes, end.turn) == (passes, colour)
        assert passes == 2 or len(moves) == 3 * vertices
        ended += passes == 2
        if passes == 2:
            assert_nothing_is_left(stones.sets, game, moves)
    assert ended > number // 4
    assert heavy or not filled


def assert_nothing_is_left(sets: list[int], game: Go, moves: list[int]) -> None:
    """Check that all remaining legal moves fill an own eye or are self-atari."""
    other = Go(game.size, game.komi)
    for move in [*game_moves(game), *moves]:
        other.play_as(*move) if isinstance(move, tuple) else other.play(move)
    assert other.stones.sets == sets
    board = KernelBoard()
    board.load(other)
    for colour in (1, 2):
        found = survey(board, colour)
        for vertex in empties(other.stones):
            assert (
                other.stones.is_own_eye(vertex, colour)
                or not may(other.stones, vertex, colour)
                or found[vertex, SELF_ATARI] > 0
            )


def game_moves(game: Go) -> list[tuple[int, int]]:
    """Return the moves of a game with their players."""
    moves = game.moves_since(Go(game.size, game.komi).key(), 10_000)
    assert moves is not None
    return [(number % 2, move) for number, move in enumerate(moves)]


def test_only_capture_and_liberty_answers_may_fill_eyes() -> None:
    """Random moves, vital points and patterns never fill eyes."""
    random, board = Random(4), KernelBoard()
    for name in ("capture", "two_liberties"):
        board.worker.settings[SETTING_INDEX[name]] = 0.0
    for _ in range(20):
        game = random_game(7, random, 40)
        stones, colour = game.stones.copy(), game.turn + 1
        for move in played_out(board, game, HEAVY):
            if move != PASS:
                assert not stones.is_own_eye(move, colour)
                stones.put(move, colour)
            colour = 3 - colour


@pytest.mark.parametrize("heavy", [LIGHT, HEAVY])
def test_seed_determines_the_playouts(heavy: int) -> None:
    board, game = KernelBoard(), random_game(9, Random(1), 20)

    def lines(seed: int) -> list[list[int]]:
        board.seed(seed)
        return [played_out(board, game, heavy) for _ in range(5)]

    first = lines(5)
    assert len({tuple(line) for line in first}) == 5
    assert lines(6) != first
    assert lines(5) == first


def test_ownership_and_points_match_the_final_positions() -> None:
    board, game = KernelBoard(), random_game(7, Random(3), 20)
    worker = board.worker
    points = 0.0
    for number in range(1, 30):
        before = worker.owner_sums.copy()
        played_out(board, game, HEAVY)
        owned = worker.owner_sums - before
        assert set(owned.tolist()) <= {-1, 0, 1}
        points += owned.sum() - game.komi
        assert worker.score_sum == pytest.approx(points)
        assert worker.playout_count == number
        for vertex in game.stones.shape.vertices:
            colour = worker.board.colours[vertex]
            if colour:
                assert owned[vertex] == 3 - 2 * colour


def test_light_playout_score_equals_the_plain_board() -> None:
    random, board = Random(9), KernelBoard()
    compared = 0
    for _ in range(60):
        game = random_game(5, random)
        board.worker.score_sum = 0.0
        moves = played_out(board, game, LIGHT)
        stones, colour = game.stones.copy(), game.turn + 1
        for move in moves:
            if move != PASS:
                stones.put(move, colour)
            colour = 3 - colour
        free = empties(stones)
        if all(stones.is_own_eye(v, 1) or stones.is_own_eye(v, 2) for v in free):
            black, white = stones.areas()
            assert board.worker.score_sum == black.bit_count() - white.bit_count() - game.komi
            compared += 1
    assert compared > 10


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 9, 19, "1x7", "7x1", "3x5", "9x6", "18x19"])
def test_area_score_and_ownership_equal_the_plain_game(size: int | str) -> None:
    """Checks the score and the owner of each vertex in random positions."""
    random, board = Random(size), KernelBoard()
    for _ in range(10 if size in (19, "18x19") else 100):
        game = random_game(size, random)
        board.load(game)
        board.worker.owner_sums[:] = 0
        assert _exact(board.worker) == game.score()
        black, white = game.stones.areas()
        for vertex in game.stones.shape.vertices:
            assert board.worker.owner_sums[vertex] == (black >> vertex & 1) - (white >> vertex & 1)


def test_stop_ends_the_playouts() -> None:
    board = KernelBoard()
    board.load(Go())
    board.worker.stop = 1
    run_playouts(board.worker, 1_000_000_000, HEAVY)
    assert board.worker.playout_count == 0


# Eyes surrounded by one colour: "*" is the vital point, "." another vertex.
EYES = {
    "three in a row": (".*.",),
    "a bent three": (".X", "*."),
    "a pyramid of four": ("X.X", ".*."),
    "a bulky five": ("..X", ".*."),
    "a cross of five": ("X.X", ".*.", "X.X"),
    "a rabbity six": ("X..", ".*.", "X.X"),
    "one": (".",),
    "two": ("..",),
    "four in a row": ("....",),
    "a bent four": ("...", "XX."),
    "a square of four": ("..", ".."),
    "five in a row": (".....",),
    "a rectangle of six": ("...", "..."),
    "seven": ("....", "..."),
}


@pytest.mark.thorough(keep=168)
@pytest.mark.parametrize("name", EYES)
@pytest.mark.parametrize(("number", "swap"), [(n, s) for n in range(8) for s in (False, True)])
@pytest.mark.parametrize(("width", "height"), [(9, 9), (7, 9), (12, 6)])
def test_finds_the_vital_points_of_small_eyes(
    name: str, number: int, swap: bool, width: int, height: int
) -> None:
    rows = [["X"] * width for _ in range(height)]
    vital = NO_VERTEX
    inner: list[int] = []
    game = Go(format_size(width, height))
    for y, row in enumerate(EYES[name]):
        for x, sign in enumerate(row):
            if sign == "X":
                continue
            rows[y + 2][x + 2] = "."
            vertex = game.stones.shape.vertex(x + 2, height - 1 - y - 2)
            inner.append(vertex)
            if sign == "*":
                vital = vertex
    taken = {**symmetry(game.size, number), NO_VERTEX: NO_VERTEX}
    game = turned(from_diagram(*map("".join, rows)), number, swap)
    board = KernelBoard()
    board.load(game)
    for start in inner:
        assert _vital(board.worker, taken[start]) == taken[vital]
    assert (vital != NO_VERTEX) <= (len(inner) <= MAX_EYE_SIZE)


@pytest.mark.parametrize("name", sorted(CONTESTS.keys() - OBVIOUS))
def test_playouts_fill_shared_liberties_only_to_kill(name: str) -> None:
    game, dead = contest(CONTESTS[name])
    board = KernelBoard()
    board.load(game)
    run_playouts(board.worker, 500, HEAVY)
    for vertex in game.stones.shape.vertices:
        colour = game.stones.board[vertex]
        mean = board.worker.owner_sums[vertex] * (3 - 2 * colour) / 500
        if vertex in dead:
            assert mean < 0.5, game.text(vertex)
        elif colour and not dead:
            assert mean > 0.5, game.text(vertex)


def test_space_bordered_by_both_colours_has_no_vital_point() -> None:
    rows = ["X" * 9] * 4 + ["XXX...OXX", "XXXXXX.OX"] + ["X" * 9] * 3
    game = from_diagram(*rows)
    board = KernelBoard()
    board.load(game)
    assert _vital(board.worker, game.stones.shape.vertex(4, 4)) == NO_VERTEX


def test_playout_plays_the_vital_point_after_a_nearby_move() -> None:
    """White has just played next to the eye; Black takes the middle of three."""
    rows = (".X...", "XXXXX", "OOOOX", "...OX", "OOOOX")
    game = from_diagram(*rows)
    game.set_turn(1)
    game.play(game.stones.shape.vertex(4, 4))
    board = KernelBoard()
    for name in ("capture", "two_liberties", "pattern"):
        board.worker.settings[SETTING_INDEX[name]] = 0.0
    board.worker.settings[SETTING_INDEX["nakade"]] = 1.0
    moves = {played_out(board, game, HEAVY)[0] for _ in range(20)}
    assert len(moves) > 1, "the last move is far from the eye"
    game = from_diagram(".X...", "XXXXX", "OOOOX", "...OX", ".OOOX")
    game.set_turn(1)
    game.play(game.stones.shape.vertex(0, 0))
    vital = game.stones.shape.vertex(1, 1)
    assert {played_out(board, game, HEAVY)[0] for _ in range(20)} == {vital}
