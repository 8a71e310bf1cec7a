import pytest

from agent.games.connect_four import ConnectFour, evaluate
from agent.games.perft import count_positions, perft
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions


def played(columns, **size):
    game = ConnectFour(**size)
    for column in columns:
        assert column in game.moves()
        game.play(column)
    return game


def test_perft_matches_known_values(thorough):
    depths = range(1, 7 if thorough else 6)
    assert [perft(ConnectFour(), depth) for depth in depths] == [7**depth for depth in depths]
    # Seven discs do not fit in one column, nor five if there are four rows.
    if thorough:
        assert perft(ConnectFour(), 7) == 823_536
    assert perft(ConnectFour(height=4), 5) == 7**5 - 7


def test_position_counts_by_ply_match_known_values():
    assert count_positions(ConnectFour(), 6) == [1, 7, 49, 238, 1120, 4263, 16_422]


@pytest.mark.parametrize(
    "columns",
    [
        [0, 1, 0, 1, 0, 1, 0],
        [0, 0, 1, 1, 2, 2, 3],
        [0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3],
        [6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3],
    ],
    ids=["column", "row", "rising", "falling"],
)
def test_four_in_a_line_wins(columns):
    game = played(columns[:-1])
    assert game.outcome() is None
    game.play(columns[-1])
    assert game.outcome() == 1
    assert list(game.moves()) == []


def test_second_player_can_win():
    assert played([6, 0, 6, 0, 5, 0, 5, 0]).outcome() == -1


def test_lines_do_not_wrap_around_the_edge():
    # Three on top of one column and one at the bottom of the next are adjacent bits.
    game = played([1, 0, 2, 0, 2, 0, 0, 3, 0, 3, 0])
    assert game.outcome() is None


def test_full_board_without_a_line_is_a_draw():
    assert played([0, 1, 2] * 2, width=3, height=2).outcome() == 0


def test_evaluation_prefers_the_middle_and_three_in_a_line():
    assert evaluate(played([3])) < evaluate(played([0])) < 0
    assert evaluate(played([0, 6, 0, 6, 0])) < evaluate(played([0, 6, 1, 5, 6]))


def test_noisy_moves_make_or_stop_four():
    assert ConnectFour().noisy_moves() == []
    assert played([0, 6, 0, 6, 0]).noisy_moves() == [0]
    assert played([0, 6, 0, 6, 0, 6]).noisy_moves() == [0, 6]


def test_continuation_search_sees_beyond_the_horizon():
    # Depth 0 shows no threat of O, but X to move wins at once.
    game = played([0, 6, 0, 6, 0, 6])
    assert AlphaBeta(evaluate, AlphaBetaOptions(continuation=True)).search(game, 0).value == 1
    assert AlphaBeta(evaluate).search(game, 0).value < 1


def test_board_as_text():
    assert str(played([3, 3], width=4, height=2)) == ". . . O\n. . . X\n1 2 3 4"


def test_rejects_a_board_without_squares():
    with pytest.raises(ValueError, match="got 0 and 6"):
        ConnectFour(width=0)
