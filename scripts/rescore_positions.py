r"""Gives the positions of self-play the scores of another engine, to fit an evaluation to.

    python scripts/rescore_positions.py positions.bin -o rescored.bin --engine stockfish --nodes 400
    kempelen tune evaluation rescored.bin --result-share 0.2 -o weights.py

The games and their results stay; of the positions of each game, one in so many is kept, at random.
After an interruption the same line goes on.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shlex
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.engine
import numpy as np

from agent.packed import board_of, packed_dtype
from kempelen.console import progress
from kempelen.numbers import positive
from training.positions import Dataset, PositionsError, Writer
from training.selfplay import BLOCK_GAMES

MATE = 30_000  # centipawns


@dataclass(frozen=True)
class Task:
    """What is asked of every position that is kept."""

    source: Path
    command: str
    nodes: int
    one_in: int
    seed: int


class Teacher:
    """One process's engine and its view of the games."""

    def __init__(self, task: Task) -> None:
        """Start the engine. Raises OSError or EngineError if that cannot be done."""
        self._task = task
        self._dataset = Dataset(task.source)
        self._engine = chess.engine.SimpleEngine.popen_uci(shlex.split(task.command))

    def score(self, number: int) -> bytes:
        """Return what is kept of a game, with the engine's scores in place of those before."""
        game = self._dataset.game(number)
        generator = np.random.default_rng((self._task.seed, number))
        kept = game[generator.random(len(game)) < 1 / self._task.one_in]
        for position in kept:
            position["score"] = self._ask(board_of(position))
        return kept.tobytes()

    def _ask(self, board: chess.Board) -> int:
        info = self._engine.analyse(board, chess.engine.Limit(nodes=self._task.nodes))
        centipawns = info["score"].relative.score(mate_score=MATE)
        return max(-MATE, min(MATE, centipawns))


_teacher: Teacher


def _begin(task: Task) -> None:
    global _teacher  # a pool's process has no other place for it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
    _teacher = Teacher(task)


def _score(number: int) -> bytes:
    return _teacher.score(number)


def rescore(task: Task, target: Path, processes: int) -> int:
    """Score all games that are not yet in the file; return how many positions it holds then.

    Raises PositionsError if a file cannot be used, EngineError or OSError if the engine cannot.
    """
    with chess.engine.SimpleEngine.popen_uci(shlex.split(task.command)) as engine:
        name = engine.id.get("name", task.command)
    with Dataset(task.source) as dataset:
        manifest = dataset.contents[0].manifest
        games = dataset.contents[0].next_game
    scores = {"engine": name, "nodes": task.nodes, "one_in": task.one_in, "seed": task.seed}
    with Writer(target, {**manifest, "scores": scores}, BLOCK_GAMES) as writer:
        numbers = range(writer.next_game, games)
        context = multiprocessing.get_context("spawn")
        with context.Pool(processes, _begin, (task,)) as pool, progress("games", games) as show:
            for number, kept in zip(numbers, pool.imap(_score, numbers, 4), strict=True):
                writer.add(np.frombuffer(kept, packed_dtype).copy())
                show(number + 1)
        return writer.positions


def main() -> int:
    """Rescore one file; the exit status is 2 where that cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="what `kempelen selfplay` wrote")
    parser.add_argument("-o", "--output", type=Path, required=True, help="begin it, or go on")
    parser.add_argument("--engine", required=True, metavar="COMMAND", help="a UCI engine")
    parser.add_argument("--nodes", type=positive, default=400, help="of each search (400)")
    parser.add_argument("--one-in", type=positive, default=2, help="keep one position in so many")
    parser.add_argument("--seed", type=positive, default=1)
    parser.add_argument("--processes", type=positive, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    task = Task(
        arguments.source, arguments.engine, arguments.nodes, arguments.one_in, arguments.seed
    )
    try:
        positions = rescore(task, arguments.output, arguments.processes)
    except (PositionsError, chess.engine.EngineError, OSError) as error:
        print(f"rescore_positions: {error}", file=sys.stderr)
        return 2
    print(f"{arguments.output}: {positions} positions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
