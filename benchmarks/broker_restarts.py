"""A match between two bots whose MQTT broker is repeatedly killed and restarted.

Run as `python benchmarks/broker_restarts.py [--games N] [--restarts N]`. The broker is down for 2
and 8 seconds alternately, while each bot has 3 seconds on its clock. The benchmark prints the
results of the games. It fails if a game is missing, counted twice, or lost because of the broker.
"""

import argparse
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from child_processes import end_in_order, spawn

from kempelen.match.rating.standings import FAILURES

OUTAGES = (2.0, 8.0)


class Broker:
    """A Mosquitto broker on a free port."""

    def __init__(self, folder: Path, *, persistent: bool) -> None:
        program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
        if program is None:
            sys.exit("mosquitto is needed: run scripts/install-debian-packages")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"mqtt://127.0.0.1:{port}"
        config = folder / "mosquitto.conf"
        memory = f"persistence true\npersistence_location {folder}/\nautosave_interval 5\n"
        config.write_text(
            f"listener {port} 127.0.0.1\nallow_anonymous true\nuser root\n"
            + (memory if persistent else "")
        )
        self._command = [program, "-c", str(config)]
        self.start()

    def start(self) -> None:
        """Start or restart the broker."""
        self._process = spawn(self._command, stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        """Kill the broker without a shutdown, as in a crash."""
        self._process.kill()
        self._process.wait()


def kempelen(*words: str, log: Path) -> "subprocess.Popen[bytes]":
    """Start a `kempelen` subcommand, with its output in `log`."""
    with log.open("wb") as file:
        return spawn(
            [sys.executable, "-m", "kempelen.cli", *words],
            stdout=subprocess.DEVNULL,
            stderr=file,
        )


def main() -> None:
    """Play the match, kill the broker repeatedly, and check the games."""
    end_in_order()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument(
        "--time", default="3+0.05", help="time control of each bot (default: 3+0.05)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--persistent", action="store_true", help="let the broker persist its sessions"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if not _run(Path(name), arguments):
            sys.exit(1)


def _run(folder: Path, arguments: argparse.Namespace) -> bool:
    broker = Broker(folder, persistent=arguments.persistent)
    bots = [
        kempelen(
            *("mqtt", "bot", "--name", bot, "--engine", "agent=chess,option.OwnBook=false"),
            *("--mqtt", broker.url),
            log=folder / bot,
        )
        for bot in ("one", "two")
    ]
    players = [word for bot in ("one", "two") for word in ("--engine", f"cmd={bot},proto=mqtt")]
    began = time.monotonic()
    match = kempelen(
        *("match", *players, "--tc", arguments.time, "--margin", "0.5"),
        *("--games", str(arguments.games), "--mqtt", broker.url),
        *("--ledger", str(folder / "ledger")),
        log=folder / "match",
    )
    restarts = 0
    try:
        generator = random.Random(arguments.seed)
        while match.poll() is None and restarts < arguments.restarts:
            time.sleep(generator.uniform(3.0, 10.0))
            if match.poll() is not None:
                break
            broker.kill()
            time.sleep(OUTAGES[restarts % len(OUTAGES)])
            broker.start()
            restarts += 1
            print(f"restart {restarts}, {_played(folder)} games played", flush=True)
        status = match.wait()
    finally:
        for process in (match, *bots):
            process.send_signal(signal.SIGTERM)
            process.wait()
        broker.kill()
    with sqlite3.connect(folder / "ledger") as database:
        games = database.execute("SELECT pair, game, result, termination FROM game").fetchall()
    duration = time.monotonic() - began
    print((folder / "match").read_text().strip()[-2000:])
    print(f"{restarts} restarts in {duration:.0f} s, exit status {status}")
    endings = Counter(termination for *_, termination in games)
    print(f"{len(games)} games: {', '.join(f'{name} {count}' for name, count in endings.items())}")
    bad = [game for game in games if game[3] in FAILURES or game[2] == "*"]
    doubled = len(games) - len({game[:2] for game in games})
    print(f"lost or without a result for want of the broker: {len(bad)}, doubled: {doubled}")
    enough = restarts == arguments.restarts and len(games) == arguments.games
    return status == 0 and enough and not bad and not doubled


def _played(folder: Path) -> int:
    with sqlite3.connect(folder / "ledger") as database:
        return int(database.execute("SELECT count(*) FROM game").fetchone()[0])


if __name__ == "__main__":
    main()
