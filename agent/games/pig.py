"""Pig: players roll a die until they hold and score the sum, or roll a 1 and score nothing.

Source: T. Neller and C. Presser, 'Optimal play of the dice game Pig' (2004).
"""

from collections.abc import Hashable
from typing import Literal, NamedTuple

from agent.game import CHANCE
from agent.io.message import Message

PigMove = Literal["roll", "hold", "1", "2", "3", "4", "5", "6"]
FACES: tuple[PigMove, ...] = ("1", "2", "3", "4", "5", "6")


class State(NamedTuple):
    """The scores, the player to move, the points in this turn, and whether the die is rolling."""

    scores: tuple[int, int]
    player: int
    rolled: int
    rolling: bool


class Pig:
    """A Pig position with its history. The first player to reach `target` points wins."""

    def __init__(self, target: int = 100) -> None:
        if target < 1:
            raise ValueError(Message("target must be at least 1 (got {})", target))
        self.target = target
        self._states = [State((0, 0), 0, 0, False)]

    @property
    def state(self) -> State:
        """The current position."""
        return self._states[-1]

    @property
    def turn(self) -> int:
        """The player to move, or CHANCE while the die is rolling."""
        return CHANCE if self.state.rolling else self.state.player

    def moves(self) -> list[PigMove]:
        """Return the faces of the die while it is rolling, otherwise the choices of the player."""
        if self.state.rolling:
            return list(FACES)
        return [] if self.outcome() is not None else ["roll", "hold"]

    def chance_outcomes(self) -> list[tuple[PigMove, float]]:
        """Return the faces of the die with equal probabilities."""
        return [(face, 1 / 6) for face in FACES]

    def play(self, move: PigMove) -> None:
        """Roll, hold, or set the result of the roll."""
        scores, player, rolled, _ = self.state
        if move == "roll":
            state = State(scores, player, rolled, True)
        elif move == "hold":
            state = State(_with_points(scores, player, rolled), 1 - player, 0, False)
        elif move == "1":
            state = State(scores, 1 - player, 0, False)
        else:
            state = State(scores, player, rolled + int(move), False)
        self._states.append(state)

    def undo(self) -> None:
        """Undo the last move or die roll."""
        self._states.pop()

    def outcome(self) -> float | None:
        """Return 1 if player 0 won, -1 if player 1 won, None if the game is not over."""
        first, second = self.state.scores
        if first >= self.target:
            return 1
        return -1 if second >= self.target else None

    def key(self) -> Hashable:
        """Return the state."""
        return self.state

    def text(self, move: PigMove) -> str:
        """Return the move itself, which is text."""
        return move

    def __str__(self) -> str:
        scores, player, rolled, rolling = self.state
        action = "rolls" if rolling else "to decide"
        return f"{scores[0]}:{scores[1]}, player {player} has {rolled} in this turn, {action}"


def evaluate(game: Pig) -> float:
    """Return the mover's score lead divided by twice the target. Points of this turn count half."""
    scores, player, rolled, _ = game.state
    lead = scores[player] - scores[1 - player] + rolled / 2
    return max(-1.0, min(1.0, lead / (2 * game.target)))


def _with_points(scores: tuple[int, int], player: int, points: int) -> tuple[int, int]:
    first, second = scores
    return (first + points, second) if player == 0 else (first, second + points)


GAME = Pig
