from pathlib import Path

import chess
import pytest
from chess.polyglot import zobrist_hash

import openings
from openings import names, polyglot, repertoire
from openings.book_common import BookError
from openings.book_provider import SHIPPED_BOOK
from openings.polyglot import encode_move

TEXT = """
- moves: 1. d4 d5 2. c4
  eco: D06
  name: Queen's Gambit
  weight: 20
  lines:
  - moves: 2... e6 3. Nc3 Nf6
    weight: 30
  - moves: 2... e5?! 3. dxe5
- moves: 1. c4 e6 2. d4 d5 3. Nc3 Nf6
  weight: 5
"""

# Each line refers to the previous one ten times: ten million lines in total.
BOMB = "- &a0 {moves: Nf3 Nf6 Ng1 Ng8}\n" + "".join(
    f"- &a{i} {{moves: Nf3 Nf6 Ng1 Ng8, lines: [{', '.join([f'*a{i - 1}'] * 10)}]}}\n"
    for i in range(1, 8)
)


@pytest.fixture
def written(tmp_path):
    def write(text):
        (tmp_path / "book.yaml").write_text(text, encoding="utf-8")
        return repertoire.read([tmp_path])

    return write


def weight(built, moves, move):
    board = chess.Board()
    for san in moves.split():
        board.push_san(san)
    return built.weights[zobrist_hash(board)][encode_move(board, board.parse_san(move))]


def test_weights_are_merged_by_position(written):
    built = repertoire.build(written(TEXT))
    assert weight(built, "", "d4") == 20
    assert weight(built, "", "c4") == 5
    assert weight(built, "c4 e6 d4 d5", "Nc3") == 30
    assert weight(built, "d4 d5 c4", "e5") == 0
    assert weight(built, "d4 d5 c4 e5", "dxe5") == 20


def test_transposition_has_opening_name(written):
    built = repertoire.build(written(TEXT))
    board = chess.Board()
    assert names.find_name(built.names, board) is None
    for san in ("c4", "d5", "d4", "e6"):
        board.push_san(san)
    assert str(names.find_name(built.names, board)) == "D06 Queen's Gambit"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- moves: 1. e5", "line 1: 1. e5: illegal move in"),
        ("- moves: 1. e4 e5 3. Nf3", "line 1: wrong move number 3. (expected 2.)"),
        ("- {name: x}", "line 1: missing moves"),
        ("- {moves: e4, wait: 3}", "unknown key 'wait'"),
        ("- {moves: e4, weight: 0}", "weight must be from 1"),
        ("- {moves: e4, eco: F00}", "ECO code"),
        ("\n- [", "(line 3, column 1)"),
        ("- moves: e4\n  moves: d4", "duplicate key 'moves' (line 2, column 3)"),
        ("- {[a]: b}", "line 1: unknown key '[...]'"),
        ("- &a {moves: Nf3 Nf6 Ng1 Ng8, lines: [*a]}", "nested too deeply"),
        (BOMB, "too large"),
        ("moves: e4", "expected a list of lines"),
        (
            "- {moves: e4, name: A}\n- {moves: e4, name: B}",
            "line 2: the position of B already has the name A (",
        ),
    ],
)
def test_errors_are_reported_with_location(written, text, message):
    with pytest.raises(BookError) as caught:
        repertoire.build(written(text))
    assert message in str(caught.value)
    assert "book.yaml" in str(caught.value)


def test_shipped_book_matches_repertoire(tmp_path):
    built = repertoire.build(repertoire.read([Path(openings.__file__).parent]))
    assert len(built.weights) >= 1500
    book, index = tmp_path / "kempelen.bin", tmp_path / "kempelen.names"
    polyglot.write(book, built.entries())
    names.write(index, built.names)
    remedy = "run: kempelen book build openings -o openings/kempelen.bin"
    assert book.read_bytes() == SHIPPED_BOOK.read_bytes(), remedy
    assert index.read_bytes() == SHIPPED_BOOK.with_suffix(names.SUFFIX).read_bytes(), remedy
