"""Base class of NegaScout and PVS."""

from typing import TypeVar

from agent.game import Game
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.search import SearchResult, next_down, next_up
from agent.search.stats import SearchStopped

Move = TypeVar("Move")


class NullWindowSearch(AlphaBeta[Move]):
    """Alpha-beta that tests moves with a null window, and searches better moves again.

    If a test value was already exact, the second search does not return the complete principal
    variation. A final search in a narrow window then completes it. The evaluations of this search
    are counted in `looked_at`.
    """

    def search_window(
        self, game: Game[Move], depth: int, alpha: float, beta: float, ply: int
    ) -> SearchResult[Move]:
        """Search like `search`, but return an internal value, in which wins outrank evaluations."""
        result = super().search_window(game, depth, alpha, beta, ply)
        remaining = depth - len(result.pv)
        if ply or remaining <= 0 or self.table is not None or not alpha < result.value < beta:
            return result
        for move in result.pv:
            game.play(move)
        try:
            if game.outcome() is None:
                end = self._end(game, remaining, len(result.pv), result.value)
                return SearchResult(result.value, result.pv + end)
        finally:
            for _ in result.pv:
                game.undo()
        return result

    def _end(self, game: Game[Move], depth: int, ply: int, value: float) -> tuple[Move, ...]:
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
