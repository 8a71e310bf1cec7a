"""Views of tournaments that are running, finished, or lost."""

import asyncio
import json
import sqlite3
import time

import pytest

from kempelen.match.game.adjudication import Adjudication
from kempelen.match.live.live_file import LiveFile, live_file_path, read_live_file
from kempelen.match.live.progress_curve import MAX_POINTS, append_point
from kempelen.match.live.tournament_views import LedgerView
from kempelen.match.records.ledger import Ledger, LedgerError
from tests.kempelen.match.support import engine, play, settings


def chosen(games=4):
    return settings(
        engine("none", name="A"),
        engine("none", name="B"),
        games=games,
        adjudication=Adjudication(maxmoves=6),
    )


class PollingListener:
    """Polls a view at every finished game."""

    def __init__(self, path):
        self.live = LiveFile(live_file_path(path))
        self.path = path
        self.view = None
        self.seen = []

    def __call__(self, event):
        self.live(event)
        name = type(event).__name__
        if name == "GameFinished":
            if self.view is None:
                self.view = LedgerView(self.path)
            self.view.poll()
            self.seen.append(len(self.view.games))


async def test_view_follows_running_and_finished_tournament(tmp_path):
    path = str(tmp_path / "run.sqlite")
    watching = PollingListener(path)
    finish, records = await play(chosen(), path=path, listeners=[watching])
    assert finish.complete
    assert watching.seen == [1, 2, 3, 4]
    view = watching.view
    for _ in range(100):  # until the live file is written
        await asyncio.sleep(0.05)
        view.poll()
        if view.state.status.get("state") == "complete" and view.state.boards:
            break
    board = view.state.boards[0]
    assert board["moves"]
    assert board["white_clock"] is None
    watching.live.close()
    late = LedgerView(path)
    for each in (view, late):
        each.poll()
        assert list(each.games) == [f"{r.pair}.{r.game}" for r in records]
        assert each.state.status["state"] == "complete"
        assert each.state.status["game"] == {"name": "chess", "options": {}}
        assert each.state.standings["played"] == 4
        points = each.state.snapshots["curve"]["points"]
        assert [point["played"] for point in points][-1] == 4
        assert len(points[-1]["elo"]) == 2
        assert (each.runner, each.problem) == ("", "")


async def test_view_reports_interrupted_damaged_and_lost_runs(tmp_path, monkeypatch):
    path = str(tmp_path / "run.sqlite")
    await play(chosen(2), path=path)
    more = chosen(6)
    ledger = Ledger(path)
    ledger.begin(more, resume=True)
    ledger.close()
    view = LedgerView(path)
    view.poll()
    assert view.state.status["state"] == "interrupted"
    with sqlite3.connect(path) as database:
        database.execute("UPDATE game SET record = '{' WHERE game = 1")
    database.close()
    damaged = LedgerView(path)
    damaged.poll()
    assert list(damaged.games) == ["1.1-2.1.2"]
    assert "game 1.1-2.1.1 is damaged" in damaged.problem
    live_path = live_file_path(path)
    status = {"name": more.name, "state": "running"}
    live_path.write_text(json.dumps({"time": 0, "snapshots": {"status": status}}), "utf-8")
    view.poll()
    assert view.runner == "lost"
    live_path.write_text("{", "utf-8")
    assert read_live_file(live_path) is None
    assert read_live_file(tmp_path / "none") is None


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("number", ["9" * 400, "Infinity"])
async def test_number_that_overflows_is_damage(tmp_path, number):
    path = str(tmp_path / "run.sqlite")
    await play(chosen(2), path=path)
    with sqlite3.connect(path) as database:
        database.execute(
            "UPDATE game SET record = replace(record, '\"cp\":0', ?) WHERE game = 1",
            (f'"cp":{number}',),
        )
    database.close()
    view = LedgerView(path)
    view.poll()
    assert "game 1.1-2.1.1 is damaged" in view.problem
    ledger = Ledger(path)
    ledger.begin(chosen(2), resume=True)
    with pytest.raises(LedgerError, match=r"game 1\.1-2\.1\.1 is damaged"):
        list(ledger.records())
    ledger.close()
    live = f'{{"time": {time.time()}, "snapshots": {{"boards/1": {{"white_clock": {number}}}}}}}'
    live_file_path(path).write_text(live, "utf-8")
    assert read_live_file(live_file_path(path)) is None


def test_invalid_ledger_is_rejected(tmp_path):
    with pytest.raises(LedgerError, match="file not found"):
        LedgerView(str(tmp_path / "none"))
    (tmp_path / "text").write_text("x" * 2000, "utf-8")
    with pytest.raises(LedgerError, match="not a database"):
        LedgerView(str(tmp_path / "text"))


def test_curve_length_is_limited():
    points = []
    for played in range(3 * MAX_POINTS):
        points = append_point(points, {"played": played})
        points = append_point(points, {"played": played})
    assert len(points) <= MAX_POINTS + 1
    assert points[0] == {"played": 0}
    assert points[-1] == {"played": 3 * MAX_POINTS - 1}
