import re
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

from agent.search.catalogue import algorithms

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


def test_alpha_beta_with_windows_bounds_and_cuts(lab, tmp_path):
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


def test_the_same_command_draws_the_same_picture(lab, tmp_path):
    first = draw(lab, tmp_path, "--tree", TREE).read_bytes()
    assert draw(lab, tmp_path, "--tree", TREE).read_bytes() == first


@pytest.mark.parametrize("name", algorithms())
def test_every_algorithm_can_be_drawn(lab, tmp_path, name):
    svg = draw(lab, tmp_path, "--tree", TREE, "--algorithm", name, "--lang", "es")
    assert "variante principal" in texts(svg)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--game", "nim", "--size", "1,2", "--depth", "3"], {"a1", "b2"}),
        (
            ["--game", "pig", "--algorithm", "expectiminimax", "--depth", "1"],
            {"roll", "chance", "6"},
        ),
        (["--game", "chess", "--depth", "1"], {"e2e4"}),
        (["--game", f"{GAMES / 'chomp.py'}:Chomp", "--depth", "3"], {"c2", "MIN"}),
        (["--game", "connect-four", "--depth", "2"], {"1", "7"}),
    ],
)
def test_games_with_their_moves(lab, tmp_path, arguments, expected):
    assert expected <= set(texts(draw(lab, tmp_path, *arguments)))


def test_png(lab, tmp_path):
    picture = tmp_path / "tree.png"
    status, _, _ = lab("draw", "--tree", TREE, "--algorithm", "sss-star", "-o", picture)
    assert status == 0
    height, width, _ = imread(picture).shape
    assert width > height > 300


def test_branches_below_a_cut_are_left_out_of_large_trees(lab, tmp_path):
    small, large = (
        draw(lab, tmp_path, "--game", "random-tree", "--size", b, "--depth", "4")
        .read_text(encoding="utf-8")
        .count('id="node-')
        for b in (4, 5)
    )
    assert small == 1 + 4 + 4**2 + 4**3 + 4**4
    assert 1 + 5 + 5**2 < large < 5**4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "tree.jpg"], "its name must end in .svg, .png, .pdf"),
        (["-o", "nowhere/tree.svg"], "there is no folder nowhere"),
        (["-o", "tree.svg", "--game", "othello", "--depth", "6"], "too many to see: use a smaller"),
    ],
)
def test_what_cannot_be_drawn_is_said(lab, arguments, message):
    status, _, err = lab("draw", *arguments)
    assert status == 2
    assert message in err
    assert not Path("tree.svg").exists()


def test_a_missing_library_is_named_with_the_remedy(lab, monkeypatch):
    monkeypatch.setitem(sys.modules, "bigtree", None)
    status, _, err = lab("draw", "-o", "tree.svg")
    assert status == 2
    assert "bigtree is not installed: pip install 'kempelen[lab]'" in err
