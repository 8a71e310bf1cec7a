"""A row of coins: players in turn take a coin from either end, and want as many points as possible.

It is a small game for any number of players, for max-n.
"""

from collections.abc import Hashable, Sequence

from agent.io.message import Message

# Limits that keep the game tree small enough to search completely.
MAX_COINS, MAX_PLAYERS = 16, 6


class CoinRow:
    """A position with its history. A move is "L" or "R", the end from which a coin is taken."""

    def __init__(self, coins: Sequence[int] = (4, 9, 2, 7, 5, 3), players: int = 3) -> None:
        if not 1 <= len(coins) <= MAX_COINS:
            raise ValueError(
                Message("coins: from {} to {} values (got {})", 1, MAX_COINS, len(coins))
            )
        if not 2 <= players <= MAX_PLAYERS:
            raise ValueError(
                Message("players must be from {} to {} (got {})", 2, MAX_PLAYERS, players)
            )
        self.players = players
        self._coins = tuple(coins)
        # The remaining coins are those from `start` to `end`; the numbers before each move.
        self._spans = [(0, len(coins))]
        self._taken: list[int] = []

    @property
    def turn(self) -> int:
        """The player to move, from 0."""
        return len(self._taken) % self.players

    def moves(self) -> list[str]:
        """Return "L" and "R", only "L" for the last coin."""
        start, end = self._spans[-1]
        return ["L", "R"][: end - start]

    def play(self, move: str) -> None:
        """Take the coin at the left or right end."""
        start, end = self._spans[-1]
        self._taken.append(self._coins[start if move == "L" else end - 1])
        self._spans.append((start + 1, end) if move == "L" else (start, end - 1))

    def undo(self) -> None:
        """Undo the last move."""
        self._taken.pop()
        self._spans.pop()

    def utilities(self) -> tuple[float, ...] | None:
        """Return the points of each player, or None if coins are left."""
        return None if self.moves() else self.points()

    def points(self) -> tuple[float, ...]:
        """Return the points of each player so far."""
        return tuple(sum(self._taken[player :: self.players]) for player in range(self.players))

    def key(self) -> Hashable:
        """Return the remaining coins and the points."""
        return self._spans[-1], self.points()

    def text(self, move: str) -> str:
        """Return the move itself, which is text."""
        return move

    def __str__(self) -> str:
        start, end = self._spans[-1]
        return " ".join(map(str, self._coins[start:end])) or "-"
