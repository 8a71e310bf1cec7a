"""Strength in the variants of chess against Fairy-Stockfish and a plain search on python-chess.

    npm install --prefix FOLDER fairy-stockfish-nnue.wasm
    python benchmarks/variants.py --fairy FOLDER/node_modules/fairy-stockfish-nnue.wasm/uci.js
    python benchmarks/variants.py --variant atomic --opponent plain --games 20 --ledgers FOLDER

Fairy-Stockfish is the WebAssembly build, run by Node. Without `--fairy`, only the plain search
plays. Games start from random openings, in pairs with colours swapped. Each concurrent game needs
a core of its own; the engines do not ponder. The speed of Fairy-Stockfish is that of the build,
which is slower than a native one: the table has both. With --ledgers, an interrupted run continues.
"""

import re
import sys
import tempfile
import time
from pathlib import Path

from harness import KEMPELEN, MATCH_ENGINE, Engine, match_summary, parser, show

from agent.games.variants import VARIANTS

SMALL = "option.Hash=16,option.Threads=1"
OURS = f"{MATCH_ENGINE},name=Kempelen,{SMALL}"
PLAIN = (
    f"cmd={sys.executable},args={Path(__file__).with_name('plain_chess_engine.py')},name=plain,"
    "margin=0.5"
)
SPEED_SECONDS = 3.0


def speed(command: list[str], variant: str) -> int:
    """Return the nodes per second of an engine at the start of a variant."""
    with Engine(command) as engine:
        engine.say("uci")
        engine.read("uciok")
        engine.say(f"setoption name UCI_Variant value {variant}", "isready")
        engine.read("readyok")
        engine.say("position startpos", "go depth 2")
        engine.read("bestmove")
        engine.say("position startpos", f"go movetime {round(SPEED_SECONDS * 1000)}")
        began, nodes = time.perf_counter(), 0
        for line in engine.process.stdout:
            if match := re.search(r"\bnodes (\d+)", line):
                nodes = int(match[1])
            if line.startswith("bestmove"):
                break
        return round(nodes / (time.perf_counter() - began))


def main() -> int:
    """Play the matches and show the scores."""
    arguments = parser(__doc__)
    arguments.add_argument("--variant", choices=VARIANTS[1:], help="one (default: all)")
    arguments.add_argument("--opponent", choices=("plain", "fairy"), help="one (default: all)")
    arguments.add_argument("--games", type=int, default=100, help="games against each opponent")
    arguments.add_argument(
        "--concurrency", type=int, default=1, help="concurrent games (default: 1)"
    )
    arguments.add_argument("--tc", default="5+0.05", help="time control, as base+increment")
    arguments.add_argument("--fairy", metavar="FILE", help="uci.js of fairy-stockfish-nnue.wasm")
    arguments.add_argument("--ledgers", metavar="FOLDER", help="keep a ledger of each match")
    options = arguments.parse_args()
    if options.opponent == "fairy" and not options.fairy:
        arguments.error("--opponent fairy needs --fairy FILE")
    opponents: dict[str, tuple[str, list[str] | None]] = {}
    if options.opponent != "fairy":
        opponents["plain"] = (PLAIN, None)
    if options.fairy and options.opponent != "plain":
        node = ["node", "--no-experimental-fetch", options.fairy]
        text = f"cmd=node,args={' '.join(node[1:])},name=Fairy-Stockfish,option.Hash=16,margin=0.2"
        opponents["Fairy-Stockfish"] = (text, node)
    rows = []
    for variant in [options.variant] if options.variant else VARIANTS[1:]:
        own_speed = speed([*KEMPELEN, "uci"], variant)
        for name, (engine, program) in opponents.items():
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(options.ledgers or temporary)
                folder.mkdir(parents=True, exist_ok=True)
                command = [
                    *("--variant", variant, "--engine", OURS, "--engine", engine),
                    *("--tc", options.tc, "--games", str(options.games)),
                    *("--concurrency", str(options.concurrency), "--maxmoves", "200"),
                    *("--ledger", str(folder / f"{variant}-{name}.sqlite"), "--resume"),
                ]
                rows_of_match = match_summary(command)["rows"]
            row = next(row for row in rows_of_match if row["name"] == "Kempelen")
            their_speed = speed(program, variant) if program else ""
            score = 100 * row["points"] / options.games
            rows.append((variant, name, options.games, score, own_speed, their_speed))
    columns = ("variant", "opponent", "games", "score %", "nodes/s", "opponent's nodes/s")
    show(f"Variants at {options.tc}", columns, rows, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
