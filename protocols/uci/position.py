"""The position that the engine is asked about: a board with the moves that led to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.uci.parsing import PositionCommand, UciError, shorten

if TYPE_CHECKING:
    import chess

# Half-moves without progress beyond this are all the same: the game is drawn.
MAX_HALFMOVE_CLOCK = 150
# The longest game that the rules allow, in half-moves: 118 captures and pawn moves, each after 150
# half-moves at most, less three (Tom Murphy VII, 'Is this the longest Chess game?', 2020).
MAX_GAME_PLIES = 17_697
# So many half-moves go along with a position to the player: more than any rule or book looks back.
HISTORY_PLIES = 1_000


class CurrentPosition:
    """The last good position. A command that is refused changes nothing."""

    def __init__(self) -> None:
        self._board: chess.Board | None = None
        self._root: tuple[str | None, bool] = (None, False)
        self._moves: tuple[str, ...] = ()

    @property
    def board(self) -> chess.Board:
        """The board, with its moves; the start position at first."""
        if self._board is None:
            self.set(PositionCommand(None, ()), chess960=False)
        assert self._board is not None
        return self._board

    def copy_with_history(self) -> chess.Board:
        """Return a board of its own, with the moves that a search may want to know."""
        return self.board.copy(stack=HISTORY_PLIES)

    def set(self, position: PositionCommand, chess960: bool) -> None:
        """Go to a position; only what is new is played where it continues the last one.

        Raises UciError, and stays at the last position, if it or a move is not legal, or if there
        are more moves than a game can have.
        """
        if len(position.moves) > MAX_GAME_PLIES:
            raise UciError(
                f"{len(position.moves)} moves are more than a game can have ({MAX_GAME_PLIES}); "
                "the position stays as it was"
            )
        root = (position.fen, chess960)
        known = len(self._moves)
        if self._board and root == self._root and position.moves[:known] == self._moves:
            push_all(self._board, position.moves[known:])
        else:
            board = read_board(position.fen, chess960)
            push_all(board, position.moves)
            self._board = board
        self._root, self._moves = root, position.moves

    def flip(self) -> None:
        """Change the sides: the same position for the other colour, without its history."""
        board = self.board
        self.set(PositionCommand(board.mirror().fen(), ()), board.chess960)


def read_board(fen: str | None, chess960: bool = False) -> chess.Board:
    """Return a board without moves; raise UciError, with the reason, if nobody can play on it.

    Castling rights without king and rook in place, and en passant squares without the pawn, are
    dropped.
    """
    import chess

    try:
        board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)
    except ValueError as error:
        raise UciError(f"bad FEN: {shorten(str(error), 200)}") from None
    status = board.status()
    for flag, reason in (
        (chess.STATUS_NO_WHITE_KING, "white has no king"),
        (chess.STATUS_NO_BLACK_KING, "black has no king"),
        (chess.STATUS_TOO_MANY_KINGS, "there are more than two kings"),
        (chess.STATUS_TOO_MANY_WHITE_PIECES, "white has more than 16 pieces"),
        (chess.STATUS_TOO_MANY_BLACK_PIECES, "black has more than 16 pieces"),
        (chess.STATUS_PAWNS_ON_BACKRANK, "a pawn stands on the first or last rank"),
        (chess.STATUS_OPPOSITE_CHECK, "the side that is not to move is in check"),
    ):
        if status & flag:
            raise UciError(f"bad position: {reason}")
    board.castling_rights = board.clean_castling_rights()
    if status & chess.STATUS_INVALID_EP_SQUARE:
        board.ep_square = None
    board.halfmove_clock = min(board.halfmove_clock, MAX_HALFMOVE_CLOCK)
    board.fullmove_number = min(max(board.fullmove_number, 1), 9999)
    return board


def push_all(board: chess.Board, moves: tuple[str, ...]) -> None:
    """Play moves; raise UciError and take them back if one is not legal."""
    for played, text in enumerate(moves):
        try:
            board.push(read_move(board, text))
        except UciError:
            for _ in range(played):
                board.pop()
            raise


def read_move(board: chess.Board, text: str) -> chess.Move:
    """Return a legal move; castling is taken both as the king's step and as king takes rook."""
    try:
        move = board.parse_uci(text)
    except ValueError:
        move = None
    if not move:
        raise UciError(f"illegal move {shorten(text)} in {board.fen()}")
    return move
