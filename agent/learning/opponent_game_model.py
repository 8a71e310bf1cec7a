"""What a session of any game remembers of its opponents: lines of play that ended well.

It is an advisor of the player, the one before books. What is known of a game is its moves as text
and how it ended: a game that is left before its end says nothing, nor one in which we play both
sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from agent.game import ChanceGame, Game, NotatedGame, parse_move
from agent.learning.opponent_database import OpponentDatabase, OpponentDatabaseError
from agent.learning.opponent_game_record import MAX_PLIES, GameRecord, normalize_name
from agent.learning.opponent_profile import OpponentProfile
from agent.limits import Cp, Info, Limits


class GameOpponentModel:
    """Remembers games of one kind by opponents. All methods belong to the player's thread.

    path: of the file; "" to remember nothing. kind: the name of the game. moves: returns the moves
    so far, as text. start: tells games apart that begin otherwise, as on boards of other sizes.
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
        """Play the next game against an opponent of this name; "" for a stranger."""
        self._name = normalize_name(name)
        self.new_game()

    def new_game(self) -> None:
        """Take the next position for one of another game."""
        self._side, self._profile = None, None
        self._over = self._mixed = False
        if self._file is None or not self._name:
            return
        try:
            self._profile = OpponentProfile(self._file.read(self._name, self._game_name))
        except OpponentDatabaseError as error:
            self._disable(error)

    def record_if_over(self, game: Game[Any]) -> None:
        """Remember the game, if it has ended."""
        if self._file is None or self._profile is None or self._side is None or self._over:
            return
        outcome, moves = game.outcome(), tuple(self._moves())
        if outcome is None or not moves:
            return
        self._over = True
        if self._mixed:
            return
        points = 0.5 if outcome == 0 else float((outcome > 0) == (self._side == 0))
        past = GameRecord(
            normalize_name(self._name),
            moves[:MAX_PLIES],
            self._side,
            points,
            start=self._start(),
            game=self._game_name,
        )
        try:
            self._file.add(past)
        except OpponentDatabaseError as error:
            self._disable(error)

    def probe(self, game: Game[Any], limits: Limits[Any], lines: int) -> Info[Any] | None:
        """Return the move that has ended well against this opponent."""
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
        self._report(
            f"habits of {self._name}: {text} has brought {after.decided_points:g}/{after.decided_games}"
        )
        return Info(depth=1, score=Cp(0), pv=(move,), seldepth=1)

    def _disable(self, error: OpponentDatabaseError) -> None:
        self._report(f"{error}; playing without it")
        self._file, self._profile = None, None
