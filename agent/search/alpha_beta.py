"""Alpha-beta over any game, in the fail-soft negamax form, with the techniques that refine it.

Source: D. Knuth and R. Moore, 'An analysis of alpha-beta pruning' (1975); fail-soft by
J. Fishburn (1981). 'Tema 2: Búsqueda en juegos' gives the fail-hard form with MAX and MIN.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Generic, TypeVar, cast

from agent.game import Continued, Game, Rated
from agent.search.counts import Counts, SearchStopped
from agent.search.ending import AS_PLAYED, Ending
from agent.search.table import Entry, Table

Move = TypeVar("Move")


@dataclass(frozen=True, slots=True)
class Found(Generic[Move]):
    """The value of a position for its mover, and the principal variation that leads to it."""

    value: float
    pv: tuple[Move, ...]


class AlphaBeta(Generic[Move]):
    """A search by alpha-beta; with every option off it prunes by alpha and beta alone.

    evaluate: the value of the game's position for its mover. ending: what finished games are
    worth. continuation: continue leaves on the noisy moves of a `Continued` game, with no
    limit of depth. table: remember positions. killers, history: try early the moves that cut
    off in other positions. ratings: try moves in the order that a `Rated` game suggests.
    node_limit: the most nodes to visit.

    `counts` says what was done since the search was made or `reset`.
    """

    def __init__(
        self,
        evaluate: Callable[[Game[Move]], float],
        *,
        ending: Ending = AS_PLAYED,
        continuation: bool = False,
        table: Table[Move] | None = None,
        killers: bool = False,
        history: bool = False,
        ratings: bool = False,
        node_limit: float = inf,
    ) -> None:
        self.table = table
        self.counts = Counts()
        self.node_limit = node_limit
        self.stopped = False
        self._evaluate = evaluate
        self._ending = ending
        self._continuation = continuation
        self._ratings = ratings
        self._killers = Killers[Move]() if killers else None
        self._history = History[Move]() if history else None
        self._rate: Callable[[Move], float] | None = None
        self._lines: list[tuple[Move, ...]] = []

    def forget_counts(self) -> None:
        """Count from 0 again, keeping what was learned."""
        self.counts = Counts()

    def reset(self) -> None:
        """Forget what earlier searches counted and learned."""
        self.counts = Counts()
        for memory in (self.table, self._killers, self._history):
            if memory is not None:
                memory.clear()

    def search(
        self,
        game: Game[Move],
        depth: int,
        alpha: float = -inf,
        beta: float = inf,
        ply: int = 0,
    ) -> Found[Move]:
        """Return the value of the game's position, `depth` plies deep, and its variation.

        A value v between alpha and beta is exact; v <= alpha is an upper bound and v >= beta a
        lower bound of the exact one. `ply` counts from the root of a larger search. The game is
        left as it was, also when `SearchStopped` or an error of the evaluation is raised.
        """
        if self._continuation and not isinstance(game, Continued):
            raise TypeError(f"{type(game).__name__} has no moves to continue leaves on")
        self._take(game)
        self._lines = [()] * (ply + 2)
        value = self._value(game, depth, ply, alpha, beta)
        return Found(value, self._lines[ply])

    def order(self, game: Game[Move]) -> list[Move]:
        """Return the moves of a position in the order in which a search would try them."""
        self._take(game)
        return self._ordered(game.moves(), game.turn, 0, None)

    def _take(self, game: Game[Move]) -> None:
        """Take the hints that this game offers, if they are wanted."""
        self._rate = game.rating if self._ratings and isinstance(game, Rated) else None

    def _value(self, game: Game[Move], depth: int, ply: int, alpha: float, beta: float) -> float:
        self._visit(ply)
        if depth <= 0 and self._continuation:
            return self._continue(cast(Continued[Move], game), ply, alpha, beta)
        outcome = game.outcome()
        if outcome is not None:
            return self._end(game, outcome, ply)
        if depth <= 0:
            return self._stand(game)
        if self.table is None:
            return self._best(game, game.moves(), depth, ply, alpha, beta)
        return self._remembered(game, self.table, depth, ply, alpha, beta)

    def _continue(self, game: Continued[Move], ply: int, alpha: float, beta: float) -> float:
        """Search on from a leaf: every move if the mover is forced, else stand pat or be noisy."""
        forced = game.forced()
        outcome = game.outcome() if forced else game.settled()
        if outcome is not None:
            return self._end(game, outcome, ply)
        if forced:
            return self._best(game, game.moves(), 0, ply, alpha, beta)
        stand = self._stand(game)
        if stand >= beta:
            return stand
        return self._best(game, game.noisy(), 0, ply, alpha, beta, stand)

    def _remembered(
        self,
        game: Game[Move],
        table: Table[Move],
        depth: int,
        ply: int,
        alpha: float,
        beta: float,
    ) -> float:
        """Answer from the table if it knows enough, else search and remember."""
        key = game.key()
        entry = table.get(key)
        first = None
        if entry is not None:
            first = entry.move
            if entry.depth >= depth:
                lower = self._ending.at(entry.lower, ply)
                upper = self._ending.at(entry.upper, ply)
                if lower >= beta or lower == upper:
                    self.counts.table_hits += 1
                    return lower
                if upper <= alpha:
                    self.counts.table_hits += 1
                    return upper
        value = self._best(game, game.moves(), depth, ply, alpha, beta, first=first)
        if self._lines[ply]:
            first = self._lines[ply][0]
        relative = self._ending.relative(value, ply)
        lower = relative if value > alpha else -inf
        upper = relative if value < beta else inf
        if entry is not None and entry.depth == depth:
            lower, upper = max(lower, entry.lower), min(upper, entry.upper)
        table.put(key, Entry(depth, lower, upper, first))
        return value

    def _best(
        self,
        game: Game[Move],
        moves: Iterable[Move],
        depth: int,
        ply: int,
        alpha: float,
        beta: float,
        best: float = -inf,
        first: Move | None = None,
    ) -> float:
        """Return the best of `best` and the values of the moves, as far as the window asks."""
        alpha = max(alpha, best)
        for move in self._ordered(moves, game.turn, ply, first):
            game.play(move)
            try:
                value = -self._value(game, depth - 1, ply + 1, -beta, -alpha)
            finally:
                game.undo()
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    self._lines[ply] = (move, *self._lines[ply + 1])
                    if value >= beta:
                        self._cut(game, move, depth, ply)
                        break
        return best

    def _visit(self, ply: int) -> None:
        """Count a node, unless there may be no more of them."""
        counts = self.counts
        if self.stopped or counts.nodes >= self.node_limit:
            raise SearchStopped
        counts.nodes += 1
        if ply > counts.seldepth:
            counts.seldepth = ply
        if ply + 1 == len(self._lines):
            self._lines.append(())
        self._lines[ply] = ()

    def _end(self, game: Game[Move], outcome: float, ply: int) -> float:
        """Return the value, for the mover, of a game that is over."""
        return self._ending.value(-outcome if game.turn else outcome, ply)

    def _stand(self, game: Game[Move]) -> float:
        self.counts.leaves += 1
        return self._evaluate(game)

    def _cut(self, game: Game[Move], move: Move, depth: int, ply: int) -> None:
        """Count a cut-off and learn the move that made it, if its rating does not tell."""
        self.counts.cutoffs += 1
        if self._rate is not None and self._rate(move) > 0:
            return
        if self._killers is not None:
            self._killers.add(ply, move)
        if self._history is not None:
            self._history.add(game.turn, move, depth)

    def _ordered(
        self, moves: Iterable[Move], turn: int, ply: int, first: Move | None
    ) -> list[Move]:
        """Order moves: the table's, well rated ones, killers, by history, badly rated ones."""
        moves = list(moves)
        rate, killers, history = self._rate, self._killers, self._history
        if rate is not None or killers is not None or history is not None:
            killing = killers.at(ply) if killers is not None else ()

            def promise(move: Move) -> tuple[int, float]:
                rating = rate(move) if rate is not None else 0
                if rating:
                    return (2 if rating > 0 else -1), rating
                if move in killing:
                    return 1, 0
                return 0, history.score(turn, move) if history is not None else 0

            moves.sort(key=promise, reverse=True)
        if first is not None and first in moves:
            moves.remove(first)
            moves.insert(0, first)
        return moves


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
