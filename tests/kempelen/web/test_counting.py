"""Counting a game of Go: territory, points, disputed stones, and playing on."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kempelen.web.play.archive import Archive, SavedGame
from kempelen.web.play.boards import GoGame, initial_game, replay_game
from kempelen.web.play.setup import RULES, parse_setup
from kempelen.web.site_context import SiteResources
from tests.kempelen.web.support import Line, Served, serving

# Two walls. Black's stone at A1 is dead behind White's, but a player may disagree.
MOVES = [f"{column}{row}" for row in range(1, 8) for column in "DC"] + ["A1", "pass", "pass"]


def game(rules: str = "chinese", moves: list[str] = MOVES) -> GoGame:
    form = {"game": "go", "options": {"size": 7, "komi": 0.5}, "rules": rules}
    made = initial_game(parse_setup(form, SiteResources()))
    assert isinstance(made, GoGame)
    for move in moves:
        made.play(move)
    return made


@pytest.mark.parametrize("rules", RULES)
def test_points_shown_are_those_of_the_result(rules: str) -> None:
    board = game(rules)
    count = board.view()["count"]
    black, white = count["total"]
    assert black - white == board.result()
    assert count["owners"].count(1) == count["territory"][0]
    assert count["owners"].count(-1) == count["territory"][1]
    assert ("prisoners" in count) == board.rules.territory
    assert ("stones" in count) == (not board.rules.territory)
    assert count["disputable"] == (rules != "tromp-taylor")


def test_game_in_progress_has_no_count() -> None:
    assert game(moves=MOVES[:-1]).view()["count"] is None


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_disputed_chain_changes_the_count_and_back(rules: str) -> None:
    board = game(rules)
    before = board.view()
    assert before["dead"] == ["A1"]
    board.flip_dead("A1")
    assert board.view()["dead"] == []
    assert board.result() > before["count"]["total"][0] - before["count"]["total"][1]
    changed = board.view()["count"]["total"]
    assert changed[0] - changed[1] == board.result()
    board.flip_dead("A1")
    assert board.view()["dead"] == ["A1"]
    assert board.view()["count"] == before["count"]
    board.flip_dead("D1")  # the whole chain
    assert set(board.view()["dead"]) == {"A1", *(f"D{row}" for row in range(1, 8))}


def test_empty_point_cannot_be_disputed() -> None:
    with pytest.raises(ValueError, match="no stone"):
        game().flip_dead("A2")
    with pytest.raises(ValueError, match="no stone"):
        game().flip_dead("Z99")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "web.sqlite"


@pytest.fixture
def served(store: Path) -> Iterator[Served]:
    with serving(store) as server:
        yield server


def finish(served: Served, rules: str = "chinese") -> tuple[str, Line]:
    """Store a game that ends by two passes, and open it."""
    form = {"game": "go", "options": {"size": 7, "komi": 0.5}, "rules": rules}
    saved = SavedGame("counted", "-", parse_setup(form, SiteResources()), list(MOVES))
    saved.game_result = game(rules).game_result()
    Archive(served.site.database).save(saved)
    line = served.watch(saved.id)
    line.turn()
    return saved.id, line


def dispute(line: Line, point: str) -> dict[str, Any]:
    line.send(do="dead", point=point)
    return line.hear("game")


def test_decision_on_dead_stones_is_kept_and_changes_result_and_record(
    served: Served, store: Path
) -> None:
    name, line = finish(served)
    before = line.game["detail"]
    state = dispute(line, "A1")
    assert state["board"]["dead"] == []
    assert state["detail"] != before
    record = served.ask("GET", f"/games/{name}/record")[2]
    assert f"RE[{state['detail']}]" in record
    (black, white) = (re.findall(rf"{name}((?:\[\w\w\]\s*)+)", record) for name in ("TB", "TW"))
    assert (black[0].count("["), white) == (21, [])
    line.close()
    with serving(store) as again:
        line = again.watch(name)
        assert line.turn()["board"]["dead"] == []
        assert line.game["detail"] == state["detail"]
        last = json.loads(again.ask("GET", f"/games/{name}/at/{len(MOVES)}")[2])
        assert last["board"]["count"] == state["board"]["count"]
        assert dispute(line, "A1")["detail"] == before
        line.close()


def test_disagreement_is_played_out(served: Served) -> None:
    name, line = finish(served)
    dispute(line, "A1")
    line.send(do="resume")
    state = line.hear("game")
    assert (state["result"], state["ply"]) == ("", len(MOVES) - 2)
    assert state["board"]["count"] is None
    saved = Archive(served.site.database).find(name)
    assert saved is not None
    assert (saved.dead, saved.game_result) == (None, None)
    line.send(do="dead", point="A1")
    assert line.hear("error")["text"] == "the game is not being counted"
    line.close()


@pytest.mark.parametrize("point", ["A2", "", 5, None, "Z9", "pass", "x" * 9999])
def test_bad_point_is_refused(served: Served, point: Any) -> None:
    _, line = finish(served)
    line.send(do="dead", point=point)
    assert line.hear("error")["text"] == "there is no stone at this point"
    assert line.hear("game")["board"]["dead"] == ["A1"]
    line.close()


def test_only_the_player_may_decide(served: Served) -> None:
    form = {"game": "go", "options": {"size": 7}}
    saved = SavedGame("other", "somebody", parse_setup(form, SiteResources()), list(MOVES))
    saved.game_result = game().game_result()
    Archive(served.site.database).save(saved)
    line = served.watch("other")
    line.turn()
    line.send(do="dead", point="A1")
    line.send(do="resume")
    again = served.watch("other")
    assert again.turn()["board"]["dead"] == ["A1"]
    again.close()
    line.close()


def test_game_that_was_resigned_is_not_counted(served: Served) -> None:
    line = served.watch(served.begin(game="go", options={"size": 7}))
    line.turn()
    line.send(do="resign")
    line.hear("game")
    line.send(do="resume")
    assert line.hear("error")["text"] == "the game is not being counted"
    line.close()


def test_damaged_decision_is_reported_as_unplayable(served: Served) -> None:
    name, line = finish(served)
    line.close()
    for text in ("5", "[[]]", "nonsense"):
        served.site.database.execute("UPDATE dead_stones SET stones = ?", text)
        with pytest.raises(ValueError, match="damaged"):
            Archive(served.site.database).find(name)
    with pytest.raises(ValueError, match="invalid vertex"):
        replay_game(parse_setup({"game": "go"}, SiteResources()), [], ["Z99"])
