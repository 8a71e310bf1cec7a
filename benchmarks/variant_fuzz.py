"""Fuzz the engine over UCI in the variants of chess, and check that all its moves are legal.

Between batches of valid, mutated and binary lines, the engine searches a position of a random game.
Passes (exit status 0) if it answers after every batch, with a legal move and without an internal
error.

    python benchmarks/variant_fuzz.py --lines 20000 --seed 1
"""

import random
import tempfile
import threading

import chess
from fuzzing import lines, options
from harness import KEMPELEN, Engine, show
from uci_fuzz import VALID_OUTPUT, harmless, valid_line

from agent.games.variants import VARIANTS, board_class

BATCH = 50  # lines
MAX_PLIES = 60
MARKER = "the_end_of_batch"


def random_game(rng: random.Random, variant: str) -> chess.Board:
    """Return a position of a random game that is not over."""
    while True:
        board = board_class(variant)()
        for _ in range(rng.randrange(MAX_PLIES)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
        if any(board.legal_moves) and board.outcome() is None:
            return board


def line_of(rng: random.Random, variant: str) -> str:
    """Return a line that a GUI might send during a game of a variant."""
    line = valid_line(rng)
    if not line.startswith("position") or rng.random() < 0.2:
        return line
    board = random_game(rng, variant)
    if rng.random() < 0.5:
        return f"position fen {board.fen()}"
    return f"position startpos moves {' '.join(move.uci() for move in board.move_stack)}"


def fuzz(variant: str, count: int, seed: int, folder: str, timeout: float) -> tuple[int, list[str]]:
    """Return the number of legal moves, and the failures. Exit after `timeout` seconds."""
    rng, legal, failures = random.Random(f"{seed} {variant}"), 0, []
    data = lines(rng, count, lambda rng: line_of(rng, variant), harmless)

    def read(text: str) -> str:
        for line in engine.process.stdout:
            line = line.rstrip("\r\n")
            if "internal error" in line or not VALID_OUTPUT.fullmatch(line):
                failures.append(f"{variant}: {line[:200]}")
            if text in line:
                return line
        raise SystemExit(f"{variant}: the engine ended before it said {text}")

    with Engine([*KEMPELEN, "uci"], cwd=folder, errors="backslashreplace") as engine:
        watchdog = threading.Timer(timeout, engine.process.kill)
        watchdog.daemon = True
        watchdog.start()
        engine.say("uci")
        for start in range(0, len(data), BATCH):
            engine.process.stdin.flush()
            batch = b"".join(line + b"\n" for line in data[start : start + BATCH])
            engine.process.stdin.buffer.write(batch)
            # The engine rejects this option after it has answered all earlier commands.
            engine.say("stop", f"setoption name Evaluation value {MARKER}{start}:x")
            read(f"{MARKER}{start}")
            board = random_game(rng, variant)
            moves = " ".join(move.uci() for move in board.move_stack)
            engine.say(
                "setoption name UCI_Chess960 value false",
                f"setoption name UCI_Variant value {variant}",
                f"position startpos moves {moves}",
                f"go nodes {rng.choice((1, 100, 2000))}",
            )
            answer = read("bestmove ").split()[1]
            if any(move.uci() == answer for move in board.legal_moves):
                legal += 1
            else:
                failures.append(f"{variant}: {answer} in {board.fen()}")
        engine.say("quit")
        if engine.process.wait(60) != 0:
            failures.append(f"{variant}: exit status {engine.process.returncode}")
        watchdog.cancel()
    return legal, failures


def main() -> int:
    """Run the fuzz for each variant and report."""
    arguments = options(__doc__)
    arguments.add_argument("--variant", choices=VARIANTS, help="one (default: all)")
    chosen = arguments.parse_args()
    rows, all_failures = [], []
    with tempfile.TemporaryDirectory() as folder:
        for variant in [chosen.variant] if chosen.variant else VARIANTS[1:]:
            legal, failures = fuzz(variant, chosen.lines, chosen.seed, folder, chosen.timeout)
            rows.append((variant, chosen.lines, legal, len(failures)))
            all_failures += failures
    show("UCI fuzz in variants", ("variant", "lines", "legal moves", "failures"), rows, chosen.json)
    for failure in all_failures[:20]:
        print(failure)
    return int(bool(all_failures))


if __name__ == "__main__":
    raise SystemExit(main())
