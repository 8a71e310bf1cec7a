"""The notebooks run from beginning to end, and show what their text says."""

from pathlib import Path

import pytest

from tests.systems import module_or_skip

nbclient, nbformat = map(module_or_skip, ("nbclient", "nbformat"))

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory):
    notebook = nbformat.read(NOTEBOOKS / "laboratory.ipynb", as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(folder)}}
    )
    return client.execute()


def printed(notebook, beginning):
    """What the cell that begins so printed."""
    cell = next(cell for cell in notebook.cells if cell.source.startswith(beginning))
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def rows(text, algorithm):
    """The cells of an algorithm's rows of a table: algorithm, value, move, leaves, ..."""
    return [line.split() for line in text.splitlines() if line.startswith(algorithm)]


@pytest.mark.thorough
def test_laboratory_sss_star_trace_matches_the_lecture_notes(laboratory):
    text = printed(laboratory, 'lab("trace --game tree --algorithm sss-star")')
    assert text.splitlines()[13] == (
        "14  (2.1.2.1, S, 15), (2.1.1.1, S, 13), (1.1.2.1, S, 7), (1.1.1.1, S, 5)"
    )
    assert len(text.splitlines()) == 30


@pytest.mark.thorough
def test_laboratory_solves_games_and_shows_theory(laboratory):
    assert "el segundo jugador gana" in printed(laboratory, 'lab("solve --game grundy')
    assert "the first player wins" in printed(laboratory, "chomp = folder")
    assert "Knuth-Moore" in printed(laboratory, 'lab("run --game random-tree')


@pytest.mark.thorough
def test_laboratory_traces_b_star_and_best_node_search(laboratory):
    """B* looks below one of two moves; BNS parts one of three from the others."""
    expanded = [
        line.split()[1]
        for line in printed(
            laboratory, "lab(\"trace --game tic-tac-toe --moves 'b2 a1 a3 c1"
        ).splitlines()
        if " expand" in line
    ]
    assert expanded == ["ε", "1"]
    asked = printed(laboratory, 'lab(f"trace --tree {shlex.quote(str(small))} --algorithm bns')
    assert [asked.count(window) for window in ("(-1, 0)", "(3, 4)", "(2, 3)")] == [12, 8, 10]


@pytest.mark.thorough
def test_laboratory_shows_pruning_and_search_extensions(laboratory):
    whole, pruned = (
        rows(text, "minimax")
        for text in printed(
            laboratory, 'lab("run --game connect-four --depth 5 --algorithm minimax,alpha-beta")'
        ).split("theory", 1)
    )
    assert int(pruned[0][3]) < int(whole[0][3]) / 100
    assert pruned[0][1] != whole[0][1]
    moves = [row[2] for row in rows(printed(laboratory, "horizon = "), "alpha-beta")]
    assert moves == ["a3", "a3", "a3", "b3"]
    (further,) = rows(printed(laboratory, 'lab(f"{horizon}'), "alpha-beta+swing")
    everywhere = rows(printed(laboratory, "horizon = "), "alpha-beta")[-1]
    assert further[2] == "b3"
    assert int(further[5]) < int(everywhere[5])


@pytest.mark.thorough
def test_laboratory_memory_avoids_a_repeated_loss(laboratory):
    """As O the memory has the even games: a corner loses the first, the others are drawn."""
    games = printed(laboratory, "memory = ").split("game ")[2::2]
    assert [game.splitlines()[2].split()[1] for game in games] == ["c1", "b3", "b3"]
    assert [game.splitlines()[2].endswith("known from experience") for game in games] == [
        False,
        True,
        True,
    ]
    assert [
        next(line for line in game.splitlines() if line.startswith("result")) for game in games
    ] == ["result 1", "result 0", "result 0"]


@pytest.mark.thorough
def test_laboratory_cells_show_svg_pictures(laboratory):
    drawn = [cell for cell in laboratory.cells if cell.source.startswith("draw(")]
    assert len(drawn) >= 7
    for cell in [*drawn, next(c for c in laboratory.cells if c.source.startswith("small = "))]:
        shown = [output.data for output in cell.outputs if output.output_type == "execute_result"]
        assert any("image/svg+xml" in data for data in shown), cell.source


def test_notebook_sources_have_no_outputs():
    notebooks = list(NOTEBOOKS.glob("*.ipynb"))
    assert notebooks
    for path in notebooks:
        for cell in nbformat.read(path, as_version=4).cells:
            assert not cell.get("outputs"), path
