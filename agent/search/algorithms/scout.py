"""SCOUT, which tests whether a move is better than the best move so far before searching it.

Sources: J. Pearl, 'SCOUT: a simple game-searching algorithm with proven optimal properties' (1980);
the lecture notes 'Tema 2: Búsqueda en juegos'.
"""

from typing import TypeVar

from agent.game import Game
from agent.search.search import Search, recursion

Move = TypeVar("Move")


class Scout(Search[Move]):
    """SCOUT search: EVAL finds the value of a node, and TEST compares it with a bound."""

    name = "scout"

    def _root(self, game: Game[Move], depth: int) -> float:
        return self._eval(game, depth, 0)

    @recursion
    def _eval(self, game: Game[Move], depth: int, ply: int) -> float:
        leaf = self._leaf_for_max(game, depth, ply)
        if leaf is not None:
            return leaf
        maximise = self._is_max(game)
        first, *others = self._moves(game, ply)
        game.play(first)
        best = self._eval(game, depth - 1, ply + 1)
        game.undo()
        self._update_pv(ply, first)
        for move in others:
            game.play(move)
            if self._test(game, depth - 1, ply + 1, best, not maximise) == maximise:
                self.counts.researches += 1
                best = self._eval(game, depth - 1, ply + 1)
                self._update_pv(ply, move)
            game.undo()
        return best

    @recursion
    def _test(self, game: Game[Move], depth: int, ply: int, bound: float, or_equal: bool) -> bool:
        leaf = self._leaf_for_max(game, depth, ply)
        if leaf is not None:
            return leaf >= bound if or_equal else leaf > bound
        maximise = self._is_max(game)
        for move in self._moves(game, ply):
            game.play(move)
            exceeds = self._test(game, depth - 1, ply + 1, bound, or_equal)
            game.undo()
            if exceeds == maximise:
                self._record_cutoff(game, move, depth, ply)
                return exceeds
        return not maximise
