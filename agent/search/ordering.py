"""The order in which moves are tried: the better the first moves are, the more is cut off."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from math import inf
from typing import Any, Generic, TypeVar

from agent.game import Game, Rated

Move = TypeVar("Move")


class Ordering(Generic[Move]):
    """Techniques that order moves, each of them optional.

    ratings: as a `Rated` game suggests. killers, history: early if they cut off in other
    positions. successors: by the value, for its mover, of the position that a move leads to
    (the ordered expansion at each level of 'Búsqueda con adversario'). preliminary: do that
    only above this level of the tree, by the values that the positions of the level back up
    (the preliminary order there). refutations: the moves that cut off in the very positions,
    which the caller keeps for as long as he likes (the permanent killer memory of 'Fundamentos
    de IA 10').

    Best first: the move of the table or a refutation, well rated moves, killers, by history,
    badly rated moves; among equals by the value of the successor.
    """

    def __init__(
        self,
        *,
        ratings: bool = False,
        killers: bool = False,
        history: bool = False,
        successors: Callable[[Any], float] | None = None,
        preliminary: int | None = None,
        refutations: dict[Hashable, Move] | None = None,
    ) -> None:
        self._ratings = ratings
        self._killers = Killers[Move]() if killers else None
        self._history = History[Move]() if history else None
        self._successors = successors
        self._preliminary = preliminary
        self._refutations = refutations

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
            moves = self._by_successors(game, moves, ply, self._successors)
        if rate is not None or killers or history is not None:
            moves = sorted(moves, key=promise, reverse=True)
        if first is None and self._refutations is not None:
            first = self._refutations.get(game.key())
        if first is not None and first in moves:
            moves.remove(first)
            moves.insert(0, first)
        return moves

    def _by_successors(
        self, game: Game[Move], moves: list[Move], ply: int, evaluate: Callable[[Any], float]
    ) -> list[Move]:
        """Sort moves by what the positions are worth that they lead to."""
        depth = 0 if self._preliminary is None else self._preliminary - ply - 1
        if depth < 0:
            return moves
        values = []
        for move in moves:
            game.play(move)
            try:
                values.append(_backed_up(game, depth, evaluate))
            finally:
                game.undo()
        return [moves[index] for index in sorted(range(len(moves)), key=values.__getitem__)]

    def learn(self, game: Game[Move], move: Move, depth: int, ply: int) -> None:
        """Remember a move that cut off, unless its rating brings it to the front anyway."""
        if self._refutations is not None:
            self._refutations[game.key()] = move
        if self._ratings and isinstance(game, Rated) and game.rating(move) > 0:
            return
        if self._killers is not None:
            self._killers.add(ply, move)
        if self._history is not None:
            self._history.add(game.turn, move, depth)

    def clear(self) -> None:
        """Forget everything but the refutations, which are the caller's."""
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


def _backed_up(game: Game[Move], depth: int, evaluate: Callable[[Any], float]) -> float:
    """Return the value, for its mover, that minimax backs up from `depth` plies below."""
    outcome = game.outcome()
    if outcome is not None:
        return -outcome if game.turn else outcome
    if depth == 0:
        return evaluate(game)
    best = -inf
    for move in game.moves():
        game.play(move)
        try:
            best = max(best, -_backed_up(game, depth - 1, evaluate))
        finally:
            game.undo()
    return best
