"""What is known from experience, and how more is learned: predictions are compared with outcomes.

Source: 'Fundamentos de IA 10: Estrategia de juego': the simulated game does not coincide with the
real one; where the discrepancy is great, the state is stored with the operator that did the harm,
so that when it comes again it is known at once and the error is not made twice.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from agent.experience.lesson import Lesson
from agent.experience.notation import ExperienceNotation
from agent.experience.store import (
    PATIENCE,
    PATIENCE_IN_GAME,
    ExperienceError,
    ExperienceFile,
)
from agent.limits import Info
from agent.player import PlayerError

Position = TypeVar("Position")
Move = TypeVar("Move")

# The thoughts of a game that are kept: the last, and those that pondering may have put after it.
_KEPT = 4


@dataclass(slots=True)
class _Thought(Generic[Position, Move]):
    """What one search predicted of its move.

    certain: tells whether the position has come about, and is not pondered on. before: the thought
    of our last move, if it led here; followed: another one came from this.
    """

    position: Position
    move: Move
    value: float
    depth: int
    certain: Callable[[], bool]
    before: _Thought[Position, Move] | None = None
    reply: str = ""
    settled: bool = False
    followed: bool = False


class Experience(Generic[Position, Move]):
    """The lessons of one game, in a file or only here, and what this game has predicted so far.

    All methods belong to the player's thread, or the search's while that waits. report: told of
    each surprise, and of what is wrong with the file.
    """

    def __init__(
        self,
        notation: ExperienceNotation[Position, Move],
        report: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.notation = notation
        self.active = False
        self._surprises: list[Lesson] = []
        self._report = report
        self._file: ExperienceFile | None = None
        self._known: dict[str, dict[str, Lesson]] = {}
        self._after: dict[str, Lesson] = {}
        self._order: list[str] = []
        self._unwritten: list[Lesson] = []
        self._uses: Counter[tuple[str, str, str]] = Counter()
        self._thoughts: list[_Thought[Position, Move]] = []
        self._complaint = ""

    # Settings, and the file.

    def use(self, path: str) -> None:
        """Learn from the lessons of a file and write to it; "" to learn nothing.

        Raises PlayerError, and stays as it was, if the file cannot be used.
        """
        try:
            file = ExperienceFile(os.path.expanduser(path)) if path else None
            news = file.news() if file is not None else []
        except ExperienceError as error:
            raise PlayerError(str(error)) from None
        self.close()
        if self._unwritten:
            raise PlayerError(f"{self._complaint}; experience stays with this file until then")
        if file is not None:
            file.patience = PATIENCE_IN_GAME
        self._file = file
        self._known, self._after, self._order = {}, {}, []
        self._unwritten, self._thoughts = [], []
        self._take(news)
        self.active = file is not None

    def remember(self) -> None:
        """Learn from now on, without a file."""
        self.active = True

    def flush(self) -> None:
        """Write what was learned to the file; what cannot be written is kept for the next time."""
        if self._file is None:
            return
        try:
            if self._unwritten:
                self._file.add(self._unwritten)
                self._unwritten = []
            self._complaint = ""
        except ExperienceError as error:
            if str(error) != self._complaint:
                self._complaint = str(error)
                self._report(f"{error}; what was learned is kept until it can be written")

    def close(self) -> None:
        """Write what is still to be written, and wait for other programs as long as it takes."""
        if self._file is not None:
            self._file.patience = PATIENCE
            self.flush()
            self._count_uses()

    def _count_uses(self) -> None:
        if self._file is not None and self._uses:
            try:
                self._file.note_use(self._uses.items())
                self._uses.clear()
            except ExperienceError as error:
                self._report(str(error))

    def refresh(self) -> None:
        """Take in what others have written to the file."""
        if self._file is None:
            return
        try:
            waiting = {lesson.key for lesson in self._unwritten}
            self._take([lesson for lesson in self._file.news() if lesson.key not in waiting])
        except ExperienceError as error:
            self._report(str(error))

    def new_game(self) -> None:
        """Take the next position for one of another game."""
        self._thoughts, self._surprises = [], []
        self.flush()
        self._count_uses()
        self.refresh()

    # What is known.

    def known(self, position: Position) -> Mapping[str, Lesson]:
        """Return the lessons of a position, by how its moves are written."""
        return self._known.get(self.notation.position(position), {})

    @property
    def by_position_after(self) -> Mapping[str, Lesson]:
        """The lessons by the positions that their moves lead to."""
        return self._after

    @property
    def order(self) -> Sequence[str]:
        """The positions that moves lead to, as they were learned or learned anew; it grows."""
        return self._order

    def note_use(self, lesson: Lesson) -> None:
        """Count that a lesson has steered a search."""
        self._uses[lesson.key] += 1

    def take_surprises(self) -> list[Lesson]:
        """Return what has surprised since this was last asked, each as it was seen then."""
        surprises, self._surprises = self._surprises, []
        return surprises

    # What is learned.

    def note(
        self,
        position: Position,
        info: Info[Move],
        certain: Callable[[], bool] = lambda: True,
    ) -> None:
        """Take note of what a search of ours has found, and compare it with what was predicted.

        certain: tells whether the position has come about, and is not, or no longer, pondered on.
        """
        if not info.pv:
            return
        value = max(-self.notation.win, min(self.notation.win, self.notation.value(info)))
        thought = _Thought(self.notation.copy(position), info.pv[0], value, info.depth, certain)
        for before in reversed(self._thoughts):
            reply = self.notation.reply(before.position, before.move, position)
            if reply is not None:
                self._settle(before)  # if it was pondered on, it came about
                before.followed = True
                thought.before, thought.reply = before, reply
                break
        before_last = thought.before
        if before_last is not None:
            before_last.before = None  # no chain through the whole game
        self._thoughts = [*self._thoughts[1 - _KEPT :], thought]
        if certain():
            self._settle(thought)

    def withdraw(self, position: Position) -> None:
        """Take note that the move that was found in this position, if any was, is not played."""
        write = self.notation.position
        if self._thoughts and write(self._thoughts[-1].position) == write(position):
            self._thoughts.pop()

    def conclude(self, result: Callable[[Position], float]) -> None:
        """Compare the last prediction, or that of each side, with how the game has ended.

        result: returns that, from -1 to 1, for whoever was to move in a position of the game.
        Earlier predictions that none followed, such as of moves taken back, tell nothing of it.
        """
        last: dict[int, _Thought[Position, Move]] = {}
        for thought in self._thoughts:
            if thought.certain():
                last[cast(Any, thought.position).turn] = thought
        for thought in last.values():
            if not thought.followed:
                self._settle(thought)
                self._compare(thought, result(thought.position) * self.notation.win, 0, "")
        self._thoughts = []

    def _settle(self, thought: _Thought[Position, Move]) -> None:
        if not thought.settled and thought.before is not None:
            depth = thought.depth + 2
            self._compare(thought.before, thought.value, depth, thought.reply)
        thought.settled = True

    def _compare(
        self, thought: _Thought[Position, Move], found: float, depth: int, reply: str
    ) -> None:
        notation = self.notation
        position = notation.position(thought.position)
        move = notation.write(thought.position, thought.move)
        known = self._known.get(position, {}).get(move)
        surprises = abs(found - thought.value) > notation.surprise
        if known is None and not surprises:
            return
        after = notation.after(thought.position, thought.move)
        lesson = Lesson(
            notation.game,
            position,
            move,
            after,
            reply,
            thought.value,
            found,
            max(depth, thought.depth),
        )
        if surprises:
            self._surprises.append(lesson)
            self._report(
                f"experience: {move} was worth {thought.value:.4g}, and is {found:.4g}"
                + (f" after {reply}" if reply else ", the game's result")
            )
        self._unwritten.append(lesson)
        self._take([lesson if known is None else known.then(lesson)])

    def _take(self, lessons: list[Lesson]) -> None:
        for lesson in lessons:
            if lesson.game == self.notation.game:
                self._known.setdefault(lesson.position, {})[lesson.move] = lesson
                self._after[lesson.after] = lesson
                self._order.append(lesson.after)
