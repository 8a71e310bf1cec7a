"""Any algorithm as a player drives it."""

from collections.abc import Iterator
from math import inf
from typing import Generic, TypeVar

from agent.game import Game, HasMoveRating
from agent.limits import Cp, Info, Limits, Progress
from agent.search.learned_positions import LearnedPositions
from agent.search.search import Search
from agent.search.stats import SearchStopped

Move = TypeVar("Move")


class GameSearcher(Generic[Move]):
    """One algorithm with its settings: the player's Searcher.

    It obeys depth, nodes and search_moves. Raises what a user's evaluation or game raises.
    """

    def __init__(self, search: Search[Move]) -> None:
        self._search = search

    @property
    def supports_multipv(self) -> bool:
        """Whether it tells of more lines than the best."""
        return self._search.supports_multipv

    @property
    def nodes(self) -> int:
        """How many nodes the search has visited."""
        return self._search.counts.nodes

    def save(self) -> None:
        """Write what was learned for good to its file."""
        if self._search.killer_memory is not None:
            self._search.killer_memory.experience.close()

    @property
    def killer_memory(self) -> LearnedPositions[Move] | None:
        """What the search knows from play; whoever plays may set another, and writes it."""
        return self._search.killer_memory

    @killer_memory.setter
    def killer_memory(self, memory: LearnedPositions[Move] | None) -> None:
        self._search.killer_memory = memory

    def clear_stop(self) -> None:
        """Reset the stop flag, before a search."""
        self._search.stopped = False

    def stop(self) -> None:
        """End the search at its next node."""
        self._search.stopped = True

    def new_game(self) -> None:
        """Forget everything that can change a search, but what was learned for good."""
        self._search.reset()

    def progress(self) -> Progress[Move]:
        """Tell where the running search stands."""
        counts = self._search.counts
        return Progress(
            nodes=counts.nodes, seldepth=counts.seldepth, lines=tuple(self._search.current_lines())
        )

    def search(
        self, position: Game[Move], limits: Limits[Move], lines: int = 1, /
    ) -> Iterator[Info[Move]]:
        """Yield what each iteration finds, until there is nothing more to find."""
        search = self._search
        search.node_limit = inf if limits.nodes is None else limits.nodes
        if search.root_moves != (root_moves := frozenset(limits.search_moves)):
            search.reset()  # what was learned of the position was of other moves
            search.root_moves = root_moves
        search.reset_stats()
        told = False
        try:
            for info in search.iterations(position, limits.depth, lines):
                told = True
                yield info
        except SearchStopped:
            pass
        if not told:
            moves = limits.search_moves or position.moves()
            if isinstance(position, HasMoveRating):
                first = max(moves, key=position.move_rating)
            else:
                first = next(iter(moves))
            yield Info(depth=0, score=Cp(0), pv=(first,), complete=False)
