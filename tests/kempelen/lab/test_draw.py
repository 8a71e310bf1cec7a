import json
import re
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

from agent.games.connect_four import ConnectFour
from agent.games.nim import Nim
from agent.games.othello import Othello
from agent.games.tree import Tree
from agent.search.catalogue import algorithm, algorithms
from agent.search.tracing import CutOff, Visited, traced
from kempelen.lab import search_tree as sketch_module
from kempelen.lab.search_tree import search_tree
from tests.support import searching

DATA = Path(__file__).parents[2] / "data"
TREE = DATA / "trees" / "sss_star.yaml"
GAMES = DATA / "games"


def texts(svg):
    """The texts of a picture."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text(encoding="utf-8"))


def draw(lab, tmp_path, *arguments):
    picture = tmp_path / "tree.svg"
    status, out, err = lab("draw", *arguments, "-o", picture)
    assert (status, out, err) == (0, f"{picture}\n", "")
    return picture


@pytest.mark.thorough
def test_alpha_beta_drawing_shows_windows_bounds_and_cuts(lab, tmp_path):
    tree = tmp_path / "small.yaml"
    tree.write_text("[[3, 12], [2, 4]]")
    svg = draw(lab, tmp_path, "--tree", tree)
    found = texts(svg)
    assert [text for text in ("MAX", "MIN", "≤2", "principal variation") if text not in found] == []
    assert found.count("4") == 2  # the leaf that was not visited, and the fourth node that was
    assert {"α -∞", "β ∞", "α 3"} <= set(found)
    assert svg.read_text(encoding="utf-8").count('id="cut"') == 1
    assert "node-2.2" in svg.read_text(encoding="utf-8")
    assert "alpha-beta: 3 leaves, 6 nodes" in found


def cuts(svg):
    return svg.read_text(encoding="utf-8").count('id="cut"')


def test_move_answered_from_memory_is_not_marked_as_cut(lab, tmp_path):
    """The second root move transposes to a solved position; only the last move is cut off."""
    game = ["--game", "nim", "--size", "1,1,2", "--depth", "9"]
    svg = draw(lab, tmp_path, *game, "--algorithm", "and-or")
    assert "from memory" in texts(svg)
    _, out, _ = lab("trace", *game, "--algorithm", "and-or", "--json")
    events = [json.loads(line) for line in out.splitlines()]
    visited, remembered, cut = set(), set(), set()
    for event in events:
        node = tuple(event["label"])
        if event["event"] == "visited":
            visited.add(node)
        elif event["event"] == "returned" and event["remembered"]:
            remembered.add(node)
        elif event["event"] == "cutoff":
            cut.add(node)
    assert remembered - visited
    children = drawn_children(Nim((1, 1, 2)), 9)
    expected = {node for node in children if node[:-1] in cut} - visited - remembered
    assert cuts(svg) == len(expected)
    assert {node for node in children if node[:-1] in cut} - visited != expected


def drawn_children(game, depth, label=()):
    """Return the labels of all nodes below the root."""
    found = set()
    for place, move in enumerate(list(game.moves()) if depth else [], 1):
        game.play(move)
        found |= {(*label, place)} | drawn_children(game, depth - 1, (*label, place))
        game.undo()
    return found


def test_cut_mark_is_absent_if_nothing_is_cut(lab, tmp_path):
    tree = tmp_path / "small.yaml"
    tree.write_text("[[3, 12], [5, 4, 2]]")  # the last leaf causes the cut-off, so no branch is cut
    for name in ("minimax", "sss-star", "alpha-beta"):
        svg = draw(lab, tmp_path, "--tree", tree, "--algorithm", name)
        assert cuts(svg) == 0
        assert "cut-off" not in texts(svg)


def test_moves_cut_by_a_null_move_are_marked_as_cut():
    events = [
        Visited((), True),
        Visited((1,), False),
        Visited((1, 1), True),
        CutOff((1,), False, 1),
        Visited((2,), False),
        CutOff((2,), False, 0),
    ]
    root = search_tree(Tree([[3, 12], [2, 4]]), 2, events)
    assert {node.label for node in root.iter_nodes() if node.cut} == {(1, 2), (2, 1), (2, 2)}


def test_won_leaf_is_labelled_win(lab, tmp_path):
    """With E = X - O, a completed line must outrank any number of open lines."""
    file = tmp_path / "raw.py"
    file.write_text("def f(g):\n    return g.open_lines(g.turn) - g.open_lines(1 - g.turn)\n")
    game = ["--game", "tic-tac-toe", "--moves", "a3 b3 a2 c3", "--depth", "1"]
    found = texts(draw(lab, tmp_path, *game, "--evaluation", f"{file}:f"))
    assert found.count("WIN") == 2  # the leaf and the root
    assert {"2", "α WIN"} & set(found)
    found = texts(draw(lab, tmp_path, *game, "--evaluation", f"{file}:f", "--lang", "es"))
    assert found.count("GANA") == 2


@pytest.mark.thorough
def test_the_same_command_draws_the_same_picture(lab, tmp_path):
    first = draw(lab, tmp_path, "--tree", TREE).read_bytes()
    assert draw(lab, tmp_path, "--tree", TREE).read_bytes() == first


@pytest.mark.thorough  # test_spanish.py draws a game with each algorithm daily
@pytest.mark.parametrize("name", algorithms())
def test_every_algorithm_can_be_drawn(lab, tmp_path, name):
    svg = draw(lab, tmp_path, "--tree", TREE, "--algorithm", name, "--lang", "es")
    assert "variante principal" in texts(svg)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--game", "nim", "--size", "1,2", "--depth", "3"], {"a1", "b2"}),
        (
            ["--game", "pig", "--algorithm", "expectiminimax", "--depth", "1"],
            {"roll", "chance", "6"},
        ),
        (["--game", "chess", "--depth", "1"], {"e2e4"}),
        (["--game", f"{GAMES / 'chomp.py'}:Chomp", "--depth", "2"], {"c2", "MIN"}),
        (["--game", "connect-four", "--depth", "2"], {"1", "7"}),
    ],
)
def test_drawing_labels_the_moves_of_games(lab, tmp_path, arguments, expected):
    assert expected <= set(texts(draw(lab, tmp_path, *arguments)))


def test_draw_writes_a_png(lab, tmp_path):
    picture = tmp_path / "tree.png"
    status, _, _ = lab("draw", "--tree", TREE, "--algorithm", "sss-star", "-o", picture)
    assert status == 0
    height, width, _ = imread(picture).shape
    assert width > height > 300


@pytest.mark.thorough
def test_branches_below_a_cut_are_left_out_of_large_trees(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(sketch_module, "MAX_NODES", 100)
    small, large = (
        draw(lab, tmp_path, "--game", "random-tree", "--size", b, "--depth", "4")
        .read_text(encoding="utf-8")
        .count('id="node-')
        for b in (2, 3)
    )
    assert small == 1 + 2 + 2**2 + 2**3 + 2**4
    assert 1 + 3 + 3**2 < large <= 100 < 1 + 3 + 3**2 + 3**3 + 3**4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "tree.jpg"], "unknown picture format (expected .svg, .png, .pdf)"),
        (["-o", "nowhere/tree.svg"], "folder nowhere does not exist"),
        (
            ["-o", "tree.svg", "--game", "othello", "--depth", "6"],
            "too many to draw (use a smaller",
        ),
    ],
)
def test_invalid_drawing_requests_are_rejected(lab, arguments, message):
    status, _, err = lab("draw", *arguments)
    assert status == 2
    assert message in err
    assert not Path("tree.svg").exists()


def test_missing_library_error_says_what_to_install(lab, monkeypatch):
    monkeypatch.setitem(sys.modules, "bigtree", None)
    status, _, err = lab("draw", "-o", "tree.svg")
    assert status == 2
    assert "bigtree is not installed: " in err


def drawn(game, name, depth, *, is_and_or=False, **options):
    """The tree of a search as drawn, and the leaves of the picture."""
    events = []
    search = traced(searching(algorithm(name), lambda game: 0.0, **options), events.append)
    pv = search.search(game, depth).pv
    root = search_tree(game, depth, events, pv, is_and_or=is_and_or)
    return root, [node for node in root.iter_nodes() if not node.children]


def test_windows_show_initial_and_final_bounds(lab, tmp_path):
    tree = tmp_path / "small.yaml"
    tree.write_text("[[3, 12], [2, 4]]")
    found = texts(draw(lab, tmp_path, "--tree", tree))
    assert {"α -∞ → 3", "β ∞ → 3", "α 3", "β ∞ → 2"} <= set(found)


def test_wide_trees_group_moves_without_losing_any():
    root, leaves = drawn(Othello(8), "alpha-beta", 3)
    plain, every = drawn(Othello(4), "alpha-beta", 2)
    assert all(leaf.merged_count == 1 for leaf in every)
    assert plain.merged_count == 1
    assert len(leaves) <= sketch_module.MAX_WIDTH + 20
    assert {leaf.value for leaf in leaves if leaf.merged_count > 1} == {
        f"+{leaf.merged_count}" for leaf in leaves if leaf.merged_count > 1
    }

    def moves(label):
        game = Othello(8)
        for place in label:
            game.play(list(game.moves())[place - 1])
        return len(list(game.moves()))

    for node in root.iter_nodes():
        if node.children:
            assert sum(child.merged_count for child in node.children) == moves(node.label)
    assert sum(node.is_principal for node in root.iter_nodes()) == 4


def test_monte_carlo_drawing_shows_only_reached_nodes():
    root, _ = drawn(ConnectFour(), "uct", 4, playouts=40)
    assert all(node.is_reached for node in root.iter_nodes())
    visits = sum(int(child.value.splitlines()[1]) for child in root.children)
    assert visits == int(root.value.splitlines()[1]) == 40


def test_chance_edges_show_their_probabilities(lab, tmp_path):
    pig = ["--game", "pig", "--option", "target=3", "--algorithm", "expectiminimax"]
    found = texts(draw(lab, tmp_path, *pig, "--depth", "1"))
    assert found.count("1/6") == 6


def test_and_or_tree_has_arcs_positions_and_links_to_shared_nodes(lab, tmp_path):
    game = ["--game", "grundy", "--size", "7", "--depth", "9"]
    svg = draw(lab, tmp_path, *game, "--algorithm", "and-or")
    text, found = svg.read_text(encoding="utf-8"), texts(svg)
    assert text.count('id="and-arc"') == 3  # MIN has two moves after each of the three moves
    assert text.count('id="shared"') == 2
    assert {"OR", "AND", "all branches needed", "the same position", "4, 2, 1"} <= set(found)
    assert not {"MAX", "MIN"} & set(found)
    svg = draw(lab, tmp_path, *game, "--algorithm", "alpha-beta", "--lang", "es")
    text, found = svg.read_text(encoding="utf-8"), texts(svg)
    assert 'id="and-arc"' not in text
    assert {"MAX", "MIN", "4, 2, 1"} <= set(found)


def test_shared_node_leads_to_the_node_that_was_searched():
    root, _ = drawn(Nim((1, 1, 2)), "and-or", 9, is_and_or=True)
    nodes = {node.label: node for node in root.iter_nodes()}
    shared = [node for node in nodes.values() if node.shared is not None]
    assert shared
    for node in shared:
        assert node.from_table
        assert nodes[node.shared].order is not None
        assert sorted(nodes[node.shared].position) == sorted(node.position)
        ended = {"LOSS": "-1", "WIN": "1"}  # a leaf shows the end of the game
        assert ended.get(nodes[node.shared].value, nodes[node.shared].value) == node.value


def test_drawing_shows_the_names_of_nodes(lab, tmp_path):
    tree = tmp_path / "named.yaml"
    tree.write_text("{name: N1, children: [{name: N2, children: [3, {name: N5, value: 4}]}, 2]}")
    assert {"N1", "N2", "N5"} <= set(texts(draw(lab, tmp_path, "--tree", tree)))


def test_title_counts_one_leaf(lab, tmp_path):
    tree = tmp_path / "leaf.yaml"
    tree.write_text("5")
    assert "alpha-beta: 1 leaf, 1 node" in texts(draw(lab, tmp_path, "--tree", tree))


def test_tree_with_chance_nodes_shows_its_probabilities(lab, tmp_path):
    file, picture = tmp_path / "tree.yaml", tmp_path / "tree.svg"
    file.write_text("[{chances: [1/6, 5/6], children: [[3, 5], 2]}, [4]]")
    given = ["--tree", file, "--algorithm", "expectiminimax"]
    assert lab("draw", *given, "-o", picture) == (0, f"{picture}\n", "")
    assert {"1/6", "5/6", "chance"} <= set(texts(picture))
    status, out, err = lab("draw", "--tree", file, "-o", picture)
    assert (status, out) == (2, "")
    assert "alpha-beta: games of chance are not supported (use expectiminimax or uct)" in err


def test_beam_is_rejected_in_games_of_chance(lab):
    status, out, err = lab("run", "--game", "pig", "--beam", "2")
    assert (status, out) == (2, "")
    assert err == "kempelen lab: --beam: games of chance are not supported (pig)\n"


def test_drawing_shows_static_values(lab, tmp_path):
    tree = tmp_path / "static.yaml"
    tree.write_text("[{value: 3, name: A, children: [5, 2]}, {value: -6, children: [9]}]")
    assert {"A h=3", "h=-6"} <= set(texts(draw(lab, tmp_path, "--tree", tree, "--depth", "1")))
