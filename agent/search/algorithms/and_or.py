"""AND/OR search: whether the mover can force a win, and the strategy that does it.

Source: 'Búsqueda con adversario' and 'Juegos: minimax, método alfa-beta': a winning strategy is
a sub-tree with one move at each position of the winner (OR), an answer to every move at each
position of the other (AND), and only won leaves.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from agent.game import Game
from agent.search.algorithms.win_loss import WIN, WinLossSearch

Move = TypeVar("Move")


@dataclass(frozen=True, slots=True)
class Strategy(Generic[Move]):
    """How to win from a position: the winner's move, or what to do after each of the other's.

    Where the winner is to move `answers` has one move, where the other is it has all his, and
    where the game is won it is empty. Positions that come about in several ways share theirs.
    """

    answers: "dict[Move, Strategy[Move]]" = field(default_factory=dict)

    def size(self) -> int:
        """Return the number of positions of the strategy, written out as a tree."""
        return 1 + sum(answer.size() for answer in self.answers.values())


class AndOr(WinLossSearch[Move]):
    """Solve for the mover: the value is 1 if he can force a leaf worth more than 0, else -1.

    After a search `strategy` says how, or is None. Every position is solved once.
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
        self.strategy = self._solve(game, depth, 0)
        self._pv_table[0] = tuple(_main_line(self.strategy))
        return self.strategy is not None

    def _solve(self, game: Game[Move], depth: int, ply: int) -> Strategy[Move] | None:
        """Return MAX's winning strategy from here, or None if there is none."""
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
        return strategy

    def _solve_or(self, game: Game[Move], depth: int, ply: int) -> Strategy[Move] | None:
        """Solve an OR node: one winning move is enough."""
        for move in self._moves(game, ply):
            game.play(move)
            answer = self._solve(game, depth - 1, ply + 1)
            game.undo()
            if answer is not None:
                self._record_cutoff(game, move, depth, ply)
                return Strategy({move: answer})
        return None

    def _solve_and(self, game: Game[Move], depth: int, ply: int) -> Strategy[Move] | None:
        """Solve an AND node: every move must be answered."""
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
    """Return the strategy's first move, the first answer to it, and so on."""
    line = []
    while strategy is not None and strategy.answers:
        move, strategy = next(iter(strategy.answers.items()))
        line.append(move)
    return line
