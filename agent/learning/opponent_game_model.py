from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from agent.game import ChanceGame, Game, NotatedGame, parse_move
from agent.learning.opponent_database import OpponentDatabase, OpponentDatabaseError
from agent.learning.opponent_game_record import MAX_PLIES, GameRecord, normalize_name
from agent.learning.opponent_profile import OpponentProfile
from agent.limits import Cp, Info, Limits


class GameOpponentModel:
    """Opponent model for any game, which repeats lines that scored well against an opponent.

    It is a move provider, used before the opening book. It stores finished games in which the agent
    played exactly one side. All methods must be called in the agent's thread.

    - `path`: the file of stored games, or "" to store nothing.
    - `moves`: returns the moves played so far as text.
    - `start`: returns a description of the initial position, such as the board size.
    - `report`: receives messages for the user.
    """

    def __init__(
        self,
        path: str,
        game_name: str,
        moves: Callable[[], Sequence[str]],
        start: Callable[[], str],
        report: Callable[[str], None],
    ) -> None:
        self._file = OpponentDatabase(path) if path else None
        self._game_name = game_name
        self._moves = moves
        self._start = start
        self._report = report
        self._name = ""
        self._profile: OpponentProfile | None = None
        self._side: int | None = None
        self._over = self._mixed = False

    def set_opponent(self, name: str) -> None:
        """Set the opponent of the next game, or "" if it is unknown."""
        self._name = normalize_name(name)
        self.new_game()

    def new_game(self) -> None:
        self._side, self._profile = None, None
        self._over = self._mixed = False
        if self._file is None or not self._name:
            return
        try:
            self._profile = OpponentProfile(self._file.read(self._name, self._game_name))
        except OpponentDatabaseError as error:
            self._disable(error)

    def record_if_over(self, game: Game[Any]) -> None:
        if self._file is None or self._profile is None or self._side is None or self._over:
            return
        outcome, moves = game.outcome(), tuple(self._moves())
        if outcome is None or not moves:
            return
        self._over = True
        if self._mixed:
            return
        points = 0.5 if outcome == 0 else float((outcome > 0) == (self._side == 0))
        record = GameRecord(
            normalize_name(self._name),
            moves[:MAX_PLIES],
            self._side,
            points,
            start=self._start(),
            game=self._game_name,
        )
        try:
            self._file.add(record)
        except OpponentDatabaseError as error:
            self._disable(error)

    def probe(self, game: Game[Any], limits: Limits[Any], lines: int) -> Info[Any] | None:
        """Return a move that scored well against this opponent, or None."""
        if self._profile is None or limits.infinite or lines > 1 or limits.search_moves:
            return None
        self._mixed |= self._side not in (None, game.turn)
        self._side = game.turn
        line = self._profile.find_line(self._start(), game.turn, self._moves())
        text = line.proven_move if line and not isinstance(game, ChanceGame) else None
        if line is None or text is None:
            return None
        try:
            move = parse_move(cast("NotatedGame[Any]", game), text)
        except ValueError:
            return None
        after = line.children[text]
        points, games = after.decided_points, after.decided_games
        self._report(f"opponent {self._name}: {text} scored {points:g}/{games}")
        return Info(depth=1, score=Cp(0), pv=(move,), seldepth=1)

    def _disable(self, error: OpponentDatabaseError) -> None:
        self._report(f"{error}; playing without it")
        self._file, self._profile = None, None
