"""Matches of our Go engine: against GNU Go, another GTP engine, the plain search, or itself.

Each pair of games with colours swapped is one `kempelen match` of two engines with their own random
seeds, so that games are not repeated. Distinct games are counted. With --ledger FILE, repeated runs
add games, and an interrupted run continues.

    python benchmarks/go_matches.py --games 100 --seconds 0.8 --threads 2 --ledger go.jsonl
    python benchmarks/go_matches.py --against "katago gtp -config one.cfg" --komi 7 --seconds 1
    python benchmarks/go_matches.py --against plain --games 20 --seconds 0.5
    python benchmarks/go_matches.py --against self --games 20 --playouts 10000 --their-playouts 1000
"""

import argparse
import json
import math
import shlex
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from harness import (
    KEMPELEN,
    JsonLedger,
    add_concurrency,
    even_count,
    match_summary,
    parser,
    show_figures,
)

from agent.go.parts import GO
from kempelen.console.terminal import load_kernels

OURS, THEIRS = "ours", "theirs"
# Time limit for moves that playouts limit, and for engines that manage their own time.
MAX_SECONDS = 600
OTHER = {"black": "white", "white": "black"}


def player(name: str, words: list[str], seconds: float, margin: float) -> str:
    """Return a GTP engine in the form of `kempelen match --engine`."""
    command, *rest = (word.replace(",", r"\,") for word in words)
    limits = f"movetime={seconds:g},margin={margin:g}"
    return f"cmd={command},args={' '.join(rest)},name={name},proto=gtp,{limits}"


def engines(options: argparse.Namespace, seed: int) -> list[str]:
    """Return the engines of a pair, in the form of `kempelen match --engine`."""

    def own(number: int, playouts: int | None, *more: str) -> list[str]:
        words = [*KEMPELEN, "gtp", "--seed", str(number)]
        words += ["--threads", str(options.threads), "--memory", str(options.memory), *more]
        return words + (["--playouts", str(playouts)] if playouts else [])

    seconds = options.seconds or MAX_SECONDS
    ours = player(OURS, own(seed, options.playouts), seconds, options.margin)
    if options.against == "gnugo":
        rules = "--chinese-rules --positional-superko"
        words = f"{options.gnugo} --mode gtp {rules} --level {options.level} --seed {seed}".split()
        return [ours, player(THEIRS, words, MAX_SECONDS, MAX_SECONDS)]
    if options.against not in ("plain", "self"):
        return [ours, player(THEIRS, shlex.split(options.against), MAX_SECONDS, MAX_SECONDS)]
    more = ("--algorithm", "mcts") if options.against == "plain" else ()
    theirs = own(seed + 1_000_000, options.their_playouts or options.playouts, *more)
    return [ours, player(THEIRS, theirs, seconds, options.margin)]


def play(options: argparse.Namespace, number: int) -> dict[str, Any]:
    """Play a pair; return a summary of its games."""
    first, second = engines(options, options.seed + number)
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder, "games.json")
        match_summary(
            [
                *("--game", "go", "--size", str(options.size), "--komi", str(options.komi)),
                *("--games", "2", "--engine", first, "--engine", second),
                *("--records", str(records), "--ledger", f"{folder}/ledger.sqlite"),
            ]
        )
        lines = records.read_text("utf-8").splitlines()
    return {"games": [summary(json.loads(line)) for line in lines]}


def summary(record: dict[str, Any]) -> dict[str, Any]:
    """Return the summary of a game, from our engine's view."""
    colour = "black" if record["black"] == OURS else "white"
    winner = {"1-0": "white", "0-1": "black"}.get(record["result"], "")
    loser = OTHER.get(winner, "")
    times = [move["time"] for move in record["moves"]]
    own = times[colour == "white" :: 2]
    others = times[colour == "black" :: 2]
    return {
        "colour": colour,
        "points": 0.5 if not winner else float(winner == colour),
        "termination": record["termination"],
        "score": record["detail"],
        "late": record["termination"] == "time forfeit" and (OURS if loser == colour else THEIRS),
        "moves": " ".join(move["move"] for move in record["moves"]),
        "plies": len(times),
        "seconds": {OURS: round(sum(own), 3), THEIRS: round(sum(others), 3)},
        "own_moves": len(own),
        "their_moves": len(others),
        "slowest": round(max(own, default=0.0), 3),
    }


def wilson(points: float, games: int) -> tuple[float, float]:
    """Return the 95% Wilson score interval of the fraction points / games."""
    z, share = 1.96, points / games
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    spread = math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return middle - z * spread / (1 + z * z / games), middle + z * spread / (1 + z * z / games)


def figures(games: list[dict[str, Any]]) -> dict[str, str]:
    """Return the results of all games, by name."""
    points = sum(game["points"] for game in games)
    low, high = wilson(points, len(games))

    def mean(side: str, moves: str) -> str:
        total = sum(game["seconds"][side] for game in games)
        return f"{total / max(sum(game[moves] for game in games), 1):.3f}"

    def late(side: str) -> int:
        return sum(game["late"] == side for game in games)

    found = {
        "games, distinct": f"{len(games)}, {len({game['moves'] for game in games})}",
        "won": f"{points:g} of {len(games)}: {points / len(games):.1%} ({low:.1%} to {high:.1%})",
    }
    for colour in OTHER:
        own = [game["points"] for game in games if game["colour"] == colour]
        found[f"as {colour}"] = f"{sum(own):g} of {len(own)}"
    ends = Counter(game["termination"] for game in games).most_common()
    return found | {
        "seconds a move: ours, theirs": f"{mean(OURS, 'own_moves')}, {mean(THEIRS, 'their_moves')}",
        "our slowest move": f"{max(game['slowest'] for game in games):.3f} s",
        "lost on time: ours, theirs": f"{late(OURS)}, {late(THEIRS)}",
        "ends": ", ".join(f"{end} {count}" for end, count in ends),
    }


def main() -> None:
    """Play the pairs that are not in the ledger, and show all results."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--against",
        default="gnugo",
        metavar="OPPONENT",
        help="gnugo (default), plain (our plain search), self, or the command of a GTP engine",
    )
    arguments.add_argument("--games", type=even_count, default=100, help="number of games")
    arguments.add_argument("--size", type=int, default=9)
    arguments.add_argument("--komi", type=float, default=7.5)
    arguments.add_argument("--seconds", type=float, help="seconds per move of our engine")
    arguments.add_argument(
        "--margin", type=float, default=0.1, help="tolerance in seconds for late moves"
    )
    arguments.add_argument("--playouts", type=int, help="maximum playouts per move of our engine")
    arguments.add_argument(
        "--their-playouts", type=int, help="playouts per move of the opponent, with --against self"
    )
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument(
        "--memory", type=int, default=256, help="hash size in MB of each of our engines"
    )
    arguments.add_argument("--level", type=int, default=10, help="level of GNU Go, from 1 to 10")
    arguments.add_argument("--gnugo", default="/usr/games/gnugo")
    arguments.add_argument("--seed", type=int, default=1, help="random seed of the first pair")
    arguments.add_argument(
        "--ledger", type=Path, metavar="FILE", help="ledger with one JSON object per line"
    )
    add_concurrency(arguments)
    options = arguments.parse_args()
    load_kernels(GO)
    if options.seconds is None and options.playouts is None:
        arguments.error("no limit: add --seconds or --playouts")
    settings = {
        name: value
        for name, value in vars(options).items()
        if name not in ("games", "json", "ledger", "gnugo", "concurrency")
    }
    pairs = JsonLedger(options.ledger, settings).collect(
        options.games // 2, lambda number: play(options, number), options.concurrency
    )
    limits = f"{options.seconds or '-'} s, {options.playouts or '-'} playouts a move"
    title = f"{options.size}x{options.size} against {options.against}, {limits}"
    show_figures(title, figures([game for pair in pairs for game in pair["games"]]), options.json)


if __name__ == "__main__":
    main()
