"""A ledger that cannot be written or read: no game is lost, and errors name the cause."""

import asyncio
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kempelen.cli import main
from kempelen.console.settings_codec import SettingsError
from kempelen.match import runner
from kempelen.match.live.events import GameFinished, Notice, Status
from kempelen.match.records.game_record import to_pgn
from kempelen.match.records.ledger import Ledger, LedgerError, saved_settings
from kempelen.match.records.record_file import RecordFile
from kempelen.match.runner import LocalExecutor, Runner
from tests.kempelen.match.support import play, quick_settings
from tests.kempelen.test_match import match
from tests.systems import module_or_skip, posix_only

resource = module_or_skip("resource")


@pytest.fixture(autouse=True)
def short_retry(monkeypatch):
    monkeypatch.setattr(runner, "LEDGER_RETRY", 0.05)


@pytest.fixture
def ledger(finished, tmp_path):
    return shutil.copy(finished, tmp_path / "run.sqlite")


async def run(path, chosen, prepare, listen, *, resume=False):
    """Play a tournament with a prepared ledger; return the result and the records."""
    ledger = Ledger(str(path))
    try:
        ledger.begin(chosen, resume=resume)
        prepare(ledger)
        finish = await Runner(chosen, ledger, [listen]).run(LocalExecutor(chosen))
        return finish, list(ledger.records())
    finally:
        ledger.close()


async def test_games_wait_while_another_program_locks_the_ledger(tmp_path):
    path = tmp_path / "run.sqlite"
    connections = []
    notices = []

    def lock(ledger):
        connections.append(sqlite3.connect(path, isolation_level=None))
        connections[0].execute("BEGIN IMMEDIATE")

    def listen(event):
        if isinstance(event, Notice):
            notices.append(event.text)
            if "retrying" in event.text:
                asyncio.get_running_loop().call_later(0.3, connections[0].execute, "COMMIT")

    finish, records = await run(path, quick_settings(games=3), lock, listen)
    connections[0].close()
    assert finish.complete
    assert len(records) == len({(record.pair, record.game) for record in records}) == 3
    assert len(notices) == 2
    assert "database is locked; in use by another program" in notices[0]
    assert "can be written again" in notices[1]
    assert sorted(file.name for file in tmp_path.glob("run.sqlite*")) == [
        "run.sqlite",
        "run.sqlite.lock",
    ]


def fill(kept):
    """Limit the ledger to its current size."""
    pages = kept._connection.execute("PRAGMA page_count").fetchone()[0]
    kept._connection.execute(f"PRAGMA max_page_count={pages}")


def fill_and_obstruct(kept):
    """Limit the ledger to its current size, and block the file of pending games."""
    fill(kept)
    Path(kept.pending_path).mkdir()


@pytest.mark.thorough
async def test_games_wait_for_free_disk_space(tmp_path):
    path = tmp_path / "run.sqlite"
    full = []

    def prepare(kept):
        full.append(kept)
        fill(kept)

    def listen(event):
        if isinstance(event, Notice) and "retrying" in event.text:
            full[0]._connection.execute("PRAGMA max_page_count=100000")

    finish, records = await run(path, quick_settings(games=12), prepare, listen)
    assert full
    assert finish.complete
    assert len(records) == 12


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("end", ["patience", "interruption"])
async def test_unwritten_games_are_saved_beside_ledger_and_resumed(tmp_path, monkeypatch, end):
    path = tmp_path / "run.sqlite"
    monkeypatch.setattr(runner, "LEDGER_TIMEOUT", 0.3 if end == "patience" else 60)
    playing = asyncio.current_task()
    notices = []

    def listen(event):
        if isinstance(event, Notice):
            notices.append(event.text)
            if end == "interruption" and "retrying" in event.text:
                asyncio.get_running_loop().call_soon(task.cancel)

    assert playing is not None
    task = asyncio.create_task(run(path, quick_settings(games=16), fill, listen))
    if end == "patience":
        assert (await task)[0].status is Status.FAILED
    else:
        with pytest.raises(asyncio.CancelledError):
            await task
    pending_path = tmp_path / "run.sqlite.unwritten"
    kept = [json.loads(line)["record"] for line in pending_path.read_text().splitlines()]
    assert len(kept) == 1
    assert f"1 finished game could not be written: saved in {pending_path}" in notices[-1]
    assert "database or disk is full; the disk is full" in notices[-1]
    with pytest.raises(LedgerError, match=r"use --resume to (continue|import)"):
        await play(quick_settings(games=16), path=str(path))
    played = []
    finish, records = await run(
        path, quick_settings(games=16), lambda kept: None,
        lambda event: played.append(event) if isinstance(event, GameFinished) else None,
        resume=True,
    )  # fmt: skip
    assert finish.complete
    assert len(records) == len({(record.pair, record.game) for record in records}) == 16
    taken = next(
        record
        for record in records
        if (record.pair, record.game) == (kept[0]["pair"], kept[0]["game"])
    )
    assert (taken.started, taken.duration) == (kept[0]["started"], kept[0]["duration"])
    assert taken not in [event.record for event in played]
    assert not pending_path.exists()


@pytest.mark.thorough
async def test_games_that_cannot_be_saved_anywhere_are_replayed(tmp_path, monkeypatch):
    path = tmp_path / "run.sqlite"
    monkeypatch.setattr(runner, "LEDGER_TIMEOUT", 0.2)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    finish, _ = await run(path, quick_settings(games=16), fill_and_obstruct, lambda event: None)
    assert finish.status is Status.FAILED
    assert re.search(r"could not be saved .*will be replayed", finish.reason)
    (tmp_path / "run.sqlite.unwritten").rmdir()
    finish, records = await play(quick_settings(games=16), path=str(path), resume=True)
    assert finish.complete
    assert len(records) == 16


async def test_unwritten_games_fall_back_to_temporary_folder(tmp_path, monkeypatch):
    path, elsewhere = tmp_path / "run.sqlite", tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    monkeypatch.setattr(runner, "LEDGER_TIMEOUT", 0.2)
    finish, _ = await run(path, quick_settings(games=16), fill_and_obstruct, lambda event: None)
    assert finish.status is Status.FAILED
    assert re.search(r"move it to .*run.sqlite.unwritten before", finish.reason)
    (kept,) = elsewhere.iterdir()
    assert str(os.getpid()) not in kept.name  # others can write to this folder
    pending_path = tmp_path / "run.sqlite.unwritten"
    pending_path.rmdir()
    kept.rename(pending_path)
    again = Ledger(str(path))
    again.begin(quick_settings(games=16), resume=True)
    assert len(list(again.records())) >= 1
    again.close()
    assert not (tmp_path / "run.sqlite.unwritten").exists()


def test_unwritten_games_of_other_tournaments_are_preserved(tmp_path, finished):
    path = str(tmp_path / "run.sqlite")
    source = Ledger(str(finished))
    source.begin(quick_settings(games=4), resume=True)
    first, second = list(source.records())[:2]
    source.close()
    for name, record in [("match", first), ("other", second)]:
        kept = Ledger(path)
        kept.begin(quick_settings(name=name, games=4), resume=False)
        kept.save_pending([record])
        kept.close()
    for name, record in [("match", first), ("other", second)]:
        kept = Ledger(path)
        kept.begin(quick_settings(name=name, games=4), resume=True)
        assert list(kept.records()) == [record]
        kept.close()
    assert not (tmp_path / "run.sqlite.unwritten").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"tournament": "match", "record": 1}', "\\xff"])
def test_damaged_unwritten_games_file_is_reported(tmp_path, ledger, text):
    (tmp_path / "run.sqlite.unwritten").write_text(text)
    kept = Ledger(str(ledger))
    with pytest.raises(LedgerError, match=r"unwritten.*repair or remove it"):
        kept.begin(quick_settings(games=4), resume=True)
    kept.close()


def test_invalid_ledger_paths_are_rejected(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "locked.lock").mkdir()
    for path, message in [
        (folder, "not a regular file"),
        ("/dev/null", "not a regular file"),
        (tmp_path / "locked", "locked cannot be locked: Is a directory"),
        (tmp_path / ("x" * 300), "File name too long"),
        (tmp_path / "ledger" / "below", "folder not found"),
    ]:
        with pytest.raises(LedgerError, match=message):
            Ledger(str(path)).begin(quick_settings(), resume=False)


def test_symlinked_ledger_keeps_link_and_locks_target(tmp_path):
    path, link = tmp_path / "run.sqlite", tmp_path / "folder" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(path)
    kept = Ledger(str(link))
    kept.begin(quick_settings(), resume=False)
    with pytest.raises(LedgerError, match="in use by another runner"):
        Ledger(str(path))
    kept.close()
    assert link.is_symlink()
    assert path.stat().st_size > 0
    assert list(link.parent.iterdir()) == [link]


def read_all(path):
    """Do what a resumed run does first."""
    kept = Ledger(str(path))
    try:
        kept.begin(quick_settings(games=4), resume=True)
        RecordFile(f"{path}.pgn", kept, lambda game: to_pgn(game, "match")).close()
    finally:
        kept.close()


SET = "UPDATE game SET record = "
DAMAGES = {
    "no JSON": SET + "'no'",
    "no object": SET + "'[1]'",
    "deep": SET + "printf('%.*c', 100000, '[')",
    "an unknown word": SET + "json_set(record, '$.x', 1)",
    "a missing word": SET + "json_remove(record, '$.fen')",
    "another pair": SET + "json_set(record, '$.pair', '1.1-2.9')",
    "no pair": SET + "json_set(record, '$.pair', 'x'), pair = 'x'",
    "other players": SET + "json_set(record, '$.pair', '1.1-9.1'), pair = '1.1-9.1'",
    "a third game": SET + "json_set(record, '$.game', 3), game = 3",
    "another name": SET + "json_set(record, '$.white', 'x')",
    "a result": SET + "json_set(record, '$.result', '2-0')",
    "a move": SET + "json_set(record, '$.moves[0].move', 'e2e9')",
    "a position": SET + "json_set(record, '$.fen', 'x')",
}


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("damage", DAMAGES)
async def test_damaged_record_error_includes_repair_statement(ledger, tmp_path, damage):
    with sqlite3.connect(ledger) as database:
        database.execute(f"{DAMAGES[damage]} WHERE rowid = 2")
    database.close()
    with pytest.raises(LedgerError, match=r"the record of game .* is damaged") as raised:
        read_all(ledger)
    statement = str(raised.value).rsplit('"', 2)[1]
    with sqlite3.connect(ledger) as database:
        assert database.execute(statement).rowcount == 1
    database.close()
    finish, records = await play(quick_settings(games=4), path=str(ledger), resume=True)
    assert finish.complete
    assert len(records) == 4


@pytest.mark.parametrize("text", ["no", "{}", "[]", "1", '{"engines": 1}'])
def test_damaged_ledger_settings_are_reported(ledger, text):
    with sqlite3.connect(ledger) as database:
        database.execute("UPDATE tournament SET settings = ?", (text,))
    database.close()
    kept = Ledger(str(ledger))
    with pytest.raises(LedgerError, match="invalid settings"):
        kept.begin(quick_settings(games=4), resume=True)
    kept.close()


@pytest.mark.thorough
def test_bit_flips_in_ledger_raise_clear_errors(finished, tmp_path):
    whole = finished.read_bytes()
    generator = random.Random(5)
    named = []
    for number in range(150):
        path = tmp_path / str(number)
        data = bytearray(whole)
        for _ in range(generator.choice([1, 1, 8, 200])):
            # Damage the header and the schema as often as the rest.
            place = generator.randrange(generator.choice([100, 4096, len(data)]))
            data[place] ^= 1 << generator.randrange(8)
        path.write_bytes(data)
        try:
            read_all(path)
        except LedgerError as error:
            named.append(str(path) in str(error))
        except SettingsError as error:
            named.append("different settings" in str(error))
    assert len(named) > 50
    assert all(named)


def emptied(path, how):
    if how == "no bytes":
        path.write_bytes(b"")
    elif how == "no tournament":
        with sqlite3.connect(path) as database:
            database.execute("DELETE FROM game")
            database.execute("DELETE FROM tournament")
        database.close()
    else:
        path.rename(f"{path}-wal")


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("how", ["no bytes", "no tournament", "only its log"])
def test_resume_rejects_emptied_ledger(ledger, capsys, how):
    emptied(ledger, how)
    assert match("--games", 4, "--ledger", ledger, "--resume") == 2
    assert "the file is empty, so --resume has nothing to continue" in capsys.readouterr().err
    assert match("--games", 2, "--ledger", ledger) == 0


def test_resume_without_ledger_does_not_overwrite_pgn(tmp_path, capsys):
    ledger, games = tmp_path / "run.sqlite", tmp_path / "games.pgn"
    line = ["--games", 2, "--ledger", ledger, "--pgn", games, "--resume"]
    assert match(*line) == 0
    assert "resuming after 0 games" in capsys.readouterr().err
    text = games.read_text()
    ledger.unlink()
    assert match(*line) == 2
    assert "has games, but the ledger has none" in capsys.readouterr().err
    assert games.read_text() == text


def test_resume_works_after_kill_during_ledger_creation(tmp_path):
    (tmp_path / "run.sqlite.new").write_bytes(b"half of a ledger")
    assert match("--ledger", tmp_path / "run.sqlite", "--resume") == 0


def test_game_file_is_repaired_on_close_after_write_error(ledger, tmp_path):
    path = tmp_path / "games.pgn"
    kept = Ledger(str(ledger))
    kept.begin(quick_settings(games=4), resume=True)
    games = RecordFile(str(path), kept, lambda game: to_pgn(game, "match"))
    whole = path.read_text()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole.encode()) + 100, limits[1]))
    try:
        games.add(next(kept.records()))
        assert games.problem == f"file of games {path}: File too large"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    games.close()
    assert games.problem == ""
    assert path.read_text() == whole
    kept.close()


@pytest.mark.parametrize(
    ("name", "message"),
    [("folder", "is a folder"), ("/dev/null", "/dev/null: not a regular file")],
)
def test_game_file_must_be_regular_file(tmp_path, capsys, name, message):
    (tmp_path / "folder").mkdir()
    assert match("--pgn", tmp_path / name) == 2
    assert message in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_output_write_error_gives_exit_status_1():
    with open("/dev/full", "w") as full:
        line = [sys.executable, "-m", "kempelen.cli", "match", "sprt", "1", "2", "3", "--json"]
        run = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 1
    assert run.stderr == "kempelen match sprt: [Errno 28] No space left on device\n"


def test_damaged_record_error_is_shown_without_traceback(ledger, capsys):
    with sqlite3.connect(ledger) as database:
        database.execute(f"{DAMAGES['no JSON']} WHERE rowid = 2")
        (text,) = database.execute("SELECT settings FROM tournament").fetchone()
    database.close()
    assert json.loads(text)["games"] == 4
    assert match("--ledger", ledger.with_name("new"), "--games", 2) == 0
    with sqlite3.connect(ledger.with_name("new")) as database:
        database.execute("UPDATE game SET record = 'no'")
    database.close()
    assert match("--ledger", ledger.with_name("new"), "--games", 2, "--resume") == 2
    error = capsys.readouterr().err
    assert "is damaged" in error
    assert "Traceback" not in error
    assert main(["match", "--ledger", str(ledger)]) == 2


@pytest.mark.parametrize(
    "hostile",
    [
        "CREATE TRIGGER forget AFTER INSERT ON game BEGIN DELETE FROM game; END",
        "ALTER TABLE tournament RENAME TO old; CREATE VIEW tournament AS WITH RECURSIVE "
        "endless (x) AS (SELECT 1 UNION ALL SELECT x FROM endless) "
        "SELECT 'a' AS name, 'b' AS settings, 'c' AS created FROM endless WHERE x > 1",
    ],
    ids=["trigger", "view"],
)
def test_ledger_with_statements_of_others_is_rejected(ledger, hostile):
    """They would delete games, or run without end."""
    with sqlite3.connect(ledger) as database:
        database.executescript(hostile)
    database.close()
    with pytest.raises(LedgerError, match=r"not a ledger: it contains '(forget|old|tournament)'"):
        Ledger(str(ledger))
    with pytest.raises(LedgerError, match="not a ledger"):
        saved_settings(str(ledger))


@posix_only("the name of SQLite's file system layer")
async def test_ledger_works_without_write_ahead_log(tmp_path, monkeypatch):
    connect = sqlite3.connect

    def connect_without_shared_memory(path, **options):
        return connect(f"file:{path}?vfs=unix-none", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", connect_without_shared_memory)
    path = tmp_path / "run.sqlite"
    finish, _ = await run(path, quick_settings(games=2), lambda kept: None, lambda event: None)
    assert finish.complete
    kept = Ledger(str(path))
    assert not path.with_name("run.sqlite-wal").exists()
    kept.close()
