"""Learning a game from nothing: what is learned plays itself, and learns from it, step by step.

A network with neurons between tells values and priors, and plays by tree search; weights alone,
without neurons, tell values, and play by one look ahead.

Each step plays some games side by side with the network as it is, then learns from the last
steps' lessons. What a step does follows from the seed and its number alone; a file is written after
each, whole or not at all, so that a run that is killed loses one step at most, and makes the
same network as one that was not.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from agent.games import catalogue
from agent.games.board_symmetry import find_symmetries
from agent.games.policy_value_net import PolicyValueNet
from agent.games.position_encoding import encoding_for
from agent.io.file_lock import lock_or_raise
from kempelen.training import game_checkpoint
from kempelen.training.game_checkpoint import GameCheckpoint, GameTrainingError
from kempelen.training.replay_buffer import ReplayBuffer
from kempelen.training.selfplay_batch import (
    SelfPlaySettings,
    TrainingExample,
    play_batch,
    play_game,
)
from kempelen.training.small_network import AdamOptimizer, random_layers
from kempelen.training.td_lambda import TdSettings, play_td_game

# The rate stays as it is for so much of the run, then falls to a share of itself.
CONSTANT_RATE_SHARE, FINAL_RATE_SHARE = 0.5, 0.05


@dataclass(frozen=True, kw_only=True)
class GameTrainingSettings:
    """What a network is learned with.

    game, options: of the catalogue. steps: how many, of `games` games each. neurons: of each layer
    between; none for weights of features. play: of a network's games; look: of weights'. batch:
    positions of a step of the optimizer; reuse: how often each position is learned from, on
    average; kept: how many positions are.
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
    play: SelfPlaySettings = field(default_factory=SelfPlaySettings)
    look: TdSettings = field(default_factory=TdSettings)

    def determining_settings(self) -> dict[str, Any]:
        """Return all that the network follows from, as JSON has it."""
        return asdict(self) | {"neurons": list(self.neurons)}


class GameTrainer:
    """Learns one game; `run` goes on from a checkpoint, where there is one."""

    def __init__(self, settings: GameTrainingSettings) -> None:
        if min(settings.steps, settings.games, *settings.neurons) < 1:
            raise GameTrainingError("steps, games and neurons: 1 or more of each are needed")
        self._settings = settings
        self._kind = catalogue.find(settings.game)
        game = self._kind.new(**settings.options)
        self._encoding = encoding_for(game, settings.seed, measured=not settings.neurons)
        self.symmetries = find_symmetries(game, self._encoding.vocabulary)
        self._replay_buffer = ReplayBuffer(self._encoding, self.symmetries, settings.kept)
        outputs = 1 + (self._encoding.outputs if settings.neurons else 0)
        shape = [self._encoding.inputs, *settings.neurons, outputs]
        # No step has this number: each has random numbers of its own.
        start = random_layers(shape, np.random.default_rng((settings.seed, settings.steps)))
        self._learner = AdamOptimizer(start)

    def run(
        self, path: Path, report: Callable[[int, int], None] = lambda step, left: None
    ) -> Generator[list[dict[str, float]], None, None]:
        """Learn; yield the steps' figures when it begins or goes on, and after each step.

        report: told the step and its games that are left. Raises GameTrainingError if the checkpoint
        cannot be used, OSError if it cannot be written.
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(
                lock_or_raise(path, GameTrainingError, "in use: another process learns with it")
            )
            history = self._resume(
                game_checkpoint.read(path, self._settings.determining_settings())
            )
            yield history
            while len(history) < self._settings.steps:
                history = [*history, self._step(len(history), report)]
                self._to_checkpoint(history).write(path)
                yield history

    def network(self, manifest: dict[str, Any]) -> PolicyValueNet:
        """Return the network as it is now."""
        settings = self._settings
        return PolicyValueNet(
            settings.game, settings.options, self._encoding, self._learner.layers, manifest
        )

    def _step(self, number: int, report: Callable[[int, int], None]) -> dict[str, float]:
        settings, began = self._settings, time.process_time()
        lessons = [each for game in self._play_games(number, report) for each in game]
        self._replay_buffer.add(lessons)
        if not len(self._replay_buffer):
            raise GameTrainingError(f"{settings.game}: the games had no moves to learn from")
        generator = np.random.default_rng((settings.seed, number))
        losses = [
            self._learner.step(
                self._replay_buffer.sample(settings.batch, generator), self._rate(number)
            )
            for _ in range(max(round(settings.reuse * len(lessons) / settings.batch), 1))
        ]
        value, moves = np.mean(losses, axis=0).tolist()
        return {
            "positions": len(lessons),
            "value loss": value,
            "move loss": moves,
            "seconds": time.process_time() - began,
        }

    def _play_games(
        self, number: int, report: Callable[[int, int], None]
    ) -> Iterator[list[TrainingExample]]:
        """Generate the lessons of a step's games."""
        settings, network = self._settings, self.network({})
        games = [
            (self._kind.new(**settings.options), Random(f"{settings.seed} {number} {place}"))
            for place in range(settings.games)
        ]
        if settings.neurons:
            playing = [play_game(game, self._encoding, settings.play, each) for game, each in games]
            yield from play_batch(playing, network, lambda left: report(number, left))
            return
        for left, (game, random) in zip(reversed(range(len(games))), games, strict=True):
            yield play_td_game(game, network, settings.look, random)
            report(number, left)

    def _rate(self, number: int) -> float:
        progress = number / max(self._settings.steps - 1, 1)
        left = min((1 - progress) / (1 - CONSTANT_RATE_SHARE), 1)
        return self._settings.rate * (FINAL_RATE_SHARE + (1 - FINAL_RATE_SHARE) * left)

    def _resume(self, made: GameCheckpoint | None) -> list[dict[str, float]]:
        if made is None:
            return []
        learner = self._learner
        for number, parameter in enumerate(learner.parameters):
            parameter[...] = made.arrays[f"parameter {number}"]
            learner.means[number][...] = made.arrays[f"mean {number}"]
            learner.squares[number][...] = made.arrays[f"square {number}"]
        learner.steps = int(made.arrays["steps"])
        self._replay_buffer.restore(made.arrays)
        return made.history

    def _to_checkpoint(self, history: list[dict[str, float]]) -> GameCheckpoint:
        learner = self._learner
        arrays: dict[str, Any] = {
            "steps": np.array(learner.steps),
            **self._replay_buffer.to_arrays(),
        }
        for number, parameter in enumerate(learner.parameters):
            arrays[f"parameter {number}"] = parameter
            arrays[f"mean {number}"] = learner.means[number]
            arrays[f"square {number}"] = learner.squares[number]
        return GameCheckpoint(self._settings.determining_settings(), history, arrays)
