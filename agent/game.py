"""The Game interface, which searches use to play moves and to evaluate positions.

It follows the formal definition of 'Técnicas de IA, Tema 3.2' (initial state, player, actions,
result, terminal test, utility), for searches that make and undo moves. A game object is a mutable
position with its move history. If copying a state is cheap, a game may keep a stack of states for
`undo`.

Every search can run on a plain `Game`. The other protocols add optional features:

- `HasMoveRating`, `HasMoveClass`, `HasPatterns`: move ordering.
- `HasEvaluationScale`, `HasTerminalValues`, `HasValueBounds`: values of evaluations and results.
- `SupportsQuiescence`, `SupportsNullMove`, `SupportsPlayouts`: search techniques.
- `HasSymmetry`: equal keys for symmetric positions.
- `HasFeatures`, `HasNamedFeatures`: inputs of learned evaluations.
- `ChanceGame`: games with random events.
- `NotatedGame`: text for boards and moves; needed to show and play a game.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from random import Random
from typing import Any, Protocol, TypeVar, runtime_checkable

Move = TypeVar("Move")
Move_co = TypeVar("Move_co", covariant=True)
Move_contra = TypeVar("Move_contra", contravariant=True)


class Game(Protocol[Move]):
    """A two-player zero-sum game with perfect information, as a mutable position."""

    @property
    def turn(self) -> int:
        """The player to move: 0 is the player who moves first, 1 is the other player."""

    def moves(self) -> Iterable[Move]:
        """Return all legal moves in any order. The result is empty if the game is over."""

    def play(self, move: Move) -> None:
        """Play a legal move."""

    def undo(self) -> None:
        """Undo the last move."""

    def outcome(self) -> float | None:
        """Return the utility for player 0 if the game is over, otherwise None.

        The utility is 1 for a win, 0 for a draw, -1 for a loss, or a score.
        """

    def key(self) -> Hashable:
        """Return a key for transposition tables and repetition detection.

        Positions with equal keys must have the same legal moves and the same continuations.
        """


@runtime_checkable
class HasMoveRating(Protocol[Move_contra]):
    """A game with a fast static rating of moves, for move ordering."""

    def move_rating(self, move: Move_contra) -> float:
        """Return the rating of a legal move. Moves with higher ratings are searched first.

        The rating of an ordinary move is 0.
        """


class MoveClass(IntEnum):
    """Move classes for move ordering, in the order in which they are searched.

    Source: the order of chess moves in 'Técnicas de IA, Tema 3.2'.
    """

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
        """Return the class of a legal move, or the first class in order if several apply."""


@runtime_checkable
class GridGame(Protocol[Move_co]):
    """A game in which a move fills a square of the board. It supports pattern matching."""

    def grid(self) -> list[str]:
        """Return the rows of the board from top to bottom.

        In each row, `m` is a square of the side to move, `t` is a square of the opponent, and `.`
        is an empty square.
        """

    def move_at(self, row: int, column: int) -> Move_co | None:
        """Return the legal move that fills a square, or None. The top left square is (0, 0)."""


@runtime_checkable
class HasPatterns(GridGame[Move_co], Protocol[Move_co]):
    """A game with board patterns for move ordering.

    `patterns` has the format described in `agent.search.patterns`. `upright` states whether
    patterns must not be rotated, as in a game with gravity.
    """

    patterns: Sequence[str]
    upright: bool


@runtime_checkable
class HasEvaluationScale(Protocol):
    """A game that defines the scale of its evaluations.

    `clear_lead` is the evaluation of a clear advantage. Monte Carlo tree search, where a win is 1
    and evaluations stay below 0.5, maps it to 0.25. In other games it maps half the utility of a
    win to 0.25.
    """

    clear_lead: float


@runtime_checkable
class HasValueBounds(Protocol):
    """A game that provides lower and upper bounds for the value of a position, as B* requires."""

    def bounds(self) -> tuple[float, float]:
        """Return the lower and upper bound for the value of the position for the side to move.

        The bounds apply to utilities and to the game's own evaluation.
        """


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
    """A game that supports quiescence search.

    Source: the heuristic continuation of 'Tema 2: Búsqueda en juegos'.
    """

    def forced(self) -> bool:
        """Return whether quiescence search must search all moves, as in check."""

    def noisy_moves(self) -> Iterable[Move]:
        """Generate the legal moves to try in quiescence search if `forced` returns False."""

    def quick_outcome(self) -> float | None:
        """Return the outcome if it is known without move generation, otherwise None."""


@runtime_checkable
class SupportsNullMove(Protocol):
    """A game that supports null-move pruning."""

    def allows_null_move(self) -> bool:
        """Return whether a null move is sound: there is no check, and zugzwang is unlikely."""

    def play_null_move(self) -> None:
        """Pass the turn to the opponent. `undo` undoes a null move."""


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
        """Generate the legal moves to consider in the tree: at least one if any move is legal."""


CHANCE = 2


@runtime_checkable
class ChanceGame(Game[Move], Protocol[Move]):
    """A game with chance nodes, where `turn` is CHANCE and the moves are random events.

    The players need not alternate. A position at a chance node is never terminal and never
    evaluated.
    """

    def chance_outcomes(self) -> Iterable[tuple[Move, float]]:
        """Generate the random events at a chance node with their probabilities."""


@runtime_checkable
class HasSymmetry(Protocol):
    """A game that provides equal keys for symmetric positions, such as mirror images."""

    def symmetric_key(self) -> Hashable:
        """Return a key that is equal for positions with equal `key` and for symmetric positions."""


class NotatedGame(Game[Move], Protocol[Move]):
    """A game with a notation for moves and a text form of the board.

    `str(game)` is the board, as one or more non-empty lines.
    """

    def text(self, move: Move) -> str:
        """Return the notation of a legal move: a single word that no other legal move has."""


def format_line(game: NotatedGame[Move], line: Iterable[Move]) -> list[str]:
    """Return the notation of each move of `line`, which starts at the current position.

    The game is in the same position afterwards.
    """
    texts = []
    for move in line:
        texts.append(game.text(move))
        game.play(move)
    for _ in texts:
        game.undo()
    return texts


def parse_move(game: NotatedGame[Move], text: str) -> Move:
    """Return the legal move with the notation `text`, ignoring case.

    Raise ValueError, with a list of the legal moves, if there is no such move.
    """
    moves = {game.text(move).lower(): move for move in game.moves()}
    try:
        return moves[text.strip().lower()]
    except KeyError:
        legal = ", ".join(moves) or "none, the game is over"
        raise ValueError(f"illegal move {text!r} (legal moves: {legal})") from None
