"""No game is lost if files of a run are removed, replaced or shared with another run."""

import json
import os
import shutil
from pathlib import Path

import pytest

from kempelen.match import runner
from kempelen.match.live.events import GameFinished, Notice, Status
from kempelen.match.records.game_record import to_pgn
from kempelen.match.records.ledger import Ledger, LedgerError
from kempelen.match.records.pending_records import PendingRecords
from kempelen.match.records.record_file import RecordFile
from kempelen.match.runner import LocalExecutor, Runner
from tests.kempelen.match.support import quick_settings
from tests.kempelen.test_match import match
from tests.systems import posix_only

pytestmark = posix_only("Windows does not let others remove an open file")


@pytest.fixture
def ledger(finished, tmp_path):
    kept = Ledger(shutil.copy(finished, tmp_path / "run.sqlite"))
    kept.begin(quick_settings(games=4), resume=True)
    yield kept
    kept.close()


def pgn(record):
    return to_pgn(record, "match")


def test_second_run_with_the_same_file_of_games_is_refused(tmp_path, ledger, capsys):
    path = tmp_path / "games.pgn"
    file = RecordFile(str(path), ledger, pgn)
    text = path.read_text()
    path.unlink()  # as before the first run's first game
    for resume in ([], ["--ledger", tmp_path / "other", "--resume"]):
        assert match("--pgn", path, *resume) == 2
        assert "games.pgn is in use by another run (use another name)" in capsys.readouterr().err
    file.close()
    assert path.read_text() == text
    path.unlink()
    assert match("--pgn", path) == 0
    assert path.read_text().count("[Event ") == 2


def remove(path):
    path.unlink()


def truncate(path):
    path.write_text("")


def save_with_editor(path):
    """Replace the file by an edited copy."""
    edited = path.with_name("edited")
    edited.write_text(path.read_text().replace("[Site", "[Place", 1))
    edited.rename(path)


@pytest.mark.parametrize("harm", [remove, truncate, save_with_editor])
@pytest.mark.parametrize("at_the_end", [False, True])
def test_changed_file_of_games_is_written_again(tmp_path, ledger, capsys, harm, at_the_end):
    path = tmp_path / "games.pgn"
    games = "".join(map(pgn, ledger.records()))
    file = RecordFile(str(path), ledger, pgn)
    harmed = path.read_text()
    harm(path)
    if not at_the_end:
        file.add(list(ledger.records())[-1])
    file.close()
    assert path.read_text() == games
    assert file.problem == ""
    assert "changed by another program; writing it again" in capsys.readouterr().err
    kept = tmp_path / "games.pgn.1"
    if harm is save_with_editor:
        assert kept.read_text() == harmed.replace("[Site", "[Place", 1)
    else:
        assert not kept.exists()


def test_resume_keeps_games_of_another_run(tmp_path, capsys):
    path = tmp_path / "games.pgn"
    ours, other = (["--ledger", tmp_path / name, "--games", 2] for name in ("ours", "other"))
    assert match(*ours) == 0
    assert match(*other, "--name", "another", "--pgn", path) == 0
    text = path.read_text()
    assert match(*ours, "--pgn", path, "--resume") == 0
    assert f"its earlier content is now in {path}.1" in capsys.readouterr().err
    assert (tmp_path / "games.pgn.1").read_text() == text
    assert path.read_text().count('[Event "match"]') == 2
    assert match(*ours, "--pgn", path, "--resume") == 0
    assert not (tmp_path / "games.pgn.2").exists()


@pytest.mark.parametrize("resumable", [False, True])
def test_lost_file_of_games_gives_exit_status_1(tmp_path, capsys, monkeypatch, resumable):
    path = tmp_path / "folder" / "games.pgn"
    path.parent.mkdir()
    add = RecordFile.add

    def remove_and_add(file, record):
        shutil.rmtree(path.parent, ignore_errors=True)
        add(file, record)

    monkeypatch.setattr(RecordFile, "add", remove_and_add)
    line = ["--pgn", path, *(["--ledger", tmp_path / "ledger"] if resumable else [])]
    assert match(*line) == 1
    error = capsys.readouterr().err
    assert "games.pgn: No such file or directory; " in error
    hint = "use --resume to continue" if resumable else "the games not in it are lost"
    assert error.rstrip().endswith(hint)


async def run(path, listen, *, resume=False):
    """Play six games; return the result and the records."""
    chosen = quick_settings(games=6)
    ledger = Ledger(str(path))
    try:
        ledger.begin(chosen, resume=resume)
        return await Runner(chosen, ledger, [listen]).run(LocalExecutor(chosen))
    finally:
        ledger.close()


def games_in(path):
    ledger = Ledger(str(path))
    try:
        ledger.begin(quick_settings(games=6), resume=True)
        return [(record.pair, record.game) for record in ledger.records()]
    finally:
        ledger.close()


@pytest.mark.parametrize("pattern", ["run.sqlite", "run.sqlite*"])
@pytest.mark.parametrize("after", [1, 6])
async def test_removed_ledger_is_written_again(tmp_path, capsys, pattern, after):
    path = tmp_path / "run.sqlite"
    numbers = iter(range(1, 7))

    def remove(event):
        if isinstance(event, GameFinished) and next(numbers) == after:
            for file in tmp_path.glob(pattern):
                file.unlink()

    finish = await run(path, remove)
    assert finish.complete
    assert len(set(games_in(path))) == len(games_in(path)) == 6
    error = capsys.readouterr().err
    assert error == f"kempelen: ledger {path}: removed by another program; written again\n"


@pytest.mark.parametrize("after", [1, 6])
async def test_games_of_a_replaced_ledger_are_saved_beside_it(tmp_path, monkeypatch, after):
    monkeypatch.setattr(runner, "LEDGER_RETRY", 0.05)
    monkeypatch.setattr(runner, "LEDGER_TIMEOUT", 0.2)
    path = tmp_path / "run.sqlite"
    played, notices = [], []

    def replace(event):
        if isinstance(event, GameFinished):
            played.append(event.record)
            if len(played) == after:
                path.unlink()
                path.write_bytes(b"other")
        elif isinstance(event, Notice):
            notices.append(event.text)

    finish = await run(path, replace)
    assert finish.status is Status.FAILED
    assert "replaced by another file during the run" in finish.reason
    assert path.read_bytes() == b"other"
    pending = tmp_path / "run.sqlite.unwritten"
    assert f"could not be written: saved in {pending}, which --resume imports" in notices[-1]
    lines = pending.read_text().splitlines()
    saved = [json.loads(line)["record"] for line in lines]
    assert len(saved) == min(after + 1, 6)
    path.unlink()
    again = []
    finish = await run(
        path, lambda event: again.append(event) if isinstance(event, GameFinished) else None,
        resume=True,
    )  # fmt: skip
    assert finish.complete
    assert len(set(games_in(path))) == 6
    assert len(again) == 6 - len(saved)


def test_games_survive_if_rewritten_ledger_cannot_be_opened(ledger, monkeypatch):
    records = list(ledger.records())
    Path(ledger.path).unlink()
    pending = PendingRecords(ledger)
    pending.add(1, records[0])

    def fail(path):
        raise LedgerError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "_open", fail)
        with pytest.raises(LedgerError, match="the disk is full") as problem:
            pending.write_next()
    pending.save_backup(problem.value)
    saved = Path(ledger.pending_path).read_text().splitlines()
    assert len(saved) == len(records) + 1
    Path(ledger.path).unlink()
    assert "can be written again" in pending.flush()
    assert list(ledger.records()) == records


def test_error_without_waiting_games_mentions_no_games(ledger):
    ledger._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ledger.restore()
    os.truncate(ledger.path, 4096)
    text = PendingRecords(ledger).flush()
    assert text.endswith("truncated by another program during the run (games in it may be lost)")


def test_rewritten_ledger_keeps_permissions(ledger):
    path = Path(ledger.path)
    path.chmod(0o600)
    ledger.restore()
    path.unlink()
    ledger.restore()
    assert path.stat().st_mode & 0o777 == 0o600


def test_file_of_games_reports_damaged_ledger(tmp_path, ledger):
    path = tmp_path / "games.pgn"
    file = RecordFile(str(path), ledger, pgn)
    ledger._connection.execute("UPDATE game SET record = 'damaged' WHERE game = 1")
    path.unlink()
    file.close()
    assert "is damaged" in file.problem
