"""The notebooks run from beginning to end, and show what their text says."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory):
    notebook = nbformat.read(NOTEBOOKS / "laboratory.ipynb", as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}})
    return client.execute()


def printed(notebook, beginning):
    """What the cell that begins so printed."""
    cell = next(cell for cell in notebook.cells if cell.source.startswith(beginning))
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


@pytest.mark.thorough
def test_the_laboratory_prints_the_run_of_the_notes(laboratory):
    text = printed(laboratory, 'lab("trace --game tree --algorithm sss-star")')
    assert text.splitlines()[13] == (
        "14  (2.1.2.1, S, 15), (2.1.1.1, S, 13), (1.1.2.1, S, 7), (1.1.1.1, S, 5)"
    )
    assert len(text.splitlines()) == 30


@pytest.mark.thorough
def test_the_laboratory_solves_and_compares(laboratory):
    assert "el segundo jugador gana" in printed(laboratory, 'lab("solve --game grundy')
    assert "the first player wins" in printed(laboratory, "chomp = folder")
    assert "Knuth-Moore" in printed(laboratory, 'lab("run --game random-tree')


@pytest.mark.thorough
def test_the_laboratory_shows_its_pictures(laboratory):
    drawn = [cell for cell in laboratory.cells if cell.source.startswith("draw(")]
    assert len(drawn) >= 7
    for cell in [*drawn, next(c for c in laboratory.cells if c.source.startswith("small = "))]:
        shown = [output.data for output in cell.outputs if output.output_type == "execute_result"]
        assert any("image/svg+xml" in data for data in shown), cell.source


def test_the_source_has_no_outputs():
    notebooks = list(NOTEBOOKS.glob("*.ipynb"))
    assert notebooks
    for path in notebooks:
        for cell in nbformat.read(path, as_version=4).cells:
            assert not cell.get("outputs"), path
