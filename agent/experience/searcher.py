"""A search that heeds experience at the root: known moves are worth what playing them showed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, Generic, TypeVar

from agent.clock import Clock
from agent.experience.lesson import Lesson
from agent.experience.memory import Experience
from agent.limits import Info, Limits
from agent.player import Pausable, PausableAround, Searcher, SearcherAround, Source
from agent.threads.latch import Latch

Position = TypeVar("Position")
Move = TypeVar("Move")

# A lesson counts until a search is so many plies deeper than the one that taught it.
MARGIN = 2


class WarySearcher(SearcherAround[Position, Move]):
    """The player's Searcher around another, which plays games; analysis is left as it is.

    Moves that lessons are known of are not searched, but compared with the best of the others by
    what was found when they were played. Once the search looks deeper than a lesson did, its move
    is searched as any other.

    came_about: tells whether what is searched is on the board, and is not pondered on.
    """

    def __init__(
        self,
        searcher: Searcher[Position, Move],
        experience: Experience[Position, Move],
        came_about: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(searcher)
        self._experience = experience
        self._came_about = came_about

    def deepen(
        self, position: Position, limits: Limits[Move], lines: int = 1, /
    ) -> Iterator[Info[Move]]:
        """Yield what each iteration finds; learn from it when the search is over."""
        playing = lines == 1 and not (limits.infinite or limits.mate or limits.search_moves)
        if not playing:
            yield from self.searcher.deepen(position, limits, lines)
            return
        experience = self._experience
        root = experience.notation.copy(position)
        last: Info[Move] | None = None
        try:
            for info in self._steered(position, limits, experience.known(root)):
                if info.pv and (info.bound != "upperbound" or last is None):
                    last = info
                yield info
        finally:
            if last is not None:
                experience.note(root, last, self._came_about)

    def _steered(
        self, position: Position, limits: Limits[Move], lessons: Mapping[str, Lesson]
    ) -> Iterator[Info[Move]]:
        moves = self._experience.notation.moves(position) if lessons else {}
        known = {text: lesson for text, lesson in lessons.items() if text in moves}
        spent = reached = told = 0
        while True:
            heeded = {
                text: lesson for text, lesson in known.items() if reached <= lesson.depth + MARGIN
            }
            if heeded and len(heeded) == len(moves):  # one must be searched: the best of them
                del heeded[max(heeded, key=lambda text: heeded[text].found)]
            if not heeded:
                others: tuple[Move, ...] = ()
            else:
                others = tuple(move for text, move in moves.items() if text not in heeded)
            nodes = None if limits.nodes is None else max(limits.nodes - spent, 1)
            now = replace(limits, nodes=nodes, search_moves=others)
            outgrown = False
            with closing(self.inner(position, now, 1)) as infos:
                for info in infos:
                    total = spent + info.nodes
                    if not spent or info.depth > told:
                        yield self._lowered(replace(info, nodes=total), heeded, moves)
                    if info.complete and not info.bound:
                        reached = max(reached, info.depth)
                    left = limits.nodes is None or total < limits.nodes
                    outgrown = left and any(
                        reached > lesson.depth + MARGIN for lesson in heeded.values()
                    )
                    if outgrown:
                        spent, told = total, reached
                        break
            if not outgrown:
                return

    def _lowered(
        self, info: Info[Move], heeded: Mapping[str, Lesson], moves: Mapping[str, Move]
    ) -> Info[Move]:
        """Return the line to play: a known move where experience promises more of it."""
        if not heeded:
            return info
        experience = self._experience
        text = max(heeded, key=lambda text: heeded[text].found)
        best = heeded[text]
        value = experience.notation.value(info)
        for lesson in heeded.values():
            if lesson.predicted > value >= lesson.found or lesson is best:
                experience.note_use(lesson)
        if best.found <= value:
            return info
        known = experience.notation.worth(info, best.found)
        return replace(known, pv=(moves[text],), effort=None, bound="")


class PausableWarySearcher(WarySearcher[Position, Move], PausableAround[Position, Move]):
    """A wary searcher around one that can make room for others."""


class ExperiencedSource(Generic[Position, Move]):
    """The searchers of another source, which heed experience while that is active.

    fits: whether a searcher is to heed it; prepare: lets one take lessons into its own memory.
    """

    def __init__(
        self,
        source: Source[Position, Move],
        experience: Experience[Position, Move],
        fits: Callable[[Any], bool] = lambda searcher: True,
        prepare: Callable[[Any], None] = lambda searcher: None,
    ) -> None:
        self._source = source
        self._experience = experience
        self._fits = fits
        self._prepare = prepare

    def searcher(self, clock: Clock[Move], stop: Latch, /) -> Searcher[Position, Move]:
        """Return who searches now."""
        searcher = self._source.searcher(clock, stop)
        if not self._experience.active or not self._fits(searcher):
            return searcher
        self._prepare(searcher)
        kind = PausableWarySearcher if isinstance(searcher, Pausable) else WarySearcher
        return kind(searcher, self._experience, lambda: clock.running)

    def give_up(self, thread: threading.Thread, /) -> str | None:
        """Give up what that thread does with the searcher, if a user's code keeps it."""
        return self._source.give_up(thread)
