"""The check of positions for the board editor."""

import json
from pathlib import Path
from typing import Any

import pytest

from kempelen.web.editor.page import check_board, check_chess, editor_choices
from kempelen.web.layout import LANGUAGES, page_words
from kempelen.web.play.setup import SetupError
from kempelen.web.site_context import NO_RESOURCES, SiteResources
from tests.kempelen.web.support import Served

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def checked(served: Served, status: int = 200, **position: Any) -> dict[str, Any]:
    answered, _, text = served.ask("POST", "/editor/check", position)
    assert answered == status, text
    found: dict[str, Any] = json.loads(text)
    return found


def test_legal_position_has_no_faults(served: Served) -> None:
    assert checked(served, fen=START) == {
        "variant": "chess", "fen": START, "castling": ["K", "Q", "k", "q"], "passing": [],
        "faults": [], "over": False,
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


VARIANT_FENS = {
    "crazyhouse": "4k3/8/8/8/8/8/8/R3K2Q~[QNpp] w Q - 0 1",
    "3check": "4k3/8/8/8/8/8/8/4K3 w - - 2+1 0 1",
    "antichess": "8/8/8/8/8/8/p7/7R b - - 0 1",
    "horde": "4k2r/8/8/8/8/8/8/PPPPPPPP w k - 0 1",
    "racingkings": "8/8/8/8/8/8/k6K/8 w - - 0 1",
    "atomic": "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
}


@pytest.mark.parametrize(("variant", "fen"), VARIANT_FENS.items())
def test_position_of_a_variant_is_checked(served: Served, variant: str, fen: str) -> None:
    found = checked(served, fen=fen, variant=variant)
    assert (found["variant"], found["fen"], found["faults"]) == (variant, fen, [])


def test_unknown_variant_is_named(served: Served) -> None:
    assert checked(served, fen=START, variant="King of the Hill")["variant"] == "kingofthehill"
    error = checked(served, 422, fen=START, variant="losers")["error"]
    assert error.startswith("variant: unknown 'losers' (expected one of: chess, crazyhouse, ")


@pytest.mark.parametrize(
    ("variant", "fen", "fault"),
    [
        ("racingkings", "8/8/8/8/8/8/k6K/P7 w - - 0 1", "race material"),
        ("racingkings", "k6K/8/8/8/8/8/8/8 b - - 0 1", "race over"),
        ("racingkings", "8/8/8/8/8/8/k6R/7K b - - 0 1", "race check"),
        ("crazyhouse", f"4k3/8/8/8/8/8/8/4K3[{'P' * 31}] w - - 0 1", "more than 32 pieces"),
        ("horde", "4k3/8/8/8/8/8/8/PPPPPPPK w - - 0 1", "too many kings"),
    ],
)
def test_faults_in_variants_have_texts(variant: str, fen: str, fault: str) -> None:
    found = check_chess({"fen": fen, "variant": variant})["faults"]
    assert fault in found
    assert {f"fault {each}" for each in found} <= page_words("editor", "en").keys()


def test_all_games_with_positions_are_offered() -> None:
    choices = editor_choices(NO_RESOURCES)
    boards = choices["boards"]
    assert list(boards) == ["checkers", "connect-four", "othello", "tic-tac-toe"]
    assert boards["checkers"]["pieces"] == ("bB", "wW")
    assert boards["checkers"]["sizes"] == {}
    assert boards["othello"]["start"] == "8/8/8/3OX3/3XO3/8/8/8 X"
    assert boards["connect-four"]["sizes"].keys() == {"width", "height"}
    assert choices["variants"]["chess"] == START


OWN_GAME = """
from agent.games.tic_tac_toe import TicTacToe

class Hash(TicTacToe):
    pieces = "X", "O"
"""


def test_own_game_with_positions_is_offered_and_checked(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN_GAME)
    name = f"{tmp_path / 'own.py'}:Hash"
    offers = SiteResources(games=(name,))
    assert name in editor_choices(offers)["boards"]
    found = check_board({"board": name, "position": "3/1X1/3 O"}, offers)
    assert (found["faults"], found["rows"]) == ([], ["...", ".X.", "..."])
    with pytest.raises(SetupError):
        check_board({"board": name, "position": "3/1X1/3 O"})


def test_position_of_a_board_game_is_checked(served: Served) -> None:
    found = checked(served, board="othello", position="4/1OX1/1XO1/4 X")
    assert found["view"].pop("rows")
    assert found == {
        "position": "4/1OX1/1XO1/4 X", "rows": ["....", ".OX.", ".XO.", "...."], "side": "X",
        "sides": ["X", "O"], "faults": [], "over": False,
        "view": {
            "kind": "grid", "dark": False, "falls": False, "line": [], "last": [],
            "labels": {"columns": ["a", "b", "c", "d"], "rows": ["1", "2", "3", "4"]},
            "position": ". . . .\n. O X .\n. X O .\n. . . .",
        },
    }  # fmt: skip


def test_only_possible_side_is_chosen(served: Served) -> None:
    found = checked(served, board="connect-four", position="7/7/7/7/7/3X3 X")
    assert (found["position"], found["side"], found["sides"]) == ("7/7/7/7/7/3X3 O", "O", ["O"])
    assert not found["faults"]


@pytest.mark.parametrize(
    ("position", "fault"),
    [
        ("XX1/3/3 O", "position: 2 pieces X and 0 pieces O with O to move"),
        ("XXX/OOO/3 X", "position: the side to move has already won"),
    ],
)
def test_faults_of_a_board_game_are_named(served: Served, position: str, fault: str) -> None:
    found = checked(served, board="tic-tac-toe", position=position)
    assert found["faults"] == [fault]
    assert "labels" in found["view"]


def test_faults_of_a_board_game_are_translated(served: Served) -> None:
    request = {"board": "checkers", "position": "8/8/8/8/8/8/8/b7 b"}
    _, _, text = served.ask("POST", "/editor/check", request, Cookie="language=es")
    assert json.loads(text)["faults"] == ["posición: peón en la casilla 29 (debe ser dama)"]


def test_finished_board_game_is_no_fault(served: Served) -> None:
    found = checked(served, board="tic-tac-toe", position="XXX/OO1/3 O")
    assert (found["faults"], found["over"]) == ([], True)


def test_position_of_go_is_checked(served: Served) -> None:
    assert checked(served, sgf="(;GM[1]SZ[9]PL[W]AB[cc])") == {"faults": [], "over": False}
    error = checked(served, 422, sgf="(;GM[1]SZ[5]PL[B]AB[ae]AW[ad][be])")["error"]
    assert error.endswith("stones without liberties are set up")


@pytest.mark.parametrize(
    "position",
    [
        {"fen": "nonsense"}, {"fen": 1}, {"fen": "x" * 200}, {"fen": START, "variant": "losers"},
        {"sgf": 1}, {"sgf": "x"}, {},
        {"board": "nim", "position": "3 X"}, {"board": 1, "position": "3 X"},
        {"board": "othello"}, {"board": "othello", "position": "x" * 2000},
        {"board": "othello", "position": "8/7 X"}, {"board": "othello", "position": "5/5/5/5/5 X"},
        {"board": "tic-tac-toe", "position": f"{'/'.join(['25'] * 25)} X"},
    ],
)  # fmt: skip
def test_invalid_position_is_rejected(served: Served, position: dict[str, Any]) -> None:
    assert checked(served, 422, **position)["error"]
