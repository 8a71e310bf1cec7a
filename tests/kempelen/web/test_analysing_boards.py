"""The analysis of board games other than chess and Go."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kempelen.web.analyse import live_analysis
from kempelen.web.analyse.game_analysis import AnalysisError, load_games, load_position, parse_game
from kempelen.web.site_context import NO_RESOURCES
from tests.kempelen.web.support import Served
from tests.kempelen.web.test_analysing import Analysis

OTHELLO = {"game": "othello", "options": {"size": 4}, "moves": ["b1", "c1"]}
WRITTEN = {
    **OTHELLO,
    "players": ["Ann", "Bob"],
    "result": "1-0",
    "comment": "Small",
    "moves": ["b1", {"move": "a1", "nags": [2]}, {"move": "c1", "parent": 1, "comment": "Better"}],
}
# The side to move wins at once in column 4.
FOUR = "7/7/7/3X3/3X1O1/3X1OO X"


@pytest.fixture
def page(served: Served) -> Iterator[Analysis]:
    made = Analysis(served)
    yield made
    made.socket.close()


def loaded(text: Any) -> dict[str, Any]:
    (game,) = load_games(json.dumps(text))
    return game


def test_game_with_variations_is_loaded_and_written() -> None:
    game = loaded(WRITTEN)
    assert game["players"] == ["Ann", "Bob"]
    start, first, second = game["positions"]
    assert (start["comment"], start["rows"]) == ("Small", ["....", ".OX.", ".XO.", "...."])
    assert (first["move"], first["setup"]) == ("b1", "1X2/1XX1/1XO1/4 O")
    assert (second["move"], second["nags"]) == ("a1", [2])
    (branch,) = game["branches"]
    assert (branch["move"], branch["parent"], branch["comment"]) == ("c1", 1, "Better")
    assert loaded(json.loads(game["source"]))["branches"] == game["branches"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({**OTHELLO, "moves": ["a1"]}, "move 1: illegal move 'a1'"),
        ({**OTHELLO, "game": "chess"}, "game: unknown or unsupported"),
        ({**OTHELLO, "game": "nim"}, "game: unknown or unsupported"),
        ({**OTHELLO, "game": "os:path"}, "game: unknown or unsupported"),
        ({**OTHELLO, "options": {"size": 5}}, "board size must be even"),
        ({**OTHELLO, "options": {"position": "8/8 X"}}, "position: the board has 8 columns"),
        ({**OTHELLO, "moves": [{"move": "b1", "parent": 1}]}, "parent: must be from 0 to 0"),
        ({**OTHELLO, "players": ["Ann"]}, "players: must be two names"),
        ({**OTHELLO, "more": 1}, "more"),
        ([], "JSON"),
    ],
)
def test_damaged_game_is_refused(data: Any, message: str) -> None:
    with pytest.raises(AnalysisError, match=message.replace("(", r"\(")):
        load_games("{" if data == [] else json.dumps(data))


@pytest.mark.parametrize(
    "data", [{}, {"game": "othello"}, {**OTHELLO, "moves": 1}, {**OTHELLO, "options": []}]
)
def test_damaged_request_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(AnalysisError):
        parse_game(data)


def test_game_of_the_play_page_is_opened(served: Served) -> None:
    game = served.begin(game="tic-tac-toe", seconds=0.05)
    line = served.watch(game)
    assert line.turn()["analysable"]
    line.play("b2")
    line.close()
    described = json.loads(served.ask("GET", f"/games/{game}")[2])
    assert described["side"] == 0
    opened = loaded(json.loads(described["text"]))
    assert opened["moves"][0] == "b2"
    assert opened["players"] == ["Visitor", "Kempelen"]


def test_position_is_loaded_with_the_size_of_its_board() -> None:
    game = load_position("connect-four", FOUR, NO_RESOURCES)
    assert game["options"] == {"width": 7, "height": 6, "position": FOUR}
    assert game["positions"][0]["setup"] == FOUR
    for name, text in (("connect-four", "7/X X"), ("nim", "3 X"), ("go", FOUR)):
        with pytest.raises(AnalysisError):
            load_position(name, text, NO_RESOURCES)


def test_legal_moves_have_cells(page: Analysis) -> None:
    found = page.post("position", {**OTHELLO, "moves": []})
    assert [move["text"] for move in found["legal"]] == ["b1", "a2", "d3", "c4"]
    assert found["legal"][0]["path"] == [[0, 1]]
    checkers = {"game": "checkers", "options": {}, "moves": ["11-15"]}
    steps = page.post("position", checkers)["legal"]
    assert {"text": "21-17", "path": [[5, 0], [4, 1]]} in steps


def test_moves_are_played_in_the_tree(page: Analysis) -> None:
    longer = page.post("move", {"study": OTHELLO, "ply": 1, "move": "A1"})
    assert [entry.get("move") for entry in longer["positions"]] == [None, "b1", "a1"]
    page.post("move", {"study": OTHELLO, "ply": 1, "move": "d4"}, 422)


@pytest.mark.parametrize(
    "study",
    [
        {"game": "connect-four", "options": {"position": FOUR}, "moves": []},
        {"game": "tic-tac-toe", "options": {}, "moves": ["a1", "b1"]},
    ],
    ids=["compiled search", "Python search"],
)
def test_position_is_searched(page: Analysis, study: dict[str, Any]) -> None:
    page.send(kind="look", look=1, study=study, ply=len(study["moves"]), lines=3)
    found = page.hear("lines", "done")
    assert len(found["lines"]) == len({line["moves"][0] for line in found["lines"]}) == 3
    best = found["lines"][0]
    assert best["expected"] > 0.999
    assert best["arrow"]
    if study["game"] == "connect-four":
        assert best["moves"] == ["4"]


def test_finished_game_has_no_lines(page: Analysis) -> None:
    study = {"game": "connect-four", "options": {"position": FOUR}, "moves": ["4"]}
    page.send(kind="look", look=7, study=study, ply=1)
    assert page.hear("lines") == {"kind": "lines", "look": 7, "lines": [], "done": True}


def test_search_changes_from_one_game_to_another(
    page: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new search stops the one before it, which is of another game."""
    monkeypatch.setattr(live_analysis, "MAX_SECONDS", 600)
    chess = {"game": "chess", "start": None, "moves": []}
    for number, study in enumerate(
        (OTHELLO, {**OTHELLO, "options": {"size": 8}, "moves": []}, chess)
    ):
        page.send(kind="look", look=number, study=study, ply=len(study["moves"]))
        while page.hear("lines")["look"] != number:
            pass


def test_game_is_reviewed_and_exported(page: Analysis) -> None:
    text = {"game": "tic-tac-toe", "moves": ["a1", "b1", "b2", "c3", "a2", "a3", "c2"]}
    game = page.load_games(json.dumps(text))[0]
    page.send(kind="review", study=game, nodes=3000)
    review = page.hear("review", "finished")
    assert [move["move"] for move in review["moves"]] == text["moves"]
    assert [move["grade"] for move in review["moves"]][1] == "blunder"
    assert review["moves"][-1]["expected"] == 1.0
    changes = [{"parent": n - 1, "was": n} for n in range(8)]
    changes.append({"parent": 1, "was": None, "move": "b2", "comment": "The middle"})
    exported = page.post(
        "record",
        {
            "game": "tic-tac-toe", "source": game["source"], "tree": changes,
            "said": review["said"], "nodes": review["nodes"],
        },
    )  # fmt: skip
    assert exported["name"] == "analysed.json"
    again = loaded(json.loads(exported["text"]))
    assert again["event"] == "Kempelen, 3000 nodes a move"
    assert again["positions"][2]["nags"] == [4]
    assert "blunder: loses" in again["positions"][2]["comment"]
    own = [branch for branch in again["branches"] if branch.get("comment") == "The middle"]
    assert [branch["move"] for branch in own] == ["b2"]


def test_move_is_judged(page: Analysis) -> None:
    study = {"game": "connect-four", "options": {"position": FOUR}, "moves": []}
    judged = page.post("judge", {"study": study, "ply": 0, "move": "1"})
    assert (judged["grade"], judged["best"]) == ("blunder", "4")
    assert not page.post("judge", {"study": study, "ply": 0, "move": "4"})["grade"]


def test_deleted_moves_are_not_exported(page: Analysis) -> None:
    game = loaded(WRITTEN)
    changes = [{"parent": n - 1, "was": n} for n in range(2)]
    request = {"game": "othello", "source": game["source"], "tree": changes}
    exported = page.post("record", request)
    assert json.loads(exported["text"])["moves"] == ["b1"]
    illegal = [*changes, {"parent": 1, "was": None, "move": "d4"}]
    page.post("record", {**request, "tree": illegal}, 422)
