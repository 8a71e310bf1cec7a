"""Limit the playing strength of a search, in chess and other games."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from agent.agent import SearcherWrapper
from agent.games.go import Go
from agent.games.position_adapter import GamePositionAdapter
from agent.games.stones import PASS
from agent.limits import Info, Limits

if TYPE_CHECKING:
    from agent.agent import Searcher
    from agent.game import Game

Position = TypeVar("Position")
Move = TypeVar("Move")

CANDIDATE_LINES = 4  # moves to choose from
_MAX_OVERSHOOT = 4  # the hard node limit, in multiples of the level's nodes
_MIN_NODES_PER_MOVE = 4  # per move and line, for the first iteration
_OUTCOME = 400  # value of an expected outcome of 1 in centipawns


class Strength(Protocol):
    """A limited playing strength."""

    @property
    def nodes(self) -> int:
        """Soft node limit: no new iteration starts after this number of nodes."""

    @property
    def temperature(self) -> float:
        """Loss in centipawns that divides a move's probability by e."""

    @property
    def margin(self) -> float:
        """Maximum difference in centipawns between the best move and the chosen move."""

    @property
    def candidates(self) -> int:
        """The number of moves to choose from."""


class LimitedSearch(SearcherWrapper[Position, Move], ABC):
    """Runs a short search and picks a random move from its best lines.

    `seed` and the position determine the random numbers. `max_lines` is the number of lines that
    the search can report, or None if there is no limit.
    """

    def __init__(
        self,
        searcher: Searcher[Position, Move],
        level: Strength,
        seed: int,
        max_lines: int | None = None,
    ) -> None:
        super().__init__(searcher)
        self._level = level
        self._seed = seed
        self._candidates = max_lines or level.candidates

    @abstractmethod
    def _move_count(self, position: Position) -> int:
        """Return the number of moves."""

    @abstractmethod
    def _key(self, position: Position) -> Hashable:
        """Return what identifies the position."""

    @abstractmethod
    def _value(self, info: Info[Move]) -> float:
        """Return the value of a line in centipawns."""

    def search(
        self, position: Position, limits: Limits[Move], lines: int = 1
    ) -> Iterator[Info[Move]]:
        """Yield the lines of each completed iteration, with the randomly chosen line first."""
        n_moves = len(limits.search_moves) or self._move_count(position)
        # The choice needs at least one complete iteration.
        max_nodes = max(
            self._level.nodes * _MAX_OVERSHOOT, _MIN_NODES_PER_MOVE * self._candidates * n_moves
        )
        limits = replace(limits, nodes=min(limits.nodes or max_nodes, max_nodes))
        count = min(max(lines, self._candidates), n_moves)
        iteration: list[Info[Move]] = []
        last: Info[Move] | None = None
        chosen = False
        with closing(self.search_wrapped(position, limits, count)) as infos:
            for info in infos:
                if info.multipv == 1:
                    if iteration and self._is_deep_enough(iteration):
                        break  # the search has reported fewer lines than expected
                    last, iteration = info, []
                if not info.complete or info.bound:
                    continue
                iteration.append(info)
                if info.multipv < count:
                    continue
                if len(iteration) == count:
                    chosen = True
                    yield from self._ordered(position, iteration)[:lines]
                if self._is_deep_enough(iteration):
                    break
        if not chosen and iteration:
            yield from self._ordered(position, iteration)[:lines]
        elif not chosen and last is not None:
            yield replace(last, multipv=1)

    def _is_deep_enough(self, iteration: Sequence[Info[Move]]) -> bool:
        """Return whether the limit is reached. A complete tree gets visits, but no more nodes."""
        visits = sum(info.visits for info in iteration)
        return max(iteration[-1].nodes, visits) >= self._level.nodes

    def _ordered(self, position: Position, iteration: list[Info[Move]]) -> list[Info[Move]]:
        """Return the lines with a randomly chosen line first.

        The probability of a line is proportional to `exp(score / temperature)` (Gumbel-max trick).
        Each move gets the same random number in every iteration.
        """
        from random import Random  # lazy import: slow to load

        key = self._key(position)
        best = max(map(self._value, iteration))

        def noisy_score(info: Info[Move]) -> float:
            deficit = best - self._value(info)
            if deficit > self._level.margin:
                return -math.inf
            draw = Random(f"{self._seed} {key} {info.pv[0]}").random()
            noise = -math.log(-math.log(max(draw, 1e-12)))
            return noise - deficit / self._level.temperature

        first = max(iteration, key=noisy_score)
        other_lines = [info for info in iteration if info is not first]
        return [replace(info, multipv=n) for n, info in enumerate([first, *other_lines], 1)]


@dataclass(frozen=True, slots=True)
class GameLevel:
    """A strength in games other than chess. See `Strength` and `LimitedSearch`."""

    nodes: int
    temperature: float
    margin: float
    candidates: int = CANDIDATE_LINES


# From weakest to strongest. In Go, a search needs 200 playouts to see that it should pass.
GAME_LEVELS = (
    GameLevel(200, 400, 800, 12),
    GameLevel(200, 150, 400, 6),
    GameLevel(250, 80, 200),
    GameLevel(1000, 30, 80),
    GameLevel(6000, 12, 30),
    GameLevel(40_000, 5, 12),
)


class LimitedGameSearch(LimitedSearch["Game[Any]", Any]):
    """Limits the playing strength of a search in a game other than chess."""

    def _move_count(self, position: Game[Any]) -> int:
        return len(list(GamePositionAdapter[Any]().moves(position)))

    def _key(self, position: Game[Any]) -> Hashable:
        return position.key()

    def _value(self, info: Info[Any]) -> float:
        return _OUTCOME * (info.expected_outcome or 0.0)

    def _ordered(self, position: Game[Any], iteration: list[Info[Any]]) -> list[Info[Any]]:
        """Never pass at random in Go, and pass whenever the search does."""
        if not isinstance(position, Go):
            return super()._ordered(position, iteration)
        if iteration[0].pv[0] == PASS:
            return iteration
        moves = [info for info in iteration if info.pv[0] != PASS]
        passes = [info for info in iteration if info.pv[0] == PASS]
        first, *others = [*super()._ordered(position, moves), *passes]
        # The ownership belongs to the position, and is only in the search's first line.
        first = replace(first, ownership=iteration[0].ownership)
        return [replace(info, multipv=n) for n, info in enumerate([first, *others], 1)]
