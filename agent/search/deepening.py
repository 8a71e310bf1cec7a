"""Progressive deepening: search one ply deep, then two, then three, as long as there is time.

Source: 'Tema 2: Búsqueda en juegos', which answers with the last complete level. Here each level
tries the moves in the order that the level before found best, so that a level cut short still
tells something: its first move is the last level's best, and any move above it is better.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Generic, TypeVar

import chess

from agent.chess.plain_game import PlainGame, evaluate
from agent.game import Game
from agent.limits import Cp, Info, Limits, Mate, Progress, Score
from agent.search.alpha_beta import AlphaBeta
from agent.search.counts import SearchStopped
from agent.search.ending import Ending
from agent.search.ordering import Ordering
from agent.search.table import Table

Move = TypeVar("Move")

MAX_DEPTH = 100


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


class Deepening(Generic[Move]):
    """Progressive deepening of an alpha-beta search from the root of a game."""

    def __init__(self, search: AlphaBeta[Move]) -> None:
        self.search = search
        self.root: tuple[Move, int] | None = None

    def levels(
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
                self._search_level(game, moves, level, lines)
            except SearchStopped:
                if level.lines:
                    yield self._reported(level)
                return
            finally:
                self.root = None
            level.complete = True
            leading = [variation[0] for _, variation in level.lines]
            moves = leading + [move for move in moves if move not in leading]
            yield self._reported(level)

    def _search_level(
        self, game: Game[Move], moves: list[Move], level: Iteration[Move], lines: int
    ) -> None:
        """Find the best line, then the best of the other moves, and so on."""
        if self.search.ordering is not None:
            self.search.ordering.next_turn()
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
                found = self.search.within(game, level.depth - 1, -inf, -best, ply=1)
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

    def _reported(self, level: Iteration[Move]) -> Iteration[Move]:
        """Make a level's values those that are told to others."""
        level.lines = [(self.search.reported(value), line) for value, line in level.lines]
        return level


class PlainSearch:
    """The plain Python chess player: needs no compiler, plays while the kernel is compiled.

    evaluation: centipawns for the side to move; the built-in one without it. What it raises
    comes out of `deepen`. `stop` and `progress` may be called from any thread.
    """

    # Every mate is worth more than any evaluation.
    ENDING = Ending(win=32_000, step=1)
    MOST = 30_000
    TABLE_ENTRIES = 200_000

    def __init__(self, evaluation: Callable[[chess.Board], int] | None = None) -> None:
        evaluation = evaluation or evaluate

        def value(game: Game[chess.Move]) -> float:
            assert isinstance(game, PlainGame)
            return max(-self.MOST, min(self.MOST, evaluation(game.board)))

        self._evaluation = value
        self._table = Table[chess.Move](self.TABLE_ENTRIES)
        self._ordering = Ordering[chess.Move](ratings=True, killers=True, history=True)
        self._search = AlphaBeta[chess.Move](
            value,
            ending=self.ENDING,
            continuation=True,
            table=self._table,
            ordering=self._ordering,
        )
        self._deepening = Deepening(self._search)

    def arm(self) -> None:
        """Reset the stop flag before a search: `stop` is remembered until then."""
        self._search.stopped = False

    def stop(self) -> None:
        """End the search at its next node."""
        self._search.stopped = True

    def new_game(self) -> None:
        """Forget everything that could change a search."""
        self._search.reset()

    def progress(self) -> Progress[chess.Move]:
        """Return where the search stands."""
        counts = self._search.counts
        move, number = self._deepening.root or (None, 0)
        return Progress(counts.nodes, self._table.permille_full(), counts.seldepth, move, number)

    def deepen(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        """Yield the lines of each level, multipv 1 to `lines`, until a limit or `stop`.

        Obeys depth, nodes, mate and search_moves; time is the caller's. Yields at least once. A
        last, incomplete level is yielded if it found a better line. There must be a legal move.
        """
        game = PlainGame(board)
        self._search.forget_counts()
        self._search.node_limit = inf if limits.nodes is None else limits.nodes
        moves = self._ordering.sort(game, game.moves(), 0)
        if limits.search_moves:
            moves = [move for move in moves if move in limits.search_moves] or moves
        last: Iteration[chess.Move] | None = None
        depth = MAX_DEPTH if limits.depth is None else max(1, limits.depth)
        for level in self._deepening.levels(game, moves, depth, lines):
            if level.complete or last is None or level.lines[0] != last.lines[0]:
                last = level
                yield from self._infos(level)
            if limits.mate is not None and mates_within(last.lines[0][0], limits.mate):
                return
        if last is None:
            at_once = Iteration(1, [(self._evaluation(game), (moves[0],))])
            yield from self._infos(at_once)

    def _infos(self, level: Iteration[chess.Move]) -> Iterator[Info[chess.Move]]:
        counts = self._search.counts
        for number, (value, variation) in enumerate(level.lines, 1):
            yield Info(
                depth=level.depth,
                score=score(value),
                pv=variation,
                seldepth=max(counts.seldepth, level.depth),
                multipv=number,
                nodes=counts.nodes,
                hashfull=self._table.permille_full(),
                complete=level.complete,
                effort=level.effort() if number == 1 else None,
            )


def score(value: float) -> Score:
    """Return a value of PlainSearch as centipawns, or moves to mate."""
    if not PlainSearch.ENDING.is_end(value):
        return Cp(int(value))
    plies = PlainSearch.ENDING.win - abs(value)
    moves = int(plies + 1) // 2
    return Mate(moves if value > 0 else -moves)


def mates_within(value: float, moves: int) -> bool:
    """Tell whether a value is a mate by the side to move in so many moves."""
    found = score(value)
    return isinstance(found, Mate) and 0 < found.moves <= moves
