r"""Gives the positions of self-play the scores of another engine, to fit an evaluation to.

    python scripts/rescore_positions.py positions.bin -o rescored.bin --engine stockfish --nodes 400
    kempelen tune evaluation rescored.bin --result-share 0.2 -o weights.py

The games and their results stay; of the positions of each game, one in so many is kept, at random.
After an interruption the same line goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.engine
import numpy as np

from agent.chess.packed import board_of
from agent.machine import usable_cores
from kempelen.cli import INTERRUPTED
from kempelen.console import progress
from kempelen.numbers import positive
from protocols.client.process import EngineError, find_program, supervised
from training import workers
from training.positions import Dataset, Packed, PositionsError, Writer
from training.selfplay import BLOCK_GAMES
from training.workers import GamesError

MATE = 30_000  # centipawns
END_LIMIT = 5.0  # seconds that an engine has to end before it is killed


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
        self._engine = start(task.command)

    def play(self, number: int) -> Packed:
        """Return what is kept of a game, with the engine's scores in place of those before."""
        game = self._dataset.game(number)
        generator = np.random.default_rng((self._task.seed, number))
        kept = game[generator.random(len(game)) < 1 / self._task.one_in]
        limit = chess.engine.Limit(nodes=self._task.nodes)
        for position in kept:
            # To name the game makes the engine forget the one before.
            info = self._engine.analyse(board_of(position), limit, game=number)
            if "score" not in info:
                raise chess.engine.EngineError(f"{self._task.command}: a search without a score")
            centipawns = info["score"].relative.score(mate_score=MATE)
            position["score"] = max(-MATE, min(MATE, centipawns))
            position["depth"] = min(info.get("depth", 0), 255)
        return kept


def start(command: str) -> chess.engine.SimpleEngine:
    """Start an engine. Raises OSError or EngineError, which name it, if that cannot be done."""
    try:
        program, *arguments = shlex.split(command) or [""]
        line = supervised([find_program(program), *arguments])
        return chess.engine.SimpleEngine.popen_uci(line)
    except (ValueError, EngineError) as error:
        raise chess.engine.EngineError(f"{command}: {error}") from None
    except TimeoutError:
        raise chess.engine.EngineError(f"{command} does not answer as a UCI engine") from None
    except chess.engine.EngineError as error:
        raise chess.engine.EngineError(f"{command}: {error}") from None


def end(engine: chess.engine.SimpleEngine) -> None:
    """End an engine, and all that it started."""
    engine.transport.terminate()
    deadline = time.monotonic() + END_LIMIT
    while not engine.protocol.returncode.done() and time.monotonic() < deadline:
        time.sleep(0.01)
    engine.close()


def rescore(task: Task, target: Path, processes: int) -> int:
    """Score all games that are not yet in the file; return how many positions it holds then.

    Raises PositionsError if a file cannot be used, EngineError or OSError if the engine cannot be
    started, GamesError if it fails later.
    """
    engine = start(task.command)
    name = engine.id.get("name", task.command)
    end(engine)
    with Dataset(task.source) as dataset:
        manifest = dataset.contents[0].manifest
        games = dataset.contents[0].next_game
    scores = {"engine": name, "nodes": task.nodes, "one_in": task.one_in, "seed": task.seed}
    with Writer(target, {**manifest, "scores": scores}, BLOCK_GAMES) as writer:
        numbers = range(writer.next_game, games)
        failures = chess.engine.EngineError, OSError
        made = workers.games(Teacher, task, writer.next_game, processes, failures)
        with progress("games", games) as show, contextlib.closing(made):
            for number, kept in zip(numbers, made, strict=False):
                writer.add(kept)
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
    parser.add_argument("--processes", type=positive, default=usable_cores())
    arguments = parser.parse_args()
    task = Task(
        arguments.source, arguments.engine, arguments.nodes, arguments.one_in, arguments.seed
    )
    try:
        positions = rescore(task, arguments.output, arguments.processes)
    except (PositionsError, GamesError, chess.engine.EngineError, OSError) as error:
        print(f"rescore_positions: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("rescore_positions: interrupted; the same line goes on from here", file=sys.stderr)
        return INTERRUPTED
    print(f"{arguments.output}: {positions} positions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
