"""Position learning in the games of a GTP session, for games without chance events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.game import Game
from agent.learning.learning_adapter import SURPRISE_THRESHOLD, game_label
from agent.learning.position_learning_searcher import PositionLearningSearcher
from agent.search import algorithm_spec
from agent.search.learned_positions import LearnedPositions
from agent.search.searcher import GameSearcher

if TYPE_CHECKING:
    from agent.agent import Searcher
    from agent.clock import SearchClock


class PositionLearning:
    """The learned positions of a session's game. Without a file, it has no effect."""

    def __init__(
        self, file: str, algorithm: str | None, game: Game[Any], report: Callable[[str], None]
    ) -> None:
        """Open the file, which `algorithm` may name too. Raise ValueError if this fails.

        Also raise ValueError if the game does not support learning.
        """
        options = algorithm_spec.parse(algorithm).options if algorithm else {}
        self._file = file or options.get("killer_memory")
        self._surprise = options.get("surprise", SURPRISE_THRESHOLD)
        self._report = report
        self._positions = self._open(game)

    def _open(self, game: Game[Any]) -> LearnedPositions[Any] | None:
        if not self._file:
            return None
        return LearnedPositions.from_file(self._file, game, self._surprise, self._report)

    def new_game(self, game: Game[Any]) -> None:
        if self._positions is None:
            return
        if self._positions.experience.notation.game == game_label(game):
            self._positions.experience.new_game()
        else:
            self._positions.experience.close()
            self._positions = self._open(game)

    def save(self, game: Game[Any]) -> None:
        """Save the learned positions. If the game is over, learn from its result first."""
        if self._positions is None:
            return
        outcome = game.outcome()
        if outcome is not None:
            utility = max(-1.0, min(1.0, outcome))
            self._positions.experience.record_result(lambda end: -utility if end.turn else utility)
        self._positions.experience.flush()

    def wrap(
        self, searcher: Searcher[Game[Any], Any], clock: SearchClock[Any]
    ) -> Searcher[Game[Any], Any]:
        """Return a searcher that learns and avoids known mistakes."""
        if self._positions is None or not self._positions.experience.active:
            return searcher
        if isinstance(searcher, GameSearcher):
            searcher.killer_memory = self._positions
        return PositionLearningSearcher(searcher, self._positions.experience, lambda: clock.running)

    def close(self) -> None:
        if self._positions is not None:
            self._positions.experience.close()
