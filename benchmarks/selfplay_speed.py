"""Self-play: positions per hour, and whether a killed and resumed run makes the same file.

    python benchmarks/selfplay_speed.py --seconds 120
    python benchmarks/selfplay_speed.py --kills 10

The first command measures the stored positions at 1,000 soft nodes per move, on a given number of
processes. The second command plays once without interruption, and once with kills (SIGKILL) at
random moments. It fails if the two files are not byte-identical.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from child_processes import end_in_order, spawn

from agent.machine import usable_cores


def command(path: Path, positions: int, arguments: argparse.Namespace) -> list[str]:
    """Return the command that plays, or resumes, until the file has `positions` positions."""
    return [
        *(sys.executable, "-m", "kempelen.cli", "train", "selfplay", str(path), "--json"),
        *("--positions", str(positions), "--nodes", str(arguments.nodes)),
        *("--processes", str(arguments.processes)),
    ]


def kept(path: Path) -> int:
    """Return the number of positions in a file, 0 if it does not exist yet."""
    if not path.exists() or not path.stat().st_size:
        return 0
    show = [
        sys.executable,
        "-m",
        "kempelen.cli",
        "train",
        "selfplay",
        str(path),
        "--show",
        "--json",
    ]
    shown = subprocess.run(show, capture_output=True, text=True, check=True)
    return int(json.loads(shown.stdout)["positions"])


def measure(folder: Path, arguments: argparse.Namespace) -> bool:
    """Play for a given time and print the rate, including the start."""
    path = folder / "measured"
    run = spawn(command(path, 1 << 40, arguments))
    time.sleep(arguments.seconds)
    run.send_signal(signal.SIGTERM)
    run.wait()
    rate = kept(path) / arguments.seconds * 3600
    size = path.stat().st_size / kept(path)
    print(
        f"{rate / 1e6:.2f} million positions an hour on {arguments.processes} processes at "
        f"{arguments.nodes} soft nodes a move; {size:.1f} bytes a position on disk"
    )
    return True


def kill(folder: Path, arguments: argparse.Namespace) -> bool:
    """Play with and without kills; print the result, and return whether the files are equal."""
    straight, killed = folder / "straight", folder / "killed"
    began = time.monotonic()
    subprocess.run(command(straight, arguments.positions, arguments), check=True)
    duration = time.monotonic() - began
    generator = random.Random(arguments.seed)
    for number in range(arguments.kills):
        run = spawn(command(killed, arguments.positions, arguments))
        time.sleep(2 + generator.uniform(0, 2 * duration / arguments.kills))
        run.kill()
        run.wait()
        print(f"kill {number + 1}: {kept(killed)} positions", flush=True)
    subprocess.run(command(killed, arguments.positions, arguments), check=True)
    same = straight.read_bytes() == killed.read_bytes()
    print(f"{arguments.kills} kills; the files are the same: {same}")
    return same


def main() -> None:
    """Measure the speed, or compare runs with and without kills."""
    end_in_order()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=usable_cores())
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--kills", type=int, help="compare with a run that is killed N times")
    parser.add_argument(
        "--positions", type=int, default=100_000, help="positions of the run with kills"
    )
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        passed = (kill if arguments.kills else measure)(Path(name), arguments)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
