"""Play Go against GNU Go, over GTP, and compare how both score the finished games.

Passes (exit status 0) if no move was refused, none came later than the margin, and both scores
agree on every game. GNU Go plays by Chinese rules, and captures all dead stones before it passes;
our engine does so too.

    python benchmarks/gnugo.py --games 100 --seconds 0.1
    python benchmarks/gnugo.py --games 100 --follow
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from typing import Any

LONGEST_GAME = 400
OURS = [sys.executable, "-m", "kempelen.cli", "gtp"]


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
    game: dict[str, Any] = {"colour": colour_of_ours, "error": ""}
    try:
        while len(moves) < LONGEST_GAME and moves[-2:] != ["PASS", "PASS"]:
            colour = "white" if len(moves) % 2 else "black"
            mover, other = (ours, theirs) if colour == colour_of_ours else (theirs, ours)
            began = time.monotonic()
            command = "kgs-genmove_cleanup" if mover is ours else "genmove"
            move = mover.ask(f"{command} {colour}").upper()
            if mover is ours:
                slowest = max(slowest, time.monotonic() - began)
            if move == "RESIGN":
                game["error"] = f"{colour} resigned"
                break
            other.ask(f"play {colour} {move}")
            moves.append(move)
        if len(moves) >= LONGEST_GAME:
            game["error"] = "the game did not end"
        game["ours"], game["theirs"] = ours.ask("final_score"), theirs.ask("final_score")
    except ValueError as error:
        game["error"] = str(error)
    game |= {"plies": len(moves), "slowest": round(slowest, 3), "moves": " ".join(moves)}
    return game


def same(first: str, second: str) -> bool:
    """Tell whether two scores are the same, however written."""
    return first[:2] == second[:2] and float(first[2:] or 0) == float(second[2:] or 0)


def main() -> int:
    """Play and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--komi", type=float, default=7.5)
    parser.add_argument("--level", type=int, default=1, help="of GNU Go, from 1 to 10")
    parser.add_argument("--seconds", type=float, default=0.05, help="for each of our moves")
    parser.add_argument("--playouts", type=int, help="at most so many for each of our moves")
    parser.add_argument(
        "--follow", action="store_true", help="GNU Go plays both colours, ours only scores"
    )
    parser.add_argument("--margin", type=float, default=2.0, help="how late a move may come")
    parser.add_argument("--gnugo", default="/usr/games/gnugo")
    parser.add_argument("--json", metavar="FILE", help="write all games to a file")
    arguments = parser.parse_args()
    options = f"--mode gtp --level {arguments.level} --chinese-rules --capture-all-dead"
    theirs = Engine([arguments.gnugo, *options.split()])
    limits = ["--playouts", str(arguments.playouts)] if arguments.playouts else []
    ours = Engine([*OURS, "--time", str(arguments.seconds), *limits])
    games = []
    try:
        for number in range(arguments.games):
            colour = "" if arguments.follow else ("black", "white")[number % 2]
            games.append(play(ours, theirs, colour, arguments.size, arguments.komi))
            if sys.stderr.isatty():
                print(f"\r{number + 1} games", end="", file=sys.stderr)
            if arguments.json:
                with open(arguments.json, "w", encoding="utf-8") as file:
                    json.dump(games, file, indent=1)
    finally:
        ours.close()
        theirs.close()
    errors = [game["error"] for game in games if game["error"]]
    late = [game for game in games if game["slowest"] > arguments.seconds + arguments.margin]
    finished = [game for game in games if not game["error"]]
    differ = [game for game in finished if not same(game["ours"], game["theirs"])]
    won = Counter(game["theirs"][0] == game["colour"][:1].upper() for game in finished)
    print(f"games {len(games)}, finished {len(finished)}, won {won[True]}, not won {won[False]}")
    print(f"late {len(late)}, slowest {max(game['slowest'] for game in games):.2f} s")
    print(f"scores agree in {len(finished) - len(differ)} of {len(finished)}")
    for text in errors + [f"{game['ours']} against {game['theirs']}" for game in differ]:
        print(text)
    return 1 if errors or late or differ else 0


if __name__ == "__main__":
    sys.exit(main())
