"""Every kind of text file is read in all usual encodings, with any line endings."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.games import catalogue
from agent.games.tree import read_tree
from agent.io.read_report import ReadReport
from kempelen.cli import main
from kempelen.match.config.tournament_file import read_tournament
from kempelen.match.review.chess_review import read_pgn
from kempelen.match.suites.epd_suite import read_epd_file
from kempelen.match.suites.gtp_regression import Expectation, read_regression_file
from openings import epd_book, game_book, names, repertoire
from openings.pgn_book import MoveCounter, MoveCounts, count_moves
from protocols.gtp.sgf import read, read_trees
from tests.agent.io.test_text_files import ENCODINGS, LINE_ENDINGS, encoded

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"


def players_of_ratings(path: Path, capsys: pytest.CaptureFixture[str]) -> object:
    assert main(["match", "ratings", str(path), "--json"]) == 0
    return sorted(row["name"] for row in json.loads(capsys.readouterr().out))


def counted(path: Path, capsys: pytest.CaptureFixture[str]) -> object:
    with MoveCounts() as counts:
        counter = MoveCounter(counts)
        count_moves(path, counter)
        return counter.game_counts["used"]


PGN = '[White "Müller"]\n[Black "Réti"]\n[Result "1-0"]\n\n1. e4 {é} e5 1-0\n\n'
# The text of a file, a function that reads it, and the result.
Case = tuple[str, Callable[[Path, pytest.CaptureFixture[str]], object], object]
CASES: dict[str, Case] = {
    "ratings": (PGN, players_of_ratings, ["Müller", "Réti"]),
    "analyse": (
        PGN,
        lambda path, _: read_pgn(path, ReadReport())[0].titles()["first"],
        "Müller",
    ),
    "pgn book": (PGN, counted, 1),
    "epd book": (
        f'{START} bm e4; id "é";\n{START} bm d4; id "ü";\n',
        lambda path, _: len(epd_book.read([path])),
        1,
    ),
    "suite": (
        f'# é\n{START} bm e4; id "Réti";\n',
        lambda path, _: [(each.name, each.best) for each in read_epd_file(path)],
        [("Réti", ("e2e4",))],
    ),
    "regression": (
        "# é\n10 reg_genmove black\n#? [D4|é]\n",
        lambda path, _: [str(step.expected) for step in read_regression_file(path).tests],
        [str(Expectation("D4|é", re.compile("D4|é", re.IGNORECASE), negated=False))],
    ),
    "repertoire": (
        "- moves: e4 e5\n  name: Réti\n",
        lambda path, _: [line.name.title for line in repertoire.read([path])],
        ["Réti"],
    ),
    "names": (
        "00000000000000ff\tA00\tRéti\n",
        lambda path, _: [name.title for name in names.read(path).values()],
        ["Réti"],
    ),
    "tournament": (
        "name: Réti\nengines: [{command: a}, {command: b}]\ntime: 1+1\n",
        lambda path, _: read_tournament(str(path)).name,
        "Réti",
    ),
    "tree": (
        "# é\n- [3, 5]\n- [2, 9]\n",
        lambda path, _: read_tree(path).root,
        [[3, 5], [2, 9]],
    ),
    "game book": (
        "- {moves: a1 b2, name: é}\n",
        lambda path, _: len(
            game_book.read(path, catalogue.new_game("tic-tac-toe")).moves(
                catalogue.new_game("tic-tac-toe")
            )
        ),
        4,  # the corners are symmetric
    ),
}


@pytest.mark.parametrize("line_ending", LINE_ENDINGS)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", CASES)
def test_text_files_are_read_in_all_encodings(
    name: str,
    encoding: str,
    line_ending: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, read, expected = CASES[name]
    path = tmp_path / "file"
    path.write_bytes(encoded(text.replace("\n", line_ending), encoding))
    assert read(path, capsys) == expected
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("charset", ["", "CA[UTF-8]", "CA[ISO-8859-1]"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_sgf_is_read_in_all_encodings(charset: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "file.sgf"
    path.write_bytes(encoded(f"(;GM[1]{charset}SZ[5]PB[Réti]\r\n;B[cc])", encoding))
    (tree,) = read_trees(path)
    is_other = "8859" in charset and encoding == "utf-8"  # the file contradicts itself
    assert tree.get("PB") == ("RÃ©ti" if is_other else "Réti")
    assert read(path).moves == [(0, (2, 2))]
