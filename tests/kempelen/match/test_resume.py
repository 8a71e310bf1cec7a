"""A run can be killed at any time and resumed until all games are played."""

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import chess
import chess.pgn
import pytest

from kempelen.console.settings_codec import SettingsError
from kempelen.match import runner
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.config.settings import Adjudication
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.openings import Opening, with_file_digests
from kempelen.match.records.game_record import to_pgn
from kempelen.match.records.ledger import Ledger, LedgerError, saved_settings
from kempelen.match.records.record_file import RecordFile
from tests.external import program
from tests.kempelen.match.support import engine, play, quick_settings, settings
from tests.support import FAILING
from tests.systems import module_or_skip, posix_signal
from tests.waiting import PATIENCE, alive, until

supervisor = module_or_skip("protocols.client.supervisor")

pytestmark = pytest.mark.early
pty = module_or_skip("pty")
SIGHUP = posix_signal("SIGHUP")


FAKE_ENGINE = f"{sys.executable} {FAILING} none"


async def test_games_of_a_pair_have_one_opening_after_an_update(tmp_path, monkeypatch):
    """The versions of a program may choose different openings."""
    chosen, path = quick_settings(games=3), tmp_path / "ledger"
    await play(chosen, path=path)
    monkeypatch.setattr(
        runner, "opening_selector", lambda settings, report: lambda round_, pair: Opening()
    )
    more = dataclasses.replace(chosen, games=6)
    _, records = await play(more, path=path, resume=True)
    starts = {record.key.number: set() for record in records}
    for record in records:
        starts[record.key.number].add(record.fen)
    assert [len(fens) for fens in starts.values()] == [1, 1, 1]
    assert starts[3] == {chess.STARTING_FEN} != starts[2]


def command(folder, ledger, *, games, engine=FAKE_ENGINE):
    return [
        sys.executable, "-m", "kempelen.cli", "match", "--json", "--resume",
        "--engine", f"cmd={engine},name=A,option.Hash=1",
        "--engine", f"cmd={engine},name=B,option.Hash=1,nodes=150",
        "--nodes", "400", "--games", str(games), "--concurrency", "2", "--oversubscribe",
        "--seed", "7", "--ledger", str(folder / ledger), "--pgn", str(folder / f"{ledger}.pgn"),
    ]  # fmt: skip


def engines_of(process):
    """Wait until a run has the four engines of two games, or ended; return the process ids."""
    assert until(lambda: len(supervisor.children(process)) >= 4 or not alive(process))
    return supervisor.children(process)


def all_ended(processes):
    return until(lambda: not any(map(alive, processes)))


def comparable(text):
    summary = json.loads(text)["summary"]
    return {key: summary[key] for key in ("played", "rows", "distinct_games", "comparison")}


def games_in(path):
    with path.open() as file:
        games = []
        while (game := chess.pgn.read_game(file)) is not None:
            assert not game.errors
            games.append(game)
    return games


@pytest.mark.skipif(sys.platform != "linux", reason="kills processes by Linux's means")
@pytest.mark.thorough
@pytest.mark.needs("stockfish")
def test_killed_and_resumed_run_equals_uninterrupted_run(tmp_path, thorough):
    generator = random.Random(3)
    number, kills = (24, 4) if thorough else (6, 2)
    stockfish = program("stockfish")
    line = command(tmp_path, "straight", games=number, engine=stockfish)
    straight = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE)
    assert straight.returncode == 0, straight.stderr
    killed = command(tmp_path, "killed", games=number, engine=stockfish)
    for _ in range(kills):
        run = subprocess.Popen(killed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        engines_of(run.pid)
        time.sleep(generator.uniform(0, 0.6))
        engines = supervisor.children(run.pid)
        run.send_signal(signal.SIGKILL)
        run.wait()
        assert all_ended(engines), "an engine outlives a killed runner"
    final = subprocess.run(killed, capture_output=True, text=True, timeout=PATIENCE)
    assert final.returncode == 0, final.stderr
    assert comparable(final.stdout) == comparable(straight.stdout)
    games = games_in(tmp_path / "killed.pgn")
    rounds = {game.headers["Round"] for game in games}
    assert len(games) == len(rounds) == number


@pytest.mark.thorough(keep=1)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, SIGHUP, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)],
)
def test_interrupted_run_reports_how_to_resume(tmp_path, number):
    run = subprocess.Popen(
        command(tmp_path, "ledger", games=4000),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    engines = engines_of(run.pid)
    run.send_signal(number)
    try:
        _, errors = run.communicate(timeout=PATIENCE)
    finally:
        run.kill()
    assert run.returncode == 128 + number
    assert "--resume" in errors
    assert "Traceback" not in errors
    assert not any(map(alive, engines))


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_run_ends_when_its_terminal_closes(tmp_path):
    line = command(tmp_path, "ledger", games=4000)
    run, terminal = pty.fork()
    if run == 0:
        try:
            os.execv(line[0], line)
        finally:
            os._exit(127)
    engines = engines_of(run)
    assert engines
    os.close(terminal)
    late = threading.Timer(PATIENCE, os.kill, (run, signal.SIGKILL))
    late.start()
    try:
        assert os.waitstatus_to_exitcode(os.waitpid(run, 0)[1]) == 128 + signal.SIGHUP
    finally:
        late.cancel()
    assert not any(map(alive, engines))


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nohup_is_respected(tmp_path):
    run = subprocess.Popen(
        ["nohup", *command(tmp_path, "ledger", games=2)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not supervisor.children(run.pid) and run.poll() is None:
        time.sleep(0.01)
    run.send_signal(signal.SIGHUP)
    assert run.wait(PATIENCE) == 0


async def test_resume_can_increase_number_of_games(tmp_path):
    path = str(tmp_path / "ledger")
    _, first = await play(quick_settings(games=3), path=path)
    finish, records = await play(quick_settings(games=6), path=path, resume=True)
    assert records[:3] == first
    assert len(records) == 6
    assert finish.complete
    assert saved_settings(path).games == 6


async def test_resume_rejects_other_changed_settings(tmp_path):
    path = str(tmp_path / "ledger")
    await play(quick_settings(games=4), path=path)
    for changes, named in [({"seed": 1}, "seed: 0 before, 1 now"), ({"games": 2}, "games: 4")]:
        with pytest.raises(SettingsError, match=named):
            await play(quick_settings(**{"games": 4, **changes}), path=path, resume=True)
    with pytest.raises(SettingsError, match=r"engines\[2\].options.Hash: None before, 2 now"):
        await play(
            settings(
                engine(),
                engine(options={"Hash": 2}),
                adjudication=Adjudication(maxmoves=6),
                games=4,
            ),
            path=path,
            resume=True,
        )


async def test_resume_names_an_added_engine(tmp_path):
    path = str(tmp_path / "ledger")
    await play(quick_settings(), path=path)
    three = settings(
        engine(), engine(), engine(name="new"), adjudication=Adjudication(maxmoves=6), games=4
    )
    with pytest.raises(SettingsError, match=r"\n  engines\[3\]: None before, 'new' now\nUse "):
        await play(three, path=path, resume=True)


async def test_existing_tournament_is_not_overwritten_without_resume(tmp_path):
    path = str(tmp_path / "ledger")
    await play(quick_settings(), path=path)
    with pytest.raises(LedgerError, match="--resume"):
        await play(quick_settings(), path=path)
    finish, records = await play(quick_settings(name="other"), path=path)
    assert finish.complete
    assert len(records) == 2


async def test_resuming_a_finished_run_plays_nothing(tmp_path):
    path = str(tmp_path / "ledger")
    _, first = await play(quick_settings(), path=path)
    finish, records = await play(quick_settings(), path=path, resume=True)
    assert finish.complete
    assert records == first


def test_ledger_is_locked_by_one_runner(tmp_path):
    ledger = Ledger(str(tmp_path / "ledger"))
    with pytest.raises(LedgerError, match="in use"):
        Ledger(str(tmp_path / "ledger"))
    ledger.close()
    Ledger(str(tmp_path / "ledger")).close()


def test_invalid_ledger_file_is_rejected(tmp_path):
    path = tmp_path / "ledger"
    path.write_text("these are not the games you are looking for" * 100)
    with pytest.raises(LedgerError, match="not a database"):
        Ledger(str(path))
    with pytest.raises(LedgerError, match="folder not found"):
        Ledger(str(tmp_path / "nowhere" / "ledger"))


async def test_recorded_game_is_not_replaced_and_pgn_matches_ledger(tmp_path):
    path = str(tmp_path / "ledger")
    _, records = await play(quick_settings(games=4), path=path)
    ledger = Ledger(path)
    ledger.begin(saved_settings(path), resume=True)
    assert not ledger.record(records[0])
    assert list(ledger.records()) == records
    RecordFile(str(tmp_path / "games.pgn"), ledger, lambda game: to_pgn(game, "match")).close()
    ledger.close()
    games = games_in(tmp_path / "games.pgn")
    assert [game.headers["Result"] for game in games] == [record.result for record in records]
    assert {game.headers["Termination"] for game in games} == {"adjudication"}
    moves = [[move.uci() for move in game.mainline_moves()] for game in games]
    assert moves == [[move.move for move in record.moves] for record in records]


@pytest.mark.thorough
def test_killing_process_group_leaves_no_engines(tmp_path):
    """Engines have their own process groups, but still end with the runner."""
    if sys.platform != "linux":
        pytest.skip("uses Linux's process groups")
    run = subprocess.Popen(
        command(tmp_path, "ledger", games=4000),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    engines = engines_of(run.pid)
    assert engines
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    assert all_ended(engines)


@pytest.mark.thorough
async def test_resume_rejects_edited_evaluation(tmp_path):
    path, file = str(tmp_path / "ledger"), tmp_path / "mine.py"
    file.write_text("def evaluate(board):\n    return 1\n")

    def mine(games):
        options = {"evaluation": f"{file}:evaluate"}
        ours = EngineSettings("alpha-beta", protocol=EngineProtocol.LAB, options=options)
        other = EngineSettings("minimax", protocol=EngineProtocol.LAB)
        time = TimeControl(depth=1)
        return settings(ours, other, time=time, games=games, game=GameSettings("nim"))

    await play(with_file_digests(mine(2)), path=path)
    await play(with_file_digests(mine(4)), path=path, resume=True)
    file.write_text("def evaluate(board):\n    return 2\n")
    with pytest.raises(SettingsError, match=r"evaluations.alpha-beta: '\w+' before, '\w+' now"):
        await play(with_file_digests(mine(6)), path=path, resume=True)
