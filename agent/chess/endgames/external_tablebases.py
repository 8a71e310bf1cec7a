"""Gaviota and Syzygy tablebases, probed with python-chess. Damaged files are reported."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import chess
import chess.gaviota
import chess.syzygy

from agent.chess.endgames.dtm_tablebase import DRAWN, FIFTY_MOVES, makes_threefold

Report = Callable[[str], None]

_DRAW_RANK = 0, 0

# Gaviota: values in a block, the file header, and the size of the dictionary and of the data in the
# header of an LZMA file.
_GAVIOTA_BLOCK = chess.gaviota.ENTRIES_PER_BLOCK
_GAVIOTA_HEADER = struct.Struct("<10I")
_LZMA_HEADER = struct.Struct("<xIQ")
_MAX_LZMA_DICTIONARY = 1 << 20
# Maximum number of 16-bit numbers that a lookup in a Syzygy file reads. A block has at most 8192
# bits and so at most as many symbols.
_MAX_SYZYGY_READS = 20_000


def _ignore_report(message: str) -> None:
    """Ignore the message."""


def _piece_letters(board: chess.Board, side: chess.Color) -> str:
    return "".join(
        chess.piece_symbol(kind).upper() * chess.popcount(board.pieces_mask(kind, side))
        for kind in range(chess.KING, 0, -1)
    )


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


class GaviotaTablebase:
    """A `DtmTablebase` that reads Gaviota files. Damaged tables are reported, then ignored."""

    def __init__(
        self, tables: chess.gaviota.PythonTablebase, report: Report = _ignore_report
    ) -> None:
        self._tables = tables
        self._report = report
        self.max_pieces = max(map(len, tables.available_tables), default=0)

    def probe(self, board: chess.Board) -> int | None:
        if chess.popcount(board.occupied) > self.max_pieces:
            return None
        try:
            plies = self._tables.get_dtm(board)
        except Exception as error:  # noqa: BLE001 - a damaged file can raise anything
            self._drop_table(board, error)
            return None
        if plies is None:
            return None
        if plies == 0:
            return 1 if board.is_checkmate() else DRAWN
        return abs(plies) + 1

    def close(self) -> None:
        self._tables.close()

    def _drop_table(self, board: chess.Board, error: Exception) -> None:
        white, black = _piece_letters(board, chess.WHITE), _piece_letters(board, chess.BLACK)
        for name in (white + black, black + white):
            path = self._tables.available_tables.pop(name.lower(), None)
            if path is not None:
                self._report(f"{path}: damaged, ignored: {_describe(error)}")


class SyzygyTablebase:
    """A Syzygy tablebase that selects root moves and respects the fifty-move rule."""

    def __init__(self, tables: chess.syzygy.Tablebase, report: Report = _ignore_report) -> None:
        self._tables = tables
        self._report = report
        self._damaged: set[str] = set()
        self.max_pieces = max((len(name) - 1 for name in tables.wdl), default=0)

    def best_moves(self, board: chess.Board, moves: Iterable[chess.Move]) -> list[chess.Move]:
        """Return the best of `moves`, or [] if a resulting position is not in the tablebase."""
        if board.castling_rights or chess.popcount(board.occupied) > self.max_pieces:
            return []
        ranks = {}
        root = board.copy(stack=False)
        for move in moves:
            root.push(move)
            rank = self._rank_after_move(root)
            root.pop()
            if rank is None:
                return []
            ranks[move] = rank
        progress = {
            move: rank
            for move, rank in ranks.items()
            if rank > _DRAW_RANK and not makes_threefold(board, move)
        }
        ranks = progress or ranks
        best = max(ranks.values(), default=None)
        return [move for move, rank in ranks.items() if rank == best]

    def close(self) -> None:
        self._tables.close()

    def _rank_after_move(self, board: chess.Board) -> tuple[int, int] | None:
        """Return a rank (higher is better) for the side that has just moved, or None if unknown."""
        if board.is_checkmate():
            return 3, 0
        distance = self._dtz(board)
        if distance is None:
            return None
        clock = board.halfmove_clock
        plies = clock + abs(distance)
        # A DTZ value may be one ply too small, so the limit is 99 plies. Right after a capture or
        # pawn move, a value of 100 is exact, because otherwise it would be larger.
        in_time = plies < FIFTY_MOVES or (clock == 0 and plies == FIFTY_MOVES)
        if distance > 0:
            # A capture or pawn move that keeps the win is the fastest progress.
            return (2, -distance if clock else 0) if in_time else (1, -plies)
        if distance < 0:
            return (-2, -distance) if in_time else (-1, plies)
        return _DRAW_RANK

    def _dtz(self, board: chess.Board) -> int | None:
        """Return the DTZ in plies, or None if unknown. It is positive if the last mover wins."""
        try:
            return -self._tables.probe_dtz(board)
        except KeyError:
            return None
        except Exception as error:  # noqa: BLE001 - a damaged file can raise anything
            name = f"{_piece_letters(board, chess.WHITE)}v{_piece_letters(board, chess.BLACK)}"
            if name not in self._damaged:
                self._damaged.add(name)
                self._report(f"Syzygy table {name}: damaged, ignored: {_describe(error)}")
            return None


class _GaviotaFiles(chess.gaviota.PythonTablebase):
    """Opens Gaviota files read-only, which python-chess would open for writing.

    It checks sizes in the files, which could otherwise take any amount of memory.
    """

    def _open_tablebase(self, req: chess.gaviota.Request) -> BinaryIO:
        stream = self.streams.get(req.egkey)
        if stream is None:
            stream = open(self.available_tables[req.egkey], "rb")  # noqa: SIM115 - see `close`
            self.streams[req.egkey] = stream
            # For each side to move, and the end of the last block.
            entries = 2 * -(-chess.gaviota.EGKEY[req.egkey].maxindex // _GAVIOTA_BLOCK) + 1
            _require(_GAVIOTA_HEADER.unpack(stream.read(40))[8] == 40 + 4 * entries)
            self.egtb_loadindexes(req.egkey, stream)
        return stream

    def egtb_block_park(self, egkey: str, block: int, stream: BinaryIO) -> int:
        start = super().egtb_block_park(egkey, block, stream)
        _require(0 < self.egtb_block_getsize_zipped(egkey, block) <= 2 * _GAVIOTA_BLOCK)
        kind, properties = stream.read(2), stream.read(13)
        if kind[0] == 0:  # a complete LZMA file; python-chess gives the others a header
            dictionary, size = _LZMA_HEADER.unpack(properties)
            _require(dictionary <= _MAX_LZMA_DICTIONARY and size <= _GAVIOTA_BLOCK)
        stream.seek(start)
        return start


def _require(is_valid: bool) -> None:
    if not is_valid:
        raise ValueError("invalid size in the file")


class _BoundedTable(chess.syzygy.Table):
    """A Syzygy table whose lookups end, whatever the file contains."""

    _reads = 0

    def set_norm_piece(self, norm: list[int], pieces: list[int]) -> None:
        self._check_pieces(pieces)
        super().set_norm_piece(norm, pieces)

    def set_norm_pawn(self, norm: list[int], pieces: list[int]) -> None:
        self._check_pieces(pieces)
        super().set_norm_pawn(norm, pieces)

    def _check_pieces(self, pieces: list[int]) -> None:
        """Require the pieces of the file's name: a lookup would search others without end."""
        first, second = os.path.splitext(os.path.basename(self.path))[0].split("v")
        codes = (chess.PIECE_SYMBOLS.index(letter.lower()) for letter in first + second)
        black = (8 * (place >= len(first)) for place in range(self.num))
        if sorted(pieces) != sorted(map(sum, zip(codes, black, strict=True))):
            raise ValueError("other pieces than in the file's name")

    def decompress_pairs(self, d: Any, idx: int) -> int:
        self._reads = 0
        return super().decompress_pairs(d, idx)

    def read_uint16(self, data_ptr: int) -> int:
        self._reads += 1
        if self._reads > _MAX_SYZYGY_READS:
            raise ValueError("lookup too long")
        return super().read_uint16(data_ptr)


class _BoundedWdlTable(_BoundedTable, chess.syzygy.WdlTable): ...


class _BoundedDtzTable(_BoundedTable, chess.syzygy.DtzTable): ...


class _SyzygyFiles(chess.syzygy.Tablebase):
    def _open_table(self, hashtable: Any, Table: type[chess.syzygy.Table], path: str) -> int:  # noqa: N803
        is_wdl = issubclass(Table, chess.syzygy.WdlTable)
        bounded = _BoundedWdlTable if is_wdl else _BoundedDtzTable
        return super()._open_table(hashtable, bounded, path)


def open_gaviota(paths: str, report: Report = _ignore_report) -> GaviotaTablebase:
    """Open the Gaviota tables in the folders `paths`, which are separated as in PATH.

    Raise `OSError` if a folder is missing or if the folders contain no tables.
    """
    tables = _GaviotaFiles()
    for path in split_paths(paths):
        tables.add_directory(path)
    for name, path in list(tables.available_tables.items()):
        if not os.path.isfile(path):
            del tables.available_tables[name]
            report(f"{path}: ignored (not a regular file)")
    if not tables.available_tables:
        raise FileNotFoundError(f"{paths}: no Gaviota tables found (*.gtb.cp4)")
    return GaviotaTablebase(tables, report)


def open_syzygy(paths: str, report: Report = _ignore_report) -> SyzygyTablebase:
    """Open the Syzygy tables in the folders `paths`, which are separated as in PATH.

    Raise `OSError` if a folder is missing or if the folders contain no tables.
    """
    tables = _SyzygyFiles()
    for path in split_paths(paths):
        tables.add_directory(path)
    if not tables.wdl:
        raise FileNotFoundError(f"{paths}: no Syzygy tables found (*.rtbw, *.rtbz)")
    return SyzygyTablebase(tables, report)


def split_paths(paths: str) -> list[str]:
    """Split a list of folders as in PATH. Raise `FileNotFoundError` if a folder is missing."""
    folders = [os.path.expanduser(path) for path in paths.split(os.pathsep) if path]
    for folder in folders:
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{folder}: not a folder")
    return folders
