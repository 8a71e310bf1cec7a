from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import TypeVar

from agent.agent import Searcher, SearcherWrapper
from agent.learning.learned_move import LearnedMove
from agent.learning.position_learner import PositionLearner
from agent.limits import Info, Limits

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
