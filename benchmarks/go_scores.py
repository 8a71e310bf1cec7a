"""Compare how our engine and GNU Go score finished games of Go.

Each game is played over GTP until both sides pass, either by GNU Go against itself or by our engine
against GNU Go. Both engines then report the score and the dead stones. With --referee, a stronger
GNU Go first continues the game until it passes for both sides, because a weak GNU Go passes too
early.

Passes (exit status 0) if no move was rejected, no move of our engine exceeded the time margin, and
at least the required fraction of games is scored alike. With --ledger FILE, repeated runs add
games, and an interrupted run continues. With --again FILE, the games of another ledger are used
instead of new ones. Their scores by GNU Go are reused if the referee's level is the same.

    python benchmarks/go_scores.py --games 500 --ledger scores.jsonl --sgf differ
    python benchmarks/go_scores.py --games 500 --referee 10 --ledger scores.jsonl --sgf differ
    python benchmarks/go_scores.py --games 500 --referee 10 --again scores.jsonl
    python benchmarks/go_scores.py --games 100 --sizes 9 --play --seconds 0.1
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from child_processes import spawn
from json_ledger import JsonLedger
from report import parser, show

from agent.go.parts import GO
from kempelen.console.terminal import load_kernels
from protocols.gtp import sgf
from protocols.gtp.rules import read_rules

# By game number: a game, and whether GNU Go's score of the game can be reused.
Known = dict[int, tuple[dict[str, Any], bool]]
MAX_GAME_LENGTH_FACTOR = 3  # maximum number of moves per point of the board
OURS = [sys.executable, "-m", "kempelen.cli", "gtp"]
COLOURS = ("black", "white")
LETTERS = "ABCDEFGHJKLMNOPQRST"
RULES = read_rules("chinese")  # the rules that GNU Go is set to


class Engine:
    """A GTP engine process."""

    def __init__(self, command: list[str]) -> None:
        self._process = spawn(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def ask(self, command: str) -> str:
        """Return the response to a command. Raises ValueError if the engine rejects it."""
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
        """Stop the engine."""
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
    """Play one game until both sides pass; return its record.

    colour_of_ours: "black", "white", or "" if GNU Go plays both sides. Our engine then only follows
    the game and scores it.
    """
    begin((ours, theirs), size, komi)
    moves: list[str] = []
    slowest = 0.0
    game: dict[str, Any] = {"colour": colour_of_ours, "size": size, "komi": komi, "error": ""}
    try:
        while moves[-2:] != ["PASS", "PASS"]:
            if len(moves) >= MAX_GAME_LENGTH_FACTOR * size * size:
                raise ValueError("the game did not end")
            colour = colour_after(moves)
            mover, other = (ours, theirs) if colour == colour_of_ours else (theirs, ours)
            began = time.monotonic()
            move = mover.ask(f"genmove {colour}").upper()
            if mover is ours:
                slowest = max(slowest, time.monotonic() - began)
            if move == "RESIGN":
                raise ValueError(f"{colour} resigned")
            other.ask(f"play {colour} {move}")
            moves.append(move)
    except ValueError as error:
        game["error"] = str(error)
    return game | {"slowest": round(slowest, 3), **written(moves)}


def begin(engines: tuple[Engine, ...], size: int, komi: float, moves: str = "") -> None:
    """Start a game on the engines, and replay the moves."""
    for engine in engines:
        for command in (f"boardsize {size}", "clear_board", f"komi {komi}"):
            engine.ask(command)
        for number, move in enumerate(moves.split()):
            engine.ask(f"play {COLOURS[number % 2]} {move}")


def play_on(theirs: Engine, game: dict[str, Any], level: int) -> None:
    """Let GNU Go at `level` continue a finished game for both sides.

    If GNU Go passes for both sides at once, the game is not changed.
    """
    theirs.ask(f"level {level}")
    moves, added = game["moves"].split(), []
    while added[-2:] != ["PASS", "PASS"]:
        if len(moves) + len(added) >= MAX_GAME_LENGTH_FACTOR * game["size"] ** 2:
            raise ValueError("the game did not end")
        colour = colour_after([*moves, *added])
        move = theirs.ask(f"genmove {colour}").upper()
        if move == "RESIGN":
            move = "PASS"
            theirs.ask(f"play {colour} {move}")
        added.append(move)
    if len(added) > 2:
        game |= written(moves + added)


def score_with_gnugo(theirs: Engine, game: dict[str, Any], referee: int | None, level: int) -> None:
    """Add GNU Go's score of its current game to `game`, then reset its level to `level`.

    referee: the level at which GNU Go continues the game before scoring; None for scoring only.
    """
    try:
        if referee:
            play_on(theirs, game, referee)
        game["theirs"], game["their_dead"] = verdict(theirs)
    except ValueError as error:
        game["error"] = str(error)
    theirs.ask(f"level {level}")


def score_with_kempelen(ours: Engine, game: dict[str, Any]) -> None:
    """Add our engine's score of a game to `game`, with the time per scoring command."""
    begin((ours,), game["size"], game["komi"], game["moves"])
    began = time.monotonic()
    try:
        game["ours"], game["our_dead"] = verdict(ours)
    except ValueError as error:
        game["error"] = str(error)
    game["judging"] = round((time.monotonic() - began) / 2, 3)


def verdict(engine: Engine) -> tuple[str, list[str]]:
    """Return the score and the dead stones of the engine's current game."""
    return engine.ask("final_score"), sorted(engine.ask("final_status_list dead").split())


def written(moves: list[str]) -> dict[str, Any]:
    """Return the entries of a game record for these moves."""
    return {"plies": len(moves), "moves": " ".join(moves)}


def colour_after(moves: list[str]) -> str:
    """Return the colour of the side to move."""
    return COLOURS[len(moves) % 2]


def same(first: str, second: str) -> bool:
    """Return whether two scores are equal, regardless of their format."""
    return first[:2] == second[:2] and float(first[2:] or 0) == float(second[2:] or 0)


def same_score(game: dict[str, Any]) -> bool:
    """Return whether both engines report the same score and the same dead stones."""
    return same(game["ours"], game["theirs"]) and game["our_dead"] == game["their_dead"]


def to_sgf(game: dict[str, Any]) -> str:
    """Return a game as SGF with both scores. Stones that only one engine calls dead are marked."""
    size = game["size"]

    def place(vertex: str) -> sgf.Point | None:
        if vertex == "PASS":
            return None
        return LETTERS.index(vertex[0]), int(vertex[1:]) - 1

    ours, theirs = set(game["our_dead"]), set(game["their_dead"])
    moves = [(n % 2, place(move)) for n, move in enumerate(game["moves"].split())]
    record = sgf.SgfGame((size, size), game["komi"], ([], []), 0, moves, RULES.sgf_name)
    points = {vertex: place(vertex) for vertex in ours | theirs}
    marks = [
        f"{mark}{''.join(f'[{sgf.sgf_point(points[each], size)}]' for each in sorted(stones))}"
        for mark, stones in (("TR", ours - theirs), ("SQ", theirs - ours))
        if stones
    ]
    words = (
        f"ours {game['ours']}, GNU Go {game['theirs']}; "
        "triangles: dead by ours alone, squares: dead by GNU Go's alone"
    )
    written = sgf.write(record, {"RE": game["theirs"]})
    return f"{written.removesuffix(')')}\n{''.join(marks)}C[{words}])\n"


def games_of(
    options: argparse.Namespace, ledger: JsonLedger, known: Known
) -> list[tuple[int, dict[str, Any]]]:
    """Play and score the games that are not in the ledger; return all games.

    known: games of another ledger, which are not played again.
    """
    words = f"--mode gtp --chinese-rules --level {options.level}"
    limits = ["--playouts", str(options.playouts)] if options.playouts else []
    theirs = Engine([options.gnugo, *words.split()])
    ours = Engine([*OURS, "--time", str(options.seconds), "--seed", str(options.seed), *limits])
    try:
        for number in range(options.games):
            if number in ledger or (options.again and number not in known):
                continue
            theirs.ask(f"set_random_seed {options.seed + number}")
            if options.again:
                game, judged = known[number]
                if not judged:
                    begin((theirs,), game["size"], game["komi"], game["moves"])
            else:
                colour = COLOURS[number // len(options.sizes) % 2] if options.play else ""
                size = options.sizes[number % len(options.sizes)]
                game, judged = play(ours, theirs, colour, size, options.komi), False
            if not game["error"] and not judged:
                score_with_gnugo(theirs, game, options.referee, options.level)
            if not game["error"]:
                score_with_kempelen(ours, game)
            ledger.add(number, game)
            if sys.stderr.isatty():
                print(f"\r{number + 1} games", end="", file=sys.stderr)
    finally:
        ours.close()
        theirs.close()
    return [(number, ledger[number]) for number in range(options.games) if number in ledger]


def known_games(file: Path, settings: dict[str, Any]) -> Known:
    """Return the games of a ledger that were played with these settings.

    GNU Go's score of a game can be reused if the referee was the same. A game that a different
    referee continued is skipped.
    """
    found: Known = {}
    referee = settings.get("referee")
    for line in file.read_text("utf-8").splitlines():
        entry = json.loads(line)
        theirs = entry["settings"].pop("referee", None)
        same_play = {"referee": referee} | entry["settings"] == {"referee": None} | settings
        if same_play and theirs in (None, referee):
            judged = theirs == referee
            if judged or entry["number"] not in found:
                found[entry["number"]] = entry["found"], judged
    return found


def main() -> int:
    """Play and report."""
    arguments = parser(__doc__)
    arguments.add_argument("--games", type=int, default=500)
    arguments.add_argument("--sizes", type=int, nargs="+", default=[9, 13, 19])
    arguments.add_argument("--komi", type=float, default=7.5)
    arguments.add_argument("--level", type=int, default=1, help="level of GNU Go, from 1 to 10")
    arguments.add_argument(
        "--play", action="store_true", help="our engine plays alternating sides against GNU Go"
    )
    arguments.add_argument(
        "--seconds", type=float, default=0.05, help="seconds per move of our engine"
    )
    arguments.add_argument("--playouts", type=int, help="maximum playouts per move of our engine")
    arguments.add_argument(
        "--margin", type=float, default=2.0, help="tolerance in seconds for late moves"
    )
    arguments.add_argument(
        "--referee",
        type=int,
        metavar="LEVEL",
        help="level at which GNU Go finishes the game and scores it",
    )
    arguments.add_argument(
        "--share", type=float, default=0.99, help="required fraction of games scored alike"
    )
    arguments.add_argument("--seed", type=int, default=1, help="random seed of the first game")
    arguments.add_argument("--gnugo", default="/usr/games/gnugo")
    arguments.add_argument(
        "--ledger", type=Path, metavar="FILE", help="ledger with one JSON object per line"
    )
    arguments.add_argument(
        "--again", type=Path, metavar="FILE", help="ledger whose games are scored again"
    )
    arguments.add_argument(
        "--sgf",
        type=Path,
        metavar="DIR",
        help="folder for the SGF files of games scored differently",
    )
    options = arguments.parse_args()
    load_kernels(GO)
    names = ("sizes", "komi", "level", "play", "seconds", "playouts", "seed")
    settings = {"benchmark": "go_scores"} | {name: getattr(options, name) for name in names}
    if options.referee:
        settings["referee"] = options.referee
    known = known_games(options.again, settings) if options.again else {}
    games = games_of(options, JsonLedger(options.ledger, settings), known)
    rows, late = [], 0
    for size in options.sizes:
        own = [game for _, game in games if game["size"] == size]
        over = [game for game in own if not game["error"]]
        late += sum(game["slowest"] > options.seconds + options.margin for game in own)
        scores = sum(same(game["ours"], game["theirs"]) for game in over)
        stones = sum(game["our_dead"] == game["their_dead"] for game in over)
        dead = sum(bool(game["their_dead"]) for game in over)
        distinct = len({game["moves"] for game in own})
        rows.append((f"{size}x{size}", len(own), distinct, len(over), dead, scores, stones,
                     sum(map(same_score, over))))  # fmt: skip
    rows.append(("all", *(sum(row[column] for row in rows) for column in range(1, 8))))
    columns = ("board", "games", "distinct", "finished", "with dead stones", "same score",
               "same dead stones", "both")  # fmt: skip
    show("scores beside GNU Go's", columns, rows, options.json)
    for number, game in games:
        if game["error"]:
            print(f"game {number}: {game['error']}")
        elif not same_score(game):
            print(f"game {number}, {game['size']}x{game['size']}: {game['ours']} against "
                  f"{game['theirs']}")  # fmt: skip
            if options.sgf:
                options.sgf.mkdir(parents=True, exist_ok=True)
                (options.sgf / f"game-{number}.sgf").write_text(to_sgf(game), "utf-8")
    finished, judged = rows[-1][3], rows[-1][7]
    slowest = max((game.get("judging", 0.0) for _, game in games), default=0.0)
    print(f"judged alike: {judged} of {finished}; late: {late}; slowest verdict: {slowest} s")
    refused = any(game["error"] and "resigned" not in game["error"] for _, game in games)
    return 1 if refused or late or judged < options.share * finished else 0


if __name__ == "__main__":
    sys.exit(main())
