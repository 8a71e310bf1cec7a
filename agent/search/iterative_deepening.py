"""Progressive deepening: search one ply deep, then two, then three, as long as there is time.

Source: 'Tema 2: Búsqueda en juegos', which answers with the last complete level. Here each level
tries the moves in the order that the level before found best, so that a level cut short still
tells something: its first move is the last level's best, and any move above it is better.
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
    """What one level found: its lines as (value, variation), best first.

    complete: all moves were searched. nodes: spent on this level, on each move of the first
    line.
    """

    depth: int
    lines: list[tuple[float, tuple[Move, ...]]] = field(default_factory=list)
    complete: bool = False
    nodes: dict[Move, int] = field(default_factory=dict)

    def effort(self) -> float | None:
        """Return the share of the nodes that the best move took."""
        total = sum(self.nodes.values())
        return self.nodes[self.lines[0][1][0]] / total if self.lines and total else None


class IterativeDeepening(Generic[Move]):
    """Progressive deepening of an alpha-beta search from the root of a game."""

    def __init__(self, search: AlphaBeta[Move]) -> None:
        self.search = search
        self.root: tuple[Move, int] | None = None

    def iterations(
        self, game: Game[Move], moves: Sequence[Move], depth: int, lines: int = 1
    ) -> Iterator[Iteration[Move]]:
        """Search the moves given 1, 2, ... `depth` plies deep and yield each level.

        Each level has the `lines` best moves, fewer if there are fewer. A level that was
        stopped is the last; it is yielded if it has searched at least one move.
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
        """Find the best line, then the best of the other moves, and so on."""
        if self.search.ordering is not None:
            self.search.ordering.start_search()
        rest = list(moves)
        for _ in range(min(lines, len(moves))):
            self._search_line(game, rest, level)
            rest.remove(level.lines[-1][1][0])
        level.lines.sort(key=lambda line: line[0], reverse=True)

    def _search_line(self, game: Game[Move], moves: list[Move], level: Iteration[Move]) -> None:
        """Add the best line of these moves to the level, bettering it as the search goes on."""
        first_line = not level.lines
        best = -inf
        for number, move in enumerate(moves, 1):
            self.root = move, number
            nodes = self.search.counts.nodes
            game.play(move)
            try:
                found = self.search.search_window(game, level.depth - 1, -inf, -best, ply=1)
            finally:
                game.undo()
            if first_line:
                level.nodes[move] = self.search.counts.nodes - nodes
            if -found.value > best:
                line = -found.value, (move, *found.pv)
                if best == -inf:
                    level.lines.append(line)
                else:
                    level.lines[-1] = line
                best = -found.value

    def _unscaled(self, level: Iteration[Move]) -> Iteration[Move]:
        """Make a level's values those that are told to others."""
        level.lines = [(self.search.unscaled(value), line) for value, line in level.lines]
        return level
