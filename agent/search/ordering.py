"""The order in which moves are tried: the better the first moves are, the more is cut off."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from agent.game import Game, Rated

Move = TypeVar("Move")


class Ordering(Generic[Move]):
    """Techniques that order moves, each of them optional.

    ratings: as a `Rated` game suggests. killers, history: early if they cut off in other
    positions. successors: by the value, for its mover, of the position that a move leads to
    (the ordered expansion at each level of 'Búsqueda con adversario').

    Best first: the move of the table, well rated moves, killers, by history, badly rated moves;
    among equals by the value of the successor.
    """

    def __init__(
        self,
        *,
        ratings: bool = False,
        killers: bool = False,
        history: bool = False,
        successors: Callable[[Any], float] | None = None,
    ) -> None:
        self._ratings = ratings
        self._killers = Killers[Move]() if killers else None
        self._history = History[Move]() if history else None
        self._successors = successors

    def sort(
        self, game: Game[Move], moves: list[Move], ply: int, first: Move | None = None
    ) -> list[Move]:
        """Return the legal moves given in the order in which to try them, `first` before all."""
        rate = game.rating if self._ratings and isinstance(game, Rated) else None
        killers = self._killers.at(ply) if self._killers is not None else ()
        history, turn = self._history, game.turn

        def promise(move: Move) -> tuple[int, float]:
            rating = rate(move) if rate is not None else 0
            if rating:
                return (2 if rating > 0 else -1), rating
            if move in killers:
                return 1, 0
            return 0, history.score(turn, move) if history is not None else 0

        if self._successors is not None:
            values = [_successor_value(game, move, self._successors) for move in moves]
            order = sorted(range(len(moves)), key=values.__getitem__)
            moves = [moves[index] for index in order]
        if rate is not None or killers or history is not None:
            moves = sorted(moves, key=promise, reverse=True)
        if first is not None and first in moves:
            moves.remove(first)
            moves.insert(0, first)
        return moves

    def learn(self, game: Game[Move], move: Move, depth: int, ply: int) -> None:
        """Remember a move that cut off, unless its rating brings it to the front anyway."""
        if self._ratings and isinstance(game, Rated) and game.rating(move) > 0:
            return
        if self._killers is not None:
            self._killers.add(ply, move)
        if self._history is not None:
            self._history.add(game.turn, move, depth)

    def clear(self) -> None:
        """Forget everything."""
        for memory in (self._killers, self._history):
            if memory is not None:
                memory.clear()


class Killers(Generic[Move]):
    """The two moves that last cut off at each ply: what refutes one move often refutes another."""

    def __init__(self) -> None:
        self._moves: dict[int, tuple[Move, ...]] = {}

    def at(self, ply: int) -> tuple[Move, ...]:
        """Return the killers at a ply."""
        return self._moves.get(ply, ())

    def add(self, ply: int, move: Move) -> None:
        """Remember a move that cut off."""
        killers = self.at(ply)
        if move not in killers:
            self._moves[ply] = (move, *killers[:1])

    def clear(self) -> None:
        """Forget everything."""
        self._moves.clear()


class History(Generic[Move]):
    """How often each player's moves cut off, those far from the leaves counting more.

    Source: J. Schaeffer, 'The history heuristic' (1983).
    """

    def __init__(self) -> None:
        self._scores: defaultdict[Hashable, int] = defaultdict(int)

    def score(self, turn: int, move: Move) -> int:
        """Return the score of a player's move: 0 if it never cut off."""
        return self._scores.get((turn, move), 0)

    def add(self, turn: int, move: Move, depth: int) -> None:
        """Count a cut-off `depth` plies above the leaves."""
        self._scores[turn, move] += max(depth, 0) ** 2

    def clear(self) -> None:
        """Forget everything."""
        self._scores.clear()


def _successor_value(game: Game[Move], move: Move, evaluate: Callable[[Any], float]) -> float:
    """Return the value, for its mover, of the position after a move: the opponent's view."""
    game.play(move)
    try:
        outcome = game.outcome()
        if outcome is not None:
            return -outcome if game.turn else outcome
        return evaluate(game)
    finally:
        game.undo()
