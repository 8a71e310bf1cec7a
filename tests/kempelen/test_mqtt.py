"""Commands that use an MQTT broker, without a reachable broker."""

import contextlib
import re
import socket
import threading
import time

import pytest

from kempelen.cli import main
from kempelen.match.live.mqtt_publisher import MqttPublisher
from protocols.mqtt.broker import PASSWORD_VARIABLE, USER_VARIABLE
from protocols.mqtt.connection import Connection
from tests.support import failing
from tests.waiting import PATIENCE, free_port, until


def spec(name="none"):
    command, arguments = failing("none")
    return f"cmd={command},args={' '.join(arguments)},name={name}"


@pytest.fixture
def nowhere():
    return f"mqtt://127.0.0.1:{free_port()}"


def local_match(*words):
    players = ["--engine", spec("a"), "--engine", spec("b")]
    return main(["match", *players, "--nodes", "1", "--maxmoves", "4", *words])


@pytest.mark.thorough
def test_local_match_continues_without_a_broker(capsys, nowhere):
    assert local_match("--mqtt", nowhere) == 0
    start, end = capsys.readouterr().err.splitlines()
    refused = f"broker {nowhere}: Connection refused"
    assert start == f"kempelen: {refused}; nothing is published until it is connected"
    assert end == f"kempelen: broker {nowhere}: the match was not published: Connection refused"


def test_successful_publishing_prints_no_errors(capsys, mosquitto, monkeypatch):
    monkeypatch.setenv(USER_VARIABLE, "runner")
    monkeypatch.setenv(PASSWORD_VARIABLE, "secret")
    assert local_match("--mqtt", str(mosquitto.broker)) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.needs("mosquitto", "mosquitto_passwd")
def test_unauthorized_publishing_is_reported(capsys, tmp_path, monkeypatch):
    from tests.mosquitto import Mosquitto

    monkeypatch.setenv(USER_VARIABLE, "runner")
    monkeypatch.setenv(PASSWORD_VARIABLE, "secret")
    mosquitto = Mosquitto(tmp_path, acl="user runner\ntopic read #\n")
    assert local_match("--mqtt", str(mosquitto.broker)) == 0
    mosquitto.kill()
    start, end = capsys.readouterr().err.splitlines()
    assert "rejected topic kempelen/v1/tournaments/match/" in start
    assert start.endswith(": Not authorized")
    assert "rejected parts of the match" in end


def test_bot_match_waits_for_the_broker_then_fails(capsys, nowhere, tmp_path):
    players = ["--engine", "cmd=one,proto=mqtt", "--engine", spec()]
    began = time.monotonic()
    line = ["match", *players, "--nodes", "1", "--mqtt", nowhere, "--broker-timeout", "1"]
    assert main([*line, "--ledger", str(tmp_path / "ledger")]) == 1
    assert 1.0 <= time.monotonic() - began < 20
    errors = capsys.readouterr().err
    assert (
        f"broker {nowhere}: no connection: Connection refused; retrying for at most 1 s" in errors
    )
    assert (
        f"broker {nowhere}: no connection for 1 s: Connection refused; use --resume to continue"
        in errors
    )


def test_watch_reports_port_that_closes_connections(capsys):
    """A TLS port may end a connection without TLS like a broker that knows only MQTT 3.1.1."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError):  # the listener is closed
                while True:
                    listener.accept()[0].close()

        thread = threading.Thread(target=serve)
        thread.start()
        broker = f"mqtt://127.0.0.1:{listener.getsockname()[1]}"
        assert main(["mqtt", "watch", "--mqtt", broker, "--wait", "0.5"]) == 2
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    error = "no answer (check the port, and whether it requires TLS)"
    assert capsys.readouterr().err == f"kempelen: broker {broker}: {error}\n"


def test_serve_waits_for_the_broker_then_fails(capsys, nowhere):
    line = ["mqtt", "bot", "--name", "bot", "--engine", spec(), "--mqtt", nowhere]
    assert main([*line, "--broker-timeout", "1"]) == 1
    errors = capsys.readouterr().err
    assert "answers" not in errors
    assert "Connection refused; retrying for at most 1 s" in errors
    assert errors.splitlines()[-1].endswith("no connection for 1 s: Connection refused")


def test_second_bot_with_the_same_name_is_rejected(capsys, mosquitto, monkeypatch):
    monkeypatch.setenv(USER_VARIABLE, "runner")
    monkeypatch.setenv(PASSWORD_VARIABLE, "secret")
    monkeypatch.setattr("protocols.mqtt.bot.CLAIM_TIMEOUT_S", PATIENCE)  # the other bot answers
    stop = threading.Event()

    async def first():
        import asyncio

        from tests.protocols.mqtt.support import serving

        async with serving(mosquitto.broker):
            ready.set()
            await asyncio.to_thread(stop.wait)

    import asyncio

    ready = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(first()))
    thread.start()
    assert ready.wait(PATIENCE)
    line = ["mqtt", "bot", "--name", "bot", "--engine", spec(), "--mqtt", str(mosquitto.broker)]
    try:
        assert main(line) == 1
    finally:
        stop.set()
        thread.join()
    assert "bot: another bot of this name is online on mqtt://" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--name", "a/b"], "--name: a bot's name must be"),
        (["--name", "bot", "--queue", "0"], "above 0"),
        (["--name", "bot", "--max-time", "nan"], "above 0"),
        (["--name", "bot", "--broker-timeout", "-1"], "above 0"),
    ],
)
def test_invalid_serve_arguments_are_rejected(capsys, words, message):
    try:
        status = main(["mqtt", "bot", "--engine", spec(), *words])
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--game", "nonsense"], "--game: unknown game 'nonsense' .expected one of: backgammon"),
        (["--game", "go", "--size", "26"], "--game: game go: invalid board size 26"),
        (["--game", "go", "--option", "colour=1"], "game go: .*colour.* .options: size, komi"),
        (["--size", "9"], "--size, --komi and --option are for other games: add --game"),
        (["--game", "go", "--engine", spec()], r"plays only chess \(go is played by programs with"),
        (
            ["--game", "go", "--engine", "agent=chess"],
            r"plays only chess \(go is played by programs",
        ),
        (["--game", "nim", "--engine", "algorithm=compiled"], "game nim: no compiled search"),
        (["--game", "nim", "--engine", "algorithm=x"], "engine bot: .*'x'"),
        (["--game", "go", "--engine", "cmd=/no/such,proto=gtp"], "engine bot: .*/no/such"),
        (["--engine", "cmd=other,proto=mqtt"], "--engine: proto=mqtt is not allowed here"),
        (["--engine", "proto=uci"], "--engine: missing cmd=PROGRAM"),
    ],
)
def test_invalid_bot_games_and_engines_are_rejected(capsys, nowhere, words, message):
    line = ["mqtt", "bot", "--name", "bot", "--mqtt", nowhere, "--broker-timeout", "1", *words]
    assert main(line) == 2
    errors = capsys.readouterr().err
    assert re.search(message, errors), errors
    assert len(errors.splitlines()) == 1


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--engine", "option.Hash=1"],
        ["--engine", "proto=gtp"],
        ["--engine", "proto=gtp", "--game", "go"],
        ["--game", "tic-tac-toe"],
        ["--game", "connect-four", "--engine", "algorithm=compiled,threads=2"],
        ["--game", "go", "--size", "13", "--komi", "0.5", "--engine", "option.Threads=2"],
    ],
)
def test_supported_bot_engines_start(capsys, nowhere, words):
    """The engines start; only the broker is missing."""
    line = ["mqtt", "bot", "--name", "bot", "--mqtt", nowhere, "--broker-timeout", "0.1", *words]
    assert main(line) == 1
    assert "no connection for 0.1 s" in capsys.readouterr().err.splitlines()[-1]


def test_watch_reports_an_unreachable_broker(capsys, nowhere):
    assert main(["mqtt", "watch", "--wait", "1", "--mqtt", nowhere]) == 2
    start, end = capsys.readouterr().err.splitlines()
    assert start == (f"kempelen: broker {nowhere}: Connection refused; retrying for at most 1 s")
    assert end == f"kempelen: broker {nowhere}: Connection refused"


@pytest.mark.thorough
def test_watch_times_out_when_the_broker_disappears(capsys, mosquitto, monkeypatch):
    monkeypatch.setenv(USER_VARIABLE, "runner")
    monkeypatch.setenv(PASSWORD_VARIABLE, "secret")
    from kempelen.match.live.events import TournamentStarted

    broadcast = MqttPublisher(mosquitto.broker, "match")
    broadcast(TournamentStarted("match", "swiss", ("a", "b"), "1", 1, 2, 0))
    assert until(lambda: not broadcast.connection.pending_count)
    watching = Connection(mosquitto.broker)
    killer = threading.Timer(2.0, mosquitto.kill)
    killer.start()
    line = ["mqtt", "watch", "match", "--wait", "1", "--broker-timeout", "1"]
    assert main([*line, "--mqtt", str(mosquitto.broker)]) == 2
    killer.join()
    errors = capsys.readouterr().err
    assert f"broker {mosquitto.broker}: no connection for 1 s" in errors
    watching.close()
    broadcast.close()
