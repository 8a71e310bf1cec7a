"""What the searches share that test moves by null windows: their variation to its end."""

from typing import TypeVar

from agent.game import Game
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.search import SearchResult, next_down, next_up
from agent.search.stats import SearchStopped

Move = TypeVar("Move")


class NullWindowSearch(AlphaBeta[Move]):
    """An alpha-beta that searches a move again from the value up that its test has shown.

    If that value is the exact one, neither search goes down the variation that leads to it: the
    test stops at what is enough, the other at what is too much. Then its end is searched for,
    with the value known, once all is done; what that evaluates is counted as looked at.
    """

    def search_window(
        self, game: Game[Move], depth: int, alpha: float, beta: float, ply: int
    ) -> SearchResult[Move]:
        """Return what `search` finds, all values as they are inside, where ends outrank others."""
        found = super().search_window(game, depth, alpha, beta, ply)
        left = depth - len(found.pv)
        if ply or left <= 0 or self.table is not None or not alpha < found.value < beta:
            return found
        for move in found.pv:
            game.play(move)
        try:
            if game.outcome() is None:
                end = self._end(game, left, len(found.pv), found.value)
                return SearchResult(found.value, found.pv + end)
        finally:
            for _ in found.pv:
                game.undo()
        return found

    def _end(self, game: Game[Move], depth: int, ply: int, value: float) -> tuple[Move, ...]:
        """Return the variation from a position on, which is worth `value` at the root."""
        value = -value if ply % 2 else value
        options = AlphaBetaOptions(
            ending=self.ending,
            node_limit=self.node_limit,
            continuation=self.continuation,
            beyond=self.beyond,
        )
        search = AlphaBeta[Move](self.evaluate, options)
        try:
            return search.search_window(game, depth, next_down(value), next_up(value), ply).pv
        except SearchStopped:
            return ()
        finally:
            self.counts.looked_at += search.counts.evaluations
