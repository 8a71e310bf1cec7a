"""`kempelen web --watch`: tournaments from ledgers and from a broker."""

import argparse
import asyncio
from contextlib import ExitStack

import pytest

from kempelen.console.settings_codec import SettingsError
from kempelen.match.game.adjudication import Adjudication
from kempelen.match.live.mqtt_publisher import MqttPublisher
from kempelen.match.watch_arguments import configure_watch, watched_tournaments
from protocols.mqtt.broker import PASSWORD_VARIABLE, USER_VARIABLE
from tests import in_process
from tests.kempelen.match.support import engine, play, settings
from tests.waiting import eventually


def chosen(name="match"):
    players = engine("none", name="A"), engine("none", name="B")
    return settings(*players, games=2, name=name, adjudication=Adjudication(maxmoves=6))


def watching(stack, *words):
    parser = argparse.ArgumentParser()
    configure_watch(parser)
    return watched_tournaments(parser.parse_args(words), stack)


async def test_tournament_in_a_ledger_is_selected_by_name(tmp_path):
    path = str(tmp_path / "run.sqlite")
    await play(chosen("one"), path=path)
    await play(chosen("two"), path=path)
    with ExitStack() as stack:
        (spectator,) = watching(stack, "--watch", f"{path}:two")()
        spectator.poll()
        assert spectator.state.status["name"] == "two"
        for words, reason in (
            (path, "one, two"),
            (f"{path}:three", "one, two"),
            (str(tmp_path / "none"), "file not found"),
        ):
            with pytest.raises(SettingsError, match=reason):
                watching(stack, "--watch", words)
        assert watching(stack)() == []


def test_missing_ledger_is_reported(tmp_path):
    done = in_process.run(
        "web", "--no-browser", "--address", "127.0.0.1:0", "--games", tmp_path / "web.sqlite",
        "--watch", tmp_path / "none.sqlite",
    )  # fmt: skip
    assert done.returncode == 2
    assert "none.sqlite: file not found" in done.stderr


@pytest.mark.thorough
async def test_all_broker_tournaments_and_games_are_watched(mosquitto, monkeypatch):
    monkeypatch.setenv(USER_VARIABLE, "runner")
    monkeypatch.setenv(PASSWORD_VARIABLE, "secret")
    with ExitStack() as stack:
        for name in ("first", "second"):
            broadcast = MqttPublisher(mosquitto.broker, name)
            await play(chosen(name), listeners=[broadcast])
            await asyncio.to_thread(broadcast.close)
        found = watching(stack, "--mqtt", f"mqtt://127.0.0.1:{mosquitto.port}")
        await eventually(
            lambda: (
                [len(each.games) for each in found() if "curve" in each.state.snapshots] == [2, 2]
            )
        )
        spectators = found()
        assert sorted(each.state.status["name"] for each in spectators) == ["first", "second"]
        for each in spectators:
            each.poll()
            assert (each.runner, each.problem) == ("offline", "")
            assert each.state.snapshots["curve"]["points"][-1]["played"] == 2
