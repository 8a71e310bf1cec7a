"""Completeness of mate variations, on mate problems from endgame tables and self-play.

Passes (exit status 0) if every reported mate in N has a legal variation of 2N-1 plies that ends in
checkmate (2N plies if the side to move is mated), and every other variation is legal.

    python benchmarks/mate_lines.py --problems 1000 --nodes 5000

It takes about two minutes of one core.
Half of the problems are endings of three and four pieces, some with one piece more that is lost in
the search. The others are positions of games of the engine against itself, with fewer nodes for one
side, in which it has announced a mate.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator

import chess
from harness import KEMPELEN, Engine, parser, show, show_progress

ENDINGS = ("KQ-k", "KR-k", "KP-k", "KBN-k", "KQ-kp", "KR-kn", "KR-kb", "KBN-kp", "KQP-k", "KRP-kn")
RANDOM_PLIES, MAX_PLIES = 8, 160
GAME_NODES = 2000, 50  # of the stronger and the weaker side
XBOARD_DEPTH = 8
MATE_NUMBER = 100_000  # xboard's score of a mate in N is this number plus N
# The highest evaluation: a mate was found whose variation was not.
WON_CP = 29_000
SETTINGS = {
    "alphabeta": (),
    "alphabeta, MultiPV 3": ("MultiPV value 3",),
    "alphabeta without tables": ("OwnTables value false",),
    "mcts": ("Search value mcts",),
    "mcts, MultiPV 3": ("Search value mcts", "MultiPV value 3"),
}

Line = tuple[int, list[str]]  # the number of moves to mate or 0, and the variation


def start_uci(*options: str) -> Engine:
    """Return a running UCI engine with its kernel loaded."""
    engine = Engine([*KEMPELEN, "uci"])
    for option in ("OwnBook value false", *options):
        engine.say(f"setoption name {option}")
    engine.say("isready")
    engine.read("readyok")
    return engine


def ask_uci(engine: Engine, fen: str, nodes: int, counts: Counter[str]) -> list[Line]:
    """Search a position, and return all lines that the engine has reported, the last one last."""
    engine.say(f"position fen {fen}", f"go nodes {nodes}")
    lines: list[Line] = []
    for text in engine.process.stdout:
        if text.startswith("bestmove"):
            return lines
        if " pv " in text:
            words, _, pv = text.partition(" pv ")
            score = words.split(" score ")[1].split()
            counts["no line"] += score[0] == "cp" and abs(int(score[1])) == WON_CP
            lines.append((int(score[1]) if score[0] == "mate" else 0, pv.split()))
    raise SystemExit("the engine ended")


def ask_xboard(engine: Engine, fen: str) -> list[Line]:
    """Search a position over the xboard protocol, like `ask_uci`."""
    engine.say("force", f"setboard {fen}", "go")
    lines: list[Line] = []
    for text in engine.process.stdout:
        if text.startswith("move "):
            return lines
        if "\t" in text:
            numbers, _, pv = text.partition("\t")
            score = int(numbers.split()[1])
            mate = abs(score) - MATE_NUMBER
            lines.append(((mate if score > 0 else -mate) if mate >= 0 else 0, pv.split()))
    raise SystemExit("the engine ended")


def table_problems(rng: random.Random, count: int, engine: Engine) -> Iterator[str]:
    """Yield endings in which the engine announces a mate."""
    while count:
        white, black = rng.choice(ENDINGS).split("-")
        board = chess.Board(None)
        for square, symbol in zip(rng.sample(chess.SQUARES, 5), white + black, strict=False):
            board.set_piece_at(square, chess.Piece.from_symbol(symbol))
        board.turn = rng.random() < 0.7
        if board.is_valid() and any(board.legal_moves):
            lines = ask_uci(engine, board.fen(), 1000, Counter())
            if lines[-1][0]:
                count -= 1
                yield board.fen()


def game_problems(rng: random.Random, count: int, engine: Engine) -> Iterator[str]:
    """Yield positions of games in which the engine announces a mate."""
    while count:
        board = chess.Board()
        for _ in range(RANDOM_PLIES):
            if moves := list(board.legal_moves):
                board.push(rng.choice(moves))
        stronger = rng.random() < 0.5
        while not board.is_game_over(claim_draw=True) and len(board.move_stack) < MAX_PLIES:
            nodes = GAME_NODES[board.turn != stronger]
            mate, pv = ask_uci(engine, board.fen(), nodes, Counter())[-1]
            if mate and count:
                count -= 1
                yield board.fen()
            board.push_uci(pv[0])


def check(fen: str, lines: list[Line], counts: Counter[str], name: str) -> None:
    """Count the mates, and the lines that are illegal or incomplete, which are printed."""
    counts["searches"] += 1
    counts["with a mate"] += bool(lines[-1][0])
    for mate, pv in lines:
        board = chess.Board(fen)
        fault = ""
        for move in pv:
            if chess.Move.from_uci(move) not in board.legal_moves:
                fault = "illegal"
                break
            board.push_uci(move)
        if mate:
            counts["mate lines"] += 1
            if not fault and (len(pv) != 2 * abs(mate) - (mate > 0) or not board.is_checkmate()):
                fault = "incomplete"
        if fault:
            counts[fault] += 1
            print(f"{name}: {fault}: {fen}: mate {mate}: {' '.join(pv)}", file=sys.stderr)


def measure(options: argparse.Namespace) -> dict[str, Counter[str]]:
    """Return the counts for each way of asking the engine."""
    rng = random.Random(options.seed)
    with start_uci() as engine:
        half = options.problems // 2
        problems = []
        for make, count in (table_problems, half), (game_problems, options.problems - half):
            for fen in make(rng, count, engine):
                problems.append(fen)
                show_progress(f"problem {len(problems)}")
    results: dict[str, Counter[str]] = {}
    for name, settings in SETTINGS.items():
        counts = results[name] = Counter()
        with start_uci(*settings) as engine:
            for number, fen in enumerate(problems, 1):
                check(fen, ask_uci(engine, fen, options.nodes, counts), counts, name)
                show_progress(f"{name}: {number}")
    counts = results["xboard"] = Counter()
    with Engine([*KEMPELEN, "xboard"]) as engine:
        engine.say("xboard", "protover 2", "option OwnBook=0", "post", "easy", "ping 1")
        engine.read("pong 1")
        engine.say(f"sd {XBOARD_DEPTH}")
        for fen in problems:
            check(fen, ask_xboard(engine, fen), counts, "xboard")
    return results


def main() -> int:
    """Measure and report."""
    arguments = parser(__doc__)
    arguments.add_argument("--problems", type=int, default=1000)
    arguments.add_argument("--nodes", type=int, default=5000, help="nodes per search")
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    results = measure(options)
    columns = ("searches", "with a mate", "mate lines", "incomplete", "illegal", "no line")
    rows = [(name, *(counts[column] for column in columns)) for name, counts in results.items()]
    show("mate variations", ("search", *columns), rows, options.json)
    return int(any(counts["incomplete"] + counts["illegal"] for counts in results.values()))


if __name__ == "__main__":
    sys.exit(main())
