"""Endgame tables that others have made and users have: Gaviota's and Syzygy's.

Both are read through the `chess` package. Gaviota's know the distance to mate, Syzygy's the
distance to the next capture or pawn move, and whether a win comes before the fifty-move rule.
Whatever a damaged file does is caught here: it is reported, and what it held is not known.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import BinaryIO

import chess
import chess.gaviota
import chess.syzygy

from agent.chess.endgames.dtm_tablebase import DRAWN, FIFTY_MOVES, makes_threefold

Report = Callable[[str], None]

_DRAW_RANK = 0, 0  # the rank of a draw


def _ignore_report(message: str) -> None:
    """Report to nobody."""


def _piece_letters(board: chess.Board, side: chess.Color) -> str:
    """Return the letters of a side's pieces, as tables are named."""
    return "".join(
        chess.piece_symbol(kind).upper() * chess.popcount(board.pieces_mask(kind, side))
        for kind in range(chess.KING, 0, -1)
    )


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


class GaviotaTablebase:
    """Gaviota's tables as an oracle.

    report: gets one line of text for each table that turns out to be damaged, which is then left
    out.
    """

    def __init__(
        self, tables: chess.gaviota.PythonTablebase, report: Report = _ignore_report
    ) -> None:
        self._tables = tables
        self._report = report
        self.max_pieces = max(map(len, tables.available_tables), default=0)

    def probe(self, board: chess.Board) -> int | None:
        """Return what a position is worth; see Oracle."""
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
        """Close the files."""
        self._tables.close()

    def _drop_table(self, board: chess.Board, error: Exception) -> None:
        white, black = _piece_letters(board, chess.WHITE), _piece_letters(board, chess.BLACK)
        for name in (white + black, black + white):
            path = self._tables.available_tables.pop(name.lower(), None)
            if path is not None:
                self._report(f"{path} is damaged and left out: {_describe(error)}")


class SyzygyTablebase:
    """Syzygy's tables: which root moves keep what the position is worth, the fifty moves counted.

    size: the most pieces of a table that is there. report: gets one line of text for each ending
    in which a table turns out to be damaged.
    """

    def __init__(self, tables: chess.syzygy.Tablebase, report: Report = _ignore_report) -> None:
        self._tables = tables
        self._report = report
        self._damaged: set[str] = set()
        self.max_pieces = max((len(name) - 1 for name in tables.wdl), default=0)

    def best_moves(self, board: chess.Board, moves: Iterable[chess.Move]) -> list[chess.Move]:
        """Return the moves that are best by the tables, none if they do not know."""
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
        """Close the files."""
        self._tables.close()

    def _rank_after_move(self, board: chess.Board) -> tuple[int, int] | None:
        """Rate the position after a move: higher is better for the side that moved."""
        if board.is_checkmate():
            return 3, 0
        distance = self._dtz(board)
        if distance is None:
            return None
        clock = board.halfmove_clock
        plies = clock + abs(distance)
        # A distance may be one ply too small, but not after a capture or pawn move, where 100 is
        # in time, or it would be greater than that.
        in_time = plies < FIFTY_MOVES or (clock == 0 and plies == FIFTY_MOVES)
        if distance > 0:
            # A capture or pawn move that keeps the win is as near to the goal as can be.
            return (2, -distance if clock else 0) if in_time else (1, -plies)
        if distance < 0:
            return (-2, -distance) if in_time else (-1, plies)
        return _DRAW_RANK

    def _dtz(self, board: chess.Board) -> int | None:
        """Return the plies to a capture or pawn move that wins, for the side that has moved.

        Negative if that side loses, 0 in a draw, None if there is no table.
        """
        try:
            return -self._tables.probe_dtz(board)
        except KeyError:
            return None
        except Exception as error:  # noqa: BLE001 - a damaged file can raise anything
            name = f"{_piece_letters(board, chess.WHITE)}v{_piece_letters(board, chess.BLACK)}"
            if name not in self._damaged:
                self._damaged.add(name)
                self._report(f"a Syzygy table for {name} is damaged: {_describe(error)}")
            return None


class _ReadOnlyGaviota(chess.gaviota.PythonTablebase):
    """Gaviota tables that are opened for reading, where the chess package wants to write too."""

    def _open_tablebase(self, req: chess.gaviota.Request) -> BinaryIO:
        stream = self.streams.get(req.egkey)
        if stream is None:
            stream = open(self.available_tables[req.egkey], "rb")  # noqa: SIM115 - see `close`
            self.streams[req.egkey] = stream
            self.egtb_loadindexes(req.egkey, stream)
        return stream


def open_gaviota(paths: str, report: Report = _ignore_report) -> GaviotaTablebase:
    """Open the folders of Gaviota tables in a list of paths; raise OSError if one is not there."""
    tables = _ReadOnlyGaviota()
    for path in split_paths(paths):
        tables.add_directory(path)
    for name, path in list(tables.available_tables.items()):
        if not os.path.isfile(path):
            del tables.available_tables[name]
            report(f"{path} is no regular file and left out")
    if not tables.available_tables:
        raise FileNotFoundError(f"no Gaviota tables (*.gtb.cp4) in {paths}")
    return GaviotaTablebase(tables, report)


def open_syzygy(paths: str, report: Report = _ignore_report) -> SyzygyTablebase:
    """Open the folders of Syzygy tables in a list of paths; raise OSError if one is not there."""
    tables = chess.syzygy.Tablebase()
    for path in split_paths(paths):
        tables.add_directory(path)
    if not tables.wdl:
        raise FileNotFoundError(f"no Syzygy tables (*.rtbw, *.rtbz) in {paths}")
    return SyzygyTablebase(tables, report)


def split_paths(paths: str) -> list[str]:
    """Split a list of folders, written like PATH; raise FileNotFoundError for what is no folder."""
    folders = [os.path.expanduser(path) for path in paths.split(os.pathsep) if path]
    for folder in folders:
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{folder} is not a folder")
    return folders
