"""An evaluation of any game of the catalogue, to be examined: a plain function of its position."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from agent.evaluation import Evaluation
from agent.game import CHANCE, ChanceGame, Game
from agent.games.batch_evaluation import BatchEvaluation
from agent.games.catalogue import GameEvaluation, GameType
from agent.search.defaults import MCTS, make_search
from agent.search.depth_schedule import search_depths, time_limit

# How many positions are looked for, in how many games played at random at most.
MAX_POSITIONS = 300
MAX_GAMES = 300
# Of one game no more, so that they are of many.
MAX_PER_GAME = 20
MAX_DEPTH = 100


def algorithm_for(game: Game[Any], in_batches: bool = False) -> str:
    """Return the name of an algorithm that asks an evaluation of such a game, or of batches."""
    if isinstance(game, ChanceGame):
        return "expectiminimax"
    return MCTS if in_batches else "alpha-beta"


class GameEvaluationUnderTest:
    """Implements `Examinee`. kind: the game; options: of its class; algorithm: what searches."""

    compiled = False
    max_value: float | None = None
    absolute_tolerance = 1e-4

    def __init__(
        self, kind: GameType, options: Mapping[str, Any], evaluation: Evaluation, algorithm: str
    ) -> None:
        self.name = evaluation.name
        self._kind = kind
        self._options = dict(options)
        self._algorithm = algorithm
        self._evaluate = kind.adapt_evaluation(evaluation)
        self._batched = self._evaluate if isinstance(self._evaluate, BatchEvaluation) else None
        self.batch = self._batched.batch_size if self._batched is not None else 0

    def prepare(self) -> None:
        """There is nothing to compile."""

    def positions(self) -> Iterator[tuple[str, Any]]:
        """Yield positions of games played at random, each under the moves that led there."""
        chance, seen = Random(0), set()
        for number in range(MAX_GAMES):
            stride = 1 + number % 4  # some games are followed further than others
            game, written, found = self._kind.new(**self._options), list[str](), 0
            while found < MAX_PER_GAME and game.outcome() is None and (moves := list(game.moves())):
                due = len(written) % stride == 0 and game.turn != CHANCE
                if due and game.key() not in seen:
                    seen.add(game.key())
                    found += 1
                    yield f"the position after {' '.join(written) or 'no move'}", game
                if len(seen) == MAX_POSITIONS:
                    return
                move = chance.choice(moves)
                written.append(game.text(move))
                game.play(move)

    def evaluate(self, position: Any) -> float:
        """Return the value for the mover."""
        return self._evaluate(position)

    def to_batch_item(self, position: Any) -> Any:
        """Return what a batch has of the position."""
        assert self._batched is not None
        return self._batched.encode(position, list(position.moves()))

    def evaluate_batch(self, kept: Sequence[Any]) -> Sequence[float]:
        """Return the values for the movers."""
        assert self._batched is not None
        values, _ = self._batched.evaluate(kept)
        return [float(value) for value in values]

    def with_colours_swapped(self, position: Any) -> None:
        """Games have no colours in common."""

    def calls_per_second(self, seconds: float) -> float:
        """Return how often it can be called."""
        calls, spent, ends = 0, 0.0, time.perf_counter() + seconds
        while time.perf_counter() < ends:
            for _, position in self.positions():
                began = time.perf_counter()
                self._evaluate(position)
                spent += time.perf_counter() - began
                calls += 1
                if time.perf_counter() >= ends:
                    break
        return calls / spent

    def nodes_per_second(self, seconds: float) -> tuple[float, float]:
        """Return the speed of the algorithm with it, and with the game's own, from the start."""
        return self._speed(self._evaluate, seconds), self._speed(self._kind.evaluate, seconds)

    def _speed(self, evaluate: GameEvaluation, seconds: float) -> float:
        game = self._kind.new(**self._options)
        search = make_search(self._algorithm, game, evaluate, seed=0)
        began = time.perf_counter()
        with time_limit(search, seconds):
            for _ in search_depths(search, game, MAX_DEPTH):
                pass
        return search.counts.nodes / (time.perf_counter() - began)
