from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.current_line import yield_turn
from protocols.uci.parsing import PositionCommand, UciError, shorten

if TYPE_CHECKING:
    import chess

# The 75-move rule ends the game at this half-move clock.
MAX_HALFMOVE_CLOCK = 150
# Length of the longest legal game in half-moves: 118 captures and pawn moves, each after at most
# 150 half-moves, minus three (Tom Murphy VII, 'Is this the longest Chess game?', 2020).
MAX_GAME_PLIES = 17_697
# History passed to a search, in half-moves: more than any rule or book needs.
HISTORY_PLIES = 1_000


class CurrentPosition:
    """The last valid position of a session, which invalid commands leave unchanged."""

    def __init__(self) -> None:
        self._board: chess.Board | None = None
        self._root: tuple[str | None, bool] = (None, False)
        self._moves: tuple[str, ...] = ()

    @property
    def board(self) -> chess.Board:
        """Return the board with the moves before it, which is initially the start position.

        Of a longer game, at least HISTORY_PLIES half-moves are kept.
        """
        if self._board is None:
            self.set(PositionCommand(None, ()), chess960=False)
        assert self._board is not None
        return self._board

    def copy_with_history(self) -> chess.Board:
        """Return a copy of the board with its last HISTORY_PLIES half-moves."""
        return self.board.copy(stack=HISTORY_PLIES)

    def set(self, position: PositionCommand, chess960: bool) -> None:
        """Set the position. If the current game is extended, play only the new moves.

        If the new position is illegal or has too many moves, keep the old one and raise `UciError`.
        """
        if len(position.moves) > MAX_GAME_PLIES:
            raise UciError(
                f"position: too many moves: {len(position.moves)} (expected at most "
                f"{MAX_GAME_PLIES}); position unchanged"
            )
        root = (position.fen, chess960)
        known = len(self._moves)
        if self._board and root == self._root and position.moves[:known] == self._moves:
            self._board = play_all(self._board, position.moves[known:])
        else:
            self._board = play_all(read_board(position.fen, chess960), position.moves)
        self._root, self._moves = root, position.moves

    def flip(self) -> None:
        """Swap the colours and discard the history."""
        board = self.board
        self.set(PositionCommand(board.mirror().fen(), ()), board.chess960)


def read_board(fen: str | None, chess960: bool = False) -> chess.Board:
    """Return the board for a FEN, or the start position if `fen` is None.

    Invalid castling rights and en passant squares are dropped. Raise `UciError` if the FEN is
    invalid or the position is illegal.
    """
    import chess

    try:
        board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)
    except ValueError as error:
        raise UciError(f"invalid FEN: {shorten(str(error), 200)}") from None
    status = board.status()
    for flag, reason in (
        (chess.STATUS_NO_WHITE_KING, "white has no king"),
        (chess.STATUS_NO_BLACK_KING, "black has no king"),
        (chess.STATUS_TOO_MANY_KINGS, "more than two kings"),
        (chess.STATUS_TOO_MANY_WHITE_PIECES, "white has more than 16 pieces"),
        (chess.STATUS_TOO_MANY_BLACK_PIECES, "black has more than 16 pieces"),
        (chess.STATUS_PAWNS_ON_BACKRANK, "a pawn is on the first or last rank"),
        (chess.STATUS_OPPOSITE_CHECK, "the side that is not to move is in check"),
    ):
        if status & flag:
            raise UciError(f"illegal position: {reason}")
    board.castling_rights = board.clean_castling_rights()
    if status & chess.STATUS_INVALID_EP_SQUARE:
        board.ep_square = None
    board.halfmove_clock = min(board.halfmove_clock, MAX_HALFMOVE_CLOCK)
    board.fullmove_number = min(max(board.fullmove_number, 1), 9999)
    return board


def play_all(board: chess.Board, moves: tuple[str, ...]) -> chess.Board:
    """Play moves as `push_all` does, and return the board, or a copy with a shorter history.

    A position of the history takes about a kilobyte, so at most 2 * HISTORY_PLIES are kept at any
    time.
    """
    if len(board.move_stack) + len(moves) <= 2 * HISTORY_PLIES:
        push_all(board, moves)
        return board
    for start in range(0, len(moves), HISTORY_PLIES):
        board = board.copy(stack=HISTORY_PLIES)
        push_all(board, moves[start : start + HISTORY_PLIES])
    return board


def push_all(board: chess.Board, moves: tuple[str, ...]) -> None:
    """Play moves in order. If any move is illegal, play no move and raise `UciError`."""
    for index, text in enumerate(moves):
        yield_turn()
        try:
            board.push(read_move(board, text))
        except UciError:
            for _ in range(index):
                board.pop()
            raise


def read_move(board: chess.Board, text: str) -> chess.Move:
    """Return the legal move, or raise `UciError`. Castling may be written as king takes rook."""
    try:
        move = board.parse_uci(text)
    except ValueError:
        move = None
    if not move:
        raise UciError(f"illegal move: {shorten(text)} in {board.fen()}")
    return move
