"""The check of positions for the board editor."""

import json
from typing import Any

import pytest

from kempelen.web.editor.page import check_chess
from kempelen.web.layout import LANGUAGES, page_words
from tests.kempelen.web.support import Served

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def checked(served: Served, status: int = 200, **position: Any) -> dict[str, Any]:
    answered, _, text = served.ask("POST", "/editor/check", position)
    assert answered == status, text
    found: dict[str, Any] = json.loads(text)
    return found


def test_legal_position_has_no_faults(served: Served) -> None:
    assert checked(served, fen=START) == {
        "fen": START, "castling": ["K", "Q", "k", "q"], "passing": [], "faults": [], "over": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fen", "corrected"),
    [
        ("r3k3/8/8/8/8/8/8/4K2R w KQkq - 3 9", "r3k3/8/8/8/8/8/8/4K2R w Kq - 3 9"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"),
        ("4k3/8/8/3p4/8/8/8/4K3 w - d6 0 1", "4k3/8/8/3p4/8/8/8/4K3 w - - 0 1"),
    ],
)
def test_impossible_rights_are_removed(served: Served, fen: str, corrected: str) -> None:
    assert checked(served, fen=fen)["fen"] == corrected


def test_captures_en_passant_are_offered_where_they_are_legal(served: Served) -> None:
    fen = "4k3/8/8/1pPpPp2/8/8/8/4K3 w - - 0 1"
    assert checked(served, fen=fen)["passing"] == ["b6", "d6", "f6"]
    pinned = "4k3/8/8/K2pP2r/8/8/8/8 w - - 0 1"
    assert checked(served, fen=pinned)["passing"] == []
    black = "4k3/8/8/8/2pP4/8/8/4K3 b - - 0 1"
    assert checked(served, fen=black)["passing"] == ["d3"]


FAULTY = {
    "8/8/8/8/8/8/8/8 w - - 0 1": "empty",
    "8/8/8/8/8/8/8/4K3 w - - 0 1": "no black king",
    "4k3/8/8/8/8/8/8/8 w - - 0 1": "no white king",
    "4k3/8/8/8/8/8/8/3KK3 w - - 0 1": "too many kings",
    "P3k3/8/8/8/8/8/8/4K3 w - - 0 1": "pawns on backrank",
    "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1": "opposite check",
    "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1": "too many white pawns",
    "4k3/pppppppp/p7/8/8/8/8/4K3 w - - 0 1": "too many black pawns",
    "4k3/8/8/8/Q6Q/QQQQQQQQ/QQQQQQQQ/4K3 b - - 0 1": "too many white pieces",
    "4k3/qqqqqqqq/qqqqqqqq/8/8/8/8/4K3 w - - 0 1": "too many black pieces",
    "4k3/8/8/1B5B/8/8/4R3/4K3 b - - 0 1": "too many checkers",
}


@pytest.mark.parametrize(("fen", "fault"), FAULTY.items())
def test_faults_of_a_position_are_named(served: Served, fen: str, fault: str) -> None:
    assert fault in checked(served, fen=fen)["faults"]


def test_faults_have_texts_in_each_language() -> None:
    faults = {fault for fen in FAULTY for fault in check_chess({"fen": fen})["faults"]}
    for language in LANGUAGES:
        assert {f"fault {fault}" for fault in faults} <= page_words("editor", language).keys()


def test_finished_position_is_no_fault(served: Served) -> None:
    found = checked(served, fen="7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")
    assert (found["faults"], found["over"]) == ([], True)


def test_position_of_go_is_checked(served: Served) -> None:
    assert checked(served, sgf="(;GM[1]SZ[9]PL[W]AB[cc])") == {"faults": [], "over": False}
    error = checked(served, 422, sgf="(;GM[1]SZ[5]PL[B]AB[ae]AW[ad][be])")["error"]
    assert error.endswith("stones without liberties are set up")


@pytest.mark.parametrize(
    "position", [{"fen": "nonsense"}, {"fen": 1}, {"fen": "x" * 200}, {"sgf": 1}, {"sgf": "x"}, {}]
)
def test_invalid_position_is_rejected(served: Served, position: dict[str, Any]) -> None:
    assert checked(served, 422, **position)["error"]
