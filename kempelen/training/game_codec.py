"""Encode training positions as the start positions, moves and scores of games.

A game is a sequence of lines of play. A line is a start position and legal moves. The training
positions of a line are called kept. Its other positions only connect them. If no short sequence of
moves leads from one position to the next, the next one starts a new line. Therefore any positions
can be encoded, and are decoded exactly.

The encoded games of a block are, in this order, with integers in little-endian byte order:

- the format version (1 byte) and the length of the uncompressed rest (4 bytes); the rest is
  compressed by LZMA
- the numbers of lines and of plies (4 bytes each)
- for each game, the number of its lines; for each line, the number of its positions (4 bytes each)
- for each line, its start position (the first 28 bytes of `PackedPosition`), XOR the previous one
- for each line, the game result for White (1 byte)
- for each ply, whether its position is kept (1 bit)
- for each move, its number among the legal moves in the order of `_order` (1 byte)
- for each kept position, the difference from the previous score for White (2 bytes), and the
  difference from the previous depth (1 byte)

Entries of several bytes are stored by byte position: first all lowest bytes, and so on.
"""

import lzma
import struct
import threading
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from agent.chess.board.attacks import attackers, has, king_square
from agent.chess.board.bitboards import ALL_SQUARES
from agent.chess.board.movegen import ALL, NOISY, QUIET, generate, is_noisy, to_square
from agent.chess.board.packed_position import (
    BLACK_PIECE,
    BLACK_TO_MOVE,
    PACKED_BYTES,
    PackedPosition,
    packed_dtype,
)
from agent.chess.board.packing import pack, packed_type, unpack
from agent.chess.board.position import make_move
from agent.chess.board.records import (
    CASTLING,
    EMPTY,
    FLAG_MASK,
    KING,
    NO_MOVE,
    NO_SQUARE,
    PAWN,
    QUEEN,
    Position,
    Worker,
    copy_position,
    frame_at,
    position_at,
)
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, count, int64
from agent.kernel.record import allocate
from agent.kernel.scores import MAX_PLY

Packed = Any  # array of PackedPosition; in kernels a FixedArray
Bytes = Any  # array of uint8; in kernels a FixedArray
Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]

VERSION = 1
MAX_GAP = 12  # plies between consecutive positions of a line
MAX_TRIED_MOVES = 2000  # limit of the search for the moves between two positions
MAX_RAW_BYTES = 1 << 28
_TARGET = MAX_PLY + 1  # index of the target position in `Worker.positions`
_POSITION_BYTES = 28  # size of `PackedPosition` without score, result, depth
_FRAME = struct.Struct("<BI")
_COUNTS = struct.Struct("<II")
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "lp": 0, "pb": 0}]  # for LZMA
_MAX_NUMBER = 255  # maximum move number, which is stored in a byte
_FOUR_BITS = U64(15)

_positions = types.Array(packed_type, 1, "C", readonly=True)
_writable_positions = types.Array(packed_type, 1, "C")
_bytes = types.Array(types.uint8, 1, "C", readonly=True)
_writable_bytes = types.Array(types.uint8, 1, "C")


@kernel
def _load(worker: Worker, ply: int, packed: PackedPosition) -> bool:
    """Unpack a position. Return False if its legal moves are undefined."""
    occupied = packed.occupied
    if count(occupied) > 32:
        return False
    white_kings = black_kings = i = 0
    while occupied:
        piece = int64(packed.pieces[i >> 4] >> U64(4 * (i & 15)) & _FOUR_BITS)
        if piece & 7 == 7:
            return False
        if piece & 7 == KING:
            white_kings += piece < BLACK_PIECE
            black_kings += piece >= BLACK_PIECE
        i += 1
        occupied &= occupied - U64(1)
    target = packed.state & (BLACK_TO_MOVE - 1)
    rank = 2 if packed.state >= BLACK_TO_MOVE else 5
    if white_kings != 1 or black_kings != 1 or (target != NO_SQUARE and target >> 3 != rank):
        return False
    position = position_at(worker, ply)
    unpack(packed, position)
    side = position.turn
    if position.en_passant != NO_SQUARE:
        pawn = target - 8 if side == 0 else target + 8
        if position.board[target] != EMPTY or position.board[pawn] != PAWN:
            return False
        if not has(position.sides[1 - side], pawn):
            return False
    # With more pieces, there can be more than MAX_MOVES moves.
    if count(position.sides[0]) > 16 or count(position.sides[1]) > 16:
        return False
    everything = position.sides[0] | position.sides[1]
    king = king_square(position, 1 - side)
    return attackers(position, king, everything) & position.sides[side] == 0


@kernel
def _order(position: Position, move: int, kept: int) -> int:
    """Return the sort key of a move. Smaller numbers of likely moves are easier to compress.

    Only positions with a quiet best move are usually kept.
    """
    key = move & ~FLAG_MASK
    noisy = is_noisy(position, move)
    if noisy:
        target = to_square(move)
        victim = position.board[target]
        rank = int64(0)
        if position.move == NO_MOVE or to_square(position.move) != target:
            rank = 7 if victim == EMPTY else 1 + QUEEN - victim
        key += (rank << 3 | position.board[move & 63]) << 14
    return key + (1 << 24 if noisy == (kept != 0) else 0)


@entry_point(numba.void(Worker, int64, int64))
def _generate(worker: Worker, ply: int, kinds: int) -> None:
    frame = frame_at(worker, ply)
    frame.count = generate(position_at(worker, ply), frame, 0, kinds, ALL_SQUARES, False)


@entry_point(numba.void(Worker, int64, int64))
def _make(worker: Worker, ply: int, move: int) -> None:
    make_move(worker, ply, move)


@kernel
def _number(worker: Worker, ply: int, move: int, kept: int) -> int:
    """Return the number of a legal move in the order of `_order`."""
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    key = _order(position, move, kept)
    number = 0
    for i in range(frame.count):
        number += _order(position, int64(frame.moves[i]), kept) < key
    return number


@kernel
def _numbered_move(worker: Worker, number: int, kept: int) -> int:
    """Return the legal root move with this number, or NO_MOVE if there are fewer moves."""
    # The class of moves that comes first often suffices.
    for is_second in range(2):
        _generate(worker, 0, QUIET if is_second == (kept == 0) else NOISY)
        position, frame = position_at(worker, 0), frame_at(worker, 0)
        if number >= frame.count:
            number -= frame.count
            continue
        for i in range(frame.count):
            frame.scores[i] = _order(position, int64(frame.moves[i]), kept)
        for i in range(frame.count):
            key = frame.scores[i]
            smaller = 0
            for j in range(frame.count):  # can be vectorized
                smaller += frame.scores[j] < key
            if smaller == number:
                return int64(frame.moves[i])
    return NO_MOVE


@kernel
def _missing_pieces(position: Position, target: Position, side: int) -> int:
    """Return the number of pieces of `side` in `target` that are not in `position`."""
    missing = U64(0)
    for kind in range(6):
        own = position.kinds[kind] & position.sides[side]
        missing |= target.kinds[kind] & target.sides[side] & ~own
    return count(missing)


@kernel
def _may_reach(position: Position, target: Position, plies: int) -> bool:
    if target.castling & ~position.castling:
        return False
    for side in range(2):
        moves = (plies + (1 if side == position.turn else 0)) >> 1
        # Castling moves two pieces.
        castling = 1 if (position.castling & ~target.castling) & position.sides[side] else 0
        if _missing_pieces(position, target, side) > moves + castling:
            return False
        captured = count(position.sides[side]) - count(target.sides[side])
        if captured < 0 or captured > plies - moves:
            return False
    return True


@kernel
def _is_target(position: Position, target: Position) -> bool:
    for kind in range(6):
        if position.kinds[kind] != target.kinds[kind]:
            return False
    return (
        position.sides[0] == target.sides[0]
        and position.sides[1] == target.sides[1]
        and position.castling == target.castling
        and position.en_passant == target.en_passant
        and min(position.halfmoves, 255) == target.halfmoves
    )


@entry_point(int64(Worker, int64, int64))
def _find_path(worker: Worker, ply: int, plies: int) -> int:
    """Find `plies` legal moves from the position at `ply` to the target. Return 1 on success.

    The moves are in `Position.move` of the following plies.
    """
    position, target = position_at(worker, ply), position_at(worker, _TARGET)
    if plies == 0:
        return 1 if _is_target(position, target) else 0
    _generate(worker, ply, ALL)
    frame = frame_at(worker, ply)
    side = position.turn
    # If every move must place a missing piece, only moves to other squares than now are tried.
    must_place = _missing_pieces(position, target, side) > (plies - 1) >> 1
    for i in range(frame.count):
        move = int64(frame.moves[i])
        if (
            must_place
            and move & FLAG_MASK != CASTLING
            and not has(target.sides[side], to_square(move))
        ):
            continue
        worker.nodes += 1
        if worker.nodes > MAX_TRIED_MOVES:
            return 0
        _make(worker, ply, move)
        if _may_reach(position_at(worker, ply + 1), target, plies - 1) and _find_path(
            worker, ply + 1, plies - 1
        ):
            return 1
    return 0


@kernel
def _copy(target: PackedPosition, source: PackedPosition) -> None:
    """Copy a position without score, result and depth."""
    target.occupied = source.occupied
    target.pieces[0] = source.pieces[0]
    target.pieces[1] = source.pieces[1]
    target.state = source.state
    target.halfmoves = source.halfmoves
    target.fullmoves = source.fullmoves


@kernel
def _is_same(a: PackedPosition, b: PackedPosition) -> bool:
    return (
        a.occupied == b.occupied
        and a.pieces[0] == b.pieces[0]
        and a.pieces[1] == b.pieces[1]
        and a.state == b.state
        and a.halfmoves == b.halfmoves
        and a.fullmoves == b.fullmoves
    )


@kernel
def _white_result(packed: PackedPosition) -> int:
    result = int64(packed.result)
    return (-result if packed.state >= BLACK_TO_MOVE else result) & 255


@kernel
def _ply_number(packed: PackedPosition) -> int:
    return 2 * int64(packed.fullmoves) + (1 if packed.state >= BLACK_TO_MOVE else 0)


@kernel
def _path_length(
    worker: Worker,
    before: PackedPosition,
    after: PackedPosition,
    scratch: Packed,
) -> int:
    """Find moves from the root position, which is `before`, to `after`. Return 0 if none is found.

    The positions of the path are left in `worker.positions`.
    """
    plies = _ply_number(after) - _ply_number(before)
    if plies < 1 or plies > MAX_GAP or _white_result(before) != _white_result(after):
        return 0
    if not _load(worker, _TARGET, after):
        return 0
    worker.nodes = 0
    if not _may_reach(position_at(worker, 0), position_at(worker, _TARGET), plies):
        return 0
    if not _find_path(worker, 0, plies):
        return 0
    pack(scratch[0], position_at(worker, plies))
    return plies if _is_same(scratch[0], after) else 0


@entry_point(
    int64(Worker, _positions, _bytes, _bytes, _writable_positions, _writable_bytes, _writable_bytes)
)
def _connect(
    worker: Worker,
    positions: Packed,
    first_of_game: Bytes,
    kept: Bytes,
    scratch: Packed,
    lengths: Bytes,
    numbers: Bytes,
) -> int:
    """Find the moves between consecutive positions.

    Write the number of plies from the previous position to each position, or 0 if it begins a line,
    and the numbers of the moves. Return the number of moves.
    """
    moves = 0
    playable = False
    for i in range(len(positions)):
        length = 0
        if playable and not first_of_game[i]:
            length = _path_length(worker, positions[i - 1], positions[i], scratch)
        for step in range(length):
            move = position_at(worker, step + 1).move
            number = _number(worker, step, move, kept[i - 1] if step == 0 else 0)
            if number > _MAX_NUMBER:
                length = 0
                break
            numbers[moves + step] = number
        lengths[i] = length
        moves += length
        if length:
            copy_position(position_at(worker, 0), position_at(worker, length))
        else:
            playable = _load(worker, 0, positions[i])
    return moves


@entry_point(int64(Worker, _positions, _bytes, _bytes, _bytes, _writable_positions))
def _replay(
    worker: Worker,
    starts: Packed,
    begins: Bytes,
    kept: Bytes,
    numbers: Bytes,
    positions: Packed,
) -> int:
    """Write the position of each ply. Return 0 if a move is not legal, else 1."""
    line = moves = 0
    root = position_at(worker, 0)
    playable = False
    for ply in range(len(begins)):
        if begins[ply]:
            is_continued = ply + 1 < len(begins) and not begins[ply + 1]
            playable = is_continued and _load(worker, 0, starts[line])
            _copy(positions[ply], starts[line])
            line += 1
        else:
            if not playable:
                return 0
            move = _numbered_move(worker, numbers[moves], kept[ply - 1])
            if move == NO_MOVE:
                return 0
            moves += 1
            _make(worker, 0, move)
            copy_position(root, position_at(worker, 1))
            pack(positions[ply], root)
    return 1


class GameCodec:
    """Encodes and decodes blocks of games. Thread-safe."""

    def __init__(self) -> None:
        self._worker, _ = allocate(Worker)
        self._lock = threading.Lock()  # of the worker

    def encode(self, games: Sequence[Packed], masks: Sequence[Mask]) -> bytes:
        """Encode games. Each mask tells which positions of a game are kept.

        The scores and depths of the other positions are not stored.
        """
        positions = np.concatenate([np.zeros(0, packed_dtype), *games]).astype(packed_dtype)
        kept = np.concatenate([np.zeros(0, bool), *masks])
        ends = np.cumsum([len(game) for game in games], dtype=np.int64)
        first_of_game = np.zeros(len(positions) + 1, np.uint8)
        first_of_game[0] = 1
        first_of_game[ends] = 1
        lengths = np.zeros(len(positions), np.uint8)
        numbers = np.zeros(MAX_GAP * len(positions), np.uint8)
        with self._lock:
            moves = _connect(
                self._worker,
                positions,
                first_of_game[:-1].copy(),
                kept.astype(np.uint8),
                np.zeros(1, packed_dtype),
                lengths,
                numbers,
            )
        last_plies = np.cumsum(np.maximum(lengths, 1), dtype=np.int64)  # ply after each position
        line_starts = np.flatnonzero(lengths == 0)
        begins = np.concatenate([np.zeros(1, np.int64), last_plies])[line_starts]
        plies = int(last_plies[-1]) if len(positions) else 0
        ply_kept = np.zeros(plies, bool)
        ply_kept[last_plies - 1] = kept
        starts, labelled = positions[line_starts], positions[kept]
        raw = b"".join(
            (
                _COUNTS.pack(len(line_starts), plies),
                _by_byte(np.diff(np.searchsorted(line_starts, ends), prepend=0), "<u4"),
                _by_byte(np.diff(begins, append=plies), "<u4"),
                _start_columns(starts),
                _for_white(starts, starts["result"]).tobytes(),
                np.packbits(ply_kept).tobytes(),
                numbers[:moves].tobytes(),
                _by_byte(_score_differences(labelled), "<u2"),
                np.diff(labelled["depth"], prepend=np.uint8(0)).tobytes(),
            )
        )
        body = lzma.compress(raw, lzma.FORMAT_RAW, filters=FILTERS)
        return _FRAME.pack(VERSION, len(raw)) + body

    def decode(self, body: bytes, n_games: int, n_kept: int) -> tuple[Counts, Packed, Mask]:
        """Return the length of each game, the positions, and a mask of the kept positions.

        The other positions have no scores and depths. Raise ValueError if the data are invalid.
        """
        reader = _Reader(body)
        n_lines, n_plies = _COUNTS.unpack(reader.take(_COUNTS.size).tobytes())
        # Every ply takes at least a byte: its move, or the start of its line.
        if not n_lines <= n_plies <= len(reader):
            raise ValueError("invalid numbers of lines and plies")
        lines = reader.take_numbers(n_games, "<u4").astype(np.int64)
        lengths = reader.take_numbers(n_lines, "<u4").astype(np.int64)
        if lines.sum() != n_lines or lengths.sum() != n_plies or not lengths.all():
            raise ValueError("invalid lengths of lines")
        columns = reader.take(n_lines * _POSITION_BYTES).reshape(_POSITION_BYTES, -1)
        starts = np.zeros(n_lines, packed_dtype)
        starts.view(np.uint8).reshape(-1, PACKED_BYTES)[:, :_POSITION_BYTES] = (
            np.bitwise_xor.accumulate(columns.T, axis=0)
        )
        results = reader.take(n_lines).view(np.int8)
        kept = np.unpackbits(reader.take(-(-n_plies // 8)), count=n_plies)
        if int(np.count_nonzero(kept)) != n_kept:
            raise ValueError("invalid number of positions")
        numbers = reader.take(n_plies - n_lines)
        scores = reader.take_numbers(n_kept, "<u2")
        depths = reader.take(n_kept)
        reader.finish()

        ends = np.cumsum(lengths)
        begins = np.zeros(n_plies, np.uint8)
        begins[ends - lengths] = 1
        positions = np.zeros(n_plies, packed_dtype)
        with self._lock:
            if not _replay(self._worker, starts, begins, kept, numbers, positions):
                raise ValueError("an illegal move")
        is_kept = kept.astype(bool)
        positions["result"] = _for_white(positions, np.repeat(results, lengths))
        positions["score"][is_kept] = _for_white(positions[is_kept], _undo_differences(scores))
        positions["depth"][is_kept] = np.cumsum(depths, dtype=np.uint8)
        line_ends = np.concatenate([np.zeros(1, np.int64), ends])
        game_ends = line_ends[np.concatenate([np.zeros(1, np.int64), np.cumsum(lines)])]
        return np.diff(game_ends), positions, is_kept


class _Reader:
    """Reads arrays of bytes and numbers. Raises ValueError at the end of the data."""

    def __init__(self, body: bytes) -> None:
        if len(body) < _FRAME.size:
            raise ValueError("no format version")
        version, size = _FRAME.unpack_from(body)
        if version != VERSION:
            raise ValueError(
                f"format version {version} (expected {VERSION}; update Kempelen to read it)"
            )
        if size > MAX_RAW_BYTES:
            raise ValueError(f"{size} bytes uncompressed (at most {MAX_RAW_BYTES})")
        try:
            decompressor = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=FILTERS)
            raw = decompressor.decompress(body[_FRAME.size :], size + 1)
        except lzma.LZMAError as error:
            raise ValueError(str(error)) from None
        if len(raw) != size:
            raise ValueError("wrong uncompressed length")
        self._data = np.frombuffer(raw, np.uint8)

    def __len__(self) -> int:
        return len(self._data)

    def take(self, length: int) -> Bytes:
        if length > len(self._data):
            raise ValueError("too short")
        taken, self._data = self._data[:length], self._data[length:]
        return taken

    def take_numbers(self, count: int, dtype: str) -> npt.NDArray[Any]:
        """Return `count` numbers that are stored by byte position."""
        size = np.dtype(dtype).itemsize
        columns = self.take(count * size).reshape(size, -1)
        return np.ascontiguousarray(columns.T).view(dtype).reshape(-1)

    def finish(self) -> None:
        if len(self._data):
            raise ValueError("too long")


def _by_byte(numbers: npt.NDArray[Any], dtype: str) -> bytes:
    column = np.ascontiguousarray(numbers.astype(dtype)).reshape(-1, 1)
    return column.view(np.uint8).T.tobytes()


def _start_columns(starts: Packed) -> bytes:
    records = starts.view(np.uint8).reshape(-1, PACKED_BYTES)[:, :_POSITION_BYTES]
    differences = np.vstack([records[:1], records[1:] ^ records[:-1]])
    return differences.T.tobytes()


def _for_white(positions: Packed, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert values for the side to move to values for White, or vice versa."""
    return np.where(positions["state"] >= BLACK_TO_MOVE, -values, values)


def _score_differences(positions: Packed) -> npt.NDArray[np.uint16]:
    """Return the differences of consecutive scores for White, with small numbers for small ones."""
    scores = _for_white(positions, positions["score"])
    differences = np.diff(scores, prepend=np.int16(0))
    zigzag: npt.NDArray[np.uint16] = (differences << 1 ^ differences >> 15).view(np.uint16)
    return zigzag


def _undo_differences(zigzag: npt.NDArray[np.uint16]) -> npt.NDArray[np.int16]:
    differences = (zigzag >> 1) ^ -(zigzag & 1)
    scores: npt.NDArray[np.int16] = np.cumsum(differences, dtype=np.uint16).view(np.int16)
    return scores
