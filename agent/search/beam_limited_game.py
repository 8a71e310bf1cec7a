"""Beam search (heuristic pruning), which searches fewer moves at less promising nodes.

Source: the lecture notes 'Tema 2: Búsqueda en juegos', where Factor(node) = Factor(parent) -
Rank(node) and ranks start at 1.
"""

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from agent.game import HasTerminalValues, NotatedGame
from agent.io.message import Message
from agent.search.stats import SearchStats
from agent.search.terminal_scoring import DEFAULT_SCORING, clamp_evaluation

Move = TypeVar("Move")


class BeamLimitedGame(Generic[Move]):
    """A wrapper of a game that offers only its most promising moves to a search.

    The root has `factor` moves. Any other node has the number of its parent minus its own rank
    among its siblings, but at least 1. Moves are ranked by `evaluate(game)` after the move. A
    search passes this wrapper to its evaluation. The attribute `game` is the original game.
    """

    def __init__(
        self, game: NotatedGame[Move], evaluate: Callable[[Any], float], factor: int
    ) -> None:
        if factor < 1:
            raise ValueError(Message("factor must be at least 1 (got {})", factor))
        self.game = game
        self.counts = SearchStats()
        self._evaluate = evaluate
        self._beam_widths = [factor]
        # Key and ranked moves of each node on the current path; None if not yet ranked.
        self._ranked: list[tuple[Hashable, list[Move]] | None] = [None]
        self._scoring = (
            DEFAULT_SCORING.without_scale()
            if isinstance(game, HasTerminalValues)
            else DEFAULT_SCORING
        )

    def set_stats(self, counts: SearchStats) -> None:
        """Count evaluations in `counts` from now on, and rank the current node's moves again."""
        self.counts = counts
        self._ranked[-1] = None

    @property
    def turn(self) -> int:
        return self.game.turn

    @property
    def beam_width(self) -> int:
        return self._beam_widths[-1]

    def moves(self) -> list[Move]:
        """Return the most promising legal moves, sorted from best to worst."""
        key, known = self.game.key(), self._ranked[-1]
        if known is None or known[0] != key:
            moves = list(self.game.moves())
            values = [self._rank_value(move) for move in moves]
            ranked = sorted(range(len(moves)), key=values.__getitem__, reverse=True)
            known = self._ranked[-1] = key, [moves[index] for index in ranked[: self.beam_width]]
        return known[1].copy()

    def play(self, move: Move) -> None:
        rank = self.moves().index(move) + 1
        self._beam_widths.append(max(1, self.beam_width - rank))
        self._ranked.append(None)
        self.game.play(move)

    def undo(self) -> None:
        self.game.undo()
        self._beam_widths.pop()
        self._ranked.pop()

    def outcome(self) -> float | None:
        return self.game.outcome()

    def key(self) -> Hashable:
        """Return the beam width, which may differ for equal positions, and the position's key."""
        return self.beam_width, self.game.key()

    def text(self, move: Move) -> str:
        return self.game.text(move)

    def __str__(self) -> str:
        return str(self.game)

    def _rank_value(self, move: Move) -> float:
        self.counts.looked_at += 1
        self.game.play(move)
        try:
            outcome = self.game.outcome()
            if outcome is None:
                return -clamp_evaluation(self._evaluate(self.game), self._evaluate)
            return -self._scoring.value(-outcome if self.game.turn else outcome, 0)
        finally:
            self.game.undo()
