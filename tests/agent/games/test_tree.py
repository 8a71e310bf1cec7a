import re
from math import inf

import pytest

from agent.games.random_tree import RandomTree
from agent.games.tree import EXAMPLE, Tree, evaluate, read_tree
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
