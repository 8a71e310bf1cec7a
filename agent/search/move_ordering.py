"""Move ordering for alpha-beta."""

from collections import defaultdict
from collections.abc import Callable, Hashable, MutableMapping
from math import inf
from typing import Any, Generic, TypeVar

from agent.game import Game, GridGame, HasMoveClass, HasMoveRating
from agent.search.patterns import Patterns
from agent.search.stats import SearchStats
from agent.search.terminal_scoring import DEFAULT_SCORING, TerminalScoring, clamp_evaluation

Move = TypeVar("Move")


class Ordering(Generic[Move]):
    """Move ordering that combines several optional techniques.

    - `ratings`: sort by `HasMoveRating.move_rating`, if the game implements it.
    - `classes`: sort by `HasMoveClass.move_class`, if the game implements it.
    - `killers`, `history`: prefer moves that caused cut-offs in other positions.
    - `last_turn`: prefer moves that caused cut-offs in the previous search or iteration, and sort
      the others by their greatest values there.
    - `successors`: sort by the evaluations of the positions after the moves.
    - `preliminary`: restrict `successors` to nodes above this ply, and replace the evaluations by
      the values of minimax searches down to this ply.
    - `patterns`: prefer the moves of matching board patterns.
    - `refutations`: a mapping from position keys to moves that caused cut-offs, owned by the
      caller.

    The order is: the table move or a refutation, moves of patterns, moves rated above 0, killers,
    moves by history, and moves rated below 0. Ties are broken by class, then by the previous
    search, then by the value of the position after the move.

    Sources: the lecture notes 'Técnicas de IA, Tema 3.2' (classes), 'Fundamentos de IA 10'
    (last_turn) and 'Búsqueda con adversario' (successors, preliminary, patterns).
    """

    def __init__(
        self,
        *,
        ratings: bool = False,
        classes: bool = False,
        killers: bool = False,
        history: bool = False,
        last_turn: bool = False,
        successors: Callable[[Any], float] | None = None,
        preliminary: int | None = None,
        patterns: Patterns | None = None,
        refutations: MutableMapping[Hashable, Move] | None = None,
    ) -> None:
        self._ratings = ratings
        self._classes = classes
        self._killers = Killers[Move]() if killers else None
        self._history = History[Move]() if history else None
        self._last_turn = LastSearch[Move]() if last_turn else None
        self._successors = successors
        self._preliminary = preliminary
        self._patterns = patterns
        self.refutations = refutations
        self.counts = SearchStats()
        self.ending: TerminalScoring = DEFAULT_SCORING

    def sort(
        self, game: Game[Move], moves: list[Move], ply: int, first: Move | None = None
    ) -> list[Move]:
        """Return the moves in search order, starting with `first`."""
        rate = game.move_rating if self._ratings and isinstance(game, HasMoveRating) else None
        killers = self._killers.at(ply) if self._killers is not None else ()
        history, turn = self._history, game.turn

        def priority(move: Move) -> tuple[int, float]:
            move_rating = rate(move) if rate is not None else 0
            if move_rating:
                return (2 if move_rating > 0 else -1), move_rating
            if move in killers:
                return 1, 0
            return 0, history.score(turn, move) if history is not None else 0

        if self._successors is not None:
            moves = self._by_successors(game, moves, ply, self._successors)
        if self._last_turn is not None:
            last_turn = self._last_turn
            moves = sorted(moves, key=lambda move: last_turn.sort_key(turn, move), reverse=True)
        if self._classes and isinstance(game, HasMoveClass):
            moves = sorted(moves, key=game.move_class)
        if rate is not None or killers or history is not None:
            moves = sorted(moves, key=priority, reverse=True)
        if self._patterns is not None and isinstance(game, GridGame):
            urgent = self._patterns.moves(game)
            moves = urgent + [move for move in moves if move not in urgent]
        if first is None and self.refutations is not None:
            first = self.refutations.get(game.key())
        if first is not None and first in moves:
            # Keep the game's own move object, which may hold more data than an equal move.
            moves.insert(0, moves.pop(moves.index(first)))
        return moves

    def _by_successors(
        self, game: Game[Move], moves: list[Move], ply: int, evaluate: Callable[[Any], float]
    ) -> list[Move]:
        depth = 0 if self._preliminary is None else self._preliminary - ply - 1
        if depth < 0:
            return moves
        values = []
        for move in moves:
            game.play(move)
            try:
                values.append(self._minimax(game, depth, evaluate))
            finally:
                game.undo()
        return [moves[index] for index in sorted(range(len(moves)), key=values.__getitem__)]

    def _minimax(self, game: Game[Move], depth: int, evaluate: Callable[[Any], float]) -> float:
        outcome = game.outcome()
        if outcome is not None or depth == 0:
            self.counts.looked_at += 1
        if outcome is not None:
            return self.ending.value(-outcome if game.turn else outcome, 0)
        if depth == 0:
            return clamp_evaluation(evaluate(game), evaluate)
        best = -inf
        for move in game.moves():
            game.play(move)
            try:
                best = max(best, -self._minimax(game, depth - 1, evaluate))
            finally:
                game.undo()
        return best

    def start_search(self) -> None:
        if self._last_turn is not None:
            self._last_turn.start_search()

    def record_best(self, game: Game[Move], move: Move, value: float) -> None:
        """Record the value of a move that was better than all moves before it."""
        if self._last_turn is not None:
            self._last_turn.record_value(game.turn, move, value)

    def record_cutoff(self, game: Game[Move], move: Move, depth: int, ply: int) -> None:
        """Record a move that caused a cut-off. Moves rated above 0 are not stored as killers."""
        if self.refutations is not None:
            self.refutations[game.key()] = move
        if self._last_turn is not None:
            self._last_turn.add(game.turn, move)
        if self._ratings and isinstance(game, HasMoveRating) and game.move_rating(move) > 0:
            return
        if self._killers is not None:
            self._killers.add(ply, move)
        if self._history is not None:
            self._history.add(game.turn, move, depth)

    def clear(self) -> None:
        """Clear all records except the refutations, which the caller owns."""
        for memory in (self._killers, self._history, self._last_turn):
            if memory is not None:
                memory.clear()


class Killers(Generic[Move]):
    """The last two moves that caused a cut-off at each ply."""

    def __init__(self) -> None:
        self._moves: dict[int, tuple[Move, ...]] = {}

    def at(self, ply: int) -> tuple[Move, ...]:
        return self._moves.get(ply, ())

    def add(self, ply: int, move: Move) -> None:
        killers = self.at(ply)
        if move not in killers:
            self._moves[ply] = (move, *killers[:1])

    def clear(self) -> None:
        self._moves.clear()


class History(Generic[Move]):
    """The history heuristic of J. Schaeffer (1983): cut-off counts, weighted by squared depth."""

    def __init__(self) -> None:
        self._scores: defaultdict[Hashable, int] = defaultdict(int)

    def score(self, turn: int, move: Move) -> int:
        return self._scores.get((turn, move), 0)

    def add(self, turn: int, move: Move, depth: int) -> None:
        self._scores[turn, move] += max(depth, 0) ** 2

    def clear(self) -> None:
        self._scores.clear()


class LastSearch(Generic[Move]):
    """Moves of the previous search that caused cut-offs, and the best value of each move."""

    def __init__(self) -> None:
        self._cutoffs: set[tuple[int, Move]] = set()
        self._values: dict[tuple[int, Move], float] = {}
        self._previous: tuple[set[tuple[int, Move]], dict[tuple[int, Move], float]] = set(), {}

    def start_search(self) -> None:
        """Use the current records to order moves, and start new records for the next search."""
        self._previous = self._cutoffs, self._values
        self._cutoffs, self._values = set(), {}

    def sort_key(self, turn: int, move: Move) -> tuple[bool, float]:
        """Return the sort key of a move. Moves with greater keys are searched first."""
        cutoffs, values = self._previous
        return (turn, move) in cutoffs, values.get((turn, move), -inf)

    def record_value(self, turn: int, move: Move, value: float) -> None:
        """Record a move's value for the player who moves, if it is the greatest so far."""
        self._values[turn, move] = max(value, self._values.get((turn, move), -inf))

    def add(self, turn: int, move: Move) -> None:
        self._cutoffs.add((turn, move))

    def clear(self) -> None:
        self._cutoffs, self._values = set(), {}
        self._previous = set(), {}
