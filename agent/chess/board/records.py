"""What a search worker owns: one C-like struct, handed from function to function as one pointer.

A `Worker` holds a stack of `Position`s and `Frame`s, one a ply. Making a move copies the position
to the next ply and changes the copy, so that undoing is nothing at all.

Sides: WHITE = 0, BLACK = 1. Kinds: PAWN = 0 to KING = 5; EMPTY = 6 stands on empty squares.
A move is a number of 16 bits: from, to, promotion kind - 1, flag (6 + 6 + 2 + 2 bits); castling is
the king's move onto its own rook. NO_MOVE = 0.
"""

from typing import Annotated

import numpy as np

from agent.kernel.intrinsics import Bits, at_address, copier, element
from agent.kernel.record import FixedArray, record
from agent.kernel.scores import MAX_PLY

WHITE, BLACK = 0, 1
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, EMPTY = range(7)
NO_SQUARE = 64

NO_MOVE = 0
CORRECTION_ENTRIES = 1 << 14  # entries, by the low bits of a key
EVALUATION_CACHE_ENTRIES = 1 << 14  # entries, by the low bits of a key
PAWN_TABLE_ENTRIES = 1 << 12  # entries, by the low bits of a key
PAWN_TABLE_ENTRY_WORDS = 4
PIECE_TARGETS = 12 * 64 + 1  # pieces of both sides by target square, and NO_PIECE_TARGET
NO_PIECE_TARGET = PIECE_TARGETS - 1
FLAG_MASK = 3 << 14
PROMOTION, EN_PASSANT, CASTLING = 1 << 14, 2 << 14, 3 << 14

FIFTY_MOVES = 100  # plies without a capture or pawn move: a draw
MAX_MOVES = 448  # 218 is the most in a legal position; made-up ones with 16 queens have more
MAX_GAME_KEYS = 256  # game positions kept for repetition


@record
class Position:
    """A position: of the game, or at a ply of the search."""

    kinds: Annotated[FixedArray[Bits], 6]  # squares of each kind of piece, both sides
    sides: Annotated[FixedArray[Bits], 2]  # squares of each side's pieces
    board: Annotated[FixedArray[int], np.int8, 64]  # kind of the piece on each square
    key: Bits  # Polyglot's Zobrist key
    repetition_key: Bits  # the same, with en passant only where the capture is legal
    pawn_key: Bits  # of the pawns alone
    piece_keys: Annotated[FixedArray[Bits], 2]  # of each side's other pieces
    checkers: Bits  # pieces that give check to the side to move
    pinned: Bits  # pieces of the side to move that may only move along a line to the king
    castling: Bits  # squares of the rooks that may still castle
    turn: int  # side to move
    en_passant: int  # square a pawn jumped over with an enemy pawn beside, or NO_SQUARE
    halfmoves: int  # since the last capture or pawn move
    reversible_plies: int  # the same, but null moves count as irreversible
    fullmoves: int
    move: int  # that led here, NO_MOVE after a null move or if unknown


@record
class Frame:
    """What the search notes at a ply."""

    moves: Annotated[
        FixedArray[int], np.int32, MAX_MOVES
    ]  # read as int64: kernels are compiled for one type
    scores: Annotated[FixedArray[int], np.int32, MAX_MOVES]
    count: int  # moves generated
    next_index: int  # index of the next move to pick
    bad_noisy_count: int  # captures set aside at the front, which lose by static exchange
    stage: int  # of move picking
    table_move: int
    skip_quiets: int  # set when the remaining quiet moves are not worth a look
    evaluation: int  # static, NO_EVALUATION in check
    excluded: int  # the move that a singular search leaves out, else NO_MOVE
    piece_target: int  # piece and target of the move made here, NO_PIECE_TARGET if none
    reduced_plies: int  # plies by which the move being searched is reduced
    tried_moves: Annotated[
        FixedArray[int], np.int32, MAX_MOVES
    ]  # moves searched or pruned here, the latest last
    tried_count: int
    killers: Annotated[FixedArray[int], np.int32, 2]
    pv_length: Annotated[int, np.int32]
    pv: Annotated[FixedArray[int], np.int32, MAX_PLY]


@record
class Worker:
    """All that one thread of a search works in."""

    positions: Annotated[FixedArray[Position], MAX_PLY + 2]
    frames: Annotated[FixedArray[Frame], MAX_PLY + 2]
    game_keys: Annotated[
        FixedArray[Bits], MAX_GAME_KEYS
    ]  # repetition keys of the game before the root, oldest first
    game_key_count: int
    nodes: int
    node_limit: int
    stop: int  # set from outside, or by the node limit
    seldepth: int
    selective: int  # 0 switches off all pruning, reductions, extensions and the table
    evaluate: Bits  # address of int32 evaluate(worker*, int64 ply)
    network: Bits  # address of the weights that it evaluates with, 0 without
    network_buckets: int  # how many outputs they have
    accumulators: Bits  # address of what is kept of their sums
    failure: Bits  # the exception that a compiled evaluation raised, 0 for none
    table: Bits  # address of the transposition table
    table_clusters: Bits
    generation: int  # of table entries
    null_move_min_ply: int  # the ply from which null moves are allowed
    tablebase: Bits  # address of the directory of endgame tables, 0 without
    tablebase_hits: int  # positions found in endgame tables
    root_count: int
    root_depth: int  # of this iteration
    multipv_start: int  # root moves before it are excluded (MultiPV)
    root_index: int  # index of the root move being searched
    root_moves: Annotated[FixedArray[int], np.int32, MAX_MOVES]
    root_nodes: Annotated[FixedArray[int], MAX_MOVES]
    best_move: int  # of this root search so far, NO_MOVE before the first
    best_score: int
    quiet_history: Annotated[
        FixedArray[int], np.int16, 2 * 64 * 64
    ]  # quiet moves by side, from and to
    capture_history: Annotated[
        FixedArray[int], np.int16, 12 * 64 * 7
    ]  # noisy moves by piece, to and captured kind
    pawn_corrections: Annotated[
        FixedArray[int], np.int16, 2 * CORRECTION_ENTRIES
    ]  # by side to move and pawn_key
    piece_corrections: Annotated[
        FixedArray[int], np.int16, 2 * 2 * CORRECTION_ENTRIES
    ]  # by side to move and piece_keys
    line_corrections: Annotated[
        FixedArray[int], np.int16, 2 * CORRECTION_ENTRIES
    ]  # by side to move and the last moves
    evaluation_cache: Annotated[
        FixedArray[Bits], EVALUATION_CACHE_ENTRIES
    ]  # a key, its low 16 bits replaced by the evaluation
    pawn_table: Annotated[
        FixedArray[Bits], PAWN_TABLE_ENTRY_WORDS * PAWN_TABLE_ENTRIES
    ]  # what `pawn_structure` remembers
    continuation_history: Annotated[
        FixedArray[int], np.int16, PIECE_TARGETS * PIECE_TARGETS
    ]  # quiet moves by an earlier move


position_at = element(Worker, "positions", Position)
frame_at = element(Worker, "frames", Frame)
copy_position = copier(Position)
worker_at = at_address(Worker)
