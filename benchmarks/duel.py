"""Elo difference of two source trees, which play each other at fixed nodes.

    python benchmarks/duel.py . HEAD --games 4000 --nodes 1500
    python benchmarks/duel.py . . --evaluations nnue handcrafted --nodes 3000

A tree is a folder or a git revision of this repository. Each side is a process that loads the
kernel of its own tree and makes a whole move in one kernel call. Games are therefore about twenty
times as fast as those of `kempelen match`, which uses UCI. Each pair of games starts from the same
random opening with colours swapped. The first side must consider the opening level. Draws and lost
games are adjudicated.
"""

from __future__ import annotations

import argparse
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue

import chess
from harness import elo_of_pairs, even_count, parser, show, show_progress, spawn

from agent.machine import usable_cores

REPOSITORY = Path(__file__).parent.parent
ENGINE_SCRIPT = Path(__file__).with_name("duel_side.py")
REQUEST, REPLY = struct.Struct("<i100s"), struct.Struct("<iii")  # the same as in duel_side
BEGIN = -1
OPENING_PLIES = 8
MAX_OPENING_SCORE = 90  # centipawns, as scored by the first side; other openings are skipped
MAX_PLIES = 400  # plies; a longer game is a draw
WON, WON_PLIES = 700, 6  # a score in centipawns by both sides for this many plies wins
DRAWN, DRAWN_PLIES, DRAWN_FROM = 8, 12, 70
ONGOING, DRAW, MATED = range(3)


class Side:
    """A process that plays with one source tree."""

    def __init__(self, tree: Path, nodes: int, evaluation: str) -> None:
        self._process = spawn(
            [sys.executable, str(ENGINE_SCRIPT), str(nodes), evaluation],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=tree,
            env=os.environ | {"PYTHONPATH": str(tree)},
        )
        self._read()  # wait until the kernel is loaded

    def new_game(self, fen: str) -> None:
        """Clear the state of the last game and set up a position."""
        self._ask(BEGIN, fen)

    def answer(self, move: int) -> tuple[int, int, int]:
        """Make the opponent's move (0 for none) and reply; return state, move and score.

        Moves are kernel move numbers. The score is in centipawns for the side that made the
        returned move.
        """
        return self._ask(move)

    def close(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.communicate()

    def _ask(self, number: int, text: str = "") -> tuple[int, int, int]:
        assert self._process.stdin is not None
        self._process.stdin.write(REQUEST.pack(number, text.encode()))
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> tuple[int, int, int]:
        assert self._process.stdout is not None
        data = self._process.stdout.read(REPLY.size)
        if len(data) < REPLY.size:
            raise EOFError("one side died; its message is above")
        state, move, score = REPLY.unpack(data)
        return state, move, score


def play(white: Side, black: Side, board: chess.Board) -> int:
    """Play a game from `board`; return 1 if White won, 0 for a draw, -1 if Black won."""
    sides = (black, white)
    for side in sides:
        side.new_game(board.fen())
    turn, move, lead, level = board.turn, 0, 0, 0
    for ply in range(MAX_PLIES):
        state, move, score = sides[turn].answer(move)
        if state == DRAW:
            return 0
        sign = 1 if turn else -1
        if state == MATED:
            return -sign
        ahead = sign * score
        if ahead >= WON:
            lead = max(lead, 0) + 1
        elif ahead <= -WON:
            lead = min(lead, 0) - 1
        else:
            lead = 0
        if abs(lead) >= WON_PLIES:
            return 1 if lead > 0 else -1
        level = level + 1 if abs(ahead) <= DRAWN and ply >= DRAWN_FROM else 0
        if level >= DRAWN_PLIES:
            return 0
        turn = not turn
    return 0


def openings(judge: Side, seed: str) -> Iterator[chess.Board]:
    """Yield random openings that `judge` considers level."""
    generator = random.Random(seed)
    while True:
        board = chess.Board()
        for _ in range(OPENING_PLIES + generator.randrange(2)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(generator.choice(moves))
        if board.is_game_over() or board.is_check():
            continue
        judge.new_game(board.fen())
        _, _, score = judge.answer(0)
        if abs(score) <= MAX_OPENING_SCORE:
            yield board


def play_pairs(
    players: Sequence[tuple[Path, str]],
    nodes: int,
    pairs: int,
    seed: str,
    results: SimpleQueue[int | None],
) -> None:
    """Play pairs of games, and put the points of the first side into `results`.

    The points of each pair are in half points. None means that a side died.
    """
    first, second = (Side(tree, nodes, evaluation) for tree, evaluation in players)
    try:
        for _, board in zip(range(pairs), openings(first, seed), strict=False):
            results.put(2 + play(first, second, board) - play(second, first, board))
    except (EOFError, BrokenPipeError):
        results.put(None)
    first.close()
    second.close()


def tree_of(name: str, folder: Path) -> Path:
    """Return the folder of a source tree. A git revision is checked out into `folder`."""
    if Path(name).is_dir():
        return Path(name).absolute()
    archive = subprocess.run(
        ["git", "-C", str(REPOSITORY), "archive", name], stdout=subprocess.PIPE, check=False
    )
    if archive.returncode:
        raise SystemExit(f"duel: {name} is neither a folder nor a revision of {REPOSITORY}")
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def main(arguments: argparse.Namespace) -> int:
    """Play and report."""
    results: SimpleQueue[int | None] = SimpleQueue()
    counts = Counter[int]()
    pairs = arguments.games // 2
    with tempfile.TemporaryDirectory() as name:
        trees = (
            tree_of(arguments.new, Path(name) / "new"),
            tree_of(arguments.old, Path(name) / "old"),
        )
        players = list(zip(trees, arguments.evaluations, strict=True))
        if arguments.processes > 1:
            for tree, evaluation in dict.fromkeys(players):
                Side(tree, arguments.nodes, evaluation).close()  # compiles once for all processes
        for number in range(arguments.processes):
            share = pairs // arguments.processes + (number < pairs % arguments.processes)
            task = (players, arguments.nodes, share, f"{arguments.seed}/{number}", results)
            threading.Thread(target=play_pairs, args=task, daemon=True).start()
        for done in range(1, pairs + 1):
            points = results.get()
            if points is None:
                raise SystemExit("duel: a side died; its message is above")
            counts[points] += 1
            show_progress(f"{2 * done} of {2 * pairs} games")
    by_pairs = [counts[points] for points in range(5)]
    columns = ("new against old", "games", "pairs by points 0, 1/2, ... 2", "Elo")
    names = zip((arguments.new, arguments.old), arguments.evaluations, strict=True)
    title = " : ".join(map(" ".join, names))
    row = (title, 2 * pairs, "-".join(map(str, by_pairs)), elo_of_pairs(by_pairs))
    show(f"{arguments.nodes} nodes a move", columns, [row], arguments.json)
    return 0


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("new", help="folder or git revision")
    options.add_argument("old", help="folder or git revision to compare with")
    options.add_argument("--games", type=even_count, default=2000)
    options.add_argument(
        "--evaluations",
        nargs=2,
        metavar=("NEW", "OLD"),
        default=["handcrafted", "handcrafted"],
        help="evaluations, as in the UCI option; file names must be absolute",
    )
    options.add_argument("--nodes", type=int, default=2000, help="soft node limit per move")
    options.add_argument("--processes", type=int, default=usable_cores())
    options.add_argument("--seed", default="1")
    sys.exit(main(options.parse_args()))
