"""Random start positions of self-play games."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

import chess

_STARTS = 960
_KEPT = chess.KING, chess.QUEEN  # without a queen, most games would be decided


@dataclass(frozen=True)
class RandomOpenings:
    """Draws start positions.

    `fens` are the positions to choose from (default: the initial position). `chess960` is the
    fraction of games that start from a random position of Chess960 instead. `odds` is the fraction
    of games in which one side lacks a random pawn, knight, bishop or rook.
    """

    fens: Sequence[str] = ()
    chess960: float = 0.0
    odds: float = 0.0

    @cached_property
    def _boards(self) -> list[chess.Board]:
        # chess960=True also accepts the castling rights of standard chess.
        return [chess.Board(fen, chess960=True) for fen in self.fens] or [chess.Board()]

    def draw(self, random: Random) -> chess.Board:
        # A fraction of 0 draws no random number, so the games of older files are reproduced.
        if self.chess960 and random.random() < self.chess960:
            board = chess.Board.from_chess960_pos(random.randrange(_STARTS))
        else:
            board = self._boards[random.randrange(len(self._boards))]
        return remove_piece(board, random) if self.odds and random.random() < self.odds else board


def remove_piece(board: chess.Board, random: Random) -> chess.Board:
    """Return a copy without a random piece other than a king or queen.

    Return `board` if no piece can be removed.
    """
    squares = [
        square for square, piece in board.piece_map().items() if piece.piece_type not in _KEPT
    ]
    random.shuffle(squares)
    for square in squares:
        copy = board.copy(stack=False)
        copy.remove_piece_at(square)
        copy.ep_square = None
        copy.castling_rights = copy.clean_castling_rights()
        if copy.is_valid() and any(copy.legal_moves):
            return copy
    return board
