"""AND/OR search, which decides whether the player to move can force a win, and finds a strategy.

Source: the lecture notes 'Búsqueda con adversario' and 'Juegos: minimax, método alfa-beta'.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from agent.game import Game
from agent.search.algorithms.win_loss import LOSS, WIN, WinLossSearch
from agent.search.search import recursion

Move = TypeVar("Move")


@dataclass(frozen=True, slots=True)
class Strategy(Generic[Move]):
    """A winning strategy from a position, which maps moves to the strategies that follow.

    At an OR node (the winner to move), `answers` contains one move. At an AND node (the opponent to
    move), it contains all moves. At a won leaf it is empty.
    """

    answers: "dict[Move, Strategy[Move]]" = field(default_factory=dict)

    def size(self) -> int:
        """Return the number of nodes if the strategy is written out as a tree."""
        return 1 + sum(answer.size() for answer in self.answers.values())


class AndOr(WinLossSearch[Move]):
    """AND/OR search. The value is 1 if the player to move can force a value above 0, otherwise -1.

    After a search, `strategy` is a winning strategy or None. Each position is solved only once.
    """

    name = "and-or"

    strategy: Strategy[Move] | None = None

    def _root(self, game: Game[Move], depth: int) -> float:
        value = super()._root(game, depth)
        if value != WIN:
            self.strategy = None
        return value

    def _can_force(self, game: Game[Move], depth: int) -> bool:
        self._solved: dict[tuple[Hashable, int], Strategy[Move] | None] = {}
        if self.tracer is not None:
            self.tracer.cleared_table()
        self.strategy = self._solve(game, depth, 0)
        self._pv_table[0] = tuple(_main_line(self.strategy))
        return self.strategy is not None

    @recursion
    def _solve(self, game: Game[Move], depth: int, ply: int) -> Strategy[Move] | None:
        key = game.key(), depth
        if key in self._solved:
            self.counts.table_hits += 1
            return self._solved[key]
        strategy: Strategy[Move] | None
        leaf = self._leaf_for_max(game, depth, ply)
        if leaf is not None:
            strategy = Strategy() if self._reaches_bound(leaf) else None
        elif self._is_max(game):
            strategy = self._solve_or(game, depth, ply)
        else:
            strategy = self._solve_and(game, depth, ply)
        self._solved[key] = strategy
        self.counts.peak_open = len(self._solved)
        if self.tracer is not None:
            value = LOSS if strategy is None else WIN
            self.tracer.stored(key, depth, value, value)
        return strategy

    def _solve_or(self, game: Game[Move], depth: int, ply: int) -> Strategy[Move] | None:
        for move in self._moves(game, ply):
            game.play(move)
            answer = self._solve(game, depth - 1, ply + 1)
            game.undo()
            if answer is not None:
                self._record_cutoff(game, move, depth, ply)
                return Strategy({move: answer})
        return None

    def _solve_and(self, game: Game[Move], depth: int, ply: int) -> Strategy[Move] | None:
        answers = {}
        for move in self._moves(game, ply):
            game.play(move)
            answer = self._solve(game, depth - 1, ply + 1)
            game.undo()
            if answer is None:
                self._record_cutoff(game, move, depth, ply)
                return None
            answers[move] = answer
        return Strategy(answers)


def _main_line(strategy: Strategy[Any] | None) -> list[Any]:
    line = []
    while strategy is not None and strategy.answers:
        move, strategy = next(iter(strategy.answers.items()))
        line.append(move)
    return line
