"""Positions with the scores of another engine, made on several processes or machines.

The games and their results stay; of the positions of each game, one in so many is kept, at random.
What is kept of a game follows from the task and its number alone, so that the file is the same
whoever makes it, and however often it was interrupted.
"""

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import file_digest
from pathlib import Path

import numpy as np

from agent.chess.board.packed_fen import packed_fens
from agent.evaluation import evaluation_digest
from kempelen.training.dataset import Dataset, DatasetError, Packed
from kempelen.training.dataset_operations import (
    DerivedFile,
    derived_file,
    open_sources,
    open_writer,
)
from kempelen.training.uci_scorer import SEARCH_TIMEOUT, UciScorer
from kempelen.training.workers import LocalProcesses, Workers
from protocols.client.process import EngineError


@dataclass(frozen=True)
class RescoreTask:
    """What is asked of every position that is kept: a search of some nodes, or to a depth."""

    source: Path
    command: str
    nodes: int | None = None
    depth: int | None = None
    one_in: int = 1
    seed: int = 1
    options: dict[str, str] = field(default_factory=dict)
    limit: float = SEARCH_TIMEOUT  # seconds for each position
    engine: str = ""  # what the engine calls itself, if it is to be that one alone

    def start(self) -> UciScorer:
        """Start the engine. Raises EngineError if that cannot be done, or it is another one."""
        teacher = UciScorer(self.command, self.options, self.limit)
        if self.engine and teacher.name != self.engine:
            teacher.close()
            raise EngineError(f"{self.command}: {teacher.name} is there, {self.engine} is needed")
        return teacher


class Rescorer:
    """One worker's engine and its view of the games."""

    def __init__(self, task: RescoreTask) -> None:
        """Start the engine. Raises EngineError."""
        self._task = task
        self.engine = task.start()

    @cached_property
    def _dataset(self) -> Dataset:
        return Dataset(self._task.source)

    def play(self, number: int, game: Packed | None = None) -> Packed:
        """Return what is kept of a game, with the engine's scores in place of those before.

        game: where it is given, the file is not needed. Raises DatasetError or EngineError.
        """
        if game is None:
            game = self._dataset.game(number)
        generator = np.random.default_rng((self._task.seed, number))
        kept = game[generator.random(len(game)) < 1 / self._task.one_in]
        if len(kept):
            self.engine.new_game()
        ends = self._task.nodes, self._task.depth
        found = [self.engine.score(fen, chess960, *ends) for fen, chess960 in packed_fens(kept)]
        kept["score"] = [score for score, _ in found]
        kept["depth"] = [depth for _, depth in found]
        return kept

    def close(self) -> None:
        """End the engine."""
        self.engine.close()


def rescore(
    task: RescoreTask,
    target: Path,
    processes: int,
    on_progress: Callable[[int], None],
    remote_workers: Workers | None = None,
) -> DerivedFile:
    """Score all games that are not yet in the file.

    told: is told how many games are done. elsewhere: who scores in place of so many processes.
    Raises DatasetError if a file cannot be used, EngineError if the engine cannot be started,
    GamesError if it fails later; what has been written stays, and the same call goes on from there.
    """
    with open_sources([task.source], target) as dataset:
        contents = dataset.contents[0]
    with task.start() as teacher:
        name = teacher.name
    asked = {each: asdict(task)[each] for each in ("nodes", "depth", "one_in", "seed", "options")}
    given = {each: value for each, value in asked.items() if value is not None}
    scores = {"engine": name, **given, "source": contents.digest}
    if files := _option_file_digests(task.options):
        scores["files"] = files  # under the same name there may be others when this goes on
    if "scores" in contents.manifest:
        scores["before"] = contents.manifest["scores"]
    with (
        open_writer(target, contents.manifest | {"scores": scores}, unique=False) as writer,
        Dataset(task.source) as dataset,
    ):
        numbers = range(writer.next_game, contents.next_game)
        if numbers:
            failures = EngineError, DatasetError
            workers = remote_workers or LocalProcesses(processes)
            same = replace(task, engine=name)
            made = workers.games(Rescorer, same, numbers, failures, dataset.game)
            with contextlib.closing(made):
                for number, kept in zip(numbers, made, strict=True):
                    writer.add(kept)
                    on_progress(number + 1)
            writer.finish()
        return derived_file(writer, contents.positions)


def _option_file_digests(options: Mapping[str, str]) -> dict[str, str]:
    """Return the hashes of the files that options name, by the options' names."""
    found = {}
    for name, value in options.items():
        digest = evaluation_digest(value)
        if not digest and os.path.isfile(value):
            with contextlib.suppress(OSError), open(value, "rb") as file:
                digest = file_digest(file, "sha256").hexdigest()[:16]
        if digest:
            found[name] = digest
    return found
