"""The Game interface: all that a search needs to know of a game.

It is the formalisation of 'Técnicas de IA, Tema 3.2' (initial state, player, actions, result,
terminal test, utility), spelled for searches that play a move, look, and take it back. A game
object is one mutable position with its history. A game whose states are cheap to copy may keep
a stack of them behind `play` and `undo`.

`Game` is enough for every search. `Rated`, `Classed`, `Patterned`, `Bounded`, `Continued`,
`Symmetric`, `Featured`, `Measurable` and `Simulated` are what a game may offer besides: hints for
the order of moves, bounds of a position, the moves on which a leaf is continued, positions that are
alike, positions as numbers, measures of them, and playouts of its own. `Valued` says what its ends
are worth. A game that people see and play is `Written` too.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from random import Random
from typing import Any, Protocol, TypeVar, runtime_checkable

Move = TypeVar("Move")
Move_co = TypeVar("Move_co", covariant=True)
Move_contra = TypeVar("Move_contra", contravariant=True)


class Game(Protocol[Move]):
    """One position of a two-player zero-sum game of perfect information, and the way back."""

    @property
    def turn(self) -> int:
        """The player to move: 0 moves first, 1 second."""

    def moves(self) -> Iterable[Move]:
        """All legal moves, in an order of the game's choice; none when the game is over."""

    def play(self, move: Move) -> None:
        """Make a legal move."""

    def undo(self) -> None:
        """Take the last move back."""

    def outcome(self) -> float | None:
        """Player 0's utility if the game is over (1 win, 0 draw, -1 loss, or a score)."""

    def key(self) -> Hashable:
        """Equal for positions with the same moves and future, for tables and repetition."""


@runtime_checkable
class HasMoveRating(Protocol[Move_contra]):
    """A game that can tell at a glance which of its moves are likely to be good."""

    def move_rating(self, move: Move_contra) -> float:
        """Rate a legal move: above 0 to be tried early, the higher the earlier; below 0 late."""


class MoveClass(IntEnum):
    """What a move does at a glance, the most urgent first.

    It is the order in which 'Técnicas de IA, Tema 3.2' tries the moves of chess.
    """

    CHECK = 0
    CAPTURE = 1
    THREAT = 2
    FORWARD = 3
    SIDEWAYS = 4
    BACKWARD = 5


@runtime_checkable
class HasMoveClass(Protocol[Move_contra]):
    """A game whose moves can be told apart by what they do."""

    def move_class(self, move: Move_contra) -> MoveClass:
        """Return the most urgent class that a legal move belongs to."""


@runtime_checkable
class GridGame(Protocol[Move_co]):
    """A game of filling the squares of a board, which board patterns can be laid on."""

    def grid(self) -> list[str]:
        """Return the rows from the top: `m` the mover's, `t` the other's, `.` an empty square."""

    def move_at(self, row: int, column: int) -> Move_co | None:
        """Return the legal move that fills a square, counted from 0 at the top left, if any."""


@runtime_checkable
class HasPatterns(GridGame[Move_co], Protocol[Move_co]):
    """A game that knows patterns of its board and the squares to fill in them.

    patterns: as agent.search.patterns reads them. upright: up and down differ on the board.
    """

    patterns: Sequence[str]
    upright: bool


@runtime_checkable
class HasEvaluationScale(Protocol):
    """A game whose evaluations are on a scale of their own.

    clear_lead: the value of a clear one: to tree search, in which wins are worth 1 and evaluations
    less than a half, it is worth a quarter. In other games that is half of a win's scale.
    """

    clear_lead: float


@runtime_checkable
class HasValueBounds(Protocol):
    """A game that can tell between which values a position must lie, as B* asks."""

    def bounds(self) -> tuple[float, float]:
        """Return the least and the greatest value that the position may have for its mover.

        They hold for the utilities and for the game's own evaluation.
        """


@runtime_checkable
class HasTerminalValues(Protocol):
    """A game whose ends have values like those of evaluations, as the leaves of a tree have.

    In all other games a win outranks every evaluation, and every evaluation a loss.
    """

    @property
    def integer_values(self) -> bool:
        """Whether all ends have whole numbers, between which there is nothing to search for."""


@runtime_checkable
class SupportsQuiescence(Game[Move], Protocol[Move]):
    """A game that says on which moves a leaf is continued beyond the horizon.

    This is the heuristic continuation of 'Tema 2: Búsqueda en juegos', in chess quiescence.
    """

    def forced(self) -> bool:
        """Tell whether the mover may not stand pat, as in check: all moves are then continued."""

    def noisy_moves(self) -> Iterable[Move]:
        """Generate the legal moves worth continuing when the mover may also stand pat."""

    def quick_outcome(self) -> float | None:
        """Return `outcome` as far as it is known without looking for legal moves."""


@runtime_checkable
class SupportsNullMove(Protocol):
    """A game in which a search may pretend that the mover passes, though the rules forbid it."""

    def allows_null_move(self) -> bool:
        """Tell whether passing makes sense here: not in check, not where it might be best."""

    def play_null_move(self) -> None:
        """Let the mover pass; `undo` takes it back."""


@runtime_checkable
class HasFeatures(Protocol):
    """A game that can show its position as numbers, to networks."""

    def features(self) -> Any:
        """Return the position as a NumPy array of its own, of the same shape for every position."""


@runtime_checkable
class HasNamedFeatures(Protocol):
    """A game that names what is worth knowing of a position, for weights to be learned."""

    def named_features(self) -> Mapping[str, float]:
        """Return numbers from about -1 to 1 by their names, always the same, for the mover."""


@runtime_checkable
class SupportsPlayouts(Game[Move], Protocol[Move]):
    """A game that plays the playouts of Monte Carlo tree search itself, faster or better."""

    @property
    def max_playout_length(self) -> int:
        """The most moves that a playout makes."""

    def playout(self, random: Random) -> tuple[float, Sequence[tuple[int, Move]]]:
        """Play on from here to an end, and leave the position as it was.

        Return player 0's utility at the end, and who played which moves.
        """

    def candidate_moves(self) -> Iterable[Move]:
        """Generate the legal moves that a tree should hold, at least one while there are any."""


CHANCE = 2


@runtime_checkable
class ChanceGame(Game[Move], Protocol[Move]):
    """A game of chance: at some positions `turn` is CHANCE and the moves are events.

    The players need not alternate. A game is over, and a leaf evaluated, only where a player is
    to move.
    """

    def chance_outcomes(self) -> Iterable[tuple[Move, float]]:
        """Generate the events of a position of chance with their probabilities."""


@runtime_checkable
class HasSymmetry(Protocol):
    """A game with positions that differ only as a mirror image, or by another symmetry."""

    def symmetric_key(self) -> Hashable:
        """Return a key that is equal also for positions that a symmetry maps to each other."""


class NotatedGame(Game[Move], Protocol[Move]):
    """A game that can be shown: `str(game)` is the board, on one or more lines without a gap."""

    def text(self, move: Move) -> str:
        """Write a legal move in the game's notation: one word, different for every move."""


def format_line(game: NotatedGame[Move], line: Iterable[Move]) -> list[str]:
    """Write the moves of a line that begins at the position, which stays as it is."""
    texts = []
    for move in line:
        texts.append(game.text(move))
        game.play(move)
    for _ in texts:
        game.undo()
    return texts


def parse_move(game: NotatedGame[Move], text: str) -> Move:
    """Return the legal move that is written so; capitals do not matter.

    Raises ValueError, naming the legal moves, if there is none.
    """
    moves = {game.text(move).lower(): move for move in game.moves()}
    try:
        return moves[text.strip().lower()]
    except KeyError:
        legal = ", ".join(moves) or "none: the game is over"
        raise ValueError(f"{text!r} is no legal move; legal: {legal}") from None
