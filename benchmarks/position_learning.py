"""The value of a growing experience file: a match against a fixed opponent, by quarters.

    python benchmarks/position_learning.py --games 1000 --nodes 500 --openings 10 --spread 0.2

The engine with an initially empty `ExperienceFile` plays the engine without one. Neither has a
book. Both are limited by nodes, so that the load of the machine has no effect. Games start from a
few random level openings in turn, each with both colours. Positions therefore recur, as a learning
test requires.

An opponent with a fixed number of nodes (--spread 0) is deterministic. With a spread of 0.2, it
gets 80 to 120 percent of the nodes, a different number in each game. The engine receives the result
of each game, as over xboard. --without plays the same games without the file, for comparison.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import chess
from report import parser, show

from agent.chess.engine.learning import ChessLearningAdapter
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.learning.position_learner import PositionLearner
from agent.learning.position_learning_searcher import PositionLearningSearcher
from agent.limits import Cp, Info, Limits

OPENING_PLIES = 6
# Maximum score of an opening in centipawns, and nodes of the search that scores the opening.
LEVEL, LEVEL_NODES = 60, 20_000
MAX_PLIES = 400  # plies; a longer game is a draw
PARTS = 4


class Side:
    """One player: a search, with or without an experience file."""

    def __init__(self, file: Path | None) -> None:
        self._search = AlphaBetaSearch(4)
        self.experience: PositionLearner[chess.Board, chess.Move] | None = None
        if file is not None:
            self.experience = PositionLearner(ChessLearningAdapter())
            self.experience.open_file(str(file))

    def begin(self) -> None:
        """Clear the state of the last game."""
        self._search.new_game()
        if self.experience is not None:
            self.experience.new_game()

    def think(self, board: chess.Board, nodes: int) -> Info[chess.Move]:
        """Return the result of a search of `nodes` nodes, run as in the engine."""
        searcher: Any = self._search
        if self.experience is not None:
            learned = self.experience
            self._search.set_learned_moves(
                learned.by_resulting_position, learned.resulting_positions
            )
            searcher = PositionLearningSearcher(self._search, learned)
        self._search.clear_stop()
        last = None
        for info in searcher.search(board.copy(stack=100), Limits(nodes=nodes)):
            if info.pv:
                last = info
        assert last is not None
        if self.experience is not None:
            self.experience.flush()
        return last

    def end(self, points: int) -> None:
        """Learn the result of the game.

        points: 1 for White's win, -1 for Black's win, else 0.
        """
        if self.experience is not None:
            self.experience.record_result(lambda board: points if board.turn else -points)


def openings(count: int, seed: int) -> list[str]:
    """Return the FENs of random positions that a search considers level."""
    generator, judge, found = random.Random(seed), Side(None), list[str]()
    while len(found) < count:
        board = chess.Board()
        for _ in range(OPENING_PLIES):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(generator.choice(moves))
        if board.is_game_over() or board.is_check():
            continue
        judge.begin()
        score = judge.think(board, LEVEL_NODES).score
        if isinstance(score, Cp) and abs(score.value) <= LEVEL:
            found.append(board.fen())
    return found


def play(learner: Side, other: Side, fen: str, white: bool, nodes: int, others: int) -> float:
    """Play a game; return the learner's points, 0, 0.5 or 1."""
    board = chess.Board(fen)
    learner.begin()
    other.begin()
    outcome = None
    for _ in range(MAX_PLIES):
        if (outcome := board.outcome(claim_draw=True)) is not None:
            break
        mine = board.turn == white
        side, limit = (learner, nodes) if mine else (other, others)
        board.push(side.think(board, limit).pv[0])
    winner = None if outcome is None else outcome.winner
    points = 0 if winner is None else 1 if winner else -1
    learner.end(points)
    return 0.5 + (points if white else -points) / 2


def series(arguments: argparse.Namespace, file: Path | None, starts: list[str]) -> list[float]:
    """Play all games; return the learner's points in each game."""
    generator = random.Random(arguments.seed)
    learner, other = Side(file), Side(None)
    points = []
    for number in range(arguments.games):
        share = 1 + arguments.spread * generator.uniform(-1, 1)
        fen = starts[number // 2 % len(starts)]
        nodes = arguments.nodes
        points.append(play(learner, other, fen, number % 2 == 0, nodes, round(nodes * share)))
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {arguments.games} games", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return points


def main(arguments: argparse.Namespace) -> int:
    """Play and report."""
    starts = openings(arguments.openings, arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        file = None if arguments.without else Path(name) / "experience.db"
        points = series(arguments, file, starts)
        learned = Side(file).experience
        lessons = 0 if learned is None else len(learned.by_resulting_position)
    size = max(len(points) // PARTS, 1)
    parts = [100 * sum(points[i : i + size]) / size for i in range(0, size * PARTS, size)]
    gain = f"{parts[-1] - parts[0]:+.1f}"
    label = "without a file" if file is None else "with the file"
    row = (label, *(f"{part:.1f}" for part in parts), gain, lessons)
    columns = (
        "points of a hundred",
        *(f"part {n}" for n in range(1, PARTS + 1)),
        "gain",
        "lessons",
    )
    title = (
        f"{arguments.games} games, {arguments.nodes} nodes, {arguments.openings} openings, "
        f"the other's nodes +- {100 * arguments.spread:.0f} percent, seed {arguments.seed}"
    )
    show(title, columns, [row], arguments.json)
    return 0


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--games", type=int, default=1000)
    options.add_argument("--nodes", type=int, default=500, help="nodes per move")
    options.add_argument("--openings", type=int, default=10)
    options.add_argument(
        "--spread", type=float, default=0.0, help="relative variation of the opponent's nodes"
    )
    options.add_argument("--without", action="store_true", help="play without an experience file")
    options.add_argument("--seed", type=int, default=1)
    sys.exit(main(options.parse_args()))
