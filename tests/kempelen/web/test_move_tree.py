"""The move tree of an analysed game, from files to the page and back."""

import json
from typing import Any

import pytest

from kempelen.web.analyse.game_analysis import AnalysisError, add_move, annotate, load_games
from kempelen.web.analyse.move_tree import MAX_COMMENT_LENGTH

PGN = """[White "Réti"]

1. e4 $1 {good} e5 (1... c5 2. Nf3 (2. Nc3 Nc6) 2... d6) ({French} 1... e6) 2. Nf3 (2. f4) Nc6 *
"""
SGF = "(;GM[1]SZ[5]KM[0.5]C[root];B[cc]TE[1](;W[bb]C[left];B[dd])(;W[cb];B[cd](;W[dc])(;W[ba])))"


def nodes(game: dict[str, Any]) -> list[dict[str, Any]]:
    return [*game["positions"], *game["branches"]]


def line(game: dict[str, Any], number: int) -> str:
    """Return the moves to a node of the page."""
    found, all_nodes = [], nodes(game)
    while number:
        found.append(all_nodes[number]["move"])
        number = all_nodes[number].get("parent", number - 1)
    return " ".join(reversed(found))


def lines(text: str) -> set[str]:
    """Return the moves to each node of a file."""
    (game,) = load_games(text)
    return {line(game, number) for number in range(len(nodes(game)))}


def unchanged(game: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tree that the page sends if nothing has been changed."""
    return [
        {"parent": node.get("parent", number - 1), "was": node.get("was", number)}
        for number, node in enumerate(nodes(game))
    ]


def exported(game: dict[str, Any], tree: Any) -> str:
    return annotate({"game": game["game"], "source": game["source"], "tree": tree})["text"]


def test_variations_of_pgn_are_shown_with_marks_and_comments() -> None:
    (game,) = load_games(PGN)
    assert [node.get("move") for node in game["positions"]] == [None, "e4", "e5", "Nf3", "Nc6"]
    assert {line(game, number) for number in range(5, len(nodes(game)))} == {
        "e4 c5", "e4 c5 Nf3", "e4 c5 Nf3 d6", "e4 c5 Nc3", "e4 c5 Nc3 Nc6", "e4 e6", "e4 e5 f4"
    }  # fmt: skip
    assert game["positions"][1]["nags"] == [1]
    (french,) = (node for node in nodes(game) if node.get("move") == "e6")
    assert french["comment"] == "French"
    assert french["fen"].startswith("rnbqkbnr/pppp1ppp/4p3/")


def test_variations_of_sgf_are_shown_with_marks_and_comments() -> None:
    (game,) = load_games(SGF)
    assert [node.get("move") for node in game["positions"]] == [None, "C3", "B4", "D2"]
    assert {line(game, number) for number in range(4, len(nodes(game)))} == {
        "C3 C4", "C3 C4 C2", "C3 C4 C2 D3", "C3 C4 C2 B5"
    }  # fmt: skip
    assert game["positions"][1]["nags"] == [1]
    assert game["positions"][2]["comment"] == "left"


@pytest.mark.parametrize("text", [PGN, SGF])
def test_unchanged_tree_is_exported_with_all_variations(text: str) -> None:
    (game,) = load_games(text)
    written = exported(game, unchanged(game))
    assert lines(written) == lines(text)
    assert [node.get("comment") for node in nodes(load_games(written)[0])] == [
        node.get("comment") for node in nodes(game)
    ]
    assert exported(game, None) == written


def test_changes_of_the_page_are_exported_as_pgn() -> None:
    """A variation is promoted, one deleted, one added; a comment and a mark are changed."""
    (game,) = load_games(PGN)
    by_line = {line(game, number): number for number in range(len(nodes(game)))}
    order = ["", "e4", "e4 c5", "e4 c5 Nf3", "e4 c5 Nf3 d6", "e4 c5 Nc3", "e4 e5", "e4 e5 Nf3"]
    parents = [-1, 0, 1, 2, 3, 2, 1, 6]
    tree: list[dict[str, Any]] = [
        {"parent": parent, "was": by_line[moves]}
        for moves, parent in zip(order, parents, strict=True)
    ]
    tree[1] |= {"comment": "better", "nags": [3]}
    tree += [{"parent": 5, "was": None, "move": "g8f6"}, {"parent": 8, "was": None, "move": "d2d4"}]
    (again,) = load_games(exported(game, tree))
    assert [node.get("move") for node in again["positions"]] == [None, "e4", "c5", "Nf3", "d6"]
    assert {line(again, number) for number in range(5, len(nodes(again)))} == {
        "e4 c5 Nc3", "e4 c5 Nc3 Nf6", "e4 c5 Nc3 Nf6 d4", "e4 e5", "e4 e5 Nf3"
    }  # fmt: skip
    assert again["positions"][1]["comment"] == "better"
    assert again["positions"][1]["nags"] == [3]
    assert again["players"][0] == "Réti"


def test_changes_of_the_page_are_exported_as_sgf() -> None:
    (game,) = load_games(SGF)
    by_line = {line(game, number): number for number in range(len(nodes(game)))}
    tree = [
        {"parent": -1, "was": 0, "comment": ""},
        {"parent": 0, "was": by_line["C3"], "nags": [4]},
        {"parent": 1, "was": by_line["C3 C4"], "comment": "now first"},
        {"parent": 2, "was": by_line["C3 C4 C2"]},
        {"parent": 1, "was": by_line["C3 B4"]},
        {"parent": 4, "was": None, "move": "B pass"},
    ]
    text = exported(game, tree)
    (again,) = load_games(text)
    assert [node.get("move") for node in again["positions"]] == [None, "C3", "C4", "C2"]
    assert {line(again, number) for number in (4, 5)} == {"C3 B4", "C3 B4 pass"}
    assert "comment" not in again["positions"][0]
    assert again["positions"][2]["comment"] == "now first"
    assert "BM[2]" in text
    assert "TE[" not in text


def test_moves_added_to_a_position_are_exported() -> None:
    """The source has no moves."""
    (game,) = load_games("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    tree = [*unchanged(game), {"parent": 0, "move": "a7a8n"}, {"parent": 0, "move": "a7a8q"}]
    text = exported(game, tree)
    assert "1. a8=N ( 1. a8=Q )" in text
    assert '[FEN "8/P6k/8/8/8/8/8/K7 w - - 0 1"]' in text


def test_parts_that_the_page_does_not_show_are_kept() -> None:
    """A variation that sets up stones, an illegal variation, and a long comment."""
    text = "(;GM[1]SZ[5];B[cc](;W[bb])(;AB[aa]AW[ab];W[ac])(;W[cc];B[dd]))"
    (game,) = load_games(text)
    assert len(nodes(game)) == 3
    added = [*unchanged(game), {"parent": 2, "move": "B D4"}]
    written = exported(game, added)
    assert "AB[aa]" in written
    assert "W[cc]" in written
    comment = "x" * (2 * MAX_COMMENT_LENGTH)
    (game,) = load_games(f"1. e4 {{{comment}}} *")
    written = exported(game, [*unchanged(game), {"parent": 1, "move": "e7e5"}])
    assert comment in "".join(written.split("\n"))


@pytest.mark.parametrize(
    "tree",
    [
        [],
        [{"parent": -1}],
        [{"was": 0}, {"parent": 1, "was": 1}],
        [{"was": 0}, {"parent": 0, "was": 2}],
        [{"was": 0}, {"parent": 0, "was": 99}],
        [{"was": 0}, {"parent": 0, "was": 1}, {"parent": 0, "was": 1}],
        [{"was": 0}, {"parent": 0, "move": "e2e5"}],
        [{"was": 0}, {"parent": 0, "move": 7}],
        [{"was": 0, "nags": "x"}],
        {"was": 0},
    ],
)
def test_invalid_trees_are_rejected(tree: Any) -> None:
    (game,) = load_games(PGN)
    with pytest.raises(AnalysisError):
        exported(game, tree)


def test_review_of_another_main_line_is_rejected() -> None:
    (game,) = load_games("1. e4 *")
    said = [{"expected": 0.5}, {"expected": 0.5}]
    asked = {"game": "chess", "source": game["source"], "said": said, "nodes": 9}
    assert "[%eval" in annotate({**asked, "tree": unchanged(game)})["text"]
    tree = [*unchanged(game), {"parent": 1, "move": "e7e5"}]
    with pytest.raises(AnalysisError, match="does not match"):
        annotate({**asked, "tree": tree})


def test_deeply_nested_variations_are_loaded() -> None:
    text = "1. e4 e5 " + "(1... d5 " * 200 + ")" * 200 + " *"
    (game,) = load_games(text)
    assert len(json.dumps(game)) < 1 << 20
    assert add_move(game, 1, "c5")["positions"][-1]["move"] == "c5"
