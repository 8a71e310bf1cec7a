"""Learn a game from self-play without prior knowledge.

A network with hidden layers outputs a value and move probabilities, and plays by tree search. A
network without hidden layers outputs only a value, and plays by one-ply lookahead.

Each training step plays a batch of games, trains on the examples of recent steps, and writes a
checkpoint. A resumed run produces the same network as an uninterrupted run.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from agent.games import catalogue
from agent.games.board_symmetry import find_symmetries
from agent.games.policy_value_net import PolicyValueNet
from agent.games.position_encoding import PositionEncoding, encoding_for
from agent.io.file_lock import lock_or_raise
from kempelen.training import checkpoint_file
from kempelen.training.checkpoint_file import TrainingError
from kempelen.training.replay_buffer import ReplayBuffer
from kempelen.training.selfplay_batch import (
    SelfPlaySettings,
    TrainingExample,
    play_batch,
    play_game,
)
from kempelen.training.small_network import AdamOptimizer, random_layers
from kempelen.training.td_lambda import TdSettings, play_td_game

# Fraction of the run with a constant learning rate, and final fraction of that rate.
CONSTANT_RATE_SHARE, FINAL_RATE_SHARE = 0.5, 0.05
# One in this many recorded games is held out.
HELD_OUT = 10
# Minimum number of optimizer steps on recorded games.
MIN_RECORDED_STEPS = 300

_MAGIC = b"\x8bKmpLC\r\n"


@dataclass(frozen=True, kw_only=True)
class GameTrainingSettings:
    """Settings for learning a game.

    `game` and `options` are the name and the options of a supported game.
    `games` is the number of games per training step.
    `neurons` holds the sizes of the hidden layers, or is empty for a linear function of features.
    `batch` is the number of positions per optimizer step.
    `reuse` is the mean number of times that each position is used.
    `kept` is the capacity of the replay buffer in positions.
    `recorded` identifies the recorded games that are learned first, "" if there are none.
    `play` holds the self-play settings of a network with hidden layers.
    `look` holds the TD learning settings of a network without hidden layers.
    """

    game: str
    options: dict[str, Any]
    steps: int = 100
    games: int = 64
    neurons: tuple[int, ...] = (256, 128)
    seed: int = 0
    batch: int = 256
    reuse: float = 8
    kept: int = 30_000
    rate: float = 2e-3
    recorded: str = ""
    play: SelfPlaySettings = field(default_factory=SelfPlaySettings)
    look: TdSettings = field(default_factory=TdSettings)

    def determining_settings(self) -> dict[str, Any]:
        """Return the settings that affect the trained network, as JSON data."""
        settings = asdict(self) | {"neurons": list(self.neurons)}
        if not self.recorded:
            del settings["recorded"]
        return settings


@dataclass(frozen=True)
class RecordedStage:
    """What learning from recorded games was worth, on games that were held out.

    `before` and `after` are the value loss, the move loss, and the fraction of the moves that the
    network predicts. If too few games are available, none is held out and all are measured.
    """

    games: int
    held_out: int
    positions: int
    before: tuple[float, float, float]
    after: tuple[float, float, float]


class GameTrainer:
    def __init__(self, settings: GameTrainingSettings) -> None:
        if min(settings.steps, settings.games, *settings.neurons) < 1:
            raise TrainingError("steps, games and neurons: must be at least 1")
        self._settings = settings
        self._kind = catalogue.find(settings.game)
        game = self._kind.new(**settings.options)
        self._encoding = encoding_for(game, settings.seed, measured=not settings.neurons)
        self.symmetries = find_symmetries(game, self._encoding.vocabulary)
        self._replay_buffer = ReplayBuffer(self._encoding, self.symmetries, settings.kept)
        outputs = 1 + (self._encoding.outputs if settings.neurons else 0)
        shape = [self._encoding.inputs, *settings.neurons, outputs]
        # `steps` is not the number of any step, so the initial weights have their own seed.
        start = random_layers(shape, np.random.default_rng((settings.seed, settings.steps)))
        self._learner = AdamOptimizer(start)
        # What the recorded games were worth, after `run` has learned them or resumed.
        self.recorded_stage: RecordedStage | None = None

    @property
    def encoding(self) -> PositionEncoding:
        """The encoding of positions and moves."""
        return self._encoding

    def run(
        self,
        path: Path,
        report: Callable[[int, int], None] = lambda step, left: None,
        recorded: Sequence[Sequence[TrainingExample]] = (),
    ) -> Generator[list[dict[str, float]], None, None]:
        """Train the network. Resume from the checkpoint at `path` if it exists.

        A new run first learns the examples of the games in `recorded`. Yield the history at the
        start and after each step. `report` receives the number of the step and the number of its
        unfinished games. Raise TrainingError if the checkpoint is unusable, and OSError if writing
        it fails.
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(
                lock_or_raise(path, TrainingError, "in use by another training process")
            )
            resumed = self._resume(path)
            if resumed is None and recorded:
                self._learn_recorded(recorded)
                self._write_checkpoint(path, [])
            history = resumed or []
            yield history
            while len(history) < self._settings.steps:
                history = [*history, self._step(len(history), report)]
                self._write_checkpoint(path, history)
                yield history

    def network(self, manifest: dict[str, Any]) -> PolicyValueNet:
        settings = self._settings
        return PolicyValueNet(
            settings.game, settings.options, self._encoding, self._learner.layers, manifest
        )

    def _learn_recorded(self, games: Sequence[Sequence[TrainingExample]]) -> None:
        settings = self._settings
        order = np.random.default_rng((settings.seed, settings.steps, 1)).permutation(len(games))
        held_out = len(games) // HELD_OUT
        measured = [games[index] for index in order[:held_out]] or games
        learned = [games[index] for index in order[held_out:]]
        buffer, measured_buffer = (
            ReplayBuffer(self._encoding, symmetries, sum(map(len, chosen)))
            for chosen, symmetries in ((learned, self.symmetries), (measured, self.symmetries[:1]))
        )
        for target, chosen in ((buffer, learned), (measured_buffer, measured)):
            target.add([example for game in chosen for example in game])
        before = self._measure(measured_buffer)
        generator = np.random.default_rng((settings.seed, settings.steps, 2))
        steps = max(round(settings.reuse * len(buffer) / settings.batch), MIN_RECORDED_STEPS)
        for step in range(steps):
            rate = settings.rate * (1 - (1 - FINAL_RATE_SHARE) * step / steps)
            self._learner.step(buffer.sample(settings.batch, generator), rate)
        self.recorded_stage = RecordedStage(
            len(games), held_out, len(buffer), before, self._measure(measured_buffer)
        )

    def _measure(self, buffer: ReplayBuffer) -> tuple[float, float, float]:
        """Return the value loss, the move loss and the fraction of predicted moves."""
        totals = np.zeros(3)
        network = self.network({})
        for batch in buffer.batches(self._settings.batch):
            losses = self._learner.gradients(batch)[1]
            outputs = network.outputs(batch.inputs)
            share = 0.0
            if outputs.shape[1] > 1:
                logits = np.where(batch.legal, outputs[:, 1:], -np.inf)
                played = batch.targets.argmax(axis=1)
                share = float((logits.argmax(axis=1) == played).mean())
            totals += len(batch.values) * np.array([*losses, share])
        value, moves, share = (totals / len(buffer)).tolist()
        return value, moves, share

    def _step(self, number: int, report: Callable[[int, int], None]) -> dict[str, float]:
        settings, started = self._settings, time.process_time()
        examples = [example for game in self._play_games(number, report) for example in game]
        self._replay_buffer.add(examples)
        if not len(self._replay_buffer):
            raise TrainingError("{}: the games contain no training examples", settings.game)
        generator = np.random.default_rng((settings.seed, number))
        losses = [
            self._learner.step(
                self._replay_buffer.sample(settings.batch, generator), self._rate(number)
            )
            for _ in range(max(round(settings.reuse * len(examples) / settings.batch), 1))
        ]
        value, moves = np.mean(losses, axis=0).tolist()
        return {
            "positions": len(examples),
            "value loss": value,
            "move loss": moves,
            "seconds": time.process_time() - started,
        }

    def _play_games(
        self, number: int, report: Callable[[int, int], None]
    ) -> Iterator[list[TrainingExample]]:
        settings, network = self._settings, self.network({})
        games = [
            (self._kind.new(**settings.options), Random(f"{settings.seed} {number} {index}"))
            for index in range(settings.games)
        ]
        if settings.neurons:
            generators = [
                play_game(game, self._encoding, settings.play, each) for game, each in games
            ]
            yield from play_batch(
                generators, network, lambda n_unfinished: report(number, n_unfinished)
            )
            return
        for n_unfinished, (game, random) in zip(reversed(range(len(games))), games, strict=True):
            yield play_td_game(game, network, settings.look, random)
            report(number, n_unfinished)

    def _rate(self, number: int) -> float:
        progress = number / max(self._settings.steps - 1, 1)
        decay_share = min((1 - progress) / (1 - CONSTANT_RATE_SHARE), 1)
        return self._settings.rate * (FINAL_RATE_SHARE + (1 - FINAL_RATE_SHARE) * decay_share)

    def _resume(self, path: Path) -> list[dict[str, float]] | None:
        """Read the checkpoint, and return the statistics of each step, or None if there is none."""
        settings, remedy = self._settings.determining_settings(), "use another file with -o"
        loaded = checkpoint_file.read(path, _MAGIC, settings, remedy)
        if loaded is None:
            return None
        head, content = loaded
        if stage := head.get("recorded_stage"):
            measured: dict[str, Any] = {name: tuple(stage[name]) for name in ("before", "after")}
            self.recorded_stage = RecordedStage(**{**stage, **measured})
        learner = self._learner
        with np.load(io.BytesIO(content)) as arrays:
            for number, parameter in enumerate(learner.parameters):
                parameter[...] = arrays[f"parameter {number}"]
                learner.means[number][...] = arrays[f"mean {number}"]
                learner.squares[number][...] = arrays[f"square {number}"]
            learner.steps = int(arrays["steps"])
            self._replay_buffer.restore(dict(arrays))
        history: list[dict[str, float]] = head["history"]
        return history

    def _write_checkpoint(self, path: Path, history: list[dict[str, float]]) -> None:
        learner = self._learner
        arrays: dict[str, Any] = {
            "steps": np.array(learner.steps),
            **self._replay_buffer.to_arrays(),
        }
        for number, parameter in enumerate(learner.parameters):
            arrays[f"parameter {number}"] = parameter
            arrays[f"mean {number}"] = learner.means[number]
            arrays[f"square {number}"] = learner.squares[number]
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        head: dict[str, Any] = {
            "made_with": self._settings.determining_settings(),
            "history": history,
        }
        if self.recorded_stage is not None:
            head["recorded_stage"] = asdict(self.recorded_stage)
        checkpoint_file.write(path, _MAGIC, head, buffer.getvalue())
