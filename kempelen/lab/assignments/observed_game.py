"""The position that a student's function receives: it records what the function does."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from agent.game import CHANCE
from agent.io.message import Message


class ObservedGame:
    """A game with the methods that the assignment describes, which checks and records their use.

    `leaves` holds the keys of the finished or evaluated positions, in the order of first visits.
    `plays` counts the moves that were played, `plies` those that were not undone.
    """

    def __init__(self, game: Any) -> None:
        self.position = game
        self.leaves: dict[Hashable, str] = {}
        self.plays = self.plies = 0

    @property
    def turn(self) -> int:
        """0 if MAX is to move, 1 if MIN is, 2 before a chance event."""
        turn: int = self.position.turn
        return turn

    def moves(self) -> list[Any]:
        """Return the legal moves, or the chance events. The list is empty if the game is over."""
        return list(self.position.moves())

    def play(self, move: Any) -> None:
        """Play a move. Raise ValueError if it is illegal."""
        legal = self.moves()
        if move not in legal:
            moves = Message("legal moves: {}", ", ".join(map(str, legal)))
            text = Message(
                "play: illegal move {!r} ({})", move, moves if legal else Message("no legal moves")
            )
            if self.plies:
                text = Message(
                    "{}. The game is not at the position you think; did you forget game.undo()?",
                    text,
                )
            raise ValueError(text)
        self.position.play(move)
        self.plays += 1
        self.plies += 1

    def undo(self) -> None:
        """Undo the last move. Raise ValueError if the function has not played any."""
        if not self.plies:
            raise ValueError("undo: no move has been played")
        self.position.undo()
        self.plies -= 1

    def outcome(self) -> float | None:
        """Return the utility for MAX, or None if the game is not over."""
        outcome: float | None = self.position.outcome()
        if outcome is not None:
            self.record_leaf()
        return outcome

    def chance_outcomes(self) -> list[tuple[Any, float]]:
        """Return the chance events with their probabilities. Raise ValueError elsewhere."""
        if self.turn != CHANCE:
            raise ValueError("chance_outcomes: the position is not a chance node")
        return list(self.position.chance_outcomes())

    def grid(self) -> list[str]:
        """Return the rows of the board: "m" the mover's, "t" the opponent's, "." empty."""
        grid: list[str] = self.position.grid()
        return grid

    def __str__(self) -> str:
        return str(self.position)

    def record_leaf(self) -> None:
        """Record the current position as evaluated."""
        self.leaves.setdefault(self.position.key(), str(self.position).partition(":")[0])
