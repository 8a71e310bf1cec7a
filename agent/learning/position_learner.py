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

from agent.agent import AgentError
from agent.learning.learned_move import LearnedMove
from agent.learning.learned_move_database import (
    BUSY_TIMEOUT_S,
    IN_GAME_BUSY_TIMEOUT_S,
    LearnedMoveDatabase,
    LearningDatabaseError,
)
from agent.learning.learning_adapter import LearningAdapter
from agent.limits import Info

Position = TypeVar("Position")
Move = TypeVar("Move")

# The thoughts of a game that are kept: the last, and those that pondering may have put after it.
_MAX_PREDICTIONS = 4


@dataclass(slots=True)
class _Prediction(Generic[Position, Move]):
    """What one search predicted of its move.

    certain: tells whether the position has come about, and is not pondered on. before: the thought
    of our last move, if it led here; followed: another one came from this.
    """

    position: Position
    move: Move
    value: float
    depth: int
    is_played: Callable[[], bool]
    previous: _Prediction[Position, Move] | None = None
    reply: str = ""
    compared: bool = False
    has_successor: bool = False


class PositionLearner(Generic[Position, Move]):
    """The lessons of one game, in a file or only here, and what this game has predicted so far.

    All methods belong to the player's thread, or the search's while that waits. report: told of
    each surprise, and of what is wrong with the file.
    """

    def __init__(
        self,
        notation: LearningAdapter[Position, Move],
        report: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.notation = notation
        self.active = False
        self._surprises: list[LearnedMove] = []
        self._report = report
        self._file: LearnedMoveDatabase | None = None
        self._known: dict[str, dict[str, LearnedMove]] = {}
        self._by_resulting_position: dict[str, LearnedMove] = {}
        self._resulting_positions: list[str] = []
        self._pending: list[LearnedMove] = []
        self._uses: Counter[tuple[str, str, str]] = Counter()
        self._predictions: list[_Prediction[Position, Move]] = []
        self._last_error = ""

    # Settings, and the file.

    def open_file(self, path: str) -> None:
        """Learn from the lessons of a file and write to it; "" to learn nothing.

        Raises AgentError, and stays as it was, if the file cannot be used.
        """
        try:
            file = LearnedMoveDatabase(os.path.expanduser(path)) if path else None
            news = file.read_new() if file is not None else []
        except LearningDatabaseError as error:
            raise AgentError(str(error)) from None
        self.close()
        if self._pending:
            raise AgentError(f"{self._last_error}; experience stays with this file until then")
        if file is not None:
            file.busy_timeout = IN_GAME_BUSY_TIMEOUT_S
        self._file = file
        self._known, self._by_resulting_position, self._resulting_positions = {}, {}, []
        self._pending, self._predictions = [], []
        self._merge(news)
        self.active = file is not None

    def enable(self) -> None:
        """Learn from now on, without a file."""
        self.active = True

    def flush(self) -> None:
        """Write what was learned to the file; what cannot be written is kept for the next time."""
        if self._file is None:
            return
        try:
            if self._pending:
                self._file.add(self._pending)
                self._pending = []
            self._last_error = ""
        except LearningDatabaseError as error:
            if str(error) != self._last_error:
                self._last_error = str(error)
                self._report(f"{error}; what was learned is kept until it can be written")

    def close(self) -> None:
        """Write what is still to be written, and wait for other programs as long as it takes."""
        if self._file is not None:
            self._file.busy_timeout = BUSY_TIMEOUT_S
            self.flush()
            self._write_use_counts()

    def _write_use_counts(self) -> None:
        if self._file is not None and self._uses:
            try:
                self._file.add_use_counts(self._uses.items())
                self._uses.clear()
            except LearningDatabaseError as error:
                self._report(str(error))

    def refresh(self) -> None:
        """Take in what others have written to the file."""
        if self._file is None:
            return
        try:
            waiting = {lesson.key for lesson in self._pending}
            self._merge([lesson for lesson in self._file.read_new() if lesson.key not in waiting])
        except LearningDatabaseError as error:
            self._report(str(error))

    def new_game(self) -> None:
        """Take the next position for one of another game."""
        self._predictions, self._surprises = [], []
        self.flush()
        self._write_use_counts()
        self.refresh()

    # What is known.

    def lookup(self, position: Position) -> Mapping[str, LearnedMove]:
        """Return the lessons of a position, by how its moves are written."""
        return self._known.get(self.notation.position_key(position), {})

    @property
    def by_resulting_position(self) -> Mapping[str, LearnedMove]:
        """The lessons by the positions that their moves lead to."""
        return self._by_resulting_position

    @property
    def resulting_positions(self) -> Sequence[str]:
        """The positions that moves lead to, as they were learned or learned anew; it grows."""
        return self._resulting_positions

    def count_use(self, lesson: LearnedMove) -> None:
        """Count that a lesson has steered a search."""
        self._uses[lesson.key] += 1

    def pop_surprises(self) -> list[LearnedMove]:
        """Return what has surprised since this was last asked, each as it was seen then."""
        surprises, self._surprises = self._surprises, []
        return surprises

    # What is learned.

    def record_search(
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
        value = max(
            -self.notation.win_value, min(self.notation.win_value, self.notation.search_value(info))
        )
        thought = _Prediction(self.notation.copy(position), info.pv[0], value, info.depth, certain)
        for before in reversed(self._predictions):
            reply = self.notation.find_reply(before.position, before.move, position)
            if reply is not None:
                self._compare_previous(before)  # if it was pondered on, it came about
                before.has_successor = True
                thought.previous, thought.reply = before, reply
                break
        before_last = thought.previous
        if before_last is not None:
            before_last.previous = None  # no chain through the whole game
        self._predictions = [*self._predictions[1 - _MAX_PREDICTIONS :], thought]
        if certain():
            self._compare_previous(thought)

    def discard_prediction(self, position: Position) -> None:
        """Take note that the move that was found in this position, if any was, is not played."""
        write = self.notation.position_key
        if self._predictions and write(self._predictions[-1].position) == write(position):
            self._predictions.pop()

    def record_result(self, result: Callable[[Position], float]) -> None:
        """Compare the last prediction, or that of each side, with how the game has ended.

        result: returns that, from -1 to 1, for whoever was to move in a position of the game.
        Earlier predictions that none followed, such as of moves taken back, tell nothing of it.
        """
        last: dict[int, _Prediction[Position, Move]] = {}
        for thought in self._predictions:
            if thought.is_played():
                last[cast(Any, thought.position).turn] = thought
        for thought in last.values():
            if not thought.has_successor:
                self._compare_previous(thought)
                self._compare(thought, result(thought.position) * self.notation.win_value, 0, "")
        self._predictions = []

    def _compare_previous(self, thought: _Prediction[Position, Move]) -> None:
        if not thought.compared and thought.previous is not None:
            depth = thought.depth + 2
            self._compare(thought.previous, thought.value, depth, thought.reply)
        thought.compared = True

    def _compare(
        self, thought: _Prediction[Position, Move], found: float, depth: int, reply: str
    ) -> None:
        notation = self.notation
        position = notation.position_key(thought.position)
        move = notation.move_text(thought.position, thought.move)
        known = self._known.get(position, {}).get(move)
        surprises = abs(found - thought.value) > notation.surprise_threshold
        if known is None and not surprises:
            return
        after = notation.key_after(thought.position, thought.move)
        lesson = LearnedMove(
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
        self._pending.append(lesson)
        self._merge([lesson if known is None else known.updated_with(lesson)])

    def _merge(self, lessons: list[LearnedMove]) -> None:
        for lesson in lessons:
            if lesson.game == self.notation.game:
                self._known.setdefault(lesson.position, {})[lesson.move] = lesson
                self._by_resulting_position[lesson.after] = lesson
                self._resulting_positions.append(lesson.after)
