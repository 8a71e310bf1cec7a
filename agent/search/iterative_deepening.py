"""Iterative deepening with alpha-beta at the root.

Each iteration starts with the best move of the last, so an incomplete iteration is usable too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Generic, TypeVar

from agent.game import Game
from agent.search.algorithms.alpha_beta import AlphaBeta
from agent.search.stats import SearchStopped

Move = TypeVar("Move")


@dataclass(slots=True)
class Iteration(Generic[Move]):
    """The result of one iteration: pairs of a value and a variation, sorted from best to worst.

    `complete` is true if all moves were searched. `nodes` is the number of nodes searched for each
    root move to find the best line.
    """

    depth: int
    lines: list[tuple[float, tuple[Move, ...]]] = field(default_factory=list)
    complete: bool = False
    nodes: dict[Move, int] = field(default_factory=dict)

    def effort(self) -> float | None:
        """Return the fraction of nodes searched for the best move, or None if unknown."""
        total = sum(self.nodes.values())
        return self.nodes[self.lines[0][1][0]] / total if self.lines and total else None


class IterativeDeepening(Generic[Move]):
    def __init__(self, search: AlphaBeta[Move]) -> None:
        self.search = search
        self.root: tuple[Move, int] | None = None

    def iterations(
        self, game: Game[Move], moves: Sequence[Move], depth: int, lines: int = 1
    ) -> Iterator[Iteration[Move]]:
        """Search the moves to depths from 1 to `depth`, and yield the `lines` best lines of each.

        A stopped iteration is the last. It is yielded only if at least one move was searched.
        """
        moves = list(moves)
        for level_depth in range(1, depth + 1):
            level = Iteration[Move](level_depth)
            try:
                self._search_iteration(game, moves, level, lines)
            except SearchStopped:
                if level.lines:
                    yield self._unscaled(level)
                return
            finally:
                self.root = None
            level.complete = True
            leading = [variation[0] for _, variation in level.lines]
            moves = leading + [move for move in moves if move not in leading]
            yield self._unscaled(level)

    def _search_iteration(
        self, game: Game[Move], moves: list[Move], level: Iteration[Move], lines: int
    ) -> None:
        if self.search.ordering is not None:
            self.search.ordering.start_search()
        rest = list(moves)
        for _ in range(min(lines, len(moves))):
            self._search_line(game, rest, level)
            rest.remove(level.lines[-1][1][0])
        level.lines.sort(key=lambda line: line[0], reverse=True)

    def _search_line(self, game: Game[Move], moves: list[Move], level: Iteration[Move]) -> None:
        first_line = not level.lines
        best = -inf
        for index, move in enumerate(moves, 1):
            self.root = move, index
            nodes = self.search.counts.nodes
            game.play(move)
            try:
                result = self.search.search_window(game, level.depth - 1, -inf, -best, ply=1)
            finally:
                game.undo()
            if first_line:
                level.nodes[move] = self.search.counts.nodes - nodes
            if -result.value > best:
                line = -result.value, (move, *result.pv)
                if best == -inf:
                    level.lines.append(line)
                else:
                    level.lines[-1] = line
                best = -result.value

    def _unscaled(self, level: Iteration[Move]) -> Iteration[Move]:
        level.lines = [(self.search.unscaled(value), line) for value, line in level.lines]
        return level
