"""Heuristic pruning: look at fewer moves the less promising the way to a node was.

Source: 'Tema 2: Búsqueda en juegos', Factor(node) = Factor(parent) - Rank(node), the ranks
counted from 1.
"""

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from agent.game import HasTerminalValues, NotatedGame
from agent.search.stats import SearchStats
from agent.search.terminal_scoring import DEFAULT_SCORING, clamp_evaluation

Move = TypeVar("Move")


class BeamLimitedGame(Generic[Move]):
    """A game with only the most promising moves of another, so that any search can prune so.

    factor: the number of moves at the root. Below, each node has as many as its parent less its
    own rank among its siblings, but at least one, since only a finished game has none. The rank
    is that of `evaluate`, a cheap evaluation of the positions that the moves lead to; a move that
    wins ranks before all others. counts: where the positions evaluated are counted.
    """

    def __init__(
        self, game: NotatedGame[Move], evaluate: Callable[[Any], float], factor: int
    ) -> None:
        if factor < 1:
            raise ValueError(f"a factor of {factor} leaves no move; use 1 or more")
        self.game = game
        self.counts = SearchStats()
        self._evaluate = evaluate
        self._beam_widths = [factor]
        # For each node on the way here, once its moves are ranked: its key and the moves.
        self._ranked: list[tuple[Hashable, list[Move]] | None] = [None]
        self._scoring = (
            DEFAULT_SCORING.without_scale()
            if isinstance(game, HasTerminalValues)
            else DEFAULT_SCORING
        )

    def set_stats(self, counts: SearchStats) -> None:
        """Count there from now on; what an earlier search has asked here is asked again."""
        self.counts = counts
        self._ranked[-1] = None

    @property
    def turn(self) -> int:
        """The player to move."""
        return self.game.turn

    @property
    def beam_width(self) -> int:
        """The number of moves that are left at this node."""
        return self._beam_widths[-1]

    def moves(self) -> list[Move]:
        """Return the most promising legal moves, best first."""
        key, known = self.game.key(), self._ranked[-1]
        if known is None or known[0] != key:
            moves = list(self.game.moves())
            promise = [self._rank_value(move) for move in moves]
            ranked = sorted(range(len(moves)), key=promise.__getitem__, reverse=True)
            known = self._ranked[-1] = key, [moves[index] for index in ranked[: self.beam_width]]
        return known[1].copy()

    def play(self, move: Move) -> None:
        """Make one of `moves`."""
        rank = self.moves().index(move) + 1
        self._beam_widths.append(max(1, self.beam_width - rank))
        self._ranked.append(None)
        self.game.play(move)

    def undo(self) -> None:
        """Take the last move back."""
        self.game.undo()
        self._beam_widths.pop()
        self._ranked.pop()

    def outcome(self) -> float | None:
        """Return the game's own outcome."""
        return self.game.outcome()

    def key(self) -> Hashable:
        """Return the position with its factor: the same position may have fewer moves."""
        return self.beam_width, self.game.key()

    def text(self, move: Move) -> str:
        """Write a move as the game does."""
        return self.game.text(move)

    def __str__(self) -> str:
        return str(self.game)

    def _rank_value(self, move: Move) -> float:
        """Return the value, for the mover, of the position after a move."""
        self.counts.looked_at += 1
        self.game.play(move)
        try:
            outcome = self.game.outcome()
            if outcome is None:
                return -clamp_evaluation(self._evaluate(self.game), self._evaluate)
            return -self._scoring.value(-outcome if self.game.turn else outcome, 0)
        finally:
            self.game.undo()
