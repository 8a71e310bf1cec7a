"""`kempelen tablebase`: build, resume, probe, count, check; and engines with damaged files."""

import json
import os
import signal
import subprocess
import sys

import chess
import pytest

from tests import in_process
from tests.systems import posix_signal
from tests.waiting import until

TABLES = [sys.executable, "-m", "kempelen.cli", "tablebase"]
# The table generator is compiled here at the latest, by one worker.
pytestmark = pytest.mark.usefixtures("endgame_folder")
MATE_IN_ONE = "7k/Q7/6K1/8/8/8/8/8 w - - 0 1"


def tables(*arguments):
    return in_process.run("tablebase", *arguments)


def test_tables_are_built_counted_packed_and_checked(warm_cache, tmp_path):
    done = tables("build", "KPK", "--folder", tmp_path, "--threads", 2)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(line.split(":")[0] for line in done.stdout.splitlines()) == ["KPK", "KQK", "KRK"]
    done = tables("build", "KPK", "--folder", tmp_path, "--json")
    assert [json.loads(line)["kept"] for line in done.stdout.splitlines()] == [True] * 3
    done = tables("stats", "KPK", "KQK", "--folder", tmp_path, "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["side"]: row["longest_win"] for row in rows if row["side"] != "K"} == {
        "KP": 28,
        "KQ": 10,
    }
    assert "win 28" in tables("stats", "KPK", "--folder", tmp_path).stdout
    packed = tmp_path / "packed"
    assert tables("pack", "KQK", "--folder", tmp_path, "--target", packed).returncode == 0
    assert [path.name for path in packed.iterdir()] == ["KQK.dtm.xz"]
    content = bytearray((tmp_path / "KQK.dtm").read_bytes())
    content[-1] ^= 1
    (tmp_path / "KQK.dtm").write_bytes(content)
    done = tables("check", "--folder", tmp_path)
    assert done.returncode == 1
    assert "KQK.dtm: checksum mismatch" in done.stdout
    assert "KPK: intact" in done.stdout
    done = tables("probe", MATE_IN_ONE, "--folder", tmp_path)
    assert done.returncode == 2
    assert "KQK.dtm: damaged" in done.stderr


def test_folder_without_tables_is_reported(tmp_path):
    done = tables("check", "--folder", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"no tables in {tmp_path}; run `kempelen tablebase build`" in done.stderr


def test_probe_prints_the_result_and_the_moves(warm_cache, tmp_path):
    done = tables("probe", MATE_IN_ONE, "--folder", tmp_path)
    lines = done.stdout.splitlines()
    assert lines[0] == "wins in 1"
    assert lines[1].split()[1:] == ["wins", "in", "1"]
    assert lines[-1].endswith("draw")
    assert len(lines) == 1 + chess.Board(MATE_IN_ONE).legal_moves.count()
    found = json.loads(tables("probe", MATE_IN_ONE, "--folder", tmp_path, "--json").stdout)
    assert found["mate"] == 1
    late = "8/8/8/3k4/8/8/8/KBN5 w - - 60 90"
    assert "fifty-move" in tables("probe", late, "--folder", tmp_path).stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("probe", "8/8/8"), "invalid FEN"),
        (("probe", "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"), "castling"),
        (("probe", "4k3/8/8/8/8/8/8/RBN1K3 w - - 0 1"), "up to 4 pieces"),
        (("probe", "4k3/8/8/8/8/8/8/RQ2K3 w - - 0 1"), "tablebase build"),
        (("build", "KXK"), "KXK"),
        (("stats", "KQRK"), "KQRK"),
        (("check", "KQRK"), "KQRK"),
    ],
)
def test_invalid_arguments_are_rejected(warm_cache, tmp_path, arguments, named):
    done = tables(*arguments, "--folder", tmp_path)
    assert done.returncode in (1, 2)
    assert named in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_build_rejects_a_folder_that_cannot_be_created(warm_cache, tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = tables("build", "KBNK", "--folder", tmp_path / "file")
    assert (done.returncode, done.stdout) == (1, "")
    assert str(tmp_path / "file") in done.stderr


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="signals are sent as on POSIX")
@pytest.mark.parametrize(
    "sent", [signal.SIGINT, pytest.param(posix_signal("SIGKILL"), marks=pytest.mark.thorough)]
)
def test_interrupted_build_is_resumed(warm_cache, tmp_path, sent):
    build = [*TABLES, "build", "KBNK", "KQK", "--folder", str(tmp_path), "--threads", "1"]
    old = tmp_path / "KQK.dtm.1.2.tmp"
    old.write_bytes(b"left by a build that was killed long ago")
    os.utime(old, (0, 0))
    with subprocess.Popen(build, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert until((tmp_path / "KQK.dtm").exists)
        run.send_signal(sent)
        said = run.communicate(timeout=120)[1]
    assert run.returncode != 0
    assert "Traceback" not in said
    assert not old.exists()
    assert (tmp_path / "KQK.dtm").exists()
    done = tables("build", "KBNK", "KQK", "--folder", tmp_path)
    assert done.returncode == 0
    assert "KQK: exists" in done.stdout
    assert tables("check", "--folder", tmp_path).returncode == 0


@pytest.mark.thorough
def test_engine_reports_bad_table_files_and_keeps_playing(start_engine, warm_cache, tmp_path):
    folder = tmp_path / "tables"
    assert tables("build", "KPK", "--folder", folder).returncode == 0
    damaged = bytearray((folder / "KQK.dtm").read_bytes())
    damaged[-1] ^= 1
    (folder / "KQK.dtm").write_bytes(damaged)
    (folder / "KRK.dtm").write_bytes((folder / "KRK.dtm").read_bytes()[:999])
    (folder / "KQRK.dtm").write_bytes(b"something else" * 100)
    (folder / "KRRK.dtm").mkdir()
    engine = start_engine("uci", env={**os.environ, "KEMPELEN_DATA_DIR": str(tmp_path)})
    engine.send("uci", "isready")
    said = engine.read_until("readyok")
    while not any("KQK.dtm" in line for line in said):
        said += engine.read_until("info string")
    for name, trouble in (
        ("KQK", "damaged"),
        ("KRK", "incomplete"),
        ("KQRK", "not an endgame table"),
        ("KRRK", "could not read"),
    ):
        assert any(f"{name}.dtm" in line and trouble in line for line in said), name
    engine.send("position fen 8/8/8/3k4/8/8/3P4/3K4 w - - 0 1", "go depth 5")
    assert "tbhits 6" in engine.read_until("bestmove")[-2]
    engine.send(f"position fen {MATE_IN_ONE}", "go depth 5")
    assert "score mate 1 " in engine.read_until("bestmove")[-2]
    for option, bad in (("SyzygyPath", tmp_path / "none"), ("GaviotaPath", folder)):
        engine.send(f"setoption name {option} value {bad}")
        assert str(bad) in engine.read_until("info string")[-1]
    engine.send("go depth 5")
    engine.read_until("bestmove")
    engine.send("quit")
    assert engine.wait()[0] == 0


@pytest.mark.thorough
def test_reduced_skill_level_does_not_use_tables(start_engine, warm_cache, tmp_path):
    engine = start_engine("uci", env={**os.environ, "KEMPELEN_DATA_DIR": str(tmp_path)})
    engine.send("position fen 8/8/8/3k4/8/8/8/KBN5 w - - 0 1", "go depth 4")
    assert "score mate 30 " in engine.read_until("bestmove")[-2]
    engine.send("setoption name Skill Level value 5", "go depth 4")
    assert " tbhits 0 " in engine.read_until("bestmove")[-2]
    engine.send("setoption name Skill Level value 20", "go depth 4")
    assert "score mate 30 " in engine.read_until("bestmove")[-2]
    engine.send("quit")
    assert engine.wait()[0] == 0
