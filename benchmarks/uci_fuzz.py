"""Fuzz the engine over UCI with valid, mutated and binary lines.

Passes (exit status 0) if every search was answered and the engine answers `isready` at the end. It
must have no internal error, write only complete UCI lines, and quit when it receives `quit`.

    python benchmarks/uci_fuzz.py --lines 100000 --seed 1
"""

import random
import re
import sys
import tempfile

from fuzzing import FuzzSession, lines, options, report

MARKER = "the_end_of_the_nonsense"
MOVE = r"([a-h][1-8][a-h][1-8][qrbnk]?|[PNBRQ]@[a-h][1-8])"
VALID_OUTPUT = re.compile(
    r"(id (name|author) .+|option name .+ type .+|uciok|readyok|info .+|"
    rf"bestmove (\(none\)|{MOVE})( ponder {MOVE})?|"
    rf"\d+ nodes \d+ nps|{MOVE}: \d+|Nodes searched: \d+|"
    r"([.pnbrqkPNBRQK] ){7}[.pnbrqkPNBRQK]|(Variant|Fen|Key|Checkers|Moves): .*|"
    # Output of `eval` for a network.
    r"(\+-{7}){8}\+|(\|   [ pnbrqkPNBRQK]   ){8}\||(\| ?( {5}|[+-]\d+\.\d\d) ){8}\||"
    r"Network: \(.*|Outputs, fewest pieces first:( \[?[+-]\d+\.\d\d\]?)+|)"
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
    "MoveSelection value bound",
    "UCI_LimitStrength value {boolean}",
    "UCI_Elo value {number}",
    "Skill Level value {few}",
    "OwnBook value {boolean}",
    "BookFile value missing.bin",
    "BookDepth value {few}",
    "OwnTables value {boolean}",
    "SyzygyPath value nowhere",
    "GaviotaPath value nowhere",
    "ExperienceFile value nowhere/at.all",
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
    """Return a line that a GUI might send."""
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


def harmless(line: bytes) -> bool:
    """Return whether a line is safe: no quit, and no large use of memory, time or disk."""
    text = line.decode(errors="backslashreplace").lower()
    if re.search(r"\bquit\b|log file.*value +[^< ]", text):
        return False
    if re.search(r"(hash|threads|multipv) value \D*\d*[^\d\s]", text):
        return False
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    if re.search(r"hash|threads|bench|perft", text) and any(33 < n < 10**9 for n in numbers):
        return False
    return not (re.search(r"threads|bench|perft", text) and any(n > 5 for n in numbers))


def main() -> int:
    """Run the fuzz and report."""
    chosen = options(__doc__).parse_args()
    data = lines(random.Random(chosen.seed), chosen.lines, valid_line, harmless)
    # The engine rejects this option after it has answered all earlier commands.
    ending = f"stop\nsetoption name Evaluation value {MARKER}:x\n".encode()
    answers, failures, ready, done = 0, [], False, False
    with (
        tempfile.TemporaryDirectory() as folder,
        FuzzSession(["uci"], data, ending, folder, chosen.timeout) as engine,
    ):
        for line in engine.heard():
            answers += line.startswith("bestmove")
            if "internal error" in line or not VALID_OUTPUT.fullmatch(line):
                failures.append(line)
            if MARKER in line:
                done = True
                engine.say(b"isready\n")
            if done and line == "readyok":
                ready = True
                engine.say(b"quit\n")
    searches = sum(1 for line in data if re.fullmatch(rb"go(?! perft).*", line))
    figures = {"lines": len(data), "searches": searches, "answers": answers, "ready": ready}
    passed = ready and answers >= searches
    return report("UCI fuzz", figures, engine, failures, passed, chosen.json)


if __name__ == "__main__":
    sys.exit(main())
