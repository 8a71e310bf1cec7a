"""Searches in Go for the fate of some stones, whatever happens on the rest of the board."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import NamedTuple

from agent.games.chain_status import ShouldContinue
from agent.games.go import Go, evaluate
from agent.games.go_rules import DEFAULT_RULES
from agent.search.defaults import MCTS, make_search

PLAYOUTS = 400
_SEED = 1


class Fate(NamedTuple):
    """The expected outcome (-1 to 1) for the player that moves first, and the first move.

    The outcome is a win for the player who owns most of the stones' vertices at the end.
    """

    value: float
    move: int


# Takes the stones as a bitboard, and the player that moves first.
FateSearch = Callable[[int, int], Fate]


class FateGame(Go):
    """A game of Go in which only the vertices of some stones are scored."""

    def __init__(self, game: Go, stones: int) -> None:
        super().__init__(game.size, 0)
        self.__dict__.update(deepcopy(game).__dict__)
        self.komi, self.rules = 0.0, DEFAULT_RULES
        self.capture_dead_stones = False  # Both sides must be able to pass in a seki.
        self._scored = stones

    def score(self, dead: int = 0, seki: int = 0) -> float:
        """Return the number of scored vertices that Black owns minus those that White owns."""
        return self._balance(self.stones.areas())

    def playout(self, random: Random) -> tuple[float, list[tuple[int, int]]]:
        """Play random moves to the end on a copy. Return the score and (player, move) pairs."""
        end = self.stones.copy()
        played = end.play_out(self.turn + 1, self.passes, random)
        return self._balance(end.areas()), [(colour - 1, vertex) for colour, vertex in played]

    def _balance(self, areas: tuple[int, int]) -> float:
        black, white = areas
        return (black & self._scored).bit_count() - (white & self._scored).bit_count()


def fate_search(game: Go, should_continue: ShouldContinue, playouts: int = PLAYOUTS) -> FateSearch:
    """Return a function that searches with Python playouts until `should_continue` is False."""

    def search(stones: int, player: int) -> Fate:
        trial = FateGame(game, stones)
        trial.set_turn(player)
        fate = Fate(0.0, trial.candidate_moves()[0])
        for info in make_search(MCTS, trial, evaluate, _SEED, playouts).iterations(trial, None, 1):
            fate = Fate(info.expected_outcome or 0.0, info.pv[0])
            if not should_continue():
                break
        return fate

    return search
