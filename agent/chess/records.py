"""What a search worker owns: one C-like struct, handed from function to function as one pointer.

A `Worker` holds a stack of `Position`s and `Frame`s, one a ply. Making a move copies the position
to the next ply and changes the copy, so that undoing is nothing at all.

Sides: WHITE = 0, BLACK = 1. Kinds: PAWN = 0 to KING = 5; EMPTY = 6 stands on empty squares.
A move is a number of 16 bits: from, to, promotion kind - 1, flag (6 + 6 + 2 + 2 bits); castling is
the king's move onto its own rook. NO_MOVE = 0.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numba
import numpy as np

from agent.compiled.native import U64, at_address, copier, element
from agent.compiled.scores import MAX_PLY

WHITE, BLACK = 0, 1
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, EMPTY = range(7)
NO_SQUARE = 64

NO_MOVE = 0
CORRECTIONS = 1 << 14  # entries, by the low bits of a key
EVALUATIONS = 1 << 14  # entries, by the low bits of a key
STRUCTURES = 1 << 12  # entries, by the low bits of a key
STRUCTURE_WORDS = 4
MOVED = 12 * 64 + 1  # pieces of both sides by target square, and NOTHING_MOVED
NOTHING_MOVED = MOVED - 1
FLAG = 3 << 14
PROMOTION, EN_PASSANT, CASTLING = 1 << 14, 2 << 14, 3 << 14

FIFTY_MOVES = 100  # plies without a capture or pawn move: a draw
MAX_MOVES = 448  # 218 is the most in a legal position; made-up ones with 16 queens have more
MAX_PAST = 256  # game positions kept for repetition

position_dtype = np.dtype(
    [
        ("kinds", U64, (6,)),  # squares of each kind of piece, both sides
        ("sides", U64, (2,)),  # squares of each side's pieces
        ("board", np.int8, (64,)),  # kind of the piece on each square
        ("key", U64),  # Polyglot's Zobrist key
        ("repetition_key", U64),  # the same, with en passant only where the capture is legal
        ("pawn_key", U64),  # of the pawns alone
        ("piece_keys", U64, (2,)),  # of each side's other pieces
        ("checkers", U64),  # pieces that give check to the side to move
        ("pinned", U64),  # pieces of the side to move that may only move along a line to the king
        ("castling", U64),  # squares of the rooks that may still castle
        ("turn", np.int64),  # side to move
        (
            "en_passant",
            np.int64,
        ),  # square a pawn jumped over with an enemy pawn beside, or NO_SQUARE
        ("halfmoves", np.int64),  # since the last capture or pawn move
        ("reversible", np.int64),  # the same, but null moves count as irreversible
        ("fullmoves", np.int64),
        ("move", np.int64),  # that led here, NO_MOVE after a null move or if unknown
    ],
    align=True,
)

frame_dtype = np.dtype(
    [
        ("moves", np.int32, (MAX_MOVES,)),  # read as int64: kernels are compiled for one type
        ("scores", np.int32, (MAX_MOVES,)),
        ("count", np.int64),  # moves generated
        ("next", np.int64),  # index of the next move to pick
        ("losing", np.int64),  # captures set aside at the front, which lose by static exchange
        ("stage", np.int64),  # of move picking
        ("table_move", np.int64),
        ("skip_quiets", np.int64),  # set when the remaining quiet moves are not worth a look
        ("evaluation", np.int64),  # static, NO_EVALUATION in check
        ("excluded", np.int64),  # the move that a singular search leaves out, else NO_MOVE
        ("moved", np.int64),  # piece and target of the move made here, NOTHING_MOVED if none
        ("reduced", np.int64),  # plies by which the move being searched is reduced
        ("tried", np.int32, (MAX_MOVES,)),  # moves searched or pruned here, the latest last
        ("tried_count", np.int64),
        ("killers", np.int32, (2,)),
        ("pv_length", np.int32),
        ("pv", np.int32, (MAX_PLY,)),
    ],
    align=True,
)

worker_dtype = np.dtype(
    [
        ("positions", position_dtype, (MAX_PLY + 2,)),
        ("frames", frame_dtype, (MAX_PLY + 2,)),
        ("past", U64, (MAX_PAST,)),  # repetition keys of the game before the root, oldest first
        ("past_count", np.int64),
        ("nodes", np.int64),
        ("node_limit", np.int64),
        ("stop", np.int64),  # set from outside, or by the node limit
        ("seldepth", np.int64),
        ("selective", np.int64),  # 0 switches off all pruning, reductions, extensions and the table
        ("evaluate", U64),  # address of int32 evaluate(worker*, int64 ply)
        ("failure", U64),  # the exception that a compiled evaluation raised, 0 for none
        ("table", U64),  # address of the transposition table
        ("table_clusters", U64),
        ("generation", np.int64),  # of table entries
        ("null_from", np.int64),  # the ply from which null moves are allowed
        ("tables", U64),  # address of the directory of endgame tables, 0 without
        ("table_hits", np.int64),  # positions found in endgame tables
        ("root_count", np.int64),
        ("root_depth", np.int64),  # of this iteration
        ("root_first", np.int64),  # root moves before it are excluded (MultiPV)
        ("root_current", np.int64),  # index of the root move being searched
        ("root_moves", np.int32, (MAX_MOVES,)),
        ("root_nodes", np.int64, (MAX_MOVES,)),
        ("best_move", np.int64),  # of this root search so far, NO_MOVE before the first
        ("best_score", np.int64),
        ("history", np.int16, (2 * 64 * 64,)),  # quiet moves by side, from and to
        ("captures", np.int16, (12 * 64 * 7,)),  # noisy moves by piece, to and captured kind
        ("pawn_corrections", np.int16, (2 * CORRECTIONS,)),  # by side to move and pawn_key
        ("piece_corrections", np.int16, (2 * 2 * CORRECTIONS,)),  # by side to move and piece_keys
        ("line_corrections", np.int16, (2 * CORRECTIONS,)),  # by side to move and the last moves
        ("evaluations", U64, (EVALUATIONS,)),  # a key, its low 16 bits replaced by the evaluation
        ("structures", U64, (STRUCTURE_WORDS * STRUCTURES,)),  # what `pawn_structure` remembers
        ("continuations", np.int16, (MOVED * MOVED,)),  # quiet moves by an earlier move
    ],
    align=True,
)

_position = numba.from_dtype(position_dtype)
_frame = numba.from_dtype(frame_dtype)
_worker = numba.from_dtype(worker_dtype)

if TYPE_CHECKING:  # a record's fields are known to Numba alone
    Position: TypeAlias = Any
    Frame: TypeAlias = Any
    Worker: TypeAlias = Any
else:
    Position, Frame, Worker = _position, _frame, _worker

position_at = element(_worker, "positions", _position)
frame_at = element(_worker, "frames", _frame)
copy_position = copier(_position)
worker_at = at_address(_worker)
