"""Talk nonsense to the engine: valid, mutated and binary lines, then ask whether it is ready.

Passes (exit status 0) if every search was answered, the engine answers `isready` at the end, never
had an internal error, spoke whole lines of UCI all the time, and ends when told to.

    python benchmarks/uci_fuzz.py --lines 100000 --seed 1
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

MARKER = "the_end_of_the_nonsense"
SPOKEN = re.compile(
    r"(id (name|author) .+|option name .+ type .+|uciok|readyok|info .+|bestmove (\(none\)|"
    r"[a-h][1-8][a-h][1-8][qrbn]?)( ponder [a-h][1-8][a-h][1-8][qrbn]?)?|"
    r"\d+ nodes \d+ nps|[a-h][1-8][a-h][1-8][qrbn]?: \d+|Nodes searched: \d+|"
    r"([.pnbrqkPNBRQK] ){7}[.pnbrqkPNBRQK]|(Fen|Key|Checkers|Moves): .*|)"
)
FENS = (
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "bnrqkrnb/pppppppp/8/8/8/8/PPPPPPPP/BNRQKRNB w FCfc - 0 1",
    "QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQ2/8/7k/8/K7 w - - 0 1",
    "8/8/8/8/8/8/8/8 w - - 0 1",
)
MOVES = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7".split()  # noqa: SIM905
OPTIONS = (
    "Hash value {small}",
    "Clear Hash",
    "Threads value {few}",
    "MultiPV value {few}",
    "Ponder value true",
    "Move Overhead value {number}",
    "UCI_Chess960 value {boolean}",
    "UCI_AnalyseMode value {boolean}",
    "UCI_ShowWDL value {boolean}",
    "UCI_Opponent value GM 2800 human Garry Kasparov",
    "UCI_EngineAbout value nothing",
    "Evaluation value handcrafted",
    "Evaluation value no_such_module:function",
    "Evaluation value missing.py:evaluate",
    "Search value mcts",
    "Search value alphabeta",
    "Final Choice value bound",
    "Debug Log File value <empty>",
    "Contempt value {number}",
)
LIMITS = (
    "depth {few}",
    "nodes {number}",
    "mate {few}",
    "movetime {few}",
    "wtime {number} btime {number} winc {few} binc {few}",
    "wtime {number} btime {number} movestogo {few}",
    "infinite",
    "ponder wtime {number} btime {number}",
    "depth {few} searchmoves e2e4 d2d4",
    "perft {few}",
    "",
)
OTHERS = (
    "d eval isready uci ucinewgame flip help xboard bench_1 debug_on debug_off register_later "
    "joho_debug_on protover_2 _"
)


def valid_line(rng: random.Random) -> str:
    """Return a line that a front end might send."""
    kind = rng.choices(("setoption", "position", "go", "stop", "other"), weights=(3, 6, 4, 3, 4))[0]
    if kind == "setoption":
        line = "setoption name " + rng.choice(OPTIONS)
    elif kind == "position":
        root = rng.choice(("startpos", "startpos", f"fen {rng.choice(FENS)}"))
        line = f"position {root} moves " + " ".join(MOVES[: rng.randrange(len(MOVES) + 1)])
    elif kind == "go":
        line = "go " + rng.choice(LIMITS)
    elif kind == "stop":
        line = rng.choice(("stop", "stop", "ponderhit"))
    else:
        line = rng.choice(OTHERS.split()).replace("_", " ")
    return line.format(
        small=rng.randint(1, 32),
        few=rng.randint(1, 3),
        number=rng.choice((0, 1, 5, 20, 100, 1000)),
        boolean=rng.choice(("true", "false")),
    )


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
    """Return lines of all kinds that an engine should survive at once and without harm."""
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
        if harmless(data):
            made.append(data)
    return made


def harmless(line: bytes) -> bool:
    """Tell whether a line neither ends the engine nor takes much memory, time or disk."""
    text = line.decode(errors="backslashreplace").lower()
    if re.search(r"\bquit\b|log file.*value +[^< ]", text):
        return False
    if re.search(r"(hash|threads|multipv) value \D*\d*[^\d\s]", text):
        return False
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    if re.search(r"hash|threads|bench|perft", text) and any(33 < n < 10**9 for n in numbers):
        return False
    return not (re.search(r"threads|bench|perft", text) and any(n > 5 for n in numbers))


def talk(data: list[bytes], timeout: float) -> dict[str, Any]:
    """Send the lines to a fresh engine; return what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        engine = subprocess.Popen(
            [sys.executable, "-m", "kempelen.cli", "uci"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
        assert engine.stdin
        assert engine.stdout
        assert engine.stderr
        errors: list[bytes] = []
        watchdog = threading.Timer(timeout, engine.kill)
        writer = threading.Thread(target=send, args=(engine, data), daemon=True)
        drain = threading.Thread(target=lambda: errors.extend(engine.stderr), daemon=True)
        for thread in (watchdog, writer, drain):
            thread.start()
        began = time.monotonic()
        answers, failures, ready, done = 0, [], False, False
        for raw in engine.stdout:
            line = raw.decode(errors="backslashreplace").rstrip("\r\n")
            answers += line.startswith("bestmove")
            if "internal error" in line or not SPOKEN.fullmatch(line):
                failures.append(line)
            if MARKER in line:
                done = True
                engine.stdin.write(b"isready\n")
                engine.stdin.flush()
            if done and line == "readyok":
                ready = True
                engine.stdin.write(b"quit\n")
                engine.stdin.flush()
        status = engine.wait()
        watchdog.cancel()
        writer.join()
        drain.join()
        return {
            "lines": len(data),
            "searches": sum(1 for line in data if re.fullmatch(rb"go(?! perft).*", line)),
            "answers": answers,
            "seconds": round(time.monotonic() - began, 1),
            "ready": ready,
            "status": status,
            "failures": failures[:10] + [error.decode(errors="replace") for error in errors[:10]],
        }


def send(engine: "subprocess.Popen[bytes]", data: list[bytes]) -> None:
    """Write all lines, and the question at the end."""
    assert engine.stdin
    try:
        for line in data:
            engine.stdin.write(line + b"\n")
        # This option is changed, in vain, when everything asked before has been answered.
        engine.stdin.write(f"stop\nsetoption name Evaluation value {MARKER}:x\n".encode())
        engine.stdin.flush()
    except OSError:
        pass  # the engine is gone; its status tells


def main() -> int:
    """Run the fuzz and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    found = talk(lines(random.Random(arguments.seed), arguments.lines), arguments.timeout)
    if arguments.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:10} {value}")
    lively = found["ready"] and found["status"] == 0 and found["answers"] >= found["searches"]
    return 0 if lively and not found["failures"] else 1


if __name__ == "__main__":
    sys.exit(main())
