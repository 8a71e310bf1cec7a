from __future__ import annotations

from typing import TYPE_CHECKING

from agent.games.variants import STANDARD_RULES, ChessRules
from protocols.current_line import yield_turn
from protocols.uci.parsing import PositionCommand, UciError, shorten

if TYPE_CHECKING:
    import chess

# The 75-move rule ends the game at this half-move clock.
MAX_HALFMOVE_CLOCK = 150
# Length of the longest legal game in half-moves: 118 captures and pawn moves, each after at most
# 150 half-moves, minus three (Tom Murphy VII, 'Is this the longest Chess game?', 2020).
MAX_GAME_PLIES = 17_697
# Maximum history of a position, in half-moves. Each takes about a kilobyte. Of longer games, only
# the positions that can matter to the rules are kept.
HISTORY_PLIES = 600
# Variants without `flip`: White and Black have different rules in horde, and the same goal, the
# eighth rank, in racing kings.
NOT_FLIPPABLE = ("horde", "racingkings")
MAX_SHOWN_FEN = 120  # characters in an error message


class CurrentPosition:
    """The position of a session. After a refused `position` command, there is none."""

    def __init__(self) -> None:
        self._board: chess.Board | None = None
        self._fen: str | None = None
        self._rules = STANDARD_RULES
        self._moves: tuple[str, ...] = ()
        self._refusal = ""  # why there is no position

    @property
    def board(self) -> chess.Board:
        """Return the board with the moves before it, which is initially the start position.

        Of a longer game than HISTORY_PLIES, at least MAX_HALFMOVE_CLOCK half-moves are kept. Raise
        `UciError` if the last position was refused.
        """
        if self._refusal:
            raise UciError(f"no valid position ({self._refusal})")
        if self._board is None:
            self.set(PositionCommand(None, ()))
        assert self._board is not None
        return self._board

    def refuse(self, reason: str) -> None:
        """Have no position until the next is set, so that no older one is searched instead."""
        self._board, self._moves, self._refusal = None, (), reason

    def set(self, position: PositionCommand, rules: ChessRules = STANDARD_RULES) -> None:
        """Set the position. If the current game is extended, play only the new moves.

        Raise `UciError` if the position is refused, or if a move is illegal. In the second case,
        the moves before it are played.
        """
        board, fen, moves = self._board, position.fen, position.moves
        played, same_root = len(self._moves), (fen, rules) == (self._fen, self._rules)
        try:
            if len(moves) > MAX_GAME_PLIES:
                raise UciError(
                    f"position: too many moves: {len(moves)} (expected at most {MAX_GAME_PLIES})"
                )
            if board is None or not same_root or moves[:played] != self._moves:
                board, played = read_board(fen, rules), 0
        except UciError as error:
            self.refuse(str(error))
            raise
        self._fen, self._rules, self._refusal = fen, rules, ""
        try:
            for text in moves[played:]:
                yield_turn()
                move = read_move(board, text)
                if len(board.move_stack) == HISTORY_PLIES:
                    board = board.copy(stack=MAX_HALFMOVE_CLOCK)
                board.push(move)
                played += 1
        finally:
            self._board, self._moves = board, moves[:played]

    def change_rules(self, rules: ChessRules) -> None:
        """Replace a position of another variant by the start position."""
        if rules.variant != self._rules.variant:
            self.set(PositionCommand(None, ()), rules)

    def flip(self) -> None:
        """Swap the colours and discard the history."""
        board = self.board
        if self._rules.variant in NOT_FLIPPABLE:
            raise UciError(f"flip: not possible in {self._rules.variant}")
        self.set(PositionCommand(board.mirror().fen(), ()), self._rules)


def read_board(fen: str | None, rules: ChessRules = STANDARD_RULES) -> chess.Board:
    """Return the board for a FEN, or the start position of the variant if `fen` is None.

    Invalid castling rights and en passant squares are dropped. Raise `UciError` if the FEN is
    invalid or the position is illegal.
    """
    import chess

    from agent.games.fen import board_from_fen, excesses

    try:
        board = board_from_fen(fen or None, rules)
    except ValueError as error:
        reason = str(error).partition(": ")[0]  # The rest repeats the FEN.
        raise UciError(f"invalid FEN: {reason}: {shorten(fen or '', MAX_SHOWN_FEN)}") from None
    status = board.status()
    faults = [
        fault
        for flag, fault in (
            (chess.STATUS_NO_WHITE_KING, "white has no king"),
            (chess.STATUS_NO_BLACK_KING, "black has no king"),
            (chess.STATUS_TOO_MANY_KINGS, "too many kings"),
            (chess.STATUS_PAWNS_ON_BACKRANK, "a pawn is on the first or last rank"),
            (chess.STATUS_OPPOSITE_CHECK, "the side that is not to move is in check"),
            (chess.STATUS_RACE_CHECK, "a king is in check"),
            (chess.STATUS_RACE_MATERIAL, "pieces that are not in racing kings"),
        )
        if status & flag
    ]
    faults += map(str, excesses(board))
    if faults:
        raise UciError(f"illegal position: {faults[0]}: {shorten(fen or '', MAX_SHOWN_FEN)}")
    board.castling_rights = board.clean_castling_rights()
    if status & chess.STATUS_INVALID_EP_SQUARE:
        board.ep_square = None
    board.halfmove_clock = min(board.halfmove_clock, MAX_HALFMOVE_CLOCK)
    board.fullmove_number = min(max(board.fullmove_number, 1), 9999)
    return board


def push_all(board: chess.Board, moves: tuple[str, ...]) -> None:
    """Play moves in order. If a move is illegal, raise `UciError` after the moves before it."""
    for text in moves:
        yield_turn()
        board.push(read_move(board, text))


def read_move(board: chess.Board, text: str) -> chess.Move:
    """Return the legal move, or raise `UciError`. Castling may be written as king takes rook."""
    try:
        move = board.parse_uci(text)
    except ValueError:
        move = None
    if not move:
        raise UciError(f"illegal move: {shorten(text)} in {board.fen()}")
    return move
