"""GNU Go as the referee of finished games of Go: whether our engine scores them alike.

Each game is played over GTP to two passes, by GNU Go against itself or by our engine against it;
then both say the score and which stones are dead. Passes (exit status 0) if no move was refused,
none of ours came later than the margin, and at least the share asked for is judged alike. With
--ledger FILE runs add up, and an interrupted one goes on.

    python benchmarks/go_scores.py --games 500 --ledger scores.jsonl --sgf differ
    python benchmarks/go_scores.py --games 100 --sizes 9 --play --seconds 0.1
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from json_ledger import JsonLedger
from report import parser, show

from agent.go.parts import GO
from kempelen.console import warm_up

LONGEST_GAME = 3  # moves, as a multiple of the points
OURS = [sys.executable, "-m", "kempelen.cli", "gtp"]
LETTERS = "ABCDEFGHJKLMNOPQRST"


class Engine:
    """A GTP engine in a process of its own."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def ask(self, command: str) -> str:
        """Return the answer to a command; ValueError if the engine refuses it."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        lines = []
        while (line := self._process.stdout.readline()) and (line.strip() or not lines):
            if line.strip():
                lines.append(line.strip())
        if not lines:
            raise ValueError(f"{command}: the engine is gone")
        if lines[0].startswith("?"):
            raise ValueError(f"{command}: {lines[0]}")
        return "\n".join(lines).removeprefix("=").strip()

    def close(self) -> None:
        """End the engine."""
        try:
            self.ask("quit")
        except (OSError, ValueError):
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def play(
    ours: Engine, theirs: Engine, colour_of_ours: str, size: int, komi: float
) -> dict[str, Any]:
    """Play one game; return what is to be known of it.

    colour_of_ours: black or white; "" where GNU Go plays both and ours only follows and scores.
    """
    for engine in (ours, theirs):
        for command in (f"boardsize {size}", "clear_board", f"komi {komi}"):
            engine.ask(command)
    moves: list[str] = []
    slowest = 0.0
    game: dict[str, Any] = {"colour": colour_of_ours, "size": size, "komi": komi, "error": ""}
    try:
        while moves[-2:] != ["PASS", "PASS"]:
            if len(moves) >= LONGEST_GAME * size * size:
                raise ValueError("the game did not end")
            colour = "white" if len(moves) % 2 else "black"
            mover, other = (ours, theirs) if colour == colour_of_ours else (theirs, ours)
            began = time.monotonic()
            move = mover.ask(f"genmove {colour}").upper()
            if mover is ours:
                slowest = max(slowest, time.monotonic() - began)
            if move == "RESIGN":
                raise ValueError(f"{colour} resigned")
            other.ask(f"play {colour} {move}")
            moves.append(move)
        game["ours"], game["theirs"] = ours.ask("final_score"), theirs.ask("final_score")
        dead = [sorted(each.ask("final_status_list dead").split()) for each in (ours, theirs)]
        game["our_dead"], game["their_dead"] = dead
    except ValueError as error:
        game["error"] = str(error)
    game |= {"plies": len(moves), "slowest": round(slowest, 3), "moves": " ".join(moves)}
    return game


def same(first: str, second: str) -> bool:
    """Tell whether two scores are the same, however written."""
    return first[:2] == second[:2] and float(first[2:] or 0) == float(second[2:] or 0)


def alike(game: dict[str, Any]) -> bool:
    """Tell whether both score a game alike, with the same dead stones."""
    return same(game["ours"], game["theirs"]) and game["our_dead"] == game["their_dead"]


def to_sgf(game: dict[str, Any]) -> str:
    """Return a game as SGF, with both judgements; dead stones of either alone are marked."""
    size = game["size"]

    def point(vertex: str) -> str:
        if vertex == "PASS":
            return ""
        return chr(97 + LETTERS.index(vertex[0])) + chr(97 + size - int(vertex[1:]))

    signs = {0: "B", 1: "W"}
    ours, theirs = set(game["our_dead"]), set(game["their_dead"])
    nodes = [f";{signs[n % 2]}[{point(m)}]" for n, m in enumerate(game["moves"].split())]
    marks = [
        f"{mark}{''.join(f'[{point(each)}]' for each in sorted(stones))}"
        for mark, stones in (("TR", ours - theirs), ("SQ", theirs - ours))
        if stones
    ]
    words = (
        f"ours {game['ours']}, GNU Go {game['theirs']}; "
        "triangles: dead by ours alone, squares: dead by GNU Go's alone"
    )
    head = f"FF[4]GM[1]SZ[{size}]KM[{game['komi']:g}]RU[Chinese]RE[{game['theirs']}]"
    return f"(;{head}\n{''.join(nodes)}\n{''.join(marks)}C[{words}])\n"


def games_of(options: argparse.Namespace, ledger: JsonLedger) -> list[dict[str, Any]]:
    """Play what the ledger has not, and return all games."""
    words = f"--mode gtp --chinese-rules --level {options.level}"
    limits = ["--playouts", str(options.playouts)] if options.playouts else []
    theirs = Engine([options.gnugo, *words.split()])
    ours = Engine([*OURS, "--time", str(options.seconds), "--seed", str(options.seed), *limits])
    try:
        for number in range(options.games):
            if number in ledger:
                continue
            theirs.ask(f"set_random_seed {options.seed + number}")
            colour = ("black", "white")[number // len(options.sizes) % 2] if options.play else ""
            size = options.sizes[number % len(options.sizes)]
            ledger.add(number, play(ours, theirs, colour, size, options.komi))
            if sys.stderr.isatty():
                print(f"\r{number + 1} games", end="", file=sys.stderr)
    finally:
        ours.close()
        theirs.close()
    return ledger.first(options.games)


def main() -> int:
    """Play and report."""
    arguments = parser(__doc__)
    arguments.add_argument("--games", type=int, default=500)
    arguments.add_argument("--sizes", type=int, nargs="+", default=[9, 13, 19])
    arguments.add_argument("--komi", type=float, default=7.5)
    arguments.add_argument("--level", type=int, default=1, help="of GNU Go, from 1 to 10")
    arguments.add_argument(
        "--play", action="store_true", help="our engine plays one side, by turns, not GNU Go both"
    )
    arguments.add_argument("--seconds", type=float, default=0.05, help="for each of our moves")
    arguments.add_argument("--playouts", type=int, help="at most so many for each of our moves")
    arguments.add_argument("--margin", type=float, default=2.0, help="how late a move may come")
    arguments.add_argument("--share", type=float, default=0.99, help="of games judged alike")
    arguments.add_argument("--seed", type=int, default=1, help="of the first game")
    arguments.add_argument("--gnugo", default="/usr/games/gnugo")
    arguments.add_argument("--ledger", type=Path, metavar="FILE", help="a JSON object a line")
    arguments.add_argument("--sgf", type=Path, metavar="DIR", help="for games judged differently")
    options = arguments.parse_args()
    warm_up(GO)
    names = ("sizes", "komi", "level", "play", "seconds", "playouts", "seed")
    settings = {"benchmark": "go_scores"} | {name: getattr(options, name) for name in names}
    games = games_of(options, JsonLedger(options.ledger, settings))
    rows, late = [], 0
    for size in options.sizes:
        own = [game for game in games if game["size"] == size]
        over = [game for game in own if not game["error"]]
        late += sum(game["slowest"] > options.seconds + options.margin for game in own)
        scores = sum(same(game["ours"], game["theirs"]) for game in over)
        stones = sum(game["our_dead"] == game["their_dead"] for game in over)
        dead = sum(bool(game["their_dead"]) for game in over)
        distinct = len({game["moves"] for game in own})
        rows.append((f"{size}x{size}", len(own), distinct, len(over), dead, scores, stones,
                     sum(map(alike, over))))  # fmt: skip
    rows.append(("all", *(sum(row[column] for row in rows) for column in range(1, 8))))
    columns = ("board", "games", "distinct", "finished", "with dead stones", "same score",
               "same dead stones", "both")  # fmt: skip
    show("scores beside GNU Go's", columns, rows, options.json)
    for number, game in enumerate(games):
        if game["error"]:
            print(f"game {number}: {game['error']}")
        elif not alike(game):
            print(f"game {number}, {game['size']}x{game['size']}: {game['ours']} against "
                  f"{game['theirs']}")  # fmt: skip
            if options.sgf:
                options.sgf.mkdir(parents=True, exist_ok=True)
                (options.sgf / f"game-{number}.sgf").write_text(to_sgf(game), "utf-8")
    finished, judged = rows[-1][3], rows[-1][7]
    print(f"judged alike: {judged} of {finished}; late: {late}")
    refused = any(game["error"] and "resigned" not in game["error"] for game in games)
    return 1 if refused or late or judged < options.share * finished else 0


if __name__ == "__main__":
    sys.exit(main())
