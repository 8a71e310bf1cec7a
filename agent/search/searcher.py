from collections.abc import Iterable, Iterator
from math import inf
from typing import Generic, TypeVar

from agent.game import Game, HasMoveRating
from agent.limits import Cp, Info, Limits, Progress
from agent.search.learned_positions import LearnedPositions
from agent.search.search import Search
from agent.search.stats import SearchStopped

Move = TypeVar("Move")

# Node limit of the first iteration of an exact search, which a lower limit does not interrupt.
_FIRST_ITERATION_NODES = 1000


class GameSearcher(Generic[Move]):
    """Adapter from a search algorithm to the agent's `Searcher` interface.

    The searcher enforces the limits `depth`, `nodes` and `search_moves`. Exceptions raised by the
    user's evaluation or game are not caught.
    """

    def __init__(self, search: Search[Move]) -> None:
        self._search = search

    @property
    def supports_multipv(self) -> bool:
        return self._search.supports_multipv

    @property
    def nodes(self) -> int:
        return self._search.counts.nodes

    def save(self) -> None:
        if self._search.killer_memory is not None:
            self._search.killer_memory.experience.close()

    @property
    def killer_memory(self) -> LearnedPositions[Move] | None:
        """The learned moves in use, or None. `save` writes them to their file."""
        return self._search.killer_memory

    @killer_memory.setter
    def killer_memory(self, memory: LearnedPositions[Move] | None) -> None:
        self._search.killer_memory = memory

    def clear_stop(self) -> None:
        self._search.stopped = False

    def stop(self) -> None:
        self._search.stopped = True

    def new_game(self) -> None:
        """Clear all state that can influence a search, except learned moves in a file."""
        self._search.reset()

    def progress(self) -> Progress[Move]:
        counts = self._search.counts
        return Progress(
            nodes=counts.nodes, seldepth=counts.seldepth, lines=tuple(self._search.current_lines())
        )

    def search(
        self, position: Game[Move], limits: Limits[Move], lines: int = 1, /
    ) -> Iterator[Info[Move]]:
        """Yield the result of each iteration. If none completes, yield a move without a search."""
        search = self._search
        node_limit = inf if limits.nodes is None else limits.nodes
        search.node_limit = max(node_limit, _FIRST_ITERATION_NODES) if search.exact else node_limit
        if search.root_moves != (root_moves := frozenset(limits.search_moves)):
            search.reset()  # stored results belong to other root moves
            search.root_moves = root_moves
        search.reset_stats()
        has_line = False
        try:
            for info in search.iterations(position, limits.depth, lines):
                has_line = True
                yield info
                search.node_limit = node_limit
        except SearchStopped:
            pass
        if not has_line:
            moves = limits.search_moves or position.moves()
            yield Info(depth=0, score=Cp(0), pv=(_likely_move(position, moves),), complete=False)


def _likely_move(game: Game[Move], moves: Iterable[Move]) -> Move:
    """Return the move with the highest rating, or a move that wins at once, or the first move."""
    if isinstance(game, HasMoveRating):
        return max(moves, key=game.move_rating)
    choices, win = list(moves), -1 if game.turn else 1
    for move in choices:
        game.play(move)
        try:
            if game.outcome() == win:
                return move
        finally:
            game.undo()
    return choices[0]
