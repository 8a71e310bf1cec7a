"""Immutable types for the limits and results of searches in any game.

Times are in seconds. Scores are from the point of view of the side to move.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

Move = TypeVar("Move")


@dataclass(frozen=True, slots=True)
class Cp:
    """A score in centipawns (hundredths of a pawn), or in hundredths of a point in other games."""

    value: int


@dataclass(frozen=True, slots=True)
class Mate:
    """A forced win in `moves` moves, or a forced loss in `-moves` moves if `moves` <= 0."""

    moves: int


Score = Cp | Mate


@dataclass(frozen=True, slots=True)
class Overtime:
    """Overtime periods of `seconds` for `moves` moves each. Byo-yomi has one move per period."""

    seconds: float
    moves: int = 1


@dataclass(frozen=True, slots=True)
class SideClock:
    """The clock of one side: remaining time, increment per move, and overtime or None."""

    time: float
    increment: float = 0.0
    overtime: Overtime | None = None


@dataclass(frozen=True, slots=True)
class MoveRestriction(Generic[Move]):
    """A restriction of the moves of one side in the search tree.

    `player` is the restricted side, 0 or 1. If `allowed` is true, only `moves` are allowed,
    otherwise they are forbidden. The restriction applies to the first `plies` plies from the root.
    """

    player: int
    moves: frozenset[Move]
    allowed: bool
    plies: int = 1


@dataclass(frozen=True, slots=True)
class Limits(Generic[Move]):
    """The limits and options of a search. Without any limit, the search runs until it is stopped.

    - `depth`: the maximum depth in plies.
    - `nodes`: the maximum number of nodes.
    - `mate`: stop after finding a mate in at most this number of moves, or a forced loss.
    - `movetime`: the time for this move in seconds.
    - `clock`: the clock of the side to move.
    - `moves_to_go`: the number of moves until the next time control.
    - `infinite`: do not report the result until `stop`.
    - `ponder`: do not report the result until `stop` or `ponderhit`.
    - `search_moves`: search only these root moves, or all if empty.
    - `restrictions`: move restrictions, which some searches do not support.
    - `moves_ownership`: report `Info.moves_ownership` for each line, if the search supports it.
    """

    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    movetime: float | None = None
    clock: SideClock | None = None
    moves_to_go: int | None = None
    infinite: bool = False
    ponder: bool = False
    search_moves: tuple[Move, ...] = field(default=())
    restrictions: tuple[MoveRestriction[Move], ...] = field(default=())
    moves_ownership: bool = False

    @property
    def endless(self) -> bool:
        """Whether the search has no limits, or waits for a command such as `stop`."""
        limits = (self.depth, self.nodes, self.mate, self.movetime, self.clock)
        return self.infinite or self.ponder or all(limit is None for limit in limits)

    def mate_found(self, score: Score) -> bool:
        """Return whether a score satisfies the `mate` limit."""
        return self.mate is not None and isinstance(score, Mate) and score.moves <= self.mate


@dataclass(frozen=True, slots=True)
class Info(Generic[Move]):
    """One principal variation after a complete or partial iteration.

    - `depth`: the depth of the iteration in plies.
    - `seldepth`: the maximum depth reached, in plies.
    - `multipv`: the rank of the line, counted from 1.
    - `bound`: "lowerbound" or "upperbound", or "" if the score is exact.
    - `nodes`: the number of nodes in the whole search.
    - `time`: the time in seconds since the start of the search.
    - `hashfull`: the usage of the transposition table in permille.
    - `tbhits`: the number of tablebase hits.
    - `complete`: whether this line was searched to the end of the iteration.
    - `effort`: the fraction of the iteration's nodes spent on the best move, if known.
    - `visits`: the number of nodes or playouts spent on this line.
    - `expected_outcome`: the expected result from -1 (loss) to 1 (win), if known.
    - `visit_lead`: the lead in visits of the most visited move over the second, as a fraction of
      all nodes. Set only if the search plays the most visited move.
    - `prior`: the prior probability of the first move.
    - `lead`: the expected lead of the side to move, in points.
    - `ownership`: the expected owner of each point, in rows from the top, from -1 (opponent) to 1
      (side to move). Set only in the first line.
    - `moves_ownership`: the ownership after the first move of the line, if requested.
    - `pv_visits`: in tree search, the number of visits of the position after each move of `pv`.
    """

    depth: int
    score: Score
    pv: tuple[Move, ...]
    seldepth: int = 0
    multipv: int = 1
    bound: str = ""
    nodes: int = 0
    time: float = 0.0
    hashfull: int = 0
    tbhits: int = 0
    complete: bool = True
    effort: float | None = None
    visits: int = 0
    expected_outcome: float | None = None
    visit_lead: float | None = None
    prior: float | None = None
    lead: float | None = None
    ownership: tuple[float, ...] | None = None
    moves_ownership: tuple[float, ...] | None = None
    pv_visits: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress(Generic[Move]):
    """The progress of a running search.

    - `hashfull`: the usage of the transposition table in permille.
    - `current_move`: the root move that is being searched, or None.
    - `current_move_number`: the rank of that move in the move order, counted from 1.
    - `lines`: the current best lines, if the search can report lines at any time.
    """

    nodes: int = 0
    hashfull: int = 0
    seldepth: int = 0
    current_move: Move | None = None
    current_move_number: int = 0
    lines: tuple[Info[Move], ...] = ()


@dataclass(frozen=True, slots=True)
class Result(Generic[Move]):
    """The result of a search: the move to play, the expected reply, and the last reported line.

    `planned_time` is the time in seconds that the search used, or None if the clock did not run.
    """

    move: Move | None
    ponder: Move | None = None
    info: Info[Move] | None = None
    planned_time: float | None = None
