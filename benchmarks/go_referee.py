"""GNU Go as the referee of our final scores: in finished games, and in positions with seki.

    python benchmarks/go_referee.py --games 500 --positions 100 --ledger referee.jsonl

In each game, GNU Go at a low level plays against itself or against our engine, on 9x9, 13x13 and
19x19. GNU Go at level 10 continues the game until both sides pass, and both engines score it. If
the scores differ, the game is resumed, as on Go servers: one engine must capture the stones that it
calls dead, and the other defends them. After two passes, or at once if no stones are disputed,
sgfmill counts the area. The positions (see go_positions.py) have seki or bent four, and their score
is known. With --ledger, repeated runs add games, and an interrupted run continues.
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
from sgfmill.boards import Board
from sgfmill.common import move_from_vertex

from agent.go.parts import GO
from kempelen.console.terminal import load_kernels

SIZES = (9, 9, 13, 9, 9, 19)  # of the games, in turn
KOMI = 7.5
MAX_MOVES = 3  # per vertex
RESUMPTION_PLAYOUTS = 10_000  # per move of our engine in a resumed game
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


def kempelen(options: argparse.Namespace, seed: int, playouts: int) -> GtpEngine:
    words = ["gtp", "--seed", str(seed), "--memory", "64", "--no-resign"]
    engine = start([*KEMPELEN, *words, "--playouts", str(playouts)])
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
    ours = kempelen(options, seed, options.playouts)
    weak, referee = gnugo(options, 1, seed), gnugo(options, 10, seed)
    # In every second game our engine plays one side, with both colours in turn.
    own_side = number // 2 % 2 if number % 2 else None
    with ours, weak, referee:
        engines = [ours, weak, referee]
        set_up(engines, size)
        moves: list[str] = []
        for players in ([weak, weak], [referee, referee]):
            if own_side is not None and players[0] is weak:
                players[own_side] = ours
            play_to_the_end(players, engines, moves, size, "genmove")
        found = {
            "size": size,
            "moves": " ".join(moves),
            "ours": judgement(ours),
            "referee": judgement(referee),
        }
    if found["ours"][0] != found["referee"][0]:
        found["resumed"] = resume_game(options, seed, found)
    return found


def set_up(engines: Sequence[GtpEngine], size: int, komi: float = KOMI) -> None:
    for engine in engines:
        for command in (f"boardsize {size}", "clear_board", f"komi {komi}"):
            engine.ask(command)


def play_to_the_end(
    players: Sequence[GtpEngine],
    engines: Sequence[GtpEngine],
    moves: list[str],
    size: int,
    command: str,
) -> None:
    """Let Black and White play until two passes. Add their moves, and tell all engines."""
    passes = 0
    while passes < 2 and len(moves) < MAX_MOVES * size * size:
        colour = COLOURS[len(moves) % 2]
        player = players[len(moves) % 2]
        move = player.ask(f"{command} {colour}").lower()
        if move == "resign":
            move = "pass"
            player.ask(f"play {colour} pass")
        for engine in engines:
            if engine is not player:
                engine.ask(f"play {colour} {move}")
        passes = passes + 1 if move == "pass" else 0
        moves.append(move)


def resume_game(options: argparse.Namespace, seed: int, found: dict[str, Any]) -> float:
    """Resume a game whose score is disputed. Return the score that its result supports.

    If both engines call the same stones dead, sgfmill counts the area without them.

    The mean of the two scores is added to the komi, so the dispute decides the game. Otherwise, an
    engine that is losing anyway may pass.
    """
    size, moves = found["size"], found["moves"].split()
    scores = [found[engine][0] for engine in ("ours", "referee")]
    komi = KOMI + sum(scores) / 2
    board = board_after(size, moves)
    # Stones that only one engine calls dead. That engine attacks them.
    our_dead, their_dead = (set(found[engine][1]) for engine in ("ours", "referee"))
    claims = {
        (engine, board.get(*move_from_vertex(vertex, size)))
        for engine, stones in (("ours", our_dead - their_dead), ("referee", their_dead - our_dead))
        for vertex in stones
    }
    if not claims:
        board.apply_setup([], [], [move_from_vertex(vertex, size) for vertex in our_dead])
        return board.area_score() - KOMI
    we_play_black = ("ours", "w") in claims or ("referee", "b") in claims
    with kempelen(options, seed, RESUMPTION_PLAYOUTS) as ours, gnugo(options, 10, seed) as referee:
        set_up([ours, referee], size, komi)
        for ply, move in enumerate(moves):
            for engine in (ours, referee):
                engine.ask(f"play {COLOURS[ply % 2]} {move}")
        players = [ours, referee] if we_play_black else [referee, ours]
        play_to_the_end(players, [ours, referee], moves, size, "kgs-genmove_cleanup")
    return max(scores) if board_after(size, moves).area_score() > komi else min(scores)


def board_after(size: int, moves: Sequence[str]) -> Board:
    """Return sgfmill's board after some moves."""
    board = Board(size)
    for ply, move in enumerate(moves):
        if point := move_from_vertex(move, size):
            board.play(*point, COLOURS[ply % 2][0])
    return board


def judge_position(options: argparse.Namespace, kind: str, number: int) -> dict[str, Any]:
    case = next(islice(positions(kind, options.seed), number, None))
    with kempelen(options, 1, options.playouts) as ours, gnugo(options, 10, 1) as referee:
        for command in case.commands():
            ours.ask(command)
            referee.ask(command)
        return {
            "right": case.score,
            "diagram": str(case.game),
            "turn": case.game.turn,
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
        confirmed = sum(
            game["ours"][0] == game.get("resumed", game["referee"][0]) for game in chosen
        )
        same_dead = sum(game["ours"][1] == game["referee"][1] for game in chosen)
        distinct = len({game["moves"] for game in chosen})
        name = "all" if size is None else f"{size}x{size}"
        total = len(chosen)
        shares = [share(equal, total) for equal in (same_score, confirmed, same_dead)]
        rows.append((name, total, distinct, *shares))
    columns = (
        *("finished games", "number", "distinct"),
        *("same score", "our score confirmed", "same dead stones"),
    )
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
        ledger = JsonLedger(
            options.ledger, {**settings, "games": list(SIZES), "resumption": RESUMPTION_PLAYOUTS}
        )
        games = ledger.collect(
            options.games, lambda number: play_game(options, number), options.concurrency
        )
        show_games(games, options)


if __name__ == "__main__":
    main()
