"""Max-n: minimax for any number of players. The value of a node is a vector, one number per player.

At each node, the player to move chooses the child with the greatest number of their own.

Source: C. Luckhardt and K. Irani, 'An algorithmic solution of N-person games' (1986).
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

Move = TypeVar("Move")
Values = tuple[float, ...]


class MultiPlayerGame(Protocol[Move]):
    """A game of perfect information for `players` players, as a mutable position."""

    players: int

    @property
    def turn(self) -> int:
        """The player to move, from 0."""

    def moves(self) -> Iterable[Move]:
        """Return all legal moves in any order. The result is empty if the game is over."""

    def play(self, move: Move) -> None:
        """Play a legal move."""

    def undo(self) -> None:
        """Undo the last move."""

    def utilities(self) -> Values | None:
        """Return the utility of each player, or None if the game is not over."""

    def key(self) -> Hashable:
        """Return a key. Positions with equal keys have the same continuations."""

    def text(self, move: Move) -> str:
        """Return the notation of a legal move."""


@dataclass(frozen=True)
class MaxNNode(Generic[Move]):
    """A searched node: the player to move, the values of all players, and the children.

    `best` is the index of the chosen child, or None at the end of the game.
    """

    player: int
    values: Values
    moves: tuple[Move, ...] = ()
    children: "tuple[MaxNNode[Move], ...]" = field(default=(), repr=False)
    best: int | None = None

    def line(self) -> tuple[Move, ...]:
        """Return the moves that the players choose from here to the end of the game."""
        if self.best is None:
            return ()
        return (self.moves[self.best], *self.children[self.best].line())

    def count(self) -> int:
        """Return the number of nodes of the tree below, this one included."""
        return 1 + sum(child.count() for child in self.children)


def max_n(game: MultiPlayerGame[Move]) -> MaxNNode[Move]:
    """Search the whole game below the position. Of equally good moves, the first is chosen."""
    values = game.utilities()
    if values is not None:
        return MaxNNode(game.turn, values)
    player, moves = game.turn, tuple(game.moves())
    children = []
    for move in moves:
        game.play(move)
        children.append(max_n(game))
        game.undo()
    best = max(range(len(moves)), key=lambda index: children[index].values[player])
    return MaxNNode(player, children[best].values, moves, tuple(children), best)
