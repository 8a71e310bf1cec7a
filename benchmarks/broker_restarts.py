"""A match between two bots whose MQTT broker is repeatedly killed and restarted.

The broker is down for 2 and 8 seconds alternately, while each bot has 3 seconds on its clock. Fails
if a game is missing, counted twice, or lost because of the broker.

    python benchmarks/broker_restarts.py --games 20 --restarts 20
"""

import argparse
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from harness import KEMPELEN, parser, show_figures, spawn

from kempelen.match.rating.standings import FAILURES

OUTAGES = (2.0, 8.0)
BOTS = ("one", "two")


def broker_config(folder: Path, *, persistent: bool) -> tuple[str, str]:
    """Write a configuration of Mosquitto for a free port; return its file and the broker's URL."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    text = f"listener {port} 127.0.0.1\nallow_anonymous true\nuser root\n"
    if persistent:
        text += f"persistence true\npersistence_location {folder}/\nautosave_interval 5\n"
    config = folder / "mosquitto.conf"
    config.write_text(text)
    return str(config), f"mqtt://127.0.0.1:{port}"


def kempelen(*words: str, log: Path) -> "subprocess.Popen[bytes]":
    """Start a `kempelen` subcommand, with its messages in `log`."""
    with log.open("wb") as file:
        return spawn([*KEMPELEN, *words], stdout=subprocess.DEVNULL, stderr=file)


def run(folder: Path, options: argparse.Namespace) -> bool:
    """Play the match, kill the broker repeatedly, and check the games."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    if program is None:
        sys.exit("mosquitto is not installed: run scripts/install-debian-packages")
    config, url = broker_config(folder, persistent=options.persistent)

    def start_broker() -> "subprocess.Popen[bytes]":
        return spawn([program, "-c", config], stderr=subprocess.DEVNULL)

    broker = start_broker()
    agent = "agent=chess,option.OwnBook=false"
    bots = [
        kempelen("mqtt", "bot", "--name", bot, "--engine", agent, "--mqtt", url, log=folder / bot)
        for bot in BOTS
    ]
    match = kempelen(
        *("match", "--tc", options.time, "--margin", "0.5", "--games", str(options.games)),
        *(word for bot in BOTS for word in ("--engine", f"cmd={bot},proto=mqtt")),
        *("--mqtt", url, "--ledger", str(folder / "ledger")),
        log=folder / "match",
    )
    began, restarts = time.monotonic(), 0
    generator = random.Random(options.seed)
    while restarts < options.restarts:
        time.sleep(generator.uniform(3.0, 10.0))
        if match.poll() is not None:
            break
        broker.kill()
        broker.wait()
        time.sleep(OUTAGES[restarts % len(OUTAGES)])
        broker = start_broker()
        restarts += 1
        print(f"restart {restarts}", flush=True)
    status = match.wait()
    for process in (*bots, broker):
        process.terminate()
        process.wait()
    with sqlite3.connect(folder / "ledger") as database:
        games = database.execute("SELECT pair, game, result, termination FROM game").fetchall()
    print((folder / "match").read_text().strip()[-2000:])
    bad = sum(game[3] in FAILURES or game[2] == "*" for game in games)
    doubled = len(games) - len({game[:2] for game in games})
    ends = Counter(game[3] for game in games)
    figures = {
        "restarts": restarts,
        "seconds": time.monotonic() - began,
        "exit status of the match": status,
        "games": len(games),
        "ends": ", ".join(f"{name} {count}" for name, count in ends.items()),
        "lost or without a result because of the broker": bad,
        "counted twice": doubled,
    }
    show_figures("a match whose broker is killed", figures, options.json)
    complete = restarts == options.restarts and len(games) == options.games
    return status == 0 and complete and not bad and not doubled


def main() -> int:
    """Run in a folder of its own."""
    arguments = parser(__doc__)
    arguments.add_argument("--games", type=int, default=20)
    arguments.add_argument("--restarts", type=int, default=20)
    arguments.add_argument(
        "--time", default="3+0.05", help="time control of each bot (default: 3+0.05)"
    )
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument(
        "--persistent", action="store_true", help="let the broker persist its sessions"
    )
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        return 0 if run(Path(name), options) else 1


if __name__ == "__main__":
    sys.exit(main())
