from agent.games import catalogue as games
from agent.games.random_tree import RandomTree
from agent.games.tree import Tree
from agent.games.tree import evaluate as no_evaluation
from agent.search.alpha_beta import AlphaBeta
from agent.search.minimax import Minimax
from agent.search.ordering import History, Killers, Ordering
from agent.search.theory import least_leaves

evaluate = games.evaluation("connect-four")


def nodes(depth=5, **orderings):
    search = AlphaBeta(evaluate, ordering=Ordering(**orderings))
    search.search(games.new_game("connect-four"), depth)
    return search.counts.nodes


def test_every_technique_saves_work_on_connect_four():
    plain = nodes()
    for orderings in (
        {"ratings": True},
        {"killers": True},
        {"history": True},
        {"successors": evaluate},
        {"successors": evaluate, "preliminary": 2},
    ):
        assert nodes(**orderings) < plain, orderings


def test_perfect_knowledge_of_the_successors_takes_the_least_leaves():
    def oracle(game):
        return Minimax(no_evaluation).search(game, 99).value

    for seed in range(20):
        search = AlphaBeta(no_evaluation, ordering=Ordering(successors=oracle))
        search.search(RandomTree(3, 4, seed), 4)
        assert search.counts.leaves == least_leaves(3, 4)


def test_preliminary_order_is_by_backed_up_values_above_its_level_only():
    values = {(1, 1): 5, (1, 2): 1, (2, 1): 3, (2, 2): 4}
    tree = Tree([[[0, 0], [0, 0]], [[0, 0], [0, 0]]])
    ordering = Ordering(successors=lambda game: values[game.key()], preliminary=2)
    # To MIN the children are worth 1 and 3: MAX prefers the second.
    assert ordering.sort(tree, [1, 2], 0) == [2, 1]
    tree.play(2)
    assert ordering.sort(tree, [1, 2], 1) == [1, 2]
    tree.play(1)
    assert ordering.sort(tree, [1, 2], 2) == [1, 2]


def test_refutations_outlive_the_search():
    refutations = {}
    game = RandomTree(4, 5, seed=3)
    leaves = []
    for _ in range(2):
        search = AlphaBeta(no_evaluation, ordering=Ordering(refutations=refutations))
        search.reset()
        search.search(game, 5)
        leaves.append(search.counts.leaves)
    assert leaves[1] < leaves[0]


def test_killers_keep_the_last_two():
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
