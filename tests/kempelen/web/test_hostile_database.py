"""A file of games that is damaged, full, or somebody else's: games go on, and errors say why."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kempelen.cli import main
from kempelen.web.database import Database, DatabaseError
from kempelen.web.play import archive
from kempelen.web.play.archive import Archive, GameSearch, SavedGame
from kempelen.web.play.setup import GameSetup
from tests.kempelen.web.support import Served, serving

FORM = {"game": "tic-tac-toe", "seconds": 0.02}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "web.sqlite"


@pytest.fixture
def served(path: Path) -> Iterator[Served]:
    with serving(path) as server:
        yield server


@pytest.mark.parametrize(
    ("hostile", "message"),
    [
        ("CREATE TABLE played (x)", "not a file of games: it contains 'played'"),
        (
            "CREATE VIEW played AS WITH RECURSIVE endless (x) AS "
            "(SELECT 1 UNION ALL SELECT x FROM endless) SELECT x AS id FROM endless",
            "not a file of games: it contains 'played'",
        ),
        ("CREATE TABLE other (x)", "not a file of games: it contains 'other'"),
        (
            "CREATE TABLE visitors (digest TEXT PRIMARY KEY, name TEXT, until REAL) STRICT; "
            "CREATE TRIGGER let_in AFTER DELETE ON visitors BEGIN "
            "INSERT INTO visitors VALUES ('0', 'root x', 9e9); END",
            "not a file of games: it contains 'let_in'",
        ),
    ],
    ids=["table", "view", "other", "trigger"],
)
def test_file_with_statements_of_others_is_rejected(
    path: Path, hostile: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(path) as database:
        database.executescript(hostile)
    database.close()
    with pytest.raises(DatabaseError, match=message):
        Database(path)
    line = ["web", "--no-browser", "--address", "127.0.0.1:0", "--games", str(path)]
    assert main(line) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"no database" * 100, b"SQLite format 3\0" + bytes(5000)])
def test_other_or_damaged_file_is_rejected_and_kept(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DatabaseError, match="use --games FILE for another file"):
        Database(path)
    assert path.read_bytes() == content


def test_damaged_page_of_the_file_is_found(path: Path) -> None:
    database = Database(path)
    for number in range(500):
        database.execute(
            "INSERT INTO played (id, owner) VALUES (?, ?)", f"{number}" * 20, "owner" * 20
        )
    database.close()
    content = bytearray(path.read_bytes())
    content[4096 * 5 : 4096 * 8] = b"\x07" * 4096 * 3
    path.write_bytes(content)
    with pytest.raises(DatabaseError, match="use --games FILE for another file"):
        Database(path)


ODD = [
    "",
    "x",
    "[",
    "{}",
    "[1]",
    '{"game": 5, "x": 1}',
    "[[]]",
    "9" * 5000,
    "NaN",
    "[1e999, 1]",
    '{"game": "no-such-game"}',
    '{"game": "go", "options": {"size": 5000}}',
    "[" * 100_000,
]


def test_damaged_games_do_not_harm_others(served: Served) -> None:
    good = served.begin(**FORM)
    for column in ("setup", "moves", "clocks", "result", "termination", "began"):
        for number, value in enumerate((1e308, -1e308) if column == "began" else (None, *ODD)):
            bad = f"{column}{number}"
            served.site.database.execute(
                "INSERT INTO played SELECT ?, owner, setup, moves, clocks, result, termination, "
                "detail, began, changed FROM played WHERE id = ?", bad, good,
            )  # fmt: skip
            served.site.database.execute(f"UPDATE played SET {column} = ? WHERE id = ?", value, bad)
            for path in (f"/games/{bad}/record", f"/games/{bad}/at/0"):
                assert served.ask("GET", path)[0] in (200, 404), (column, value)
    status, _, text = served.ask("GET", "/games")
    assert status == 200
    assert good in [game["id"] for game in json.loads(text)]
    assert not [line for line in served.log if "path=" in line]  # an internal error


def test_game_goes_on_and_is_saved_when_a_full_disk_has_room_again(served: Served) -> None:
    name, database = served.begin(**FORM), served.site.database

    def saved_moves() -> int:
        return len(json.loads(database.fetch_all("SELECT moves FROM played")[0][0]))

    database.execute(
        "CREATE TEMP TRIGGER full BEFORE INSERT ON played BEGIN "
        "SELECT RAISE(ABORT, 'database or disk is full'); END"
    )
    line = served.watch(name)
    line.hear("game")
    line.send(do="move", move="a1")
    while line.hear("game")["ply"] < 2:  # the answer too
        pass
    assert saved_moves() == 0
    assert any("not saved: database or disk is full" in each for each in served.log)
    database.execute("DROP TRIGGER full")
    line.send(do="resign")
    while not line.hear("game")["result"]:
        pass
    assert saved_moves() >= 2


def test_rows_of_the_archive_are_read_back(path: Path) -> None:
    archive = Archive(Database(path))
    assert archive.find("unknown") is None
    assert archive.list_games("-") == []


def test_search_skips_damaged_games_and_reads_no_moves_of_others(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(path)
    games = Archive(database)
    for name, game in (("a", "go"), ("b", "tic-tac-toe"), ("c", "go"), ("d", "go"), ("e", "go")):
        games.save(SavedGame(name, "-", GameSetup(game=game, side=0)))
    for name, setup in (("c", "[1]"), ("d", '{"level": []}'), ("e", "{")):
        database.execute("UPDATE played SET setup = ? WHERE id = ?", setup, name)
    read: list[str] = []
    original = archive._read

    def note(row: tuple[Any, ...]) -> SavedGame:
        read.append(row[0])
        return original(row)

    monkeypatch.setattr(archive, "_read", note)
    assert [game.id for game in games.list_games("-", GameSearch(game="go"))] == ["a"]
    assert read == ["a"]
    database.close()
