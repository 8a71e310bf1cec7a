"""Fast conversion of packed positions to FEN, without `chess.Board` objects."""

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import BLACK_PIECE, BLACK_TO_MOVE, CASTLING_ROOK

_SQUARES = 64
_NO_SQUARE = 64
_FILES = "abcdefgh"
_WHITE_KING, _BLACK_KING = 5, 5 + BLACK_PIECE
_WHITE_ROOK, _BLACK_ROOK = CASTLING_ROOK, CASTLING_ROOK + BLACK_PIECE
_EMPTY = 16
# FEN letter of each piece code. "?" marks unused codes. The last code is an empty square.
_LETTERS = np.frombuffer(b"PNBRQKR?pnbrqkr?1", np.uint8)
_RUNS = tuple(("1" * length, str(length)) for length in range(8, 1, -1))
# FEN letters of castling rights in standard chess, by (rank, file) of the rook.
_STANDARD_ROOKS = {(0, 7): "K", (0, 0): "Q", (7, 7): "k", (7, 0): "q"}
_STANDARD_KING_FILE = 4


def packed_fens(positions: npt.NDArray[np.void]) -> list[tuple[str, bool]]:
    """Return the FEN of each position, and whether its castling rights require Chess960.

    Chess960 castling rights are written as rook files (Shredder-FEN). The stored en passant square
    is written even if no en passant capture is legal.
    """
    pieces = _pieces(positions)
    boards = np.full((len(positions), 8, 9), ord("/"), np.uint8)
    boards[:, :, :8] = _LETTERS[pieces.reshape(-1, 8, 8)[:, ::-1]]
    text = boards.tobytes().decode("ascii")
    castling = ((pieces == _WHITE_ROOK) | (pieces == _BLACK_ROOK)).any(axis=1).tolist()
    states = positions["state"].tolist()
    halfmoves, fullmoves = positions["halfmoves"].tolist(), positions["fullmoves"].tolist()
    fens = []
    for i, state in enumerate(states):
        board = text[72 * i : 72 * i + 71]
        for run, length in _RUNS:
            board = board.replace(run, length)
        rights, chess960 = _castling(pieces[i]) if castling[i] else ("-", False)
        turn = "b" if state >= BLACK_TO_MOVE else "w"
        target = _square_name(state & (BLACK_TO_MOVE - 1))
        counters = f"{halfmoves[i]} {fullmoves[i]}"
        fens.append((f"{board} {turn} {rights} {target} {counters}", chess960))
    return fens


def _pieces(positions: npt.NDArray[np.void]) -> npt.NDArray[np.uint8]:
    occupied = np.ascontiguousarray(positions["occupied"]).view(np.uint8).reshape(-1, 8)
    bits = np.unpackbits(occupied, axis=1, bitorder="little")
    pairs = np.ascontiguousarray(positions["pieces"]).view(np.uint8).reshape(-1, 16)
    nibbles = np.stack([pairs & 15, pairs >> 4], axis=2).reshape(-1, 32)
    # Pieces are stored in the order of the occupied squares.
    indices = np.clip(np.cumsum(bits, axis=1, dtype=np.int64) - 1, 0, 31)
    return np.where(bits != 0, np.take_along_axis(nibbles, indices, axis=1), np.uint8(_EMPTY))


def _castling(pieces: npt.NDArray[np.uint8]) -> tuple[str, bool]:
    rights, standard = "", ""
    chess960 = False
    for rook, king in ((_WHITE_ROOK, _WHITE_KING), (_BLACK_ROOK, _BLACK_KING)):
        kings = np.flatnonzero(pieces == king)
        for square in np.flatnonzero(pieces == rook)[::-1].tolist():
            letter = _FILES[square % 8]
            rights += letter.upper() if rook == _WHITE_ROOK else letter
            standard += _STANDARD_ROOKS.get((square // 8, square % 8), "")
            chess960 |= (square // 8, square % 8) not in _STANDARD_ROOKS
            chess960 |= len(kings) != 1 or kings[0] != square // 8 * 8 + _STANDARD_KING_FILE
    return (rights, True) if chess960 else (standard, False)


def _square_name(square: int) -> str:
    return "-" if square == _NO_SQUARE else f"{_FILES[square % 8]}{square // 8 + 1}"
