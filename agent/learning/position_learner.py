"""Learning from play, by comparing the values predicted by searches with later outcomes.

If the outcome differs too much from the prediction, the position and its move are stored. When the
position recurs, the stored value is used. Source: the lecture notes 'Fundamentos de IA 10:
Estrategia de juego'.
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

# Number of recent predictions to keep: the one for the last move, and those of ponder searches.
_MAX_PREDICTIONS = 4


@dataclass(slots=True)
class _Prediction(Generic[Position, Move]):
    """The value that a search predicted for its move.

    `is_played` returns whether the position has occurred in the game (False while pondering).
    `previous` is the prediction for the agent's previous move, if that move led to this position.
    `has_successor` is true if the agent's next move in the game has a prediction too.
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
    """Learned moves, in memory or in a file, and the predictions made in the current game.

    Methods must be called in the agent's thread, or in the search thread while the agent waits.
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

    # Settings and file.

    def open_file(self, path: str) -> None:
        """Use a file for learned moves, or disable learning if `path` is empty.

        Raise AgentError if the file is unusable or unsaved moves cannot be written to the old file.
        """
        try:
            file = LearnedMoveDatabase(os.path.expanduser(path)) if path else None
            moves = file.read_new() if file is not None else []
        except LearningDatabaseError as error:
            raise AgentError(str(error)) from None
        self.close()
        if self._pending:
            raise AgentError("{}; the experience file was not changed", self._last_error)
        if file is not None:
            file.busy_timeout = IN_GAME_BUSY_TIMEOUT_S
        self._file = file
        self._known, self._by_resulting_position, self._resulting_positions = {}, {}, []
        self._pending, self._predictions = [], []
        self._merge(moves)
        self.active = file is not None

    def enable(self) -> None:
        """Enable learning in memory, without a file."""
        self.active = True

    def flush(self) -> None:
        """Write new learned moves to the file. If writing fails, keep them for a later attempt."""
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
                self._report(f"{error}; learned moves are kept in memory until the next attempt")

    def close(self) -> None:
        """Write all unsaved data. Wait longer than `flush` for other processes."""
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
        """Load the learned moves that other processes have written to the file."""
        if self._file is None:
            return
        try:
            pending = {lesson.key for lesson in self._pending}
            self._merge([lesson for lesson in self._file.read_new() if lesson.key not in pending])
        except LearningDatabaseError as error:
            self._report(str(error))

    def new_game(self) -> None:
        self._predictions, self._surprises = [], []
        self.flush()
        self._write_use_counts()
        self.refresh()

    # Lookup.

    def lookup(self, position: Position) -> Mapping[str, LearnedMove]:
        """Return the learned moves in a position, indexed by the text of the move."""
        return self._known.get(self.notation.position_key(position), {})

    @property
    def by_resulting_position(self) -> Mapping[str, LearnedMove]:
        """The learned moves, indexed by the position after the move."""
        return self._by_resulting_position

    @property
    def resulting_positions(self) -> Sequence[str]:
        """The positions after learned moves, in the order of learning. May contain duplicates."""
        return self._resulting_positions

    def count_use(self, lesson: LearnedMove) -> None:
        self._uses[lesson.key] += 1

    def pop_surprises(self) -> list[LearnedMove]:
        """Return the moves whose large prediction errors were found since the last call."""
        surprises, self._surprises = self._surprises, []
        return surprises

    # Learning.

    def record_search(
        self,
        position: Position,
        info: Info[Move],
        is_played: Callable[[], bool] = lambda: True,
    ) -> None:
        """Record a search result, and compare it with the previous prediction.

        `is_played` returns whether the position has occurred in the game (False while pondering).
        """
        if not info.pv:
            return
        value = max(
            -self.notation.win_value, min(self.notation.win_value, self.notation.search_value(info))
        )
        prediction = _Prediction(
            self.notation.copy(position), info.pv[0], value, info.depth, is_played
        )
        for before in reversed(self._predictions):
            reply = self.notation.find_reply(before.position, before.move, position)
            if reply is not None:
                # a ponder prediction whose position was reached counts as played
                self._compare_previous(before)
                before.has_successor = True
                prediction.previous, prediction.reply = before, reply
                break
        previous = prediction.previous
        if previous is not None:
            previous.previous = None  # frees memory: the chain would hold the whole game
        self._predictions = [*self._predictions[1 - _MAX_PREDICTIONS :], prediction]
        if is_played():
            self._compare_previous(prediction)

    def discard_prediction(self, position: Position) -> None:
        """Discard the prediction for this position, because its move was not played."""
        key = self.notation.position_key
        if self._predictions and key(self._predictions[-1].position) == key(position):
            self._predictions.pop()

    def record_result(self, result: Callable[[Position], float]) -> None:
        """Compare the last prediction for each side with the result of the game.

        `result(position)` is the result for the side to move, from -1 to 1.
        """
        last: dict[int, _Prediction[Position, Move]] = {}
        for prediction in self._predictions:
            if prediction.is_played():
                last[cast(Any, prediction.position).turn] = prediction
        for prediction in last.values():
            if not prediction.has_successor:
                self._compare_previous(prediction)
                value = result(prediction.position) * self.notation.win_value
                self._compare(prediction, value, 0, "")
        self._predictions = []

    def _compare_previous(self, prediction: _Prediction[Position, Move]) -> None:
        if not prediction.compared and prediction.previous is not None:
            depth = prediction.depth + 2
            self._compare(prediction.previous, prediction.value, depth, prediction.reply)
        prediction.compared = True

    def _compare(
        self, prediction: _Prediction[Position, Move], found: float, depth: int, reply: str
    ) -> None:
        notation = self.notation
        position = notation.position_key(prediction.position)
        move = notation.move_text(prediction.position, prediction.move)
        known = self._known.get(position, {}).get(move)
        surprises = abs(found - prediction.value) > notation.surprise_threshold
        if known is None and not surprises:
            return
        after = notation.key_after(prediction.position, prediction.move)
        lesson = LearnedMove(
            notation.game,
            position,
            move,
            after,
            reply,
            prediction.value,
            found,
            max(depth, prediction.depth),
        )
        if surprises:
            self._surprises.append(lesson)
            self._report(
                f"experience: {move} predicted {prediction.value:z.4g}, found {found:z.4g}"
                + (f" after {reply}" if reply else " (game result)")
            )
        self._pending.append(lesson)
        self._merge([lesson if known is None else known.updated_with(lesson)])

    def _merge(self, lessons: list[LearnedMove]) -> None:
        for lesson in lessons:
            if lesson.game == self.notation.game:
                self._known.setdefault(lesson.position, {})[lesson.move] = lesson
                self._by_resulting_position[lesson.after] = lesson
                self._resulting_positions.append(lesson.after)
