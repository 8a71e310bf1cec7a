"""Go on a board of up to 19 columns and rows: surround the larger area.

The rules: area scoring, all stones that stay on the board counting as alive; positional superko;
no suicide; two passes in a row end the game. The utility is Black's area less White's and less
komi; territory and prisoners can be counted instead. Player 0 is Black. Moves are vertices of
agent.games.stones, or PASS.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Hashable, Iterable, Set
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from agent.games.stones import (
    BLACK,
    EMPTY,
    NO_VERTEX,
    PASS,
    PLAYOUT_LENGTH_FACTOR,
    WHITE,
    Stones,
    iter_bits,
)

if TYPE_CHECKING:
    from agent.evaluation_types import Evaluation
    from agent.games.batch_evaluation import BatchEvaluation

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
MAX_SIZE = 19
MAX_KOMI = 10**9
Size = tuple[int, int]  # of a board: its width and its height
_WIDTH_BY_HEIGHT = re.compile(r"([0-9]{1,2})x([0-9]{1,2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class State:
    """One position of a game with what the rules remember of the way to it.

    passes: how many moves in a row were passes. repeatable: something was captured, so that an
    earlier position may come again. history: a number that stands for the set of the positions
    so far, in any order. new: the position was not there before, and is the history's now.
    prisoners: how many stones Black and White have taken.
    """

    stones: Stones
    turn: int
    passes: int
    repeatable: bool
    history: int
    new: bool
    move: int | None = None
    prisoners: tuple[int, int] = (0, 0)

    def __deepcopy__(self, memo: object) -> State:
        """Return the state itself: it is never changed, nor are its stones."""
        return self


class Go:
    """A position of Go and its history. Raises ValueError of a size or a komi that cannot be.

    size: of the board, as it is written: the edge of a square, or WIDTHxHEIGHT, such as "9x13".
    komi: what White gets for moving second. capture_dead_stones: whether sensible players go on until
    every dead stone is off the board.
    """

    def __init__(self, size: int | str = 9, komi: float = 7.5) -> None:
        self.width, self.height = parse_size(size)
        self.size = format_size(self.width, self.height)
        if not abs(komi) < MAX_KOMI:
            raise ValueError(f"komi is less than {MAX_KOMI}, not {komi:g}")
        self.komi = komi
        self.capture_dead_stones = False
        stones = Stones(self.width, self.height)
        self._shape = stones.shape
        # The positions of the game so far, as the sets of both colours.
        self._seen_positions = {_position_key(stones)}
        self._states = [State(stones, 0, 0, False, hash(_position_key(stones)), True)]

    @property
    def turn(self) -> int:
        """The player to move: 0 is Black, 1 is White."""
        return self._states[-1].turn

    @property
    def stones(self) -> Stones:
        """The stones on the board; not to be changed."""
        return self._states[-1].stones

    @property
    def last_move(self) -> int | None:
        """The last move; None at the start, and after stones that were set up."""
        return self._states[-1].move

    @property
    def prisoners(self) -> tuple[int, int]:
        """How many stones Black and White have taken."""
        return self._states[-1].prisoners

    @property
    def passes(self) -> int:
        """How many moves in a row were passes just now, up to 2."""
        return self._states[-1].passes

    @property
    def repeatable(self) -> bool:
        """Whether something was captured, so that an earlier position may come again."""
        return self._states[-1].repeatable

    @property
    def positions(self) -> Set[tuple[int, int]]:
        """The positions of the game so far, as the sets of Black's and White's stones."""
        return self._seen_positions

    def last_moves(self, number: int) -> list[int | None]:
        """Return the last moves, the latest first; None where there was none."""
        found = [state.move for state in self._states[: -number - 1 : -1]]
        return found + [None] * (number - len(found))

    def moves_since(self, key: Hashable, most: int) -> list[int] | None:
        """Return the moves, up to `most`, that led here from a position of that key, by turns.

        None if there is no such position that near, or if stones were set up or turns changed.
        """
        moves: list[int] = []
        for before, after in zip(self._states[-2::-1], self._states[:0:-1], strict=True):
            if _key(after) == key:
                break
            passed = after.move == PASS and after.passes > 0
            if after.turn == before.turn or after.move is None or len(moves) == most:
                return None
            if not passed and after.stones is before.stones:
                return None
            moves.append(after.move)
        else:
            if _key(self._states[0]) != key:
                return None
        return moves[::-1]

    def moves(self) -> list[int]:
        """Return the vertices where the mover may put a stone, and PASS; none when it is over."""
        if self.is_over():
            return []
        player = self.turn
        legal = [
            move
            for move in iter_bits(self.stones.sets[EMPTY])
            if self._is_legal_placement(player, move)
        ]
        legal.append(PASS)
        return legal

    def is_legal(self, player: int, move: int) -> bool:
        """Tell whether the rules allow a player a move here, whoever's turn it is."""
        if move == PASS:
            return True
        return self.stones.board[move] == EMPTY and self._is_legal_placement(player, move)

    def _is_legal_placement(self, player: int, vertex: int) -> bool:
        """Tell whether a player may put a stone on an empty vertex."""
        state = self._states[-1]
        stones, colour = state.stones, player + 1
        if stones.is_suicide(vertex, colour):
            return False
        if not state.repeatable:
            return True
        sets = list(_position_key(stones))
        sets[player] |= 1 << vertex
        sets[1 - player] &= ~stones.captured_by(vertex, colour)
        return tuple(sets) not in self._seen_positions

    def play(self, move: int) -> None:
        """Put a stone and take off what it captures, or pass."""
        self.play_as(self.turn, move)

    def play_as(self, player: int, move: int) -> None:
        """Let a player move, whoever's turn it is; the other is to move then."""
        state = self._states[-1]
        if move == PASS:
            stones = state.stones
            if stones.ko != NO_VERTEX:
                stones = stones.copy()
                stones.ko = NO_VERTEX
            passes = min(state.passes, 1) + 1
            self._states.append(
                replace(state, stones=stones, turn=1 - player, passes=passes, new=False, move=PASS)
            )
            return
        stones = state.stones.copy()
        taken = stones.put(move, player + 1)
        black, white = state.prisoners
        prisoners = (black, white + len(taken)) if player else (black + len(taken), white)
        self._push(stones, 1 - player, state.repeatable or bool(taken), move, prisoners)

    def set_turn(self, player: int) -> None:
        """Give a player the turn, also after the end; `undo` takes it back."""
        self._states.append(replace(self._states[-1], turn=player, passes=0, new=False))

    def set_up(self, player: int, vertices: Iterable[int]) -> None:
        """Put stones of a player on empty vertices, as handicap or to begin from a position.

        `undo` takes all of them back. Raises ValueError, and changes nothing, if a vertex is
        not empty or a chain would be without liberties.
        """
        stones = self.stones.copy()
        for vertex in vertices:
            if stones.board[vertex] != EMPTY:
                raise ValueError(f"{self.text(vertex)} is not empty")
            if stones.is_suicide(vertex, player + 1) or stones.put(vertex, player + 1):
                raise ValueError(f"a stone on {self.text(vertex)} leaves a chain without liberties")
        stones.ko = NO_VERTEX
        self._push(stones, self.turn, True, None, self.prisoners)

    def _push(
        self,
        stones: Stones,
        turn: int,
        repeatable: bool,
        move: int | None,
        prisoners: tuple[int, int],
    ) -> None:
        position = _position_key(stones)
        new = position not in self._seen_positions
        history = self._states[-1].history
        if new:
            self._seen_positions.add(position)
            history ^= hash(position)
        self._states.append(State(stones, turn, 0, repeatable, history, new, move, prisoners))

    def undo(self) -> None:
        """Take the last move back."""
        state = self._states.pop()
        if state.new:
            self._seen_positions.remove(_position_key(state.stones))

    def is_over(self) -> bool:
        """Tell whether both players have passed."""
        return self._states[-1].passes == 2

    def outcome(self) -> float | None:
        """Return Black's area less White's and komi once both players have passed."""
        return self.score() if self.is_over() else None

    def score(self, dead: int = 0) -> float:
        """Return Black's area less White's and komi, without the set of dead stones."""
        stones = self.stones
        if dead:
            stones = without_stones(stones, dead)
        black, white = stones.areas()
        return black.bit_count() - white.bit_count() - self.komi

    def territory_score(self, dead: int = 0, seki: int = 0) -> float:
        """Return Black's territory and prisoners less White's and komi.

        dead: the set of dead stones, which are prisoners too. seki: living stones; what is empty
        and connected with one of them is nobody's territory.
        """
        stones = without_stones(self.stones, dead) if dead else self.stones
        empty = stones.sets[EMPTY]
        neutral = stones.shape.flood_fill(seki & ~dead, empty)
        points: list[float] = [*self.prisoners]
        for player, area in enumerate(stones.areas()):
            points[player] += (area & empty & ~neutral).bit_count()
            points[1 - player] += (self.stones.sets[player + 1] & dead).bit_count()
        return points[0] - points[1] - self.komi

    def key(self) -> Hashable:
        """Return the stones, the turn, the passes, and the positions that may not come again."""
        return _key(self._states[-1])

    def move_rating(self, move: int) -> float:
        """Rate moves by the stones that they capture; the first line and passing come late."""
        if move == PASS:
            return -2
        captured = self.stones.captured_by(move, self.turn + 1).bit_count()
        return captured or -(len(self._shape.neighbours[move]) < 4)

    def candidate_moves(self) -> list[int]:
        """Return the legal moves but those that fill an own eye.

        PASS is among them, but not where all dead stones are to be captured and a move is left.
        """
        colour, stones = self.turn + 1, self.stones
        *stays, _ = self.moves() or [PASS]
        found = [move for move in stays if not stones.is_own_eye(move, colour)]
        return found if self.capture_dead_stones and found else [*found, PASS]

    @property
    def max_playout_length(self) -> int:
        """The most moves that a playout makes."""
        return PLAYOUT_LENGTH_FACTOR * self.width * self.height

    def playout(self, random: Random) -> tuple[float, list[tuple[int, int]]]:
        """Play on at random, without filling eyes; return the score and (player, move) of each.

        The position stays as it is. Of repetitions only those of a simple ko are kept from.
        """
        state = self._states[-1]
        stones = state.stones.copy()
        played = stones.play_out(state.turn + 1, state.passes, random)
        black, white = stones.areas()
        score = black.bit_count() - white.bit_count() - self.komi
        return score, [(colour - 1, vertex) for colour, vertex in played]

    def text(self, move: int) -> str:
        """Return a vertex by its column's letter (there is no I) and row from below, or "pass"."""
        if move == PASS:
            return "pass"
        column, row = self._shape.coordinates(move)
        return f"{COLUMNS[column]}{row + 1}"

    def __str__(self) -> str:
        signs = {EMPTY: ".", BLACK: "X", WHITE: "O"}
        letters = "   " + " ".join(COLUMNS[: self.width])
        rows = [
            f"{row + 1:2} "
            + " ".join(
                signs[self.stones.board[self._shape.vertex(column, row)]]
                for column in range(self.width)
            )
            for row in reversed(range(self.height))
        ]
        return "\n".join([*rows, letters])


def parse_size(size: object) -> Size:
    """Return the width and the height that the size of a board says.

    size: the edge of a square, or WIDTHxHEIGHT, each from 1 to LARGEST; ValueError for any other.
    """
    edges: Size | None = None
    if isinstance(size, int) and not isinstance(size, bool):
        edges = size, size
    elif isinstance(size, str) and (found := _WIDTH_BY_HEIGHT.fullmatch(size)):
        edges = int(found[1]), int(found[2])
    if edges is None or not all(1 <= edge <= MAX_SIZE for edge in edges):
        raise ValueError(
            f"a board of size {reprlib.repr(size)} cannot be; "
            f"use 1 to {MAX_SIZE}, or WIDTHxHEIGHT such as 9x13"
        )
    return edges


def format_size(width: int, height: int) -> int | str:
    """Return the size of a board as a game of Go is told it: see `parse_size`."""
    return width if width == height else f"{width}x{height}"


def without_stones(stones: Stones, dead: int) -> Stones:
    """Return a position without some of its stones."""
    rest = Stones(stones.shape.width, stones.shape.height)
    for colour in (BLACK, WHITE):
        for vertex in iter_bits(stones.sets[colour] & ~dead):
            rest.put(vertex, colour)
    return rest


def evaluate(game: Go) -> float:
    """Return the mover's points less the other's: stones, and what is nearer to his than to theirs.

    Vertices as near to both colours count for nobody.
    """
    _, black, white = game.stones.sets
    around = game.stones.shape.adjacent
    free = game.stones.sets[EMPTY]
    while free:
        by_black, by_white = around(black) & free, around(white) & free
        if not by_black | by_white:
            break
        black |= by_black & ~by_white
        white |= by_white & ~by_black
        free &= ~(by_black | by_white)
    points = black.bit_count() - white.bit_count() - game.komi
    return -points if game.turn else points


def _key(state: State) -> Hashable:
    return state.turn, state.passes, _position_key(state.stones), state.history


def _position_key(stones: Stones) -> tuple[int, int]:
    return stones.sets[BLACK], stones.sets[WHITE]


def adapt_batched(evaluation: Evaluation) -> BatchEvaluation:
    """Make an evaluation of one that judges `GoBatch`es."""
    from agent.games.go_batch import go_batch_evaluation  # it brings in NumPy

    return go_batch_evaluation(evaluation)


GAME = Go
