"""Fuzz the engine over the xboard protocol with valid, mutated and binary lines.

Passes (exit status 0) if every `ping` was answered once and in order, and the engine makes a move
and answers a last `ping`. It must have no internal error, write only complete protocol lines, and
quit when it receives `quit`.

    python benchmarks/xboard_fuzz.py --lines 200000 --seed 1
"""

import random
import re
import sys
import tempfile

from fuzzing import FuzzSession, lines, options, report
from uci_fuzz import FENS, MOVES

from protocols.xboard.protocol import COMMANDS

LAST = "the_end_of_the_nonsense"
MOVE = r"([a-h][1-8][a-h][1-8][qrbn]?|O-O(-O)?)"
VALID_OUTPUT = re.compile(
    rf"feature .+|(Error|Illegal move)( \([^()]*\))?: .*|# .+|tellusererror .+|move {MOVE}|"
    rf"Hint: {MOVE}|pong .*|offer draw|(1-0|0-1|1/2-1/2) \{{.+\}}|-?\d+( -?\d+){{6}}\t.+|"
    rf"stat01: \d+ \d+ \d+ \d+ \d+( {MOVE})?| .+|"
)
COMMAND_ARGUMENTS = {
    "protover": ("2", "{few}"),
    "accepted": ("ping",),
    "rejected": ("setscore", "debug"),
    "variant": ("normal", "fischerandom", "atomic"),
    "usermove": (*MOVES, *MOVES, "e1c1", "O-O", "Nf3", "e7e8q", "@@@@"),
    "result": ("1-0 {{White mates}}", "*"),
    "setboard": FENS,
    "exclude": ("all", "e2e4", "d7d5"),
    "include": ("all", "e2e4", "d7d5"),
    "level": ("40 0:01 0", "0 0:00 0.01", "0 0:01 0.01", "{few} 0:01 0", "40 5 0"),
    "st": ("{small_time}",),
    "sd": ("{few}",),
    "time": ("{number}",),
    "otim": ("{number}",),
    "ping": ("{number}",),
    "memory": ("{small}",),
    "cores": ("{few}",),
    "egtpath": ("syzygy nowhere", "gaviota nowhere", "nalimov nowhere"),
    "name": ("Garry Kasparov",),
    "rating": ("2000 2800",),
    "ics": ("-",),
    "option": (
        "Clear Hash",
        "MultiPV={few}",
        "Move Overhead={few}",
        "OwnBook={boolean}",
        "BookFile=missing.bin",
        "BookDepth={few}",
        "BookVariety=best",
        "UCI_LimitStrength={boolean}",
        "UCI_Elo={number}",
        "Skill Level={few}",
        "OwnTables={boolean}",
        "SyzygyPath=nowhere",
        "GaviotaPath=nowhere",
        "ExperienceFile=nowhere/at.all",
        "Evaluation=missing.py:evaluate",
        "Evaluation=handcrafted",
        "Search=mcts",
        "Search=alphabeta",
        "MoveSelection=bound",
        "Debug Log File=",
        "Contempt={number}",
    ),
}
# The commands of a normal session are more frequent than the others.
OFTEN = (
    "usermove usermove usermove go go new force ? ping setboard analyze exit . undo st sd sd hard"
)


def valid_line(rng: random.Random) -> str:
    """Return a line that a GUI might send."""
    name = rng.choice(OFTEN.split() if rng.random() < 0.6 else list(COMMANDS))
    line = f"{name} {rng.choice(COMMAND_ARGUMENTS.get(name, ('',)))}".strip()
    if name == "usermove" and rng.random() < 0.2:
        line = line.partition(" ")[2]
    return line.format(
        small=rng.randint(1, 32),
        small_time=rng.choice(("0.01", "0.05", "0.2")),
        few=rng.randint(1, 3),
        number=rng.choice((0, 1, 5, 20, 100, 1000)),
        boolean=rng.choice((0, 1)),
    )


def harmless(line: bytes) -> bool:
    """Return whether a line is safe: no quit, and no large use of memory, time or disk."""
    text = line.decode(errors="backslashreplace").lower()
    if re.match(r"\s*quit\b", text) or re.search(r"log file=.*[^<\s]", text):
        return False
    numbers = [float(number) for number in re.findall(r"\d+(?:e\d+)?", text)]
    return not (re.search(r"memory|cores|multipv", text) and any(n > 33 for n in numbers))


PING = re.compile(r"\ufeff*\s*ping\s+([0-9]+)\s*")
PONG = re.compile(r"pong [0-9]+")
# Seconds. Without pauses, hardly any search ends, because the next line interrupts it.
PAUSE = 0.03


def main() -> int:
    """Run the fuzz and report."""
    chosen = options(__doc__).parse_args()
    data = lines(random.Random(chosen.seed), chosen.lines, valid_line, harmless)
    ending = f"force\nnew\nsd 1\ngo\nping {LAST}\n".encode()
    heard = (line.decode(errors="backslashreplace") for line in data)
    expected = [f"pong {ping[1]}" for line in heard if (ping := PING.fullmatch(line))]
    pongs: list[str] = []
    failures, moves, ready = [], 0, False
    with (
        tempfile.TemporaryDirectory() as folder,
        FuzzSession(["xboard"], data, ending, folder, chosen.timeout, PAUSE) as engine,
    ):
        for line in engine.heard():
            moves += line.startswith("move ")
            if "internal error" in line or not VALID_OUTPUT.fullmatch(line):
                failures.append(line)
            if line == f"pong {LAST}":
                ready = True
                engine.say(b"quit\n")
            elif PONG.fullmatch(line):
                pongs.append(line)
    in_order = pongs == expected
    figures = {
        "lines": len(data),
        "pings": len(expected),
        "in order": in_order,
        "moves": moves,
        "ready": ready,
    }
    passed = ready and in_order and moves > 0
    return report("xboard fuzz", figures, engine, failures, passed, chosen.json)


if __name__ == "__main__":
    sys.exit(main())
