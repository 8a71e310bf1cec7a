"""Base class of NegaScout and PVS, which completes their principal variations."""

from typing import TypeVar

from agent.game import Game
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.search import SearchResult, next_down, next_up
from agent.search.stats import SearchStopped

Move = TypeVar("Move")


class NullWindowSearch(AlphaBeta[Move]):
    """Alpha-beta that tests moves with a null window, and searches them again if they are better.

    The second search starts at the value returned by the test. If that value was already exact, the
    second search only confirms it as an upper bound. Neither search then finds the complete
    principal variation. A final search in a narrow window around the known value completes the
    variation. The evaluations of the final search are counted in `looked_at`.
    """

    def search_window(
        self, game: Game[Move], depth: int, alpha: float, beta: float, ply: int
    ) -> SearchResult[Move]:
        """Return the same result as `search`, but on the internal scale.

        On this scale wins are always greater than evaluations.
        """
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
