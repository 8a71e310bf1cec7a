"""The compiled search: comparison with the plain search, known results, limits and errors."""

import random
import threading
import time
from itertools import islice

import pytest

from agent.connect_four.search import ConnectFourSearch
from agent.evaluation import Evaluation, EvaluationError, load
from agent.games.connect_four import ConnectFour, evaluate
from agent.kernel.score_scale import to_score, to_value
from agent.kernel.scores import MATE, MATE_BOUND
from agent.limits import Cp, Info, Limits, Mate, Score
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.move_ordering import Ordering
from agent.search.terminal_scoring import TerminalScoring
from agent.search.transposition_table import TranspositionTable
from tests.agent.connect_four.test_rules import random_game

ENDLESS: Limits[int] = Limits()


@pytest.fixture(scope="module")
def search() -> ConnectFourSearch:
    return ConnectFourSearch(megabytes=4)


def play(columns: str, width: int = 7, height: int = 6) -> ConnectFour:
    game = ConnectFour(width, height)
    for column in columns:
        game.play(int(column) - 1)
    return game


def levels(
    search: ConnectFourSearch, game: ConnectFour, limits: Limits[int] = ENDLESS, lines: int = 1
) -> list[Info[int]]:
    search.new_game()
    search.clear_stop()
    return list(search.search(game, limits, lines))


def plain_search() -> AlphaBeta[int]:
    """Return alpha-beta on the plain game, with the scores of the kernel as values."""
    return AlphaBeta(
        lambda game: to_score(evaluate(game)),
        AlphaBetaOptions(
            ending=TerminalScoring(win=MATE, ply_penalty=1),
            ordering=Ordering(ratings=True),
            table=TranspositionTable(100_000),
        ),
    )


def as_score(value: float) -> Score:
    """Convert a value of the plain search to a score of the compiled search."""
    if abs(value) < MATE_BOUND:
        return Cp(round(100 * to_value(int(value))))
    plies = MATE - abs(int(value))
    return Mate((plies + 1) // 2 if value > 0 else -(plies // 2))


def assert_legal(game: ConnectFour, line: tuple[int, ...]) -> None:
    """Play and undo a line of moves."""
    for move in line:
        assert move in game.moves()
        game.play(move)
    for _ in line:
        game.undo()


@pytest.mark.thorough
def test_equals_plain_alpha_beta_in_random_games(
    search: ConnectFourSearch,
) -> None:
    chance = random.Random(3)
    mates = 0
    for width, height in ((7, 6), (7, 6), (5, 7), (8, 5)):
        game = ConnectFour(width, height)
        while game.outcome() is None:
            found = levels(search, game, Limits(depth=4))
            for depth, info in enumerate(found, 1):
                plain = plain_search().search(game, depth)
                assert info.depth == depth
                assert info.score == as_score(plain.value), (game.key(), depth)
                assert_legal(game, info.pv)
                mates += isinstance(info.score, Mate)
            game.play(chance.choice(game.moves()))
    assert mates > 10


def test_every_move_score_equals_the_plain_search(search: ConnectFourSearch) -> None:
    """With one line per move, the lines are sorted by the exact values of all moves."""
    chance = random.Random(5)
    for _ in range(15):
        game = random_game(chance)
        moves = game.moves()
        found = levels(search, game, Limits(depth=4), lines=len(moves))
        last = [info for info in found if info.depth == found[-1].depth]
        assert sorted(info.pv[0] for info in last) == moves
        assert [info.multipv for info in last] == list(range(1, len(moves) + 1))
        values = []
        for info in last:
            game.play(info.pv[0])
            value = -plain_search().search(game, info.depth - 1, ply=1).value
            game.undo()
            assert info.score == as_score(value)
            values.append(value)
        assert values == sorted(values, reverse=True)


def test_endgame_solutions_equal_plain_alpha_beta(
    search: ConnectFourSearch,
) -> None:
    chance = random.Random(7)
    solved = 0
    while solved < 12:
        game = random_game(chance)
        empty = 42 - (game.discs(0) | game.discs(1)).bit_count()
        if empty > 11:
            continue
        last = levels(search, game)[-1]
        assert last.score == as_score(plain_search().search(game, empty).value)
        solved += 1


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    ("width", "height", "moves", "score"),
    [  # source: J. Tromp's solutions of small boards
        (4, 4, "", Cp(0)),
        (5, 4, "", Cp(0)),
        (4, 5, "", Cp(0)),
        (4, 6, "", Cp(0)),
        (6, 4, "", Mate(-12)),  # the very last disc wins
    ],
)
def test_small_boards_have_their_known_solutions(
    width: int, height: int, moves: str, score: Score
) -> None:
    game = play(moves, width, height)
    last = levels(ConnectFourSearch(megabytes=32), game)[-1]
    assert last.score == score
    assert len(last.pv) == width * height - len(moves)
    assert_legal(game, last.pv)


def test_finds_the_shortest_win(search: ConnectFourSearch) -> None:
    two_in_a_row = play("3344")  # and room on both sides
    assert [info.score for info in levels(search, two_in_a_row)][-1] == Mate(2)
    assert levels(search, play("33445"))[-1].score == Mate(-1)
    assert levels(search, play("334452"))[-1].score == Mate(1)
    assert levels(search, play("334"), Limits(depth=4))[-1].pv[0] in (1, 4)


def test_search_moves_restrict_the_lines(search: ConnectFourSearch) -> None:
    found = levels(search, play("44"), Limits(depth=6, search_moves=(0, 6)), lines=5)
    assert {info.pv[0] for info in found} == {0, 6}
    assert max(info.multipv for info in found) == 2
    win = play("112233")
    assert levels(search, win)[-1].score == Mate(1)
    assert levels(search, win, Limits(depth=1, search_moves=(6,)))[-1].score != Mate(1)


def test_depth_node_and_mate_limits_end_the_search(search: ConnectFourSearch) -> None:
    depths = [info.depth for info in levels(search, ConnectFour(), Limits(depth=5))]
    assert depths == [1, 2, 3, 4, 5]
    assert 1000 < levels(search, ConnectFour(), Limits(nodes=5000))[-1].nodes <= 5000
    for nodes in (1, 2, 3):
        (*_, last) = levels(search, ConnectFour(), Limits(nodes=nodes))
        assert last.pv[0] in range(7)
    found = levels(search, play("3344"), Limits(mate=2), lines=7)
    assert (found[-1].depth, found[-1].multipv, found[-7].score) == (3, 7, Mate(2))


@pytest.mark.parametrize(("columns", "best"), [("112233", 4), ("", 4)])
def test_smallest_node_limit_finds_a_win_and_the_centre(
    search: ConnectFourSearch, columns: str, best: int
) -> None:
    (info,) = levels(search, play(columns), Limits(nodes=1))
    assert info.complete
    assert info.pv[0] == best - 1


def test_repeated_search_has_the_same_nodes(search: ConnectFourSearch) -> None:
    first, second = (levels(search, ConnectFour(), Limits(depth=10)) for _ in range(2))
    assert [(i.nodes, i.pv, i.score) for i in first] == [(i.nodes, i.pv, i.score) for i in second]


def test_boards_of_different_sizes_share_no_table_entries(search: ConnectFourSearch) -> None:
    alone = levels(search, ConnectFour(5, 5), Limits(depth=8))
    levels(search, ConnectFour(), Limits(depth=8))
    after = list(search.search(ConnectFour(5, 5), Limits(depth=8)))
    assert [(i.nodes, i.pv) for i in alone] == [(i.nodes, i.pv) for i in after]


def test_stop_from_another_thread_ends_the_search_at_once(search: ConnectFourSearch) -> None:
    search.new_game()
    delays = []
    for _ in range(5):
        search.clear_stop()
        asked: list[float] = []

        def stop(asked: list[float] = asked) -> None:
            asked.append(time.perf_counter())
            search.stop()

        timer = threading.Timer(0.1, stop)
        timer.start()
        last = list(search.search(ConnectFour(), Limits()))[-1]
        delays.append(time.perf_counter() - asked[0])
        assert last.pv[0] in range(7)
        timer.join()
    assert min(delays) < 0.01


def test_stop_before_the_search_still_returns_a_move(search: ConnectFourSearch) -> None:
    search.clear_stop()
    search.stop()
    (info,) = search.search(play("444"), Limits(search_moves=(5, 6)))
    assert info.pv == (5,)
    assert not info.complete
    search.clear_stop()
    assert len(list(search.search(play("444"), Limits(depth=3)))) == 3


def test_progress_is_readable_during_the_search(search: ConnectFourSearch) -> None:
    search.new_game()
    search.clear_stop()
    for _ in islice(search.search(ConnectFour(), Limits()), 8):
        pass
    now = search.progress()
    assert now.nodes > 1000
    assert now.seldepth >= 7
    assert now.current_move in range(7)


def test_evaluation_equals_that_of_the_plain_game(search: ConnectFourSearch) -> None:
    chance = random.Random(11)
    for size in ((7, 6), (4, 4), (8, 5), (3, 9), (2, 2)):
        for _ in range(40):
            game = random_game(chance, *size)
            assert search.evaluate(game) == to_value(to_score(evaluate(game)))


def column_sum(game: ConnectFour) -> float:
    """A plain evaluation on a large scale, which prefers discs on the right."""
    weights = [
        sum((game.discs(player) >> 7 * column & 127).bit_count() * column for column in range(7))
        for player in (0, 1)
    ]
    return 1000.0 * (weights[game.turn] - weights[1 - game.turn])


COMPILED = """
from agent.evaluation import evaluator
from agent.connect_four.records import position_at
from agent.kernel.intrinsics import U64, count

@evaluator
def column_sum(worker, ply):
    position = position_at(worker, ply)
    own, other = position.own, position.own ^ position.taken
    total = 0
    for column in range(7):
        discs = U64(127) << U64(7 * column)
        total += column * (count(own & discs) - count(other & discs))
    return 1000.0 * total

@evaluator
def fails(worker, ply):
    return 1 // (count(position_at(worker, ply).taken) - 2)
"""


def test_plain_and_compiled_user_evaluations_agree(tmp_path: object) -> None:
    file = f"{tmp_path}/own.py"
    with open(file, "w") as text:
        text.write(COMPILED)
    plain = ConnectFourSearch(1, Evaluation("own", python=column_sum))
    compiled = ConnectFourSearch(1, load(f"{file}:column_sum"))
    chance = random.Random(13)
    for _ in range(10):
        game = random_game(chance)
        assert plain.evaluate(game) == compiled.evaluate(game)
        assert plain.evaluate(game) == pytest.approx(column_sum(game), rel=0.001)
        found = [levels(each, game, Limits(depth=4)) for each in (plain, compiled)]
        assert [(i.pv, i.score, i.nodes) for i in found[0]] == [
            (i.pv, i.score, i.nodes) for i in found[1]
        ]
    assert levels(compiled, ConnectFour(), Limits(depth=1))[-1].pv == (6,)
    with pytest.raises(EvaluationError, match=r"own\.py:fails failed: ZeroDivisionError"):
        levels(ConnectFourSearch(1, load(f"{file}:fails")), ConnectFour(), Limits(depth=4))


def test_failing_evaluation_ends_the_search() -> None:
    def fails(game: ConnectFour) -> float:
        if game.discs(1).bit_count() == 2:
            raise ValueError("no good")
        return 0

    search = ConnectFourSearch(1, Evaluation("mine", python=fails))
    search.clear_stop()
    found = []
    with pytest.raises(EvaluationError, match="evaluation mine failed: ValueError: no good"):
        found.extend(search.search(ConnectFour(), Limits(depth=8)))
    assert [info.depth for info in found] == [1, 2, 3]


def test_plain_evaluation_gets_the_game_with_its_history() -> None:
    """The evaluation gets the game with its history at each leaf."""
    seen = set()

    def look(game: ConnectFour) -> float:
        line = tuple(game._played)
        seen.add(line)
        replayed = play("".join(str(move + 1) for move in line))
        assert (replayed.key(), replayed.turn) == (game.key(), game.turn)
        return 0.25

    search = ConnectFourSearch(1, Evaluation("look", python=look))
    game = play("44")
    found = levels(search, game, Limits(depth=3))
    assert found[-1].score == Cp(-25)
    assert {len(line) for line in seen} == {3, 4, 5}
    assert game.key() == play("44").key()
