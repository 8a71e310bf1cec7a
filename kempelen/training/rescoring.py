"""Replace the scores of positions by the scores of another engine.

Games keep their numbers and results, but only a random sample of their positions is rescored and
kept. The sample depends only on the seed and the game number. The file is therefore the same for
any number of workers, and after any interruption.
"""

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from hashlib import file_digest
from pathlib import Path

import numpy as np

from agent.chess.board.packed_fen import packed_fens
from agent.evaluation import evaluation_digest
from kempelen.training.dataset import Dataset, StoredGame
from kempelen.training.dataset_blocks import DatasetError
from kempelen.training.dataset_operations import (
    DerivationResult,
    derived_file,
    open_sources,
    open_writer,
)
from kempelen.training.uci_scorer import SEARCH_TIMEOUT, UciScorer
from kempelen.training.workers import LocalProcesses, Workers
from protocols.client.process import EngineError


@dataclass(frozen=True)
class RescoreTask:
    """The settings of rescoring. The search is limited by nodes or by depth."""

    source: Path
    command: str
    nodes: int | None = None
    depth: int | None = None
    one_in: int = 1
    seed: int = 1
    options: dict[str, str] = field(default_factory=dict)
    limit: float = SEARCH_TIMEOUT  # seconds per position
    engine: str = ""  # expected name of the engine, "" for any name

    def start(self) -> UciScorer:
        """Start the engine. Raise EngineError if it fails or has an unexpected name."""
        scorer = UciScorer(self.command, self.options, self.limit)
        if self.engine and scorer.name != self.engine:
            scorer.close()
            raise EngineError(
                f"{self.command}: wrong engine {scorer.name} (expected {self.engine})"
            )
        return scorer


class Rescorer:
    """A running engine that rescores games from a source file."""

    def __init__(self, task: RescoreTask) -> None:
        """Start the engine. Raise EngineError on failure."""
        self._task = task
        self.engine = task.start()

    @cached_property
    def _dataset(self) -> Dataset:
        return Dataset(self._task.source)

    def play(self, number: int, game: StoredGame | None = None) -> StoredGame:
        """Return a game in which only a random sample of the positions is kept, with new scores.

        `game` defaults to game `number` of the source file. Raise DatasetError if the file is
        unusable, and EngineError if the engine fails.
        """
        if game is None:
            game = self._dataset.game(number)
        generator = np.random.default_rng((self._task.seed, number))
        positions, kept = game.positions.copy(), game.kept.copy()
        kept[kept] = generator.random(np.count_nonzero(kept)) < 1 / self._task.one_in
        if kept.any():
            self.engine.new_game()
        limits = self._task.nodes, self._task.depth
        fens = packed_fens(positions[kept])
        results = [self.engine.score(fen, chess960, *limits) for fen, chess960 in fens]
        positions["score"][kept] = [score for score, _ in results]
        positions["depth"][kept] = [depth for _, depth in results]
        return StoredGame(positions, kept)

    def close(self) -> None:
        self.engine.close()


def rescore(
    task: RescoreTask,
    target: Path,
    processes: int,
    on_progress: Callable[[int], None],
    remote_workers: Workers | None = None,
) -> DerivationResult:
    """Rescore all games that the target file does not contain yet.

    `on_progress` receives the number of rescored games. After an error, the call can be repeated to
    continue. `remote_workers` replace the local processes if given. Raise DatasetError if a file is
    unusable, EngineError if the engine does not start, and GamesError if it fails later.
    """
    with open_sources([task.source], target) as dataset:
        contents = dataset.contents[0]
    with task.start() as scorer:
        name = scorer.name
    settings = {
        each: asdict(task)[each] for each in ("nodes", "depth", "one_in", "seed", "options")
    }
    limits = {each: value for each, value in settings.items() if value is not None}
    scores = {"engine": name, **limits, "source": contents.digest}
    if files := _option_file_digests(task.options):
        scores["files"] = files  # files may change between runs
    if "scores" in contents.manifest:
        scores["before"] = contents.manifest["scores"]
    with (
        Dataset(task.source) as dataset,
        open_writer(
            target, contents.manifest | {"scores": scores}, dataset.format, unique=False
        ) as writer,
    ):
        writer.skip_to(contents.first_game)
        numbers = range(writer.next_game, contents.next_game)
        if numbers:
            failures = EngineError, DatasetError
            workers = remote_workers or LocalProcesses(processes)
            make = partial(Rescorer, replace(task, engine=name))
            rescored_games = workers.games(make, numbers, failures, dataset.game)
            with contextlib.closing(rescored_games):
                for number, game in zip(numbers, rescored_games, strict=True):
                    writer.add(*game)
                    on_progress(number + 1)
            writer.finish()
        return derived_file(writer, contents.positions)


def _option_file_digests(options: Mapping[str, str]) -> dict[str, str]:
    digests = {}
    for name, value in options.items():
        digest = evaluation_digest(value)
        if not digest and os.path.isfile(value):
            with contextlib.suppress(OSError), open(value, "rb") as file:
                digest = file_digest(file, "sha256").hexdigest()[:16]
        if digest:
            digests[name] = digest
    return digests
