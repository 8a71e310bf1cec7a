"""Liar's dice for two players with one die each."""

from collections.abc import Hashable

from agent.game import CHANCE
from agent.io.message import Message

LIAR = "liar"
MAX_SIDES = 6


class LiarsDice:
    """Players raise the bid "at least N dice show face F", or call the last bidder a liar.

    A bid such as "2x3" is higher if it has more dice, or as many dice of a higher face. After
    "liar" the dice are shown: the bidder wins if the bid is true, otherwise the other player. The
    first move is the roll, such as "13".
    """

    def __init__(self, sides: int = 3) -> None:
        if not 2 <= sides <= MAX_SIDES:
            raise ValueError(Message("sides must be from {} to {} (got {})", 2, MAX_SIDES, sides))
        self._faces = [str(face) for face in range(1, sides + 1)]
        self._bids = [f"{count}x{face}" for count in (1, 2) for face in self._faces]
        self._roll = ""
        self._calls: list[str] = []

    @property
    def turn(self) -> int:
        """The player to move, or CHANCE before the roll."""
        return len(self._calls) % 2 if self._roll else CHANCE

    def moves(self) -> list[str]:
        """Return the rolls, or the higher bids and "liar"."""
        if not self._roll:
            return [roll for roll, _ in self.chance_outcomes()]
        if not self._calls:
            return list(self._bids)
        last = self._calls[-1]
        return [] if last == LIAR else [*self._bids[self._bids.index(last) + 1 :], LIAR]

    def chance_outcomes(self) -> list[tuple[str, float]]:
        """Return the rolls of both dice, which are equally likely."""
        faces = self._faces
        return [(first + second, 1 / len(faces) ** 2) for first in faces for second in faces]

    def play(self, move: str) -> None:
        """Roll, bid, or call the last bidder a liar."""
        if self._roll:
            self._calls.append(move)
        else:
            self._roll = move

    def undo(self) -> None:
        """Undo the last call or the roll."""
        if self._calls:
            self._calls.pop()
        else:
            self._roll = ""

    def outcome(self) -> float | None:
        """Return 1 if the first player won, -1 if the second won, None if the game is not over."""
        if not self._calls or self._calls[-1] != LIAR:
            return None
        count, face = self._calls[-2].split("x")
        is_true = self._roll.count(face) >= int(count)
        bidder = len(self._calls) % 2  # calls alternate, beginning with player 0
        return 1 if is_true == (bidder == 0) else -1

    def key(self) -> Hashable:
        """Return the roll and the calls."""
        return self._roll, tuple(self._calls)

    def information(self) -> str:
        """Return the mover's die and the calls so far."""
        return " ".join([self._roll[self.turn], *self._calls])

    def text(self, move: str) -> str:
        """Return the move itself, which is text."""
        return move

    def __str__(self) -> str:
        return " ".join([self._roll or "?", *self._calls])
