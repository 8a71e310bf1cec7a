"""GNU Go as the referee of our final scores: in finished games, and in positions with seki.

    python benchmarks/go_referee.py --games 500 --positions 100 --ledger referee.jsonl

In each game, GNU Go at a low level plays against itself or against our engine, on 9x9, 13x13 and
19x19. GNU Go at level 10 continues the game until both sides pass, and both engines score it. The
positions (see go_positions.py) have seki or bent four, and their score is known. With --ledger,
repeated runs add games, and an interrupted run continues.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from go_positions import KINDS, NAKADE_KILLS, positions
from harness import KEMPELEN, Engine, JsonLedger, add_concurrency, parser, show

from agent.go.parts import GO
from kempelen.console.terminal import load_kernels

SIZES = (9, 9, 13, 9, 9, 19)  # of the games, in turn
KOMI = 7.5
MAX_MOVES = 3  # per vertex
COLOURS = ("black", "white")
# Shares of the kinds of positions. Nakade positions, in which a group is dead, are controls.
QUOTAS = {
    "seki in an eye": 0.4,
    "bent four": 0.25,
    "one-eyed seki": 0.2,
    "seki between groups": 0.15,
}
CONTROLS = 0.25


class GtpEngine(Engine):
    """A GTP engine."""

    def ask(self, command: str) -> str:
        """Return the answer to a command. Exit if the engine refuses it."""
        self.say(command)
        lines: list[str] = []
        for line in self.process.stdout:
            if line.strip():
                lines.append(line.rstrip("\n"))
            elif lines:
                break
        answer = "\n".join(lines)
        if not answer.startswith("="):
            name = self.process.args[0]  # type: ignore[index]
            raise SystemExit(f"{name}: {command}: {answer or 'the engine ended'}")
        return answer[1:].strip()


def start(command: Sequence[str]) -> GtpEngine:
    return GtpEngine(command, stderr=subprocess.DEVNULL)


def gnugo(options: argparse.Namespace, level: int, seed: int) -> GtpEngine:
    words = "--mode gtp --chinese-rules --positional-superko"
    return start([options.gnugo, *words.split(), "--level", str(level), "--seed", str(seed)])


def kempelen(options: argparse.Namespace, seed: int) -> GtpEngine:
    words = ["gtp", "--seed", str(seed), "--memory", "64", "--no-resign"]
    engine = start([*KEMPELEN, *words, "--playouts", str(options.playouts)])
    engine.ask("kata-set-rules chinese")
    engine.ask("kata-set-rule ko POSITIONAL")  # as GNU Go
    return engine


def judgement(engine: GtpEngine) -> tuple[float, list[str]]:
    """Return Black's final score and the dead stones."""
    text = engine.ask("final_score")
    found = re.match(r"([BW])\+([0-9.]+)", text)
    score = float(found[2]) * (1 if found[1] == "B" else -1) if found else 0.0
    return score, sorted(engine.ask("final_status_list dead").split())


def play_game(options: argparse.Namespace, number: int) -> dict[str, Any]:
    """Play a game to its end, and return both judgements."""
    size = SIZES[number % len(SIZES)]
    seed = options.seed + number
    ours, weak, referee = kempelen(options, seed), gnugo(options, 1, seed), gnugo(options, 10, seed)
    engines = [ours, weak, referee]
    # In every second game our engine plays one side, with both colours in turn.
    own_side = number // 2 % 2 if number % 2 else None
    with ours, weak, referee:
        for engine in engines:
            for command in (f"boardsize {size}", "clear_board", f"komi {KOMI}"):
                engine.ask(command)
        moves: list[str] = []
        for players in ([weak, weak], [referee, referee]):
            if own_side is not None and players[0] is weak:
                players[own_side] = ours
            passes = 0
            while passes < 2 and len(moves) < MAX_MOVES * size * size:
                colour = COLOURS[len(moves) % 2]
                player = players[len(moves) % 2]
                move = player.ask(f"genmove {colour}").lower()
                if move == "resign":
                    move = "pass"
                    player.ask(f"play {colour} pass")
                for engine in engines:
                    if engine is not player:
                        engine.ask(f"play {colour} {move}")
                passes = passes + 1 if move == "pass" else 0
                moves.append(move)
        return {
            "size": size,
            "moves": " ".join(moves),
            "ours": judgement(ours),
            "referee": judgement(referee),
        }


def judge_position(options: argparse.Namespace, kind: str, number: int) -> dict[str, Any]:
    position = next(islice(positions(kind, options.seed), number, None))
    with kempelen(options, 1) as ours, gnugo(options, 10, 1) as referee:
        for command in position.commands():
            ours.ask(command)
            referee.ask(command)
        return {
            "right": position.score,
            "diagram": str(position.game),
            "turn": position.game.turn,
            "ours": judgement(ours),
            "referee": judgement(referee),
        }


def share(number: int, total: int) -> str:
    return f"{number} of {total} ({number / max(total, 1):.1%})"


def show_games(games: list[dict[str, Any]], options: argparse.Namespace) -> None:
    rows = []
    for size in (*sorted(set(SIZES)), None):
        chosen = [game for game in games if size in (None, game["size"])]
        same_score = sum(game["ours"][0] == game["referee"][0] for game in chosen)
        same_dead = sum(game["ours"][1] == game["referee"][1] for game in chosen)
        distinct = len({game["moves"] for game in chosen})
        name = "all" if size is None else f"{size}x{size}"
        total = len(chosen)
        rows.append((name, total, distinct, share(same_score, total), share(same_dead, total)))
    columns = ("finished games", "number", "distinct", "same score", "same dead stones")
    show("GNU Go as the referee", columns, rows, options.json)


def show_positions(found: dict[str, list[dict[str, Any]]], options: argparse.Namespace) -> None:
    everything = [
        result for kind, results in found.items() if kind != NAKADE_KILLS for result in results
    ]
    rows = []
    for kind, results in [*found.items(), ("all but nakade", everything)]:
        same = sum(each["ours"][0] == each["referee"][0] for each in results)
        right = [
            sum(each[engine][0] == each["right"] for each in results)
            for engine in ("ours", "referee")
        ]
        total = len(results)
        counts = [share(number, total) for number in (*right, same)]
        rows.append((kind, total, *counts))
    columns = ("positions", "number", "we are right", "GNU Go is right", "same score")
    show("positions with a known score", columns, rows, options.json)


def main() -> None:
    """Judge the games and positions that are not in the ledger, and show all results."""
    arguments = parser(__doc__)
    arguments.add_argument("--games", type=int, default=500)
    arguments.add_argument("--positions", type=int, default=100)
    arguments.add_argument(
        "--playouts", type=int, default=200, help="playouts per move of our engine"
    )
    arguments.add_argument("--gnugo", default="/usr/games/gnugo")
    arguments.add_argument("--seed", type=int, default=1, help="random seed")
    arguments.add_argument(
        "--ledger", type=Path, metavar="FILE", help="ledger with one JSON object per line"
    )
    add_concurrency(arguments)
    options = arguments.parse_args()
    load_kernels(GO)
    settings = {"seed": options.seed, "playouts": options.playouts}
    if options.positions:
        found = {}
        for kind in KINDS:
            count = round(options.positions * QUOTAS.get(kind, CONTROLS))
            ledger = JsonLedger(options.ledger, {**settings, "positions": kind})
            found[kind] = ledger.collect(
                count,
                lambda number, kind=kind: judge_position(options, kind, number),
                options.concurrency,
            )
        show_positions(found, options)
    if options.games:
        ledger = JsonLedger(options.ledger, {**settings, "games": list(SIZES)})
        games = ledger.collect(
            options.games, lambda number: play_game(options, number), options.concurrency
        )
        show_games(games, options)


if __name__ == "__main__":
    main()
