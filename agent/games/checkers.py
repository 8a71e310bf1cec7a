"""Checkers (English draughts) on an 8x8 board. Player 0 is Black, who starts at the top.

Squares are numbered from 1 to 32 by row from the top, as in standard notation. A move ends when a
man is crowned. The game is drawn on threefold repetition, or after 40 moves by each side without a
capture or a man's move.

A set of squares is a bitboard with an unused bit after every second row. All downward steps are
therefore shifts by 4 and 5 bits, and a step off the board leads to an unused bit.
"""

from collections.abc import Hashable, Iterator
from itertools import pairwise
from typing import NamedTuple

from agent.game import MoveClass
from agent.games.position_text import format_position, parse_sized_position
from agent.io.message import Message

# Squares that a piece visits, including its start square: two for a step, at least two for a
# capture.
CheckersMove = tuple[int, ...]

MAX_PIECES = 12  # of each player
QUIET_PLIES = 80
# The key includes the draw clock only after this many quiet plies, where a search could reach the
# limit.
RECENT_PLIES = 40

_INDEX = {square: square - 1 + (square - 1) // 8 for square in range(1, 33)}
_BITS = {square: 1 << index for square, index in _INDEX.items()}
_SQUARES = {bit: square for square, bit in _BITS.items()}
_BOARD = sum(_SQUARES)
_DOWN, _UP = (4, 5), (-4, -5)
_FORWARD = (_DOWN, _UP)
_CROWNING = (sum(_BITS[square] for square in range(29, 33)), sum(_BITS[s] for s in range(1, 5)))
_BACK = _CROWNING[::-1]
_CENTRE = sum(_BITS[square] for square in (14, 15, 18, 19, 10, 11, 22, 23))
_ROWS = [sum(_BITS[square] for square in range(start, start + 4)) for start in range(1, 33, 4)]


class State(NamedTuple):
    """The pieces, kings, player to move, and number of plies since a capture or man's move."""

    pieces: tuple[int, int]
    kings: int
    turn: int
    quiet: int

    def key(self) -> tuple[int, int, int, int]:
        """Return the state without the ply counter, for repetition detection."""
        return *self.pieces, self.kings, self.turn


class Checkers:
    """A checkers position with its history. A move is the tuple of visited squares."""

    pieces = "bB", "wW"

    def __init__(self, *, position: str = "") -> None:
        black = sum(_BITS[square] for square in range(1, 13))
        white = sum(_BITS[square] for square in range(21, 33))
        start = State((black, white), 0, 0, 0)
        self._states = [_parse_state(position) if position else start]
        self._keys = [self._states[0].key()]

    @property
    def turn(self) -> int:
        """The player to move: 0 is Black, 1 is White."""
        return self._states[-1].turn

    def moves(self) -> list[CheckersMove]:
        """Return all legal moves. If a capture is possible, only captures are legal."""
        if self._is_drawn():
            return []
        return list(self._captures()) or list(self._steps())

    def play(self, move: CheckersMove) -> None:
        """Move a piece, remove the captured pieces, and crown a man that reaches the last row."""
        pieces, kings, turn, quiet = self._states[-1]
        begin, end = _BITS[move[0]], _BITS[move[-1]]
        taken = _taken(move)
        mine = pieces[turn] & ~begin | end
        theirs = pieces[1 - turn] & ~taken
        is_king = bool(kings & begin)
        quiet = quiet + 1 if is_king and not taken else 0
        kings &= ~(begin | taken)
        if is_king or end & _CROWNING[turn]:
            kings |= end
        both = (theirs, mine) if turn else (mine, theirs)
        self._states.append(State(both, kings, 1 - turn, quiet))
        self._keys.append(self._states[-1].key())

    def undo(self) -> None:
        """Undo the last move."""
        self._states.pop()
        self._keys.pop()

    def outcome(self) -> float | None:
        """Return 1 if Black won, -1 if White won, 0 for a draw, None if the game is not over."""
        if self._is_drawn():
            return 0
        if self._can_move():
            return None
        return 1 if self.turn else -1

    def key(self) -> Hashable:
        """Return the position, its repetition count, and the ply counter if near the draw limit."""
        quiet = self._states[-1].quiet
        return self._keys[-1], self._repetition_count(), max(0, quiet - RECENT_PLIES)

    def move_rating(self, move: CheckersMove) -> float:
        """Rate a move by the number of captured pieces and whether it crowns a man."""
        state = self._states[-1]
        crowns = _BITS[move[-1]] & _CROWNING[state.turn] and not _BITS[move[0]] & state.kings
        return 2 * _taken(move).bit_count() + bool(crowns)

    def move_class(self, move: CheckersMove) -> MoveClass:
        """Classify a move as a capture, threat, forward move or backward move."""
        if _taken(move):
            return MoveClass.CAPTURE
        self.play(move)
        state = self._states[-1]
        threatens = _jumpers(state, 1 - state.turn) & _BITS[move[-1]]
        self.undo()
        if threatens:
            return MoveClass.THREAT
        forward = (move[-1] > move[0]) == (self.turn == 0)
        return MoveClass.FORWARD if forward else MoveClass.BACKWARD

    def forced(self) -> bool:
        """Return whether the player to move must capture."""
        return bool(_jumpers(self._states[-1], self.turn)) and not self._is_drawn()

    def noisy_moves(self) -> list[CheckersMove]:
        """Return an empty list, because captures are mandatory."""
        return []

    def quick_outcome(self) -> float | None:
        """Return the same result as `outcome`."""
        return self.outcome()

    def men(self, player: int) -> int:
        """Return the squares of a player's men as a bitboard."""
        state = self._states[-1]
        return state.pieces[player] & ~state.kings

    def kings(self, player: int) -> int:
        """Return the squares of a player's kings as a bitboard."""
        state = self._states[-1]
        return state.pieces[player] & state.kings

    def _is_drawn(self) -> bool:
        return self._states[-1].quiet >= QUIET_PLIES or self._repetition_count() >= 3

    def _repetition_count(self) -> int:
        since = len(self._keys) - 1 - self._states[-1].quiet
        return self._keys[max(0, since) :].count(self._keys[-1])

    def _can_move(self) -> bool:
        state = self._states[-1]
        empty = _BOARD & ~(state.pieces[0] | state.pieces[1])
        mine = state.pieces[state.turn]
        for steps, movers in ((_DOWN + _UP, mine & state.kings), (_FORWARD[state.turn], mine)):
            if any(_shift(movers, step) & empty for step in steps):
                return True
        return bool(_jumpers(state, state.turn))

    def _steps(self) -> Iterator[CheckersMove]:
        state = self._states[-1]
        empty = _BOARD & ~(state.pieces[0] | state.pieces[1])
        mine = state.pieces[state.turn]
        for step in _DOWN + _UP:
            movers = mine if step in _FORWARD[state.turn] else mine & state.kings
            for target in _each(_shift(movers, step) & empty):
                yield _SQUARES[_shift(target, -step)], _SQUARES[target]

    def _captures(self) -> Iterator[CheckersMove]:
        state = self._states[-1]
        victims = state.pieces[1 - state.turn]
        for begin in _each(_jumpers(state, state.turn)):
            empty = _BOARD & ~(state.pieces[0] | state.pieces[1]) | begin
            is_king = bool(begin & state.kings)
            steps = _DOWN + _UP if is_king else _FORWARD[state.turn]
            stops = 0 if is_king else _CROWNING[state.turn]
            yield from _jumps((_SQUARES[begin],), begin, victims, empty, steps, stops)

    def text(self, move: CheckersMove) -> str:
        """Return the notation of a move, such as 11-15 for a step and 22x15x6 for a capture."""
        return ("x" if _taken(move) else "-").join(map(str, move))

    def position(self) -> str:
        """Return the position as text. See `agent.games.position_text`."""
        rows = [
            "".join(f".{sign}" if row % 2 == 0 else f"{sign}." for sign in signs)
            for row, signs in enumerate(self._dark_rows())
        ]
        return format_position(rows, self.turn, self.pieces)

    def __str__(self) -> str:
        """Return a diagram of the board. Men are shown as b and w, kings as B and W."""
        return "\n".join(
            "   ".join(["  " * (row % 2 == 0) + signs[0], *signs[1:]])
            for row, signs in enumerate(self._dark_rows())
        )

    def _dark_rows(self) -> list[list[str]]:
        """Return the signs on the dark squares by row from the top."""
        state = self._states[-1]

        def sign(square: int) -> str:
            bit = _BITS[square]
            letter = "b" if state.pieces[0] & bit else "w" if state.pieces[1] & bit else "."
            return letter.upper() if state.kings & bit else letter

        return [[sign(square) for square in range(start, start + 4)] for start in range(1, 33, 4)]


def evaluate(game: Checkers) -> float:
    """Return the material and positional advantage of the player to move, between -1 and 1."""
    return (_strength(game, game.turn) - _strength(game, 1 - game.turn)) / 3000


# Half a win is expected with a lead of two men.
evaluate.outcome_scale = 200 / 3000  # type: ignore[attr-defined]


def _strength(game: Checkers, player: int) -> int:
    men, kings = game.men(player), game.kings(player)
    rows = _ROWS if player == 0 else _ROWS[::-1]
    advance = sum(index * (men & row).bit_count() for index, row in enumerate(rows))
    placed = ((men | kings) & _CENTRE).bit_count() + 2 * (men & _BACK[player]).bit_count()
    return 100 * men.bit_count() + 150 * kings.bit_count() + 2 * advance + 3 * placed


def _parse_state(text: str) -> State:
    """Return a position as a state. Raise ValueError if it is invalid."""
    rows, turn = parse_sized_position(text, Checkers.pieces, 8, 8)
    sets, kings = [0, 0], 0
    for row, signs in enumerate(rows):
        for column, sign in enumerate(signs):
            if sign == ".":
                continue
            if (row + column) % 2 == 0:
                raise ValueError(Message("position: piece on a light square in row {}", row + 1))
            square = 4 * row + column // 2 + 1
            player = sign in Checkers.pieces[1]
            sets[player] |= _BITS[square]
            if sign.isupper():
                kings |= _BITS[square]
            elif _BITS[square] & _CROWNING[player]:
                raise ValueError(Message("position: man on square {} (must be a king)", square))
    if max(pieces.bit_count() for pieces in sets) > MAX_PIECES:
        raise ValueError(Message("position: more than {} pieces of a player", MAX_PIECES))
    return State((sets[0], sets[1]), kings, turn, 0)


def _shift(squares: int, step: int) -> int:
    return squares << step if step > 0 else squares >> -step


def _each(squares: int) -> Iterator[int]:
    while squares:
        square = squares & -squares
        squares ^= square
        yield square


def _jumpers(state: State, player: int) -> int:
    mine, theirs = state.pieces[player], state.pieces[1 - player]
    empty = _BOARD & ~(mine | theirs)
    jumpers = 0
    for step in _DOWN + _UP:
        movers = mine if step in _FORWARD[player] else mine & state.kings
        if movers:
            jumpers |= _shift(_shift(_shift(movers, step) & theirs, step) & empty, -2 * step)
    return jumpers


def _jumps(
    path: CheckersMove, at: int, victims: int, empty: int, steps: tuple[int, ...], stops: int
) -> Iterator[CheckersMove]:
    ended = True
    for step in steps:
        over = _shift(at, step) & victims
        target = _shift(over, step) & empty
        if target:
            ended = False
            longer = (*path, _SQUARES[target])
            if target & stops:
                yield longer
            else:
                yield from _jumps(longer, target, victims & ~over, empty, steps, stops)
    if ended:
        yield path


def _taken(move: CheckersMove) -> int:
    taken = 0
    for begin, end in pairwise(move):
        if abs(_INDEX[end] - _INDEX[begin]) > max(_DOWN):
            taken |= 1 << (_INDEX[begin] + _INDEX[end]) // 2
    return taken


GAME = Checkers
