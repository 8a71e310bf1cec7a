"""Talk nonsense to the engine over GTP: valid, mutated and binary lines of every command.

Passes (exit status 0) if every line that holds a command got exactly one answer, in order and
with its id, in GTP's form, without an internal error, and the engine ended when told to.

    python benchmarks/gtp_fuzz.py --lines 100000 --seed 1
    python benchmarks/gtp_fuzz.py --lines 20000 --game othello
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

from protocols.gtp.protocol import COMMANDS
from protocols.gtp.values import parse_line

HEAD = re.compile(r"[=?](\d*)( .*)?")
WORDS = {
    "boardsize": ("{small}", "{small}", "9"),
    "komi": ("{number}", "-0.5", "7.5"),
    "fixed_handicap": ("{few}",),
    "place_free_handicap": ("{few}",),
    "set_free_handicap": ("{vertex} {vertex}", "{vertex} {vertex} {vertex}"),
    "play": ("{colour} {vertex}", "{colour} {vertex}", "{colour} pass"),
    "genmove": ("{colour}",),
    "reg_genmove": ("{colour}",),
    "kgs-genmove_cleanup": ("{colour}",),
    "time_settings": ("{number} {number} {few}", "0 1 0"),
    "time_left": ("{colour} {number} {few}",),
    "kgs-time_settings": ("byoyomi {number} {number} {few}", "none", "absolute {number}"),
    "kata-time_settings": ("fischer {number} {few}", "canadian {number} {number} {few}"),
    "final_status_list": ("dead", "alive", "seki"),
    "loadsgf": ("missing.sgf", "game.sgf", "game.sgf {few}", "broken.sgf"),
    "known_command": ("genmove", "fly"),
    "lz-analyze": ("{colour} {few}", "{colour} interval {few} maxmoves {few}", ""),
    "lz-genmove_analyze": ("{colour} {few}",),
    "kata-analyze": ("{colour} {few}", "interval {few}"),
    "kata-genmove_analyze": ("{colour} {few}",),
}
FILES = {
    "game.sgf": "(;SZ[7]KM[5.5]AB[cc];W[dd];B[ee];W[];B[df])",
    "broken.sgf": "(;SZ[999]",
}
# Commands that are said more often than all others.
FREQUENT = ("play", "play", "play", "genmove", "undo", "clear_board")


def valid_line(rng: random.Random) -> str:
    """Return a line that a front end might send."""
    known = [name for name in COMMANDS if name != "quit"]
    name = rng.choice(FREQUENT if rng.random() < 0.5 else known)
    line = f"{name} {rng.choice(WORDS.get(name, ('',)))}".strip()
    line = re.sub(r"\{vertex\}", lambda _: rng.choice("ABCDEFGHJ") + str(rng.randint(1, 7)), line)
    line = line.format(
        small=rng.randint(1, 7),
        few=rng.randint(0, 9),
        number=rng.choice((0, 0.5, 1, 30, 300)),
        colour=rng.choice(("b", "w", "black", "WHITE")),
    )
    return f"{rng.randint(0, 999)} {line}" if rng.random() < 0.3 else line


def mutated(rng: random.Random, line: str) -> str:
    """Return a line with a few mistakes."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(line) + 1)
        words = line.split(" ")
        match rng.randrange(6):
            case 0:
                line = line[:at] + chr(rng.choice((rng.randrange(32, 127), 0, 9, 233))) + line[at:]
            case 1:
                line = line[:at] + line[at + 1 :]
            case 2:
                line = line[:at]
            case 3:
                rng.shuffle(words)
                line = " ".join(words)
            case 4:
                line = " ".join(words + words[:3])
            case 5:
                line = re.sub(r"\d+", str(rng.choice((-1, 10**30, "nan", "1e9", "0x1"))), line)
    return line


def lines(rng: random.Random, number: int) -> list[bytes]:
    """Return lines of all kinds, none of which ends the engine."""
    made: list[bytes] = []
    while len(made) < number:
        kind = rng.random()
        line = valid_line(rng)
        if kind < 0.1:
            data = rng.randbytes(rng.randrange(200)).replace(b"\n", b"")
        elif kind < 0.5:
            data = mutated(rng, line).encode(errors="replace").replace(b"\n", b"")
        elif kind < 0.502:
            data = (line + " ").encode() * 1000
        else:
            data = line.encode()
        if not re.search(rb"quit", data):
            made.append(data)
    return made


def expected(data: list[bytes]) -> list[str]:
    """Return the ids of the answers that the lines must get."""
    calls = (parse_line(line.decode(errors="backslashreplace").rstrip("\r")) for line in data)
    return [call.id for call in calls if call is not None]


def talk(data: list[bytes], game: str, timeout: float) -> dict[str, Any]:
    """Send the lines to a fresh engine; return what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        options = ["--game", game, "--playouts", "4", "--depth", "999" if game == "go" else "1"]
        engine = subprocess.Popen(
            [sys.executable, "-m", "kempelen.cli", "gtp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
        assert engine.stdout
        assert engine.stderr
        errors: list[bytes] = []
        watchdog = threading.Timer(timeout, engine.kill)
        writer = threading.Thread(target=send, args=(engine, data), daemon=True)
        drain = threading.Thread(target=lambda: errors.extend(engine.stderr or ()), daemon=True)
        for thread in (watchdog, writer, drain):
            thread.start()
        began = time.monotonic()
        ids, failures, refused, inside = [], [], 0, False
        for raw in engine.stdout:
            line = raw.decode(errors="backslashreplace").rstrip("\r\n")
            if "internal error" in line:
                failures.append(line)
            if not inside:
                match = HEAD.fullmatch(line)
                if match is None:
                    failures.append(f"no answer begins so: {line[:100]!r}")
                    continue
                ids.append(match[1])
                refused += line.startswith("?")
            inside = bool(line)
        status = engine.wait()
        watchdog.cancel()
        writer.join()
        drain.join()
        return {
            "lines": len(data),
            "commands": len(expected(data)) + 1,
            "answers": len(ids),
            "refused": refused,
            "in_order": ids == [*expected(data), ""],
            "seconds": round(time.monotonic() - began, 1),
            "status": status,
            "failures": failures[:10] + [error.decode(errors="replace") for error in errors[:10]],
        }


def send(engine: "subprocess.Popen[bytes]", data: list[bytes]) -> None:
    """Write all lines, and the end."""
    assert engine.stdin
    try:
        for line in data:
            engine.stdin.write(line + b"\n")
        engine.stdin.write(b"quit\n")
        engine.stdin.flush()
    except OSError:
        pass  # the engine is gone; its status tells


def main() -> int:
    """Run the fuzz and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--game", default="go")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    data = lines(random.Random(arguments.seed), arguments.lines)
    found = talk(data, arguments.game, arguments.timeout)
    if arguments.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:10} {value}")
    return 0 if found["in_order"] and found["status"] == 0 and not found["failures"] else 1


if __name__ == "__main__":
    sys.exit(main())
