"""The order in which moves are tried: the better the first moves are, the more is cut off."""

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
    """Techniques that order moves, each of them optional.

    ratings: as a `Rated` game suggests. classes: checks, captures, threats, moves forward, then
    back, in a `Classed` game ('Técnicas de IA, Tema 3.2'). killers, history: early if they cut
    off in other positions. last_turn: first those that cut off in the search before, of the last
    turn or of the level above, then those that had the greatest values there ('Fundamentos de IA
    10'). successors: by the value, for
    its mover, of the position that a move leads to (the ordered expansion at each level of
    'Búsqueda con adversario'). preliminary: do that only above this level of the tree, by the
    values that the positions of the level back up (the preliminary order there). patterns: the
    moves of board patterns that match ('Búsqueda con adversario'). refutations: the moves that
    cut off in the very positions, which the caller keeps for as long as he likes.

    Best first: the move of the table or a refutation, patterns, well rated moves, killers, by
    history, badly rated moves; among equals by class, then by the last turn, then by the value
    of the successor.

    counts, ending: the search's, which it sets: what is evaluated here is counted there, and ends
    are worth here what they are worth there.
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
        """Return the legal moves given in the order in which to try them, `first` before all."""
        rate = game.move_rating if self._ratings and isinstance(game, HasMoveRating) else None
        killers = self._killers.at(ply) if self._killers is not None else ()
        history, turn = self._history, game.turn

        def promise(move: Move) -> tuple[int, float]:
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
            moves = sorted(moves, key=promise, reverse=True)
        if self._patterns is not None and isinstance(game, GridGame):
            urgent = self._patterns.moves(game)
            moves = urgent + [move for move in moves if move not in urgent]
        if first is None and self.refutations is not None:
            first = self.refutations.get(game.key())
        if first is not None and first in moves:
            # The game's own move, which may be more than what is equal to it.
            moves.insert(0, moves.pop(moves.index(first)))
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
                values.append(self._minimax(game, depth, evaluate))
            finally:
                game.undo()
        return [moves[index] for index in sorted(range(len(moves)), key=values.__getitem__)]

    def _minimax(self, game: Game[Move], depth: int, evaluate: Callable[[Any], float]) -> float:
        """Return the value, for its mover, that minimax backs up from `depth` plies below."""
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
        """Begin another search: what the one before showed now orders the moves."""
        if self._last_turn is not None:
            self._last_turn.start_search()

    def record_best(self, game: Game[Move], move: Move, value: float) -> None:
        """Take note of a move that is better than what was tried before it, and of its value."""
        if self._last_turn is not None:
            self._last_turn.record_value(game.turn, move, value)

    def record_cutoff(self, game: Game[Move], move: Move, depth: int, ply: int) -> None:
        """Remember a move that cut off, unless its rating brings it to the front anyway."""
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
        """Forget everything but the refutations, which are the caller's."""
        for memory in (self._killers, self._history, self._last_turn):
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


class LastSearch(Generic[Move]):
    """What the search of the turn before showed: which moves cut off, and the greatest values.

    Source: 'Fundamentos de IA 10: Estrategia de juego'.
    """

    def __init__(self) -> None:
        self._record_cutoff: set[tuple[int, Move]] = set()
        self._values: dict[tuple[int, Move], float] = {}
        self._previous: tuple[set[tuple[int, Move]], dict[tuple[int, Move], float]] = set(), {}

    def start_search(self) -> None:
        """Order by what was learned since the last call, and learn anew."""
        self._previous = self._record_cutoff, self._values
        self._record_cutoff, self._values = set(), {}

    def sort_key(self, turn: int, move: Move) -> tuple[bool, float]:
        """Return what to order a player's moves by: the greatest first."""
        cut, values = self._previous
        return (turn, move) in cut, values.get((turn, move), -inf)

    def record_value(self, turn: int, move: Move, value: float) -> None:
        """Remember the greatest value, for its mover, that a move has had."""
        self._values[turn, move] = max(value, self._values.get((turn, move), -inf))

    def add(self, turn: int, move: Move) -> None:
        """Remember a move that cut off."""
        self._record_cutoff.add((turn, move))

    def clear(self) -> None:
        """Forget everything."""
        self._record_cutoff, self._values = set(), {}
        self._previous = set(), {}
