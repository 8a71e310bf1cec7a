"""Check a plain Python evaluation for any supported game."""

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

# Limits of positions and random games.
MAX_POSITIONS = 300
MAX_GAMES = 300
# Limit of positions per game, for variety.
MAX_PER_GAME = 20
MAX_DEPTH = 100


def algorithm_for(game: Game[Any], in_batches: bool = False) -> str:
    """Return the name of a search algorithm for the game, which supports batches if required."""
    if isinstance(game, ChanceGame):
        return "expectiminimax"
    return MCTS if in_batches else "alpha-beta"


class GameEvaluationUnderTest:
    """An `EvaluationUnderTest` for a plain Python evaluation of any supported game."""

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
        """Do nothing, because plain Python functions are not compiled."""

    def positions(self) -> Iterator[tuple[str, Any]]:
        """Yield positions of random games. Their names consist of the moves from the start."""
        random, seen = Random(0), set()
        for number in range(MAX_GAMES):
            stride = 1 + number % 4  # larger strides reach later positions
            game, moves_text, n_positions = self._kind.new(**self._options), list[str](), 0
            while (
                n_positions < MAX_PER_GAME
                and game.outcome() is None
                and (moves := list(game.moves()))
            ):
                wanted = len(moves_text) % stride == 0 and game.turn != CHANCE
                if wanted and game.key() not in seen:
                    seen.add(game.key())
                    n_positions += 1
                    yield f"the position after {' '.join(moves_text) or 'no move'}", game
                if len(seen) == MAX_POSITIONS:
                    return
                move = random.choice(moves)
                moves_text.append(game.text(move))
                game.play(move)

    def evaluate(self, position: Any) -> float:
        return self._evaluate(position)

    def to_batch_item(self, position: Any) -> Any:
        assert self._batched is not None
        return self._batched.encode(position, list(position.moves()))

    def evaluate_batch(self, kept: Sequence[Any]) -> Sequence[float]:
        assert self._batched is not None
        values, _ = self._batched.evaluate(kept)
        return [float(value) for value in values]

    def with_colours_swapped(self, position: Any) -> None:
        """Return None, because not every game has a colour symmetry."""

    def calls_per_second(self, seconds: float) -> float:
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
        return self._speed(self._evaluate, seconds), self._speed(self._kind.evaluate, seconds)

    def _speed(self, evaluate: GameEvaluation, seconds: float) -> float:
        game = self._kind.new(**self._options)
        search = make_search(self._algorithm, game, evaluate, seed=0)
        results = search_depths(search, game, MAX_DEPTH)
        began = time.perf_counter()
        next(results)  # even if it takes longer, so that there are nodes to count
        with time_limit(search, seconds):
            for _ in results:
                pass
        return search.counts.nodes / (time.perf_counter() - began)
