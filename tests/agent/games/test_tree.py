import re
from math import inf

import pytest

from agent.game import CHANCE, ChanceGame
from agent.games.random_tree import RandomTree
from agent.games.tree import EXAMPLE, ChanceTree, NodeAnnotation, Tree, evaluate, read_tree
from agent.search import algorithm_spec
from agent.search.catalogue import algorithms


def leaves(game):
    outcome = game.outcome()
    if outcome is not None:
        return [outcome]
    found = []
    for move in game.moves():
        game.play(move)
        found += leaves(game)
        game.undo()
    return found


def test_reads_nested_lists(tmp_path):
    file = tmp_path / "tree.yaml"
    file.write_text("- [3, 5.5]\n- - 2\n  - [1]\n")
    game = read_tree(file)
    assert leaves(game) == [3, 5.5, 2, 1]
    game.play(2)
    assert (game.turn, list(game.moves()), game.key()) == (1, [1, 2], (2,))
    assert str(game) == "2: [2, [1]]"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1, [2, x]]", "2.2: invalid node 'x' (expected a number or a list)"),
        ("[1, []]", "2: empty list"),
        ("{a: 1}", "root: unknown key 'a' (expected one of: name, bounds, value, children"),
        ("[1", "invalid YAML"),
        ("[1, yes]", "2: invalid node True"),
        ("[.nan]", "1: invalid node nan"),
        ("", "root: invalid node None"),
        ("{name: A}", "root: expected children or a value"),
        ("{value: x, children: [1]}", "the value of a node with children must be a finite number"),
        ("{value: .inf, children: [1]}", "must be a finite number"),
        ("[{chances: equal, value: 1}]", "1: chances without children"),
        ("{chances: 1, children: [1]}", "chances must be a list, such as [1/2, 1/2], or equal"),
        ("{chances: [1/2, 1/2], children: [1]}", "root: 2 chances for 1 children"),
        ("{chances: [1/2, 1/3], children: [1, 2]}", "chances must add up to 1 (got 0.83"),
        ("{chances: [1, 0], children: [1, 2]}", "invalid chance 0 (expected a number from 0 to 1"),
        ("{chances: [2, -1], children: [1, 2]}", "root: invalid chance 2 "),
        ("{chances: [1e999999999, 1], children: [1, 2]}", "root: invalid chance '1e999999999'"),
    ],
)
def test_rejects_invalid_trees_and_names_the_place(tmp_path, text, reason):
    file = tmp_path / "tree.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"tree\.yaml") as error:
        read_tree(file)
    assert reason in str(error.value)


@pytest.mark.thorough
def test_rejects_trees_too_deep_or_values_too_large(tmp_path, usual_recursion):
    """Limits of recursion and of exact floats."""
    path = tmp_path / "tree.yaml"
    for text, reason in (
        ("[" * 101 + "1" + "]" * 101, "too many levels below the root (at most 100"),
        (f"[[1, 1{'0' * 400}]]", "1.2: value is too large (at most 9007199254740992"),
        ("[{bounds: [-1.0e+17, 1], children: [1]}]", "1: bound is too large"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=re.escape(f"{path}: {reason}")):
            read_tree(path)
    path.write_text(f"[[-.inf, {2**53}], [.inf, {-(2**53)}]]")
    assert read_tree(path).root == [[-inf, 2**53], [inf, -(2**53)]]
    path.write_text("[" * 100 + "1" + "]" * 100)
    tree = read_tree(path)
    for name in algorithms():
        algorithm = algorithm_spec.parse(name)
        if algorithm.supports(tree):
            algorithm.new(tree, evaluate).search(tree, 1000)


def test_random_tree_is_uniform_and_determined_by_its_seed():
    assert sorted(leaves(RandomTree(3, 4, seed=7))) == list(range(81))
    assert leaves(RandomTree(3, 4, seed=7)) == leaves(RandomTree(3, 4, seed=7))
    assert leaves(RandomTree(3, 4, seed=7)) != leaves(RandomTree(3, 4, seed=8))
    assert leaves(RandomTree(1, 5)) == [0]
    assert leaves(RandomTree(5, 0)) == [0]


def test_example_has_sixteen_leaves():
    assert sorted(leaves(Tree(EXAMPLE))) == list(range(1, 17))


def test_rejects_a_tree_without_children():
    with pytest.raises(ValueError, match="got 0 and 3"):
        RandomTree(0, 3)


def test_static_values_are_for_max_and_evaluated_at_the_horizon(tmp_path):
    file = tmp_path / "tree.yaml"
    file.write_text("[{value: 3, children: [{value: 5, children: [4, 6]}, 2]}, [7]]")
    game = read_tree(file)
    assert (evaluate(game), game.max_utility(), game.integer_values) == (0, 7, True)
    game.play(1)
    assert evaluate(game) == -3  # MIN is to move
    game.play(1)
    assert evaluate(game) == 5
    for name in ("minimax", "negamax", "alpha-beta", "pvs", "scout", "mtd-f"):
        algorithm = algorithm_spec.parse(name)
        values = [
            algorithm.new(tree := read_tree(file), evaluate).search(tree, depth).value
            for depth in (1, 2, 3)
        ]
        assert values == [3, 7, 7]


def test_static_values_order_moves(tmp_path):
    file = tmp_path / "tree.yaml"
    file.write_text("[{value: 1, children: [4, 6]}, {value: 2, children: [9, 8]}]")
    search = algorithm_spec.parse("alpha-beta+successors")
    tree = read_tree(file)
    run = search.new(tree, evaluate)
    assert run.search(tree, 9).pv == (2, 2)
    assert run.counts.leaves == 3  # the better move first, so that the other one is cut off


def test_chance_node_has_the_mean_of_its_children(tmp_path):
    file = tmp_path / "tree.yaml"
    file.write_text("""
- chances: [1/2, 1/4, 0.25]
  children: [[3, 12], [8, 4], [2, 6]]
- chances: equal
  children: [[14, 5], {name: B, children: [2]}]
""")
    game = read_tree(file)
    assert isinstance(game, ChanceGame)
    algorithm = algorithm_spec.parse("expectiminimax")
    result = algorithm.new(game, evaluate).search(game, 1000)
    assert (result.value, result.pv) == (3.5, (2,))
    game.play(1)
    assert (game.turn, list(game.chance_outcomes())) == (CHANCE, [(1, 0.5), (2, 0.25), (3, 0.25)])
    game.play(3)
    assert (game.turn, game.key()) == (1, (1, 3))  # MIN follows MAX
    game.undo()
    game.undo()
    assert game.turn == 0
    assert not algorithm_spec.parse("alpha-beta").supports(game)


def test_tree_without_chances_is_searched_by_every_algorithm(tmp_path):
    file = tmp_path / "tree.yaml"
    file.write_text("[{value: 1, children: [4, 6]}, 3]")
    tree = read_tree(file)
    assert type(tree) is Tree
    assert all(algorithm_spec.parse(name).supports(tree) for name in algorithms())


def test_chance_at_the_root_and_at_consecutive_levels_keeps_the_turns():
    notes = {(): NodeAnnotation(chances=(0.5, 0.5)), (1,): NodeAnnotation(chances=(0.25, 0.75))}
    game = ChanceTree([[[1, 8], [2, 6]], [3, 5]], notes)
    turns = {(): CHANCE, (1,): CHANCE, (1, 1): 0, (1, 2): 0, (2,): 0, (2, 1): 1}
    for path, turn in turns.items():
        for move in path:
            game.play(move)
        assert game.turn == turn
        for _ in path:
            game.undo()
    search = algorithm_spec.parse("expectiminimax").new(game, evaluate)
    assert search.search(game, 9).value == 0.5 * (0.25 * 8 + 0.75 * 6) + 0.5 * 5
