"""The match of compose.yaml without containers: broker files, credentials and commands."""

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from protocols.mqtt import topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.connection import Connection
from tests.docker.compose import services_of
from tests.external import program
from tests.mosquitto import Mosquitto
from tests.waiting import eventually, free_port

ROOT = Path(__file__).parents[3]


class ComposeBroker(Mosquitto):
    """Mosquitto with the files of compose.yaml."""

    def __init__(self, folder):
        self.port = free_port()
        self.credentials = folder / "credentials"
        self.credentials.mkdir()
        path = f"{os.environ['PATH']}:{Path(program('mosquitto_passwd')).parent}"
        subprocess.run(
            ["/bin/sh", ROOT / "docker" / "make-credentials", self.credentials],
            check=True, env={"PATH": path}, capture_output=True,
        )  # fmt: skip
        text = (ROOT / "docker" / "mosquitto.conf").read_text()
        for inside, outside in [
            ("listener 1883", f"listener {self.port} 127.0.0.1\nuser root"),
            ("/credentials", str(self.credentials)),
            ("/etc/kempelen/acl", str(ROOT / "docker" / "acl")),
            ("/mosquitto/data/", f"{folder}/"),
        ]:
            assert inside in text
            text = text.replace(inside, outside)
        self._config = folder / "mosquitto.conf"
        self._config.write_text(text)
        self.start()

    def broker_for(self, role):
        user, password = (self.credentials / role).read_text().split()
        return Broker("127.0.0.1", self.port, user, password)


@pytest.fixture
def composed(tmp_path):
    if os.name != "posix":
        pytest.skip("the credentials are made by a shell script")
    broker = ComposeBroker(tmp_path)
    yield broker
    broker.kill()


async def test_broker_rejects_clients_without_valid_password(composed):
    for stranger in (
        Broker("127.0.0.1", composed.port),
        Broker("127.0.0.1", composed.port, "runner", "guess"),
    ):
        connection = Connection(stranger)
        await eventually(lambda connection=connection: connection.error)
        assert "uthori" in connection.error
        assert not connection.connected.is_set()
        connection.close()


async def test_broker_limits_each_user_to_own_topics(composed):
    received = []
    runner = Connection(
        composed.broker_for("runner"),
        subscriptions=[topics.tournament("t", "#"), topics.bot("+", "status")],
        on_message=lambda *message: received.append(message),
    )
    assert runner.connected.wait(10)
    watcher = Connection(composed.broker_for("watcher"))
    white = Connection(composed.broker_for("white"))
    watcher.publish_retained(topics.tournament("t", "status"), {"by": "watcher"})
    white.publish_retained(topics.bot("black", "status"), {"by": "white"})
    white.publish_retained(topics.bot("white", "status"), {"by": "white"})
    runner.publish_retained(topics.tournament("t", "status"), {"by": "runner"})
    await eventually(lambda: len(received) >= 2)
    assert sorted(received) == [
        (topics.bot("white", "status"), {"by": "white"}),
        (topics.tournament("t", "status"), {"by": "runner"}),
    ]
    for connection in (runner, watcher, white):
        connection.close()


@pytest.mark.parametrize(
    ("others", "limits", "records", "game"),
    [
        ((), "--nodes 20000 --games 4", "match.pgn", "[Event "),
        (("docker/go.yaml",), "--playouts 2000 --games 4", "go.json", '"pair"'),
    ],
)
@pytest.mark.thorough
def test_compose_services_play_match_to_the_end(composed, tmp_path, others, limits, records, game):
    services = services_of([ROOT / "compose.yaml", *(ROOT / other for other in others)])

    def start(service):
        line = services[service]["command"]
        line = line.replace("mqtt://broker", f"mqtt://127.0.0.1:{composed.port}")
        line = line.replace("/credentials", str(composed.credentials))
        line = line.replace("/data/", f"{tmp_path}/")
        assert service != "runner" or limits in line
        line = line.replace(limits, f"{limits.split()[0]} 300 --games 2 --maxmoves 8")
        return subprocess.Popen(
            [sys.executable, "-m", "kempelen.cli", *shlex.split(line)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    running = {name: start(name) for name in ("white", "black", "watcher", "runner")}
    try:
        output, _ = running["runner"].communicate(timeout=240)
        assert running["runner"].returncode == 0, output
        shown, _ = running["watcher"].communicate(timeout=30)
        assert running["watcher"].returncode == 0, shown
        assert "2/2" in shown
        assert (tmp_path / records).read_text().count(game) == 2
    finally:
        for process in running.values():
            process.terminate()
        deadline = time.monotonic() + 20
        for process in running.values():
            process.wait(max(0.1, deadline - time.monotonic()))
            process.stdout.close()
