"""A search that heeds experience at the root: known moves are worth what playing them showed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, Generic, TypeVar

from agent.agent import Pausable, PausableWrapper, SearchBackend, Searcher, SearcherWrapper
from agent.clock import SearchClock
from agent.learning.learned_move import LearnedMove
from agent.learning.position_learner import PositionLearner
from agent.limits import Info, Limits
from agent.threads.one_shot_event import OneShotEvent

Position = TypeVar("Position")
Move = TypeVar("Move")

# A lesson counts until a search is so many plies deeper than the one that taught it.
DEPTH_MARGIN = 2


class PositionLearningSearcher(SearcherWrapper[Position, Move]):
    """The player's Searcher around another, which plays games; analysis is left as it is.

    Moves that lessons are known of are not searched, but compared with the best of the others by
    what was found when they were played. Once the search looks deeper than a lesson did, its move
    is searched as any other.

    came_about: tells whether what is searched is on the board, and is not pondered on.
    """

    def __init__(
        self,
        searcher: Searcher[Position, Move],
        experience: PositionLearner[Position, Move],
        came_about: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(searcher)
        self._experience = experience
        self._is_played = came_about

    def search(
        self, position: Position, limits: Limits[Move], lines: int = 1, /
    ) -> Iterator[Info[Move]]:
        """Yield what each iteration finds; learn from it when the search is over."""
        playing = lines == 1 and not (limits.infinite or limits.mate or limits.search_moves)
        if not playing:
            yield from self.searcher.search(position, limits, lines)
            return
        experience = self._experience
        root = experience.notation.copy(position)
        last: Info[Move] | None = None
        try:
            for info in self._search_with_learning(position, limits, experience.lookup(root)):
                if info.pv and (info.bound != "upperbound" or last is None):
                    last = info
                yield info
        finally:
            if last is not None:
                experience.record_search(root, last, self._is_played)

    def _search_with_learning(
        self, position: Position, limits: Limits[Move], lessons: Mapping[str, LearnedMove]
    ) -> Iterator[Info[Move]]:
        moves = self._experience.notation.moves_by_text(position) if lessons else {}
        known = {text: lesson for text, lesson in lessons.items() if text in moves}
        spent = reached = told = 0
        while True:
            applied = {
                text: lesson
                for text, lesson in known.items()
                if reached <= lesson.depth + DEPTH_MARGIN
            }
            if applied and len(applied) == len(moves):  # one must be searched: the best of them
                del applied[max(applied, key=lambda text: applied[text].found)]
            if not applied:
                others: tuple[Move, ...] = ()
            else:
                others = tuple(move for text, move in moves.items() if text not in applied)
            nodes = None if limits.nodes is None else max(limits.nodes - spent, 1)
            now = replace(limits, nodes=nodes, search_moves=others)
            outgrown = False
            with closing(self.search_wrapped(position, now, 1)) as infos:
                for info in infos:
                    total = spent + info.nodes
                    if not spent or info.depth > told:
                        yield self._with_learned_line(replace(info, nodes=total), applied, moves)
                    if info.complete and not info.bound:
                        reached = max(reached, info.depth)
                    left = limits.nodes is None or total < limits.nodes
                    outgrown = left and any(
                        reached > lesson.depth + DEPTH_MARGIN for lesson in applied.values()
                    )
                    if outgrown:
                        spent, told = total, reached
                        break
            if not outgrown:
                return

    def _with_learned_line(
        self, info: Info[Move], applied: Mapping[str, LearnedMove], moves: Mapping[str, Move]
    ) -> Info[Move]:
        """Return the line to play: a known move where experience promises more of it."""
        if not applied:
            return info
        experience = self._experience
        text = max(applied, key=lambda text: applied[text].found)
        best = applied[text]
        value = experience.notation.search_value(info)
        for lesson in applied.values():
            if lesson.predicted > value >= lesson.found or lesson is best:
                experience.count_use(lesson)
        if best.found <= value:
            return info
        known = experience.notation.with_value(info, best.found)
        return replace(known, pv=(moves[text],), effort=None, bound="")


class PreemptiblePositionLearningSearcher(
    PositionLearningSearcher[Position, Move], PausableWrapper[Position, Move]
):
    """A wary searcher around one that can make room for others."""


class PositionLearningBackend(Generic[Position, Move]):
    """The searchers of another source, which heed experience while that is active.

    fits: whether a searcher is to heed it; prepare: lets one take lessons into its own memory.
    """

    def __init__(
        self,
        source: SearchBackend[Position, Move],
        experience: PositionLearner[Position, Move],
        fits: Callable[[Any], bool] = lambda searcher: True,
        prepare: Callable[[Any], None] = lambda searcher: None,
    ) -> None:
        self._source = source
        self._experience = experience
        self._applies_to = fits
        self._seed = prepare

    def get_searcher(
        self, clock: SearchClock[Move], stop: OneShotEvent, /
    ) -> Searcher[Position, Move]:
        """Return who searches now."""
        searcher = self._source.get_searcher(clock, stop)
        if not self._experience.active or not self._applies_to(searcher):
            return searcher
        self._seed(searcher)
        kind = (
            PreemptiblePositionLearningSearcher
            if isinstance(searcher, Pausable)
            else PositionLearningSearcher
        )
        return kind(searcher, self._experience, lambda: clock.running)

    def abandon(self, thread: threading.Thread, /) -> str | None:
        """Give up what that thread does with the searcher, if a user's code keeps it."""
        return self._source.abandon(thread)
