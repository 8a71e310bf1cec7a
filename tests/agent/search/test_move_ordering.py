from agent.games import catalogue as games
from agent.games.random_tree import RandomTree
from agent.games.tree import Tree
from agent.games.tree import evaluate as no_evaluation
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.algorithms.minimax import Minimax
from agent.search.move_ordering import History, Killers, Ordering
from agent.search.tree_complexity import min_leaves

evaluate = games.evaluation("connect-four")


def nodes(depth=5, **orderings):
    search = AlphaBeta(evaluate, AlphaBetaOptions(ordering=Ordering(**orderings)))
    search.search(games.new_game("connect-four"), depth)
    return search.counts.nodes


def test_every_ordering_technique_saves_nodes_in_connect_four():
    plain = nodes()
    for orderings in (
        {"ratings": True},
        {"killers": True},
        {"history": True},
        {"successors": evaluate},
        {"successors": evaluate, "preliminary": 2},
    ):
        assert nodes(**orderings) < plain, orderings


def test_perfect_ordering_visits_the_minimum_leaves():
    def oracle(game):
        return Minimax(no_evaluation).search(game, 99).value

    for seed in range(20):
        search = AlphaBeta(no_evaluation, AlphaBetaOptions(ordering=Ordering(successors=oracle)))
        search.search(RandomTree(3, 4, seed), 4)
        assert search.counts.leaves == min_leaves(3, 4)


def test_preliminary_search_orders_by_backed_up_values():
    values = {(1, 1): 5, (1, 2): 1, (2, 1): 3, (2, 2): 4}
    tree = Tree([[[0, 0], [0, 0]], [[0, 0], [0, 0]]])
    ordering = Ordering(successors=lambda game: values[game.key()], preliminary=2)
    # The children have values 1 and 3 after MIN's move: MAX prefers the second.
    assert ordering.sort(tree, [1, 2], 0) == [2, 1]
    tree.play(2)
    assert ordering.sort(tree, [1, 2], 1) == [1, 2]
    tree.play(1)
    assert ordering.sort(tree, [1, 2], 2) == [1, 2]


def test_refutation_table_saves_leaves_in_the_next_search():
    refutations = {}
    game = RandomTree(4, 5, seed=3)
    leaves = []
    for _ in range(2):
        search = AlphaBeta(
            no_evaluation, AlphaBetaOptions(ordering=Ordering(refutations=refutations))
        )
        search.reset()
        search.search(game, 5)
        leaves.append(search.counts.leaves)
    assert leaves[1] < leaves[0]


def test_killers_keep_the_last_two_moves_per_ply():
    killers = Killers()
    for move in "abb":
        killers.add(3, move)
    assert killers.at(3) == ("b", "a")
    killers.add(3, "c")
    assert killers.at(3) == ("c", "b")
    assert killers.at(2) == ()
    killers.clear()
    assert killers.at(3) == ()


def test_history_counts_by_player_and_depth():
    history = History()
    history.add(0, "a", 3)
    history.add(0, "a", 1)
    history.add(1, "b", -2)
    assert (history.score(0, "a"), history.score(1, "a"), history.score(1, "b")) == (10, 0, 0)


def test_moves_are_sorted_by_class_with_checks_first():
    game = games.new_game("chess", fen="4k3/8/2p5/3q4/8/2N5/1R6/4K3 w - - 0 1")
    ordered = Ordering(classes=True).sort(game, game.moves(), 0)
    classes = [game.move_class(move) for move in ordered]
    assert classes == sorted(classes)
    assert game.text(ordered[0]) == "b2b8"
    assert {*map(int, classes)} == {0, 1, 2, 3, 4, 5}


def test_move_classes_save_nodes_in_chess_and_checkers():
    for name, depth in (("chess", 3), ("checkers", 5)):
        counts = []
        for classes in (False, True):
            search = AlphaBeta(
                games.evaluation(name), AlphaBetaOptions(ordering=Ordering(classes=classes))
            )
            game = games.new_game(name)
            for _ in range(4):
                game.play(next(iter(game.moves())))
            search.search(game, depth)
            counts.append(search.counts.nodes)
        assert counts[1] < counts[0], name


def test_last_turn_ordering_puts_cutoff_moves_first_then_values():
    game = games.new_game("connect-four")
    ordering = Ordering(last_turn=True)
    ordering.record_best(game, 5, 0.25)
    ordering.record_best(game, 6, 0.5)
    ordering.record_best(game, 6, 0.125)
    ordering.record_cutoff(game, 3, depth=1, ply=0)
    assert ordering.sort(game, game.moves(), 0) == [0, 1, 2, 3, 4, 5, 6]
    ordering.start_search()
    assert ordering.sort(game, game.moves(), 0) == [3, 6, 5, 0, 1, 2, 4]
    ordering.start_search()
    assert ordering.sort(game, game.moves(), 0) == [0, 1, 2, 3, 4, 5, 6]


def test_last_turn_ordering_saves_nodes_in_the_next_search():
    game = games.new_game("connect-four")
    plain = AlphaBeta(evaluate)
    learning = AlphaBeta(evaluate, AlphaBetaOptions(ordering=Ordering(last_turn=True)))
    for search in (plain, learning):
        search.search(game, 4)
        search.reset_stats()
        assert search.search(game, 5).value is not None
    assert learning.counts.nodes < plain.counts.nodes


def test_refutation_is_returned_as_the_games_move_type():
    game = games.new_game("nim")
    ordering = Ordering(refutations={game.key(): (1, 4)})
    first = ordering.sort(game, list(game.moves()), 0)[0]
    assert (first.heap, first.counters) == (1, 4)
