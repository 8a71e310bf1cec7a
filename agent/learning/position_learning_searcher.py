from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, Generic, TypeVar

from agent.agent import SearchBackend, Searcher, SearcherWrapper
from agent.clock import SearchClock
from agent.learning.learned_move import LearnedMove
from agent.learning.position_learner import PositionLearner
from agent.limits import Info, Limits
from agent.threads.one_shot_event import OneShotEvent

Position = TypeVar("Position")
Move = TypeVar("Move")

# A learned move is used until a search is this many plies deeper than the move's `depth`.
DEPTH_MARGIN = 2


class PositionLearningSearcher(SearcherWrapper[Position, Move]):
    """Wraps a searcher and uses learned moves at the root in games, but not in analysis.

    Learned moves are not searched. Their stored values are compared with the value of the best
    other move. A learned move is searched again once the search is more than DEPTH_MARGIN plies
    deeper than the stored depth of the move. `is_played` returns whether the position has occurred
    in the game (False while pondering).
    """

    def __init__(
        self,
        searcher: Searcher[Position, Move],
        experience: PositionLearner[Position, Move],
        is_played: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(searcher)
        self._experience = experience
        self._is_played = is_played

    def search(
        self, position: Position, limits: Limits[Move], lines: int = 1, /
    ) -> Iterator[Info[Move]]:
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
        spent = reached = reported = 0
        while True:
            applied = {
                text: lesson
                for text, lesson in known.items()
                if reached <= lesson.depth + DEPTH_MARGIN
            }
            # at least one move must be searched, so search the best
            if applied and len(applied) == len(moves):
                del applied[max(applied, key=lambda text: applied[text].found)]
            if not applied:
                others: tuple[Move, ...] = ()
            else:
                others = tuple(move for text, move in moves.items() if text not in applied)
            nodes = None if limits.nodes is None else max(limits.nodes - spent, 1)
            remaining = replace(limits, nodes=nodes, search_moves=others)
            outgrown = False
            with closing(self.search_wrapped(position, remaining, 1)) as infos:
                for info in infos:
                    total = spent + info.nodes
                    if not spent or info.depth > reported:
                        yield self._with_learned_line(replace(info, nodes=total), applied, moves)
                    if info.complete and not info.bound:
                        reached = max(reached, info.depth)
                    has_nodes = limits.nodes is None or total < limits.nodes
                    outgrown = has_nodes and any(
                        reached > lesson.depth + DEPTH_MARGIN for lesson in applied.values()
                    )
                    if outgrown:
                        spent, reported = total, reached
                        break
            if not outgrown:
                return

    def _with_learned_line(
        self, info: Info[Move], applied: Mapping[str, LearnedMove], moves: Mapping[str, Move]
    ) -> Info[Move]:
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


class PositionLearningBackend(Generic[Position, Move]):
    """A backend that wraps its searchers to use learned moves while learning is active.

    `fits` returns whether to wrap a searcher. `prepare` lets a searcher load learned moves into its
    own memory.
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
        searcher = self._source.get_searcher(clock, stop)
        if not self._experience.active or not self._applies_to(searcher):
            return searcher
        self._seed(searcher)
        return PositionLearningSearcher(searcher, self._experience, lambda: clock.running)

    def abandon(self, thread: threading.Thread, /) -> str | None:
        return self._source.abandon(thread)
