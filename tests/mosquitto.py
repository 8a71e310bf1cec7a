"""A real Mosquitto for tests, on a free port, and what listens and waits beside it."""

import signal
import subprocess

from protocols.mqtt.broker import Broker
from protocols.mqtt.connection import Connection
from tests.external import program
from tests.waiting import PATIENCE, free_port, listens, until


class Mosquitto:
    """A broker that can be killed and started again; it keeps nothing, unless it is told to."""

    def __init__(self, folder, *, settings="", acl=""):
        self.port = free_port()
        passwords = folder / "passwords"
        subprocess.run(
            [program("mosquitto_passwd"), "-b", "-c", str(passwords), "runner", "secret"],
            check=True, capture_output=True,
        )  # fmt: skip
        passwords.chmod(0o644)
        if acl:
            (folder / "acl").write_text(acl)
            settings += f"acl_file {folder / 'acl'}\n"
        self._config = folder / "mosquitto.conf"
        self._config.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous false\n"
            "set_tcp_nodelay true\n"
            f"password_file {passwords}\nuser root\n{settings}"
        )
        self.broker = Broker("127.0.0.1", self.port, "runner", "secret")
        self.start()

    def start(self):
        self._process = subprocess.Popen(
            [program("mosquitto"), "-c", str(self._config)], stderr=subprocess.DEVNULL
        )
        assert until(lambda: listens(self.port))

    def kill(self):
        self._process.kill()
        self._process.wait()

    def freeze(self):
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self._process.send_signal(signal.SIGCONT)


class Listening:
    """A subscriber that keeps everything."""

    def __init__(self, broker, topic="kempelen/#"):
        self.messages = []
        self.connection = Connection(
            broker, subscriptions=[topic], on_message=lambda *m: self.messages.append(m)
        )
        assert self.connection.connected.wait(PATIENCE)

    def of(self, ending):
        return [payload for topic, payload in self.messages if topic.endswith(ending)]
