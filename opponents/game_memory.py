"""What a session of any game remembers of its opponents: lines of play that ended well.

It is an advisor of the player, the one before books. What is known of a game is its moves as text
and how it ended: a game that is left before its end says nothing, nor one in which we play both
sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from agent.game import Chance, Game, Written, find_move
from agent.limits import Cp, Info, Limits
from opponents.habits import Habits
from opponents.habits_file import HabitsError, HabitsFile
from opponents.past_game import MOST_PLIES, PastGame, called


class GameMemory:
    """Remembers games of one kind by opponents. All methods belong to the player's thread.

    path: of the file; "" to remember nothing. kind: the name of the game. moves: returns the moves
    so far, as text. start: tells games apart that begin otherwise, as on boards of other sizes.
    """

    def __init__(
        self,
        path: str,
        kind: str,
        moves: Callable[[], Sequence[str]],
        start: Callable[[], str],
        report: Callable[[str], None],
    ) -> None:
        self._file = HabitsFile(path) if path else None
        self._kind = kind
        self._moves = moves
        self._start = start
        self._report = report
        self._name = ""
        self._habits: Habits | None = None
        self._side: int | None = None
        self._over = self._mixed = False

    def meet(self, name: str) -> None:
        """Play the next game against an opponent of this name; "" for a stranger."""
        self._name = called(name)
        self.new_game()

    def new_game(self) -> None:
        """Take the next position for one of another game."""
        self._side, self._habits = None, None
        self._over = self._mixed = False
        if self._file is None or not self._name:
            return
        try:
            self._habits = Habits(self._file.read(self._name, self._kind))
        except HabitsError as error:
            self._give_up(error)

    def look(self, game: Game[Any]) -> None:
        """Remember the game, if it has ended."""
        if self._file is None or self._habits is None or self._side is None or self._over:
            return
        outcome, moves = game.outcome(), tuple(self._moves())
        if outcome is None or not moves:
            return
        self._over = True
        if self._mixed:
            return
        points = 0.5 if outcome == 0 else float((outcome > 0) == (self._side == 0))
        past = PastGame(
            called(self._name),
            moves[:MOST_PLIES],
            self._side,
            points,
            start=self._start(),
            game=self._kind,
        )
        try:
            self._file.add(past)
        except HabitsError as error:
            self._give_up(error)

    def advise(self, game: Game[Any], limits: Limits[Any], lines: int) -> Info[Any] | None:
        """Return the move that has ended well against this opponent."""
        if self._habits is None or limits.infinite or lines > 1 or limits.search_moves:
            return None
        self._mixed |= self._side not in (None, game.turn)
        self._side = game.turn
        line = self._habits.line(self._start(), game.turn, self._moves())
        text = line.proven if line and not isinstance(game, Chance) else None
        if line is None or text is None:
            return None
        try:
            move = find_move(cast("Written[Any]", game), text)
        except ValueError:
            return None
        after = line.next[text]
        self._report(f"habits of {self._name}: {text} has brought {after.earned:g}/{after.judged}")
        return Info(depth=1, score=Cp(0), pv=(move,), seldepth=1)

    def _give_up(self, error: HabitsError) -> None:
        self._report(f"{error}; playing without it")
        self._file, self._habits = None, None
