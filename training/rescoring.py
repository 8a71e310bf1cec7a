"""Positions with the scores of another engine, made on several processes.

The games and their results stay; of the positions of each game, one in so many is kept, at random.
What is kept of a game follows from the task and its number alone, so that the file is the same
however many processes there are, and however often it was interrupted.
"""

import contextlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from agent.chess.packed_fen import fens_of
from protocols.client.process import EngineError
from training import workers
from training.derived_files import Derived, derived, opened
from training.positions import Dataset, Packed, PositionsError, Writer
from training.selfplay import BLOCK_GAMES
from training.uci_teacher import SEARCH_LIMIT, UciTeacher


@dataclass(frozen=True)
class Rescoring:
    """What is asked of every position that is kept."""

    source: Path
    command: str
    nodes: int
    one_in: int = 1
    seed: int = 1
    options: dict[str, str] = field(default_factory=dict)
    limit: float = SEARCH_LIMIT  # seconds for each position

    def start(self) -> UciTeacher:
        """Start the engine. Raises EngineError if that cannot be done."""
        return UciTeacher(self.command, self.options, self.limit)


class Rescorer:
    """One process's engine and its view of the games."""

    def __init__(self, task: Rescoring) -> None:
        """Open the file and start the engine. Raises PositionsError or EngineError."""
        self._task = task
        self._dataset = Dataset(task.source)
        self.teacher = task.start()

    def play(self, number: int) -> Packed:
        """Return what is kept of a game, with the engine's scores in place of those before."""
        game = self._dataset.game(number)
        generator = np.random.default_rng((self._task.seed, number))
        kept = game[generator.random(len(game)) < 1 / self._task.one_in]
        if len(kept):
            self.teacher.new_game()
        found = [
            self.teacher.score(fen, chess960, self._task.nodes) for fen, chess960 in fens_of(kept)
        ]
        kept["score"] = [score for score, _ in found]
        kept["depth"] = [depth for _, depth in found]
        return kept


def rescore(task: Rescoring, target: Path, processes: int, told: Callable[[int], None]) -> Derived:
    """Score all games that are not yet in the file.

    told: is told how many games are done.
    Raises PositionsError if a file cannot be used, EngineError if the engine cannot be started,
    GamesError if it fails later; what has been written stays, and the same call goes on from there.
    """
    with opened([task.source], target) as dataset:
        contents = dataset.contents[0]
    with task.start() as teacher:
        name = teacher.name
    asked = {each: asdict(task)[each] for each in ("nodes", "one_in", "seed", "options")}
    scores = {"engine": name, **asked, "source": contents.digest}
    with Writer(
        target, contents.manifest | {"scores": scores}, BLOCK_GAMES, unique=False
    ) as writer:
        numbers = range(writer.next_game, contents.next_game)
        if numbers:
            failures = EngineError, PositionsError
            made = workers.games(Rescorer, task, writer.next_game, processes, failures)
            with contextlib.closing(made):
                for number, kept in zip(numbers, made, strict=False):
                    writer.add(kept)
                    told(number + 1)
            writer.finish()
        return derived(writer, contents.positions)
