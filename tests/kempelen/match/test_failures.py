"""Engines that fail: each game gets the correct result, and no process is left behind."""

import os
import signal
import sys
import time
from dataclasses import replace

import pytest

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineSettings, Restart
from kempelen.match.config.settings import Adjudication
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.game_result import Termination
from kempelen.match.live.events import GameFinished, MovePlayed, Notice, Status
from kempelen.match.records.game_record import to_pgn
from kempelen.match.records.ledger import NOT_PLAYED, Ledger
from kempelen.match.runner import LocalExecutor
from protocols import tasks
from protocols.client.uci import UciClient
from tests.kempelen.match.support import (
    engine,
    play,
    play_with,
    settings,
    unreliable_program,
)
from tests.support import FAILING, failing_processes
from tests.waiting import until

pytestmark = pytest.mark.early

LOSSES = {
    "dies": Termination.CRASH,
    "killed": Termination.CRASH,
    "closes-output": Termination.CRASH,
    "hangs": Termination.HUNG,
    "noise": Termination.HUNG,
    "deaf-after": Termination.HUNG,
    "illegal": Termination.ILLEGAL_MOVE,
    "san": Termination.ILLEGAL_MOVE,
    "null-move": Termination.NO_MOVE,
    "no-move": Termination.NO_MOVE,
    "empty-bestmove": Termination.NO_MOVE,
}
ABSENCES = {
    "dies-at-once": "ended with status 1: no licence found",
    "no-uciok": "no uciok within 1.5 s",
    "no-readyok": "no readyok within 1.5 s",
    "noise-at-once": "no uciok within 1.5 s",
}
HARMLESS = [
    "upper-case",
    "two-bestmoves",
    "no-info",
    "binary",
    "huge-lines",
    "bad-info",
    "huge-numbers",
    "chatty",
    "ignores-quit",
]


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    assert until(lambda: not failing_processes(), 3), failing_processes()


def short_timeouts(*engines, **changes):
    time_ = changes.pop("time", TimeControl(nodes=100, patience=1))
    return settings(*engines, time=time_, adjudication=Adjudication(maxmoves=4), **changes)


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("failure", LOSSES)
async def test_engine_failure_loses_game_and_is_reported(failure):
    chosen = short_timeouts(engine(), engine(failure, after=3), games=2)
    finish, records = await play(chosen)
    assert [(r.result, r.termination) for r in records] == [
        ("1-0", LOSSES[failure]),
        ("0-1", LOSSES[failure]),
    ]
    assert all(failure in record.detail for record in records)
    kept_process = LOSSES[failure] in (Termination.ILLEGAL_MOVE, Termination.NO_MOVE)
    plies = {"deaf-after": [7, 6]}.get(failure, [5, 0 if kept_process else 4])
    assert [len(record.moves) for record in records] == plies
    assert finish.status is Status.COMPLETE
    assert finish.summary.rows[0].name == "none"
    assert finish.summary.rows[1].failures == 2


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("failure", HARMLESS)
async def test_harmless_protocol_violations_do_not_lose_games(failure):
    finish, records = await play(short_timeouts(engine(), engine(failure, after=2), games=2))
    assert finish.status is Status.COMPLETE
    assert [record.termination for record in records] == [Termination.MAX_MOVES] * 2


@pytest.mark.thorough
async def test_numbers_of_any_length_can_be_recorded(tmp_path):
    chosen = short_timeouts(engine(), engine("huge-numbers"), games=2)
    path = str(tmp_path / "run.sqlite")
    finish, records = await play(chosen, path=path)
    assert finish.status is Status.COMPLETE
    for record in records:
        assert len(to_pgn(record, "match")) < 2000
        assert "+0.05/1" in to_pgn(record, "match")  # of a line with another invalid number
    assert (await play(chosen, path=path, resume=True))[1] == records


@pytest.mark.thorough
async def test_late_moves_lose_on_time():
    clock = TimeControl(base=0.2, margin=0.02)
    _, records = await play(
        short_timeouts(engine(time=TimeControl(nodes=1)), engine("late"), time=clock)
    )
    assert [r.termination for r in records] == [Termination.TIME] * 2
    assert [r.result for r in records] == ["1-0", "0-1"]
    movetime = TimeControl(movetime=0.1, margin=0.05)
    _, records = await play(short_timeouts(engine(), engine("late"), time=movetime, games=1))
    assert records[0].termination is Termination.TIME


@pytest.mark.thorough
async def test_runner_delays_are_not_charged_to_players():
    seen = []

    def listen(event):
        if isinstance(event, MovePlayed):
            seen.append(event.game)
            if len(set(seen)) == 2 and seen.count(event.game) < 3:
                time.sleep(1.2)  # while the other game's player thinks

    players = [engine("late", ready_limit=10) for _ in range(2)]
    chosen = short_timeouts(*players, games=2, time=TimeControl(movetime=0.7, margin=0.2))
    _, records = await play(chosen, boards=2, listeners=[listen])
    assert [r.termination for r in records] == [Termination.MAX_MOVES] * 2
    assert len(set(seen)) == 2


@pytest.mark.thorough
async def test_hung_engine_does_not_affect_other_games():
    chosen = short_timeouts(engine("none"), engine("hangs", after=2), engine("none"), games=2)
    finish, records = await play(chosen, boards=3)
    assert finish.status is Status.COMPLETE
    assert len(records) == 6
    among = [r for r in records if "hangs" not in (r.white, r.black)]
    assert {r.termination for r in among} == {Termination.MAX_MOVES}
    assert {r.white for r in among} == {"none", "none-2"}


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("failure", ABSENCES)
async def test_engine_start_failure_is_reported_before_first_game(failure, monkeypatch):
    events = []
    limits = {"start_limit": 1.5} if "no uciok" in ABSENCES[failure] else {}
    if failure == "no-readyok":  # this limit only, because the start of the engine takes time
        ready = UciClient._ready

        def ready_soon(client, limit):
            return ready(client, 1.5 if failure in client.arguments else limit)

        monkeypatch.setattr(UciClient, "_ready", ready_soon)
    message = rf"engine {failure}: could not start .*python.* uci: {ABSENCES[failure]}"
    with pytest.raises(SettingsError, match=message):
        await play(short_timeouts(engine(), engine(failure, **limits)), listeners=[events.append])
    assert not any(isinstance(event, GameFinished) for event in events)


def fails_later(folder, starts):
    """Return the settings of an engine that starts only `starts` times."""
    program = unreliable_program(folder, f"-le {starts}", [sys.executable, FAILING, "none"])
    return EngineSettings(program, name="later", start_limit=10, restart=Restart.ON)


@pytest.mark.thorough
async def test_games_wait_for_missing_engine(tmp_path):
    player = fails_later(tmp_path, 100)
    program, away = tmp_path / "engine", tmp_path / "away"
    notices = []

    def listen(event):
        if isinstance(event, GameFinished) and not notices:
            program.rename(away)
        elif isinstance(event, Notice):
            notices.append(event.text)
            away.rename(program)

    finish, records = await play(short_timeouts(engine(), player, games=4), listeners=[listen])
    assert finish.status is Status.COMPLETE
    assert [record.termination for record in records] == [Termination.MAX_MOVES] * 4
    (notice,) = notices
    assert notice.startswith("game 1.1-2.1.2: could not begin: white (later): engine command ")
    assert notice.endswith("program not found or not executable; retrying for 60 s")


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("both", [False, True], ids=["one", "both"])
async def test_unstarted_games_are_played_on_resume(tmp_path, monkeypatch, both):
    monkeypatch.setattr(tasks, "RETRY_TIMEOUT_S", 0)
    (tmp_path / "other").mkdir()
    other = fails_later(tmp_path / "other", 3) if both else engine()
    chosen = short_timeouts(other, fails_later(tmp_path, 3), games=4)
    ledger = str(tmp_path / "ledger")
    finish, records = await play(chosen, path=ledger)
    assert [record.termination for record in records] == [Termination.MAX_MOVES] * 2
    assert finish.status is Status.FAILED
    reason = (
        "black (later-2): ended with status 4" if both else "black (later): ended with status 4"
    )
    assert finish.reason.startswith("game 1.1-2.2.1: could not begin: ")
    assert finish.reason.endswith(reason)
    assert ("white (later): ended with status 4; " in finish.reason) == both
    assert finish.summary.comparison.games == (0, 2, 0)
    assert [row.failures for row in finish.summary.rows] == [0, 0]
    for counter in tmp_path.glob("**/starts"):
        counter.unlink()
    finish, records = await play(chosen, path=ledger, resume=True)
    assert finish.status is Status.COMPLETE
    assert [record.termination for record in records] == [Termination.MAX_MOVES] * 4


async def test_games_that_earlier_releases_did_not_play_are_played_on_resume(tmp_path):
    path = str(tmp_path / "ledger")
    chosen = short_timeouts(engine(), engine(), games=2)
    _, records = await play(chosen)
    earlier = Ledger(path)
    earlier.begin(chosen, resume=False)
    for record, termination in zip(records, NOT_PLAYED, strict=True):
        earlier.record(replace(record, result="*", termination=termination, moves=()))
    earlier.close()
    finish, records = await play(chosen, path=path, resume=True)
    assert finish.status is Status.COMPLETE
    assert [record.termination for record in records] == [Termination.MAX_MOVES] * 2


async def test_full_disk_of_engine_logs_does_not_stop_games(tmp_path):
    (tmp_path / "none.log").symlink_to("/dev/full")
    chosen = short_timeouts(engine(), engine("no-info"), games=1)
    notices = []

    def listen(event):
        if isinstance(event, Notice):
            notices.append(event.text)

    executor = LocalExecutor(chosen, log_directory=str(tmp_path))
    finish, _ = await play_with(chosen, executor, listeners=[listen])
    assert finish.status is Status.COMPLETE
    assert notices == [f"log {tmp_path}/none.log: No space left on device; lines are missing"]
    assert "bestmove" in (tmp_path / "no-info.log").read_text()


async def test_engine_crash_stops_run_if_restart_is_off():
    chosen = short_timeouts(engine(), engine("dies", restart=Restart.OFF), games=10)
    finish, records = await play(chosen)
    assert len(records) == 1
    assert finish.status is Status.FAILED
    assert "restart=off" in finish.reason


@pytest.mark.thorough
async def test_restart_on_gives_every_game_a_fresh_process():
    chosen = short_timeouts(engine(), engine("dies", after=9, restart=Restart.ON), games=4)
    _, records = await play(chosen)
    assert {record.termination for record in records} == {Termination.MAX_MOVES}


@pytest.mark.thorough
async def test_invalid_options_are_reported_before_first_game():
    for bad, message in [
        (engine(options={"Hash": 4096}), "Hash: invalid value 4096"),
        (engine(options={"Nonsense": 1}), "unknown option Nonsense"),
    ]:
        with pytest.raises(SettingsError, match=message):
            await play(short_timeouts(engine(), bad))


async def test_engine_death_between_games_loses_no_game():
    deaths = []

    def kill_idle(event):
        if isinstance(event, GameFinished):
            for process in processes_of("dies"):
                os.kill(process, signal.SIGKILL)
                deaths.append(process)
        elif isinstance(event, Notice):
            notices.append(event.text)

    notices = []
    chosen = short_timeouts(engine(), engine("dies", after=99), games=3)
    finish, records = await play(chosen, listeners=[kill_idle])
    assert deaths
    assert {record.termination for record in records} == {Termination.MAX_MOVES}
    assert finish.complete
    assert any("dies, between games: was killed by signal 9" in text for text in notices)


def processes_of(failure):
    return [pid for pid, command in failing_processes().items() if f" {failure} " in command]
