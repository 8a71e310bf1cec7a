"""Opponent models, which store games and repeat lines that scored well against the same opponent.

A model is a move provider, used before the opening book.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, cast

from agent.game import ChanceGame, Game, NotatedGame, parse_move
from agent.learning.opponent_database import OpponentDatabase, OpponentDatabaseError
from agent.learning.opponent_game_record import MAX_PLIES, GameRecord, normalize_name
from agent.learning.opponent_profile import LineStats, OpponentProfile
from agent.limits import Cp, Info, Limits


class OpponentModel(ABC):
    """Stores games by opponent. All methods must be called in the agent's thread.

    - `report`: receives messages for the user.
    - `path`: the file of stored games, or "" to store nothing.
    """

    def __init__(self, report: Callable[[str], None], game_name: str, path: str = "") -> None:
        self._report = report
        self._game_name = game_name
        self._file = OpponentDatabase(path) if path else None
        self._name = ""
        self._profile: OpponentProfile | None = None

    def set_opponent(self, name: str) -> None:
        """Set the opponent of the next game, or "" if it is unknown."""
        self._name = normalize_name(name)
        self._load()

    def new_game(self) -> None:
        self._load()

    def probe(self, position: Any, limits: Limits[Any], lines: int) -> Info[Any] | None:
        """Return a move that scored well against this opponent, or None."""
        line = None if self._profile is None else self._line(self._profile, position)
        text = line.proven_move if line else None
        if line is None or text is None or lines > 1 or limits.search_moves:
            return None
        after = line.children[text]
        if pv := self._variation(position, text, after):
            points, games = after.decided_points, after.decided_games
            self._report(f"opponent {self._name}: {text} scored {points:g}/{games}")
            return Info(depth=1, score=Cp(0), pv=pv, seldepth=len(pv))
        return None

    @abstractmethod
    def _line(self, profile: OpponentProfile, position: Any) -> LineStats | None:
        """Return the statistics of the line that leads to the position."""

    @abstractmethod
    def _variation(self, position: Any, text: str, after: LineStats) -> tuple[Any, ...]:
        """Return the move `text` and further moves of the line, or () if it must not be played."""

    def _load(self) -> None:
        self._profile = None
        try:
            games = self._file.read(self._name or None, self._game_name) if self._file else []
            self._profile = OpponentProfile(games) if self._file and self._name else None
        except OpponentDatabaseError as error:
            self._disable(error)

    def _save(self, game: GameRecord) -> None:
        try:
            if self._file is not None:
                self._file.add(game)
        except OpponentDatabaseError as error:
            self._disable(error)

    def _disable(self, error: OpponentDatabaseError) -> None:
        self._report(f"{error}; playing without it")
        self._file, self._profile = None, None


class GameOpponentModel(OpponentModel):
    """The opponent model of a session that knows the rules of its game.

    It stores finished games in which the agent played exactly one side. `line` returns a
    description of the initial position, such as the board size, and the moves played so far.
    """

    def __init__(
        self,
        report: Callable[[str], None],
        game_name: str,
        path: str,
        line: Callable[[], tuple[str, Sequence[str]]],
    ) -> None:
        super().__init__(report, game_name, path)
        self._played = line
        self._side: int | None = None
        self._over = self._mixed = False

    def _load(self) -> None:
        self._profile = None
        if self._name:
            super()._load()
        self._side = None
        self._over = self._mixed = False

    def record_if_over(self, game: Game[Any]) -> None:
        if self._profile is None or self._side is None or self._over:
            return
        outcome, (start, moves) = game.outcome(), self._played()
        self._over = outcome is not None
        if outcome is not None and moves and not self._mixed:
            points = 0.5 if outcome == 0 else float((outcome > 0) == (self._side == 0))
            played = tuple(moves[:MAX_PLIES])
            name = self._game_name
            self._save(GameRecord(self._name, played, self._side, points, start=start, game=name))

    def probe(self, position: Game[Any], limits: Limits[Any], lines: int) -> Info[Any] | None:
        if limits.infinite or lines > 1 or limits.search_moves:
            return None
        self._mixed |= self._side not in (None, position.turn)
        self._side = position.turn
        return None if isinstance(position, ChanceGame) else super().probe(position, limits, lines)

    def _line(self, profile: OpponentProfile, position: Game[Any]) -> LineStats | None:
        start, moves = self._played()
        return profile.find_line(start, position.turn, moves)

    def _variation(self, position: Game[Any], text: str, after: LineStats) -> tuple[Any, ...]:
        try:
            return (parse_move(cast("NotatedGame[Any]", position), text),)
        except ValueError:
            return ()
