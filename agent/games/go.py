"""Go on boards with up to 25 rows and columns. Player 0 is Black.

Two consecutive passes end the game, and all stones left on the board count as alive. The other
rules are those of `agent.games.go_rules`, by default area scoring, positional superko, and no
suicide. A move is PASS or a vertex, which is an index as described in `agent.games.stones`.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Hashable, Iterable, Set
from dataclasses import dataclass, replace
from functools import reduce
from operator import xor
from random import Random
from typing import TYPE_CHECKING

from agent.games.go_rules import DEFAULT_RULES
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
from agent.io.message import Message

if TYPE_CHECKING:
    from agent.evaluation_types import Evaluation
    from agent.games.batch_evaluation import BatchEvaluation

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
MAX_SIZE = 25  # the number of letters in COLUMNS
MAX_KOMI = 10**9
MAX_GROUP_TAX = 2
# The number of positions that are kept when stones are replaced.
MAX_EDITED_STATES = 1000
BUTTON_POINTS = 0.5  # for the player who passes first, if the rules have a button
Size = tuple[int, int]  # width and height of the board
_WIDTH_BY_HEIGHT = re.compile(r"([0-9]{1,2})x([0-9]{1,2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class State:
    """A position, with the part of the game history that the rules require.

    - `passes`: the number of consecutive passes before this position, at most 2.
    - `repeatable`: whether a position may repeat, because stones were captured or set up.
    - `history`: the XOR of the hashes of all positions in the game.
    - `new`: whether the last move led to a position that is new in the game.
    - `turn_set`: whether `set_turn` made this state from the one before.
    - `prisoners`: the numbers of stones captured by Black and by White.
    """

    stones: Stones
    turn: int
    passes: int
    repeatable: bool
    history: int
    new: bool
    move: int | None = None
    prisoners: tuple[int, int] = (0, 0)
    turn_set: bool = False

    def __deepcopy__(self, memo: object) -> State:
        return self


class Go:
    """A Go position with its history. Raise ValueError if `size` or `komi` is invalid.

    `size` is the number of rows of a square board, or text such as "9x13" (width x height). `komi`
    is the number of points that White receives. The attribute `rules` may be changed at any time.
    If the attribute `capture_dead_stones` is true, `candidate_moves` omits PASS while another move
    remains.
    """

    def __init__(self, size: int | str = 9, komi: float = 7.5) -> None:
        self.width, self.height = parse_size(size)
        self.size = format_size(self.width, self.height)
        if not abs(komi) < MAX_KOMI:
            raise ValueError(
                Message("komi must be between -{} and {} (got {:g})", MAX_KOMI, MAX_KOMI, komi)
            )
        self.komi = komi
        self.rules = DEFAULT_RULES
        self.capture_dead_stones = False
        stones = Stones(self.width, self.height)
        self._shape = stones.shape
        # All positions so far as pairs of stone sets, for positional superko.
        self._seen_positions = {_position_key(stones)}
        self._states = [State(stones, 0, 0, False, hash(_position_key(stones)), True)]

    @property
    def turn(self) -> int:
        """The player to move: 0 is Black, 1 is White."""
        return self._states[-1].turn

    @property
    def stones(self) -> Stones:
        """The stones on the board. They must not be modified."""
        return self._states[-1].stones

    @property
    def last_move(self) -> int | None:
        """The last move, or None in the initial position and after stones were set up."""
        return self._states[-1].move

    @property
    def prisoners(self) -> tuple[int, int]:
        """The numbers of stones captured by Black and by White."""
        return self._states[-1].prisoners

    @property
    def passes(self) -> int:
        """The number of consecutive passes before this position, at most 2."""
        return self._states[-1].passes

    @property
    def repeatable(self) -> bool:
        """Whether a position may repeat, because stones were captured or set up."""
        return self._states[-1].repeatable

    @property
    def positions(self) -> Set[tuple[int, int]]:
        """All positions in the game, each as bitboards of the black and the white stones."""
        return self._seen_positions

    @property
    def situations(self) -> Set[tuple[int, int, int]]:
        """The positions that a move must not repeat: the bitboards, and the player to move.

        With positional superko, the player is always 0. With simple ko, these are the positions
        since the last pass. To repeat one is legal, but the search counts it as a draw.
        """
        if self.rules.ko == "POSITIONAL":
            return {(*position, 0) for position in self._seen_positions}
        found: set[tuple[int, int, int]] = set()
        replaced = False
        for state in reversed(self._states):
            if not replaced:
                found.add((*_position_key(state.stones), state.turn))
            replaced = state.turn_set
            if self.rules.ko == "SIMPLE" and state.move == PASS:
                break
        return found

    @property
    def button_taker(self) -> int | None:
        """The player who passed first, if the rules have a button and it is taken."""
        passed = (state for state in self._states if state.move == PASS)
        first = next(passed, None) if self.rules.has_button else None
        return None if first is None else 1 - first.turn

    @property
    def area_komi(self) -> float:
        """Return the komi to add to White's area when a later final position is scored.

        Under territory scoring, each stone placed so far costs a point. If the players place
        equally many stones from here on, area and territory then give the same score.
        """
        komi = self.komi
        if self.rules.territory:
            _, black, white = self.stones.sets
            by_black, by_white = self.prisoners
            komi += black.bit_count() + by_white - white.bit_count() - by_black
        if (taker := self.button_taker) is not None:
            komi += BUTTON_POINTS if taker else -BUTTON_POINTS
        return komi

    def last_moves(self, count: int) -> list[int | None]:
        """Return the last `count` moves, the most recent first, padded with None."""
        moves = [state.move for state in self._states[: -count - 1 : -1]]
        return moves + [None] * (count - len(moves))

    def moves_since(self, key: Hashable, limit: int) -> list[int] | None:
        """Return the moves since the most recent position with this key, oldest first.

        Return None if that position is not among the last `limit` moves. Also return None if, since
        then, a player moved twice in a row, stones were set up, or the turn was changed.
        """
        moves: list[int] = []
        for before, after in zip(self._states[-2::-1], self._states[:0:-1], strict=True):
            if _key(after) == key:
                break
            passed = after.move == PASS and after.passes > 0
            if after.turn == before.turn or after.move is None or len(moves) == limit:
                return None
            if not passed and after.stones is before.stones:
                return None
            moves.append(after.move)
        else:
            if _key(self._states[0]) != key:
                return None
        return moves[::-1]

    def moves(self) -> list[int]:
        """Return the legal vertices and PASS, or [] if the game is over."""
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

    def is_legal(self, player: int, move: int, *, tolerant: bool = False) -> bool:
        """Return whether a move is legal for `player`, regardless of whose turn it is.

        If `tolerant` is set, ignore the ko rule and allow suicide of several stones, as KataGo does
        for moves that it is given. Others may play by other rules.
        """
        if move == PASS:
            return True
        if self.stones.board[move] != EMPTY:
            return False
        return self._is_legal_placement(player, move, tolerant=tolerant)

    def _is_legal_placement(self, player: int, vertex: int, *, tolerant: bool = False) -> bool:
        state = self._states[-1]
        stones, colour = state.stones, player + 1
        suicide = stones.is_suicide(vertex, colour)
        if suicide:
            neighbours = self._shape.neighbours[vertex]
            if not (tolerant or self.rules.suicide) or all(
                stones.board[beside] != colour for beside in neighbours
            ):
                return False
        if tolerant or not (state.repeatable or suicide):
            return True
        if self.rules.ko == "SIMPLE":
            return vertex != stones.ko or not stones.captured_by(vertex, colour)
        position = self._position_after(player, vertex)
        if position not in self._seen_positions or self.rules.ko == "POSITIONAL":
            return position not in self._seen_positions
        return (*position, 1 - player) not in self.situations

    def _position_after(self, player: int, vertex: int) -> tuple[int, int]:
        colour, captured = player + 1, self.stones.captured_by(vertex, player + 1)
        if not captured and self.stones.is_suicide(vertex, colour):
            after = self.stones.copy()
            after.put(vertex, colour)
            return _position_key(after)
        sets = list(_position_key(self.stones))
        sets[player] |= 1 << vertex
        sets[1 - player] &= ~captured
        return sets[0], sets[1]

    def play(self, move: int) -> None:
        """Place a stone and remove captured stones, or pass."""
        self.play_as(self.turn, move)

    def play_as(self, player: int, move: int) -> None:
        """Play a move for `player`, even if it is not their turn. The opponent moves next."""
        state = self._states[-1]
        if move == PASS:
            stones = state.stones
            if stones.ko != NO_VERTEX:
                stones = stones.copy()
                stones.ko = NO_VERTEX
            passes = min(state.passes, 1) + 1
            if self.rules.has_button and self.button_taker is None:
                passes = 0  # takes the button
            self._states.append(
                replace(
                    state,
                    stones=stones,
                    turn=1 - player,
                    passes=passes,
                    new=False,
                    move=PASS,
                    turn_set=False,
                )
            )
            return
        stones = state.stones.copy()
        taken = stones.put(move, player + 1)
        black, white = state.prisoners
        by_white = player == (stones.board[move] != EMPTY)  # suicide gives prisoners to the other
        prisoners = (black, white + len(taken)) if by_white else (black + len(taken), white)
        self._push(stones, 1 - player, state.repeatable or bool(taken), move, prisoners)

    def set_turn(self, player: int) -> None:
        """Set the player to move, even if the game is over. `undo` undoes this change."""
        self._states.append(
            replace(self._states[-1], turn=player, passes=0, new=False, turn_set=True)
        )

    def set_up(self, player: int, vertices: Iterable[int]) -> None:
        """Place stones of one player on empty vertices. `undo` removes all of them.

        Raise ValueError, without changing the game, if a vertex is not empty or a chain would have
        no liberties.
        """
        stones = self.stones.copy()
        for vertex in vertices:
            if stones.board[vertex] != EMPTY:
                raise ValueError(Message("{} is not empty", self.text(vertex)))
            if stones.is_suicide(vertex, player + 1) or stones.put(vertex, player + 1):
                raise ValueError(
                    Message("a stone on {} leaves a chain without liberties", self.text(vertex))
                )
        stones.ko = NO_VERTEX
        self._push(stones, self.turn, True, None, self.prisoners)

    def edit(self, stones: Stones, changed: int) -> None:
        """Replace the position by `stones`, which differ from it on the vertices `changed` at most.

        The last earlier positions, which the ko rule forbids, are changed in the same way. No move
        can be undone.
        """

        def edited(before: Stones) -> Stones:
            after = before.copy()  # Only the sets of an earlier position are used.
            after.sets = [
                (own & ~changed) | (new & changed)
                for own, new in zip(before.sets, stones.sets, strict=True)
            ]
            return after

        *earlier, last = self._states[-MAX_EDITED_STATES:]
        self._states = [replace(state, stones=edited(state.stones)) for state in earlier]
        self._states.append(replace(last, stones=stones, passes=0, repeatable=True, move=None))
        self._seen_positions = {_position_key(state.stones) for state in self._states}
        history = reduce(xor, map(hash, self._seen_positions))
        self._states[-1] = replace(self._states[-1], history=history)

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
        """Undo the last move, setup of stones, or change of turn."""
        state = self._states.pop()
        if state.new:
            self._seen_positions.remove(_position_key(state.stones))

    def is_over(self) -> bool:
        """Return whether the game has ended by two passes."""
        return self._states[-1].passes == 2

    def outcome(self) -> float | None:
        """Return Black's points minus White's and komi, or None if the game is not over."""
        return self.score() if self.is_over() else None

    def score(self, dead: int = 0, seki: int = 0) -> float:
        """Return Black's points minus White's and komi by the rules.

        The bitboard `dead` contains dead stones, which are removed and count as prisoners. The
        bitboard `seki` contains stones in seki. With a tax, empty vertices connected to them are
        not points.
        """
        rules, before = self.rules, self.stones
        stones = without_stones(before, dead) if dead else before
        empty, *colours = stones.sets
        neutral = 0
        if rules.tax != "NONE":
            neutral = empty & stones.shape.flood_fill(seki & ~dead, empty)
        points: list[float] = [0, 0]
        for player, area in enumerate(stones.areas()):
            points[player] += (area & empty & ~neutral).bit_count()
            if rules.territory:
                points[player] += self.prisoners[player]
                points[1 - player] += (before.sets[player + 1] & dead).bit_count()
            else:
                points[player] += colours[player].bit_count()
            if rules.tax == "ALL":
                points[player] -= _group_tax(stones, area, seki)
        if (taker := self.button_taker) is not None:
            points[taker] += BUTTON_POINTS
        return points[0] - points[1] - self.komi

    def key(self) -> Hashable:
        """Return the player to move, the number of passes, the stones, and the history hash."""
        return _key(self._states[-1])

    def move_rating(self, move: int) -> float:
        """Rate captures by their size, other first-line moves -1, PASS -2, and all others 0."""
        if move == PASS:
            return -2
        captured = self.stones.captured_by(move, self.turn + 1).bit_count()
        return captured or -(len(self._shape.neighbours[move]) < 4)

    def candidate_moves(self) -> list[int]:
        """Return the legal moves that do not fill an eye of the player to move.

        PASS is omitted if `capture_dead_stones` is true and another move remains.
        """
        colour, stones = self.turn + 1, self.stones
        *placements, _ = self.moves() or [PASS]
        moves = [move for move in placements if not stones.is_own_eye(move, colour)]
        return moves if self.capture_dead_stones and moves else [*moves, PASS]

    @property
    def max_playout_length(self) -> int:
        """The maximum number of moves in a playout."""
        return PLAYOUT_LENGTH_FACTOR * self.width * self.height

    def playout(self, random: Random) -> tuple[float, list[tuple[int, int]]]:
        """Play random moves to the end on a copy. Return the score and (player, move) pairs."""
        state = self._states[-1]
        stones = state.stones.copy()
        played = stones.play_out(state.turn + 1, state.passes, random)
        black, white = stones.areas()
        score = black.bit_count() - white.bit_count() - self.area_komi
        return score, [(colour - 1, vertex) for colour, vertex in played]

    def text(self, move: int) -> str:
        """Return the GTP name of a vertex, such as "D4", or "pass". Columns skip the letter I."""
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


def parse_size(size: object, max_size: int = MAX_SIZE) -> Size:
    """Return (width, height) for a size such as 9 or "9x13". Raise ValueError if it is invalid."""
    edges: Size | None = None
    if isinstance(size, int) and not isinstance(size, bool):
        edges = size, size
    elif isinstance(size, str) and (match := _WIDTH_BY_HEIGHT.fullmatch(size)):
        edges = int(match[1]), int(match[2])
    if edges is None or not all(1 <= edge <= max_size for edge in edges):
        raise ValueError(
            Message(
                "invalid board size {} (expected 1 to {}, or WIDTHxHEIGHT such as 9x13)",
                reprlib.repr(size),
                max_size,
            )
        )
    return edges


def format_size(width: int, height: int) -> int | str:
    """Return the board size as an int if the board is square, otherwise as text such as "9x13"."""
    return width if width == height else f"{width}x{height}"


def without_stones(stones: Stones, dead: int) -> Stones:
    """Return a copy of a position without the stones in the bitboard `dead`."""
    rest = Stones(stones.shape.width, stones.shape.height)
    for colour in (BLACK, WHITE):
        for vertex in iter_bits(stones.sets[colour] & ~dead):
            rest.put(vertex, colour)
    return rest


def _group_tax(stones: Stones, area: int, seki: int) -> int:
    """Return the group tax on an area: two points for each group that is not in seki."""
    return sum(
        min(MAX_GROUP_TAX, (group & stones.sets[EMPTY]).bit_count())
        for group in stones.shape.regions(area)
        if not group & seki
    )


def evaluate(game: Go) -> float:
    """Return the lead of the player to move in vertices nearest to their stones, including komi."""
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
    points = black.bit_count() - white.bit_count() - game.area_komi
    return -points if game.turn else points


def _key(state: State) -> Hashable:
    return state.turn, state.passes, _position_key(state.stones), state.history


def _position_key(stones: Stones) -> tuple[int, int]:
    return stones.sets[BLACK], stones.sets[WHITE]


def adapt_batched(evaluation: Evaluation) -> BatchEvaluation:
    """Convert a user's evaluation of `GoBatch` objects to a `BatchEvaluation`."""
    from agent.games.go_batch import go_batch_evaluation  # lazy import: loads NumPy

    return go_batch_evaluation(evaluation)


GAME = Go
