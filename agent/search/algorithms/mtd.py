"""MTD, which finds a position's value by a series of null-window alpha-beta searches with memory.

Sources: A. Plaat, J. Schaeffer, W. Pijls and A. de Bruin, 'Best-first fixed-depth minimax
algorithms' (1996); the lecture notes 'Técnicas de IA, Tema 3.2'.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

from agent.game import Game
from agent.search.search import Search, SearchOptions, next_down, next_up, recursion

Move = TypeVar("Move")


@dataclass(slots=True)
class Bounds:
    """The known bounds on a position's value for the player to move."""

    lower: float = -inf
    upper: float = inf


@dataclass(frozen=True, kw_only=True)
class MTDOptions(SearchOptions):
    """Options for MTD(f). `first_guess` is the value f with which the search starts."""

    first_guess: float = 0


class MTD(Search[Move]):
    """MTD(f), which starts with a guess f of the value. Better guesses need fewer searches.

    Positions with equal keys must have equal values, so draws by repetition are not supported.
    `counts.peak_open` is the number of entries in the memory.
    """

    name = "mtd-f"
    options = MTDOptions
    mover_relative = True

    def __init__(
        self, evaluate: Callable[[Any], float], options: MTDOptions = MTDOptions()
    ) -> None:
        super().__init__(evaluate, options)
        self.first_guess = options.first_guess
        self._memory: dict[tuple[Hashable, int], Bounds] = {}

    def _root(self, game: Game[Move], depth: int) -> float:
        self._memory.clear()
        value = self.first_guess if self._has_integer_values else float(self.first_guess)
        lower, upper = -inf, inf
        while lower < upper:
            beta = value if value > lower else next_up(value)
            value = self._value(game, depth, 0, next_down(beta), beta)
            if value < beta:
                upper = value
            else:
                lower = value
            self.counts.researches += lower < upper
        self.counts.peak_open = max(self.counts.peak_open, len(self._memory))
        self._trace_pv(game, depth, value)
        return value

    @recursion
    def _value(self, game: Game[Move], depth: int, ply: int, alpha: float, beta: float) -> float:
        self._visit(game, ply)
        key = game.key(), depth
        known = self._memory.get(key)
        if known is not None:
            if known.lower >= beta:
                self.counts.table_hits += 1
                return known.lower
            if known.upper <= alpha:
                self.counts.table_hits += 1
                return known.upper
        else:
            known = self._memory[key] = Bounds()
        leaf = self._leaf_value(game, depth, ply)
        if leaf is not None:
            best = known.lower = known.upper = leaf
        else:
            best = -inf
            for move in self._moves(game, ply):
                game.play(move)
                best = max(best, -self._value(game, depth - 1, ply + 1, -beta, -alpha))
                game.undo()
                if best >= beta:
                    self._record_cutoff(game, move, depth, ply)
                    break
            if best < beta:
                known.upper = best
            else:
                known.lower = best
        if self.tracer is not None:
            self.tracer.stored(key, depth, known.lower, known.upper)
        return best

    def _trace_pv(self, game: Game[Move], depth: int, value: float) -> None:
        line: list[Move] = []
        settled = True
        while settled and game.outcome() is None:
            settled = False
            value, depth = -value, depth - 1
            for move in game.moves():
                game.play(move)
                known = self._memory.get((game.key(), depth))
                if known is not None and known.lower == known.upper == value:
                    line.append(move)
                    settled = True
                    break
                game.undo()
        self._undo_to_root(game, len(line))
        self._pv_table[0] = tuple(line)


class SSSStarMTD(MTD[Move]):
    """SSS* as MTD(+infinity). It evaluates leaves in the same order as Stockman's SSS*."""

    name = "sss-star-mtd"

    def _root(self, game: Game[Move], depth: int) -> float:
        self.first_guess = inf
        return super()._root(game, depth)


class DualStarMTD(MTD[Move]):
    """DUAL* as MTD(-infinity)."""

    name = "dual-star-mtd"

    def _root(self, game: Game[Move], depth: int) -> float:
        self.first_guess = -inf
        return super()._root(game, depth)
