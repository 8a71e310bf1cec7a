from math import inf
from random import Random

import chess
import pytest

from agent.games import tic_tac_toe, tree
from agent.games.plain_chess import PlainChess
from agent.games.plain_chess import evaluate as evaluate_board
from agent.games.random_tree import RandomTree
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tree import Tree
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.move_ordering import Ordering
from agent.search.stats import SearchStopped
from agent.search.terminal_scoring import TerminalScoring
from agent.search.transposition_table import TranspositionTable

MATES = TerminalScoring(win=32_000, ply_penalty=1)
DEFAULT_TECHNIQUES = [
    {},
    {"table": True},
    {"killers": True},
    {"history": True},
    {"table": True, "killers": True, "history": True, "ratings": True},
]


def minimax(game, depth, evaluate):
    """The definition of minimax, for player 0."""
    outcome = game.outcome()
    if outcome is not None:
        return outcome
    if depth == 0:
        return -evaluate(game) if game.turn else evaluate(game)
    values = []
    for move in game.moves():
        game.play(move)
        values.append(minimax(game, depth - 1, evaluate))
        game.undo()
    return min(values) if game.turn else max(values)


def search_with(evaluate, *, table=False, **orderings):
    ordering = Ordering(**orderings) if orderings else None
    return AlphaBeta(
        evaluate, AlphaBetaOptions(table=TranspositionTable() if table else None, ordering=ordering)
    )


def variation_value(game, pv, evaluate):
    """Return the value of the position after the principal variation, for player 0."""
    for move in pv:
        assert move in game.moves()
        game.play(move)
    outcome = game.outcome()
    value = outcome if outcome is not None else evaluate(game) * (-1 if game.turn else 1)
    for _ in pv:
        game.undo()
    return value


@pytest.mark.parametrize(
    "options", DEFAULT_TECHNIQUES, ids=lambda options: "+".join(options) or "plain"
)
class TestEqualsMinimax:
    def test_equals_minimax_on_random_trees(self, options):
        random = Random(1)
        for _ in range(150):
            depth = random.randint(1, 5)
            game = RandomTree(random.randint(1, 4), depth, random.random())
            found = search_with(tree.evaluate, **options).search(game, depth)
            assert found.value == minimax(game, depth, tree.evaluate)
            assert variation_value(game, found.pv, tree.evaluate) == found.value

    @pytest.mark.thorough(keep=1)
    def test_equals_minimax_on_tic_tac_toe_at_every_depth(self, options):
        game = TicTacToe()
        game.play(0)
        for depth in range(7):
            found = search_with(tic_tac_toe.evaluate, **options).search(game, depth)
            assert -found.value == minimax(game, depth, tic_tac_toe.evaluate)

    def test_window_bounds_the_value(self, options):
        random = Random(2)
        for seed in range(100):
            game = RandomTree(3, 4, seed)
            exact = minimax(game, 4, tree.evaluate)
            alpha = random.randint(-5, 80)
            beta = alpha + random.randint(1, 10)
            value = search_with(tree.evaluate, **options).search(game, 4, alpha, beta).value
            if value <= alpha:
                assert exact <= value
            elif value >= beta:
                assert exact >= value
            else:
                assert exact == value


def test_tic_tac_toe_is_a_draw():
    assert search_with(tic_tac_toe.evaluate, table=True).search(TicTacToe(), 9).value == 0


def test_best_ordered_tree_visits_the_knuth_moore_minimum():
    def best_ordered(value, depth):
        """Return a tree whose first child is always best, with this value for its mover."""
        if depth == 0:
            return value
        rest = [best_ordered(-value + worse, depth - 1) for worse in (1, 2)]
        return [best_ordered(-value, depth - 1), *rest]

    def for_max(node, turn):
        if isinstance(node, list):
            return [for_max(child, 1 - turn) for child in node]
        return -node if turn else node

    for depth in range(1, 6):
        visited = []
        game = Tree(for_max(best_ordered(0, depth), 0))
        original = game.outcome
        game.outcome = lambda original=original, visited=visited: (
            original() if original() is None else visited.append(1) or original()
        )
        assert AlphaBeta(tree.evaluate).search(game, depth).value == 0
        assert len(visited) == 3 ** -(-depth // 2) + 3 ** (depth // 2) - 1


def chess_search(**options):
    return AlphaBeta(
        lambda game: evaluate_board(game.board),
        AlphaBetaOptions(ending=MATES, continuation=True, **options),
    )


@pytest.mark.parametrize(
    ("fen", "depth", "value"),
    [
        ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 1, 32_000 - 1),
        ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 99 80", 1, 32_000 - 1),
        ("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", 3, 32_000 - 3),
        ("k7/8/1K6/8/8/8/8/7R b - - 0 1", 2, -(32_000 - 2)),
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", 0, -32_000),
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 100 90", 0, -32_000),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 1, 0),
        ("7k/8/6K1/8/8/8/5Q2/8 w - - 99 80", 1, 32_000 - 1),
        ("7k/8/5K2/8/8/8/5Q2/8 w - - 99 80", 2, 0),
    ],
)
def test_scores_chess_mates_and_draws(fen, depth, value):
    assert chess_search().search(PlainChess(chess.Board(fen)), depth).value == value


def test_quiescence_does_not_stand_pat_in_check():
    # Black is a queen up, but in check, and every evasion loses the queen.
    board = chess.Board("k6r/8/8/8/8/8/1q6/R3K3 b - - 0 1")
    assert PlainChess(board).forced()
    search = chess_search()
    search.search(PlainChess(board), 0)
    assert search.counts.leaves > 0
    assert search.counts.seldepth >= 1


def test_move_ordering_keeps_the_value_and_saves_nodes():
    for fen in (
        chess.STARTING_FEN,
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    ):
        plain, ordered = (
            chess_search(),
            chess_search(ordering=Ordering(ratings=True, killers=True, history=True)),
        )
        game = PlainChess(chess.Board(fen))
        assert ordered.search(game, 3).value == plain.search(game, 3).value
        assert ordered.counts.nodes < plain.counts.nodes


@pytest.mark.thorough
def test_table_stores_mate_scores_relative_to_the_position():
    game = PlainChess(chess.Board("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"))
    table = TranspositionTable()
    for depth in (2, 3, 4, 5):
        value = chess_search(table=table).search(game, depth).value
    assert value == 32_000 - 3


def test_node_limit_stops_the_search_and_restores_the_game():
    board = chess.Board()
    game = PlainChess(board)
    search = chess_search(node_limit=500)
    with pytest.raises(SearchStopped):
        search.search(game, 5)
    assert search.counts.nodes == 500
    assert game.board == board
    assert game.key() == PlainChess(board).key()


def test_stop_ends_the_search():
    search = AlphaBeta(tic_tac_toe.evaluate)
    search.stopped = True
    with pytest.raises(SearchStopped):
        search.search(TicTacToe(), 9)


def test_rejects_continuation_for_games_without_noisy_moves():
    with pytest.raises(TypeError, match="TicTacToe does not support continuation"):
        AlphaBeta(tic_tac_toe.evaluate, AlphaBetaOptions(continuation=True)).search(TicTacToe(), 2)


def test_full_table_drops_old_entries():
    table = TranspositionTable(10)
    for key in range(100):
        table.put(key, (0, -inf, inf, None))
        assert len(table) <= 10
        assert table.permille_full() <= 1000
    assert table.get(99) is not None
    assert table.get(0) is None


def test_null_window_tests_a_bound_without_extra_leaves():
    for seed in range(30):
        game = RandomTree(3, 4, seed)
        whole = AlphaBeta(tree.evaluate)
        value = whole.search(game, 4).value
        for bound in (value - 1, value, value + 1):
            test = AlphaBeta(tree.evaluate)
            assert test.exceeds(game, 4, bound) == (value > bound)
            assert test.counts.leaves <= whole.counts.leaves
