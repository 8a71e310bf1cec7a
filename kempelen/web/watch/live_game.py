"""A running game, replayed as its moves arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chess

from agent.game import CHANCE
from agent.games.fen import board_from_fen
from agent.games.game_state import GameState
from agent.games.variants import STANDARD, ChessRules
from kempelen.match.config.game_settings import CHESS, GameSettings, new_game
from kempelen.match.live.events import MAX_PV_PLIES
from kempelen.web.diagrams import board_labels, chess_line, dice_diagram

MAX_MOVE_LENGTH = 60


class LiveGame:
    """The moves of a running game, in the notation for readers."""

    def __init__(
        self, settings: GameSettings | None, fen: str = "", variant: str = STANDARD
    ) -> None:
        """Start a game. Without settings, which are not trusted, the moves are not replayed.

        Raise ValueError if the start position is invalid.
        """
        self.received: list[str] = []
        self.written: list[str] = []
        self.rolls: list[int] = []  # the indices of chance events
        self.labels: dict[str, Any] = {}
        # The current position of a chess game, and the one before it.
        self._boards: list[chess.Board] = []
        self._dice: GameState | None = None
        if settings is None:
            return
        if settings.name == CHESS:
            self._boards = [board_from_fen(fen or None, ChessRules(variant, chess960=True))]
            return
        game = new_game(settings)
        self.labels = board_labels(game)
        if dice_diagram(game):
            self._dice = GameState(game)

    @property
    def plies_before(self) -> int | None:
        """The half-moves before the start position of a chess game, or None in other games."""
        return self._boards[-1].ply() - len(self.written) if self._boards else None

    def extend(self, moves: Sequence[str]) -> None:
        """Play the moves after those received so far. Raise ValueError for an illegal move."""
        for text in moves[len(self.received) :]:
            self.received.append(text)
            if self._boards:
                board = self._boards[-1].copy(stack=False)
                self.written.append(board.san_and_push(board.parse_uci(text)))
                self._boards = [self._boards[-1], board]
            elif self._dice is not None:
                if self._dice.mover == CHANCE:
                    self.rolls.append(len(self.written))
                self.written.append(self._dice.play(text))
            else:
                self.written.append(text[:MAX_MOVE_LENGTH])

    def diagram(self) -> dict[str, Any]:
        """Return what the page needs to draw the board, beside the position."""
        return self.labels | (dice_diagram(self._dice.game) if self._dice else {})

    def line(self, said: Mapping[str, Any]) -> list[str]:
        """Return the principal variation of a search report, or [] if its position is unknown."""
        moves = [str(move)[:MAX_MOVE_LENGTH] for move in said.get("pv", ())[:MAX_PV_PLIES]]
        if not self._boards:
            return moves
        steps_back = len(self.written) + 1 - int(said.get("ply", 0))
        if not 0 <= steps_back < len(self._boards):
            return []
        return chess_line(self._boards[-1 - steps_back], moves)
