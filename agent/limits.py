"""The values that a search takes and gives: frozen, without logic, the same for every game.

Times are seconds, scores are from the point of view of the side to move.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

Move = TypeVar("Move")


@dataclass(frozen=True, slots=True)
class Cp:
    """An ordinary score in centipawns (hundredths of a pawn, or of a game's own unit)."""

    value: int


@dataclass(frozen=True, slots=True)
class Mate:
    """A forced end: the side to move wins in `moves` moves, or loses in -`moves`; 0 is mated."""

    moves: int


Score = Cp | Mate


@dataclass(frozen=True, slots=True)
class Overtime:
    """What comes when the time is used up: `seconds` for the next so many moves, again and again.

    Of byo-yomi, where each move has a period for itself, moves is 1.
    """

    seconds: float
    moves: int = 1


@dataclass(frozen=True, slots=True)
class SideClock:
    """What one side has left on the clock: seconds, and seconds gained after each move.

    overtime: what there is beyond that, if anything.
    """

    time: float
    increment: float = 0.0
    overtime: Overtime | None = None


@dataclass(frozen=True, slots=True)
class MoveRestriction(Generic[Move]):
    """Moves that a player may not make in a search's tree, or, if `allowed`, alone may make.

    plies: how deep it holds, from 1, the root alone; beyond that he may make all.
    """

    player: int
    moves: frozenset[Move]
    allowed: bool
    plies: int = 1


@dataclass(frozen=True, slots=True)
class Limits(Generic[Move]):
    """What ends a search. Nothing set at all means: search until told to stop.

    depth: plies. nodes: positions visited. mate: stop when a mate in that many moves is found.
    movetime: seconds for this move. clock: the mover's clock; moves_to_go: moves to the next
    time control. infinite, ponder: no answer before `stop` (or, pondering, `ponderhit`).
    search_moves: only these moves at the root, if any are given. restrictions: what holds below
    the root too, of searches that know of it. moves_ownership: tell, with each line, whose each point
    will be after its first move, where the search knows.
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
        """Whether only a word from outside ends the search."""
        ends = (self.depth, self.nodes, self.mate, self.movetime, self.clock)
        return self.infinite or self.ponder or all(end is None for end in ends)

    def mate_found(self, score: Score) -> bool:
        """Whether a mate is searched for, and this is the score of one in so many moves."""
        return self.mate is not None and isinstance(score, Mate) and 0 < score.moves <= self.mate


@dataclass(frozen=True, slots=True)
class Info(Generic[Move]):
    """What is known after one iteration (or a part of one) about one line of play.

    bound: "" for an exact score, "lowerbound" or "upperbound". multipv counts from 1.
    hashfull: permille. complete: this line was searched to the end of the iteration to `depth`.
    effort: the share of this iteration's nodes spent on the best move, 0 to 1, if known.
    visits: the part of the nodes, or playouts, that went into this line. expected: the outcome
    for the mover from -1, a loss, to 1, where the search thinks in such terms. ahead: the visits
    by which the best line leads the second, as a part of the nodes, if that is how it is chosen.
    prior: how promising the line's move looked before it was tried; the priors of all moves sum
    to 1. lead: by how many points the mover is expected to win, in games that count them. owners:
    whose each point of the board will be, rows from above, from -1, the other's, to 1, the
    mover's; told with the first line alone. moves_ownership: the same after the line's first move,
    where that is asked for. pv_visits: the visits of the position after each move of the line,
    where it is a tree that is searched.
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
    """Where a running search stands, for whoever asks from another thread.

    hashfull: permille. move: the root move being searched, if any; number: its place in the
    order, from 1. lines: the best lines as they stand, where they can be told at any time.
    """

    nodes: int = 0
    hashfull: int = 0
    seldepth: int = 0
    current_move: Move | None = None
    current_move_number: int = 0
    lines: tuple[Info[Move], ...] = ()


@dataclass(frozen=True, slots=True)
class Result(Generic[Move]):
    """The answer of a search: the move to play, the reply to ponder on, the last line reported.

    meant: seconds of our time that it was meant to take, if a clock runs.
    """

    move: Move | None
    ponder: Move | None = None
    info: Info[Move] | None = None
    planned_time: float | None = None
