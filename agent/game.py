"""The `Game` interface and its optional protocols, through which searches access a game.

A game object is a mutable position with its move history. Searches make and undo moves on it. The
interface follows the formal definition of a game in 'Técnicas de IA, Tema 3.2' (initial state,
player, actions, result, terminal test, utility).

Every search can run on a plain `Game`. The other protocols add optional features:

- `HasMoveRating`, `HasMoveClass`, `HasPatterns`: move ordering.
- `HasEvaluationScale`, `HasTerminalValues`, `HasValueBounds`: values of evaluations and results.
- `SupportsQuiescence`, `SupportsNullMove`, `SupportsPlayouts`: search techniques.
- `HasSymmetry`: equal keys for symmetric positions.
- `HasFeatures`, `HasNamedFeatures`: inputs of learned evaluations.
- `ChanceGame`: games with random events.
- `NotatedGame`: text for boards and moves, which programs need to show and play a game.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from random import Random
from typing import Any, Protocol, TypeVar, runtime_checkable

from agent.io.message import Message

Move = TypeVar("Move")
Move_co = TypeVar("Move_co", covariant=True)
Move_contra = TypeVar("Move_contra", contravariant=True)


class Game(Protocol[Move]):
    """A two-player zero-sum game with perfect information, as a mutable position."""

    @property
    def turn(self) -> int:
        """The player to move, 0 or 1. Player 0 moves first in the game."""

    def moves(self) -> Iterable[Move]:
        """Return all legal moves in any order. The result is empty if the game is over."""

    def play(self, move: Move) -> None:
        """Play a legal move."""

    def undo(self) -> None:
        """Undo the last move."""

    def outcome(self) -> float | None:
        """Return the utility for player 0, or None if the game is not over.

        The utility is 1 for a win, 0 for a draw, -1 for a loss, or a difference of points.
        """

    def key(self) -> Hashable:
        """Return a key for transposition tables and repetition detection.

        Positions with equal keys must have the same legal moves and the same continuations.
        """


@runtime_checkable
class HasMoveRating(Protocol[Move_contra]):
    """A game with a fast static rating of moves, for move ordering."""

    def move_rating(self, move: Move_contra) -> float:
        """Return the rating of a move, 0 for an ordinary one. Higher ratings are searched first."""


class MoveClass(IntEnum):
    """Move classes for move ordering, in search order ('Técnicas de IA, Tema 3.2')."""

    CHECK = 0
    CAPTURE = 1
    THREAT = 2
    FORWARD = 3
    SIDEWAYS = 4
    BACKWARD = 5


@runtime_checkable
class HasMoveClass(Protocol[Move_contra]):
    """A game that classifies its moves, for move ordering."""

    def move_class(self, move: Move_contra) -> MoveClass:
        """Return the first class, in search order, that applies to a legal move."""


@runtime_checkable
class GridGame(Protocol[Move_co]):
    """A game on a grid in which each move fills a square. It supports pattern matching."""

    def grid(self) -> list[str]:
        """Return the rows of the board from top to bottom, with one character per square.

        `m` is a square of the side to move, `t` a square of the opponent, and `.` an empty square.
        """

    def move_at(self, row: int, column: int) -> Move_co | None:
        """Return the legal move that fills a square, or None. The top left square is (0, 0)."""


@runtime_checkable
class HasPatterns(GridGame[Move_co], Protocol[Move_co]):
    """A game with board patterns for move ordering (format: `agent.search.patterns`).

    If `upright` is true, patterns are not rotated, as in a game with gravity.
    """

    patterns: Sequence[str]
    upright: bool


@runtime_checkable
class HasEvaluationScale(Protocol):
    """A game that defines the scale of its evaluations for Monte Carlo tree search.

    `clear_lead` is the evaluation of a clear advantage. The search maps it to a reward of 0.25,
    where a win is 1. In games without `clear_lead`, it maps half the utility of a win to 0.25.
    """

    clear_lead: float


@runtime_checkable
class HasValueBounds(Protocol):
    """A game that provides lower and upper bounds for the value of a position, as B* requires."""

    def bounds(self) -> tuple[float, float]:
        """Return a lower and an upper bound for the position's value for the side to move."""


@runtime_checkable
class HasTerminalValues(Protocol):
    """A game with results and evaluations on the same scale, such as a tree with numeric leaves.

    In all other games a win outranks every evaluation, and every evaluation outranks a loss.
    """

    @property
    def integer_values(self) -> bool:
        """Whether all results are integers, so that a search window of width 1 is a null window."""


@runtime_checkable
class SupportsQuiescence(Game[Move], Protocol[Move]):
    """A game that supports quiescence search ('Tema 2: Búsqueda en juegos')."""

    def forced(self) -> bool:
        """Return whether quiescence search must search all moves, as in check."""

    def noisy_moves(self) -> Iterable[Move]:
        """Generate the legal moves to search if `forced` is False, such as captures."""

    def quick_outcome(self) -> float | None:
        """Return the outcome if it is known without move generation, otherwise None."""


@runtime_checkable
class SupportsNullMove(Protocol):
    """A game that supports null-move pruning."""

    def allows_null_move(self) -> bool:
        """Return whether a null move is sound. It is unsound in check and if zugzwang is likely."""

    def play_null_move(self) -> None:
        """Pass the turn to the opponent. `undo` also undoes null moves."""


@runtime_checkable
class HasFeatures(Protocol):
    """A game that encodes positions as arrays for neural networks."""

    def features(self) -> Any:
        """Return the position as a new NumPy array. All positions must have the same shape."""


@runtime_checkable
class HasNamedFeatures(Protocol):
    """A game with named features for linear evaluations with learned weights."""

    def named_features(self) -> Mapping[str, float]:
        """Return the features by name, from the point of view of the side to move.

        Values range from about -1 to 1. The names must be the same for all positions.
        """


@runtime_checkable
class SupportsPlayouts(Game[Move], Protocol[Move]):
    """A game with its own playouts for MCTS, which are faster or stronger than random ones."""

    @property
    def max_playout_length(self) -> int:
        """The maximum number of moves in a playout."""

    def playout(self, random: Random) -> tuple[float, Sequence[tuple[int, Move]]]:
        """Play to the end of the game, then restore the position.

        Return the final utility for player 0, and the moves as (player, move) pairs.
        """

    def candidate_moves(self) -> Iterable[Move]:
        """Generate the legal moves to add to the tree, at least one if any move is legal."""


CHANCE = 2


@runtime_checkable
class ChanceGame(Game[Move], Protocol[Move]):
    """A game with chance nodes, where `turn` is CHANCE and the moves are random events.

    The players need not alternate. A chance node is never terminal and never evaluated.
    """

    def chance_outcomes(self) -> Iterable[tuple[Move, float]]:
        """Generate the random events at a chance node with their probabilities."""


@runtime_checkable
class HasSymmetry(Protocol):
    """A game that provides equal keys for symmetric positions, such as mirror images."""

    def symmetric_key(self) -> Hashable:
        """Return a key that is equal for positions with equal `key` and for symmetric positions."""


class NotatedGame(Game[Move], Protocol[Move]):
    """A game with move notation. `str(game)` is the board, as one or more non-empty lines."""

    def text(self, move: Move) -> str:
        """Return the notation of a legal move, a single word that is unique in the position."""


def format_line(game: NotatedGame[Move], line: Iterable[Move]) -> list[str]:
    """Return the notations of the moves in `line`, which starts at the current position."""
    texts = []
    for move in line:
        texts.append(game.text(move))
        game.play(move)
    for _ in texts:
        game.undo()
    return texts


def parse_move(game: NotatedGame[Move], text: str) -> Move:
    """Return the legal move with this notation, ignoring case, or raise ValueError."""
    moves = {game.text(move).lower(): move for move in game.moves()}
    try:
        return moves[text.strip().lower()]
    except KeyError:
        legal = ", ".join(moves) or Message("none, the game is over")
        raise ValueError(Message("illegal move {!r} (legal moves: {})", text, legal)) from None
