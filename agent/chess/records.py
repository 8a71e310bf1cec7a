"""What a search worker owns: one C-like struct, handed from function to function as one pointer.

A `Worker` holds a stack of `Position`s and `Frame`s, one a ply. Making a move copies the position
to the next ply and changes the copy, so that undoing is nothing at all.

Sides: WHITE = 0, BLACK = 1. Kinds: PAWN = 0 to KING = 5; EMPTY = 6 stands on empty squares.
A move is a number of 16 bits: from, to, promotion kind - 1, flag (6 + 6 + 2 + 2 bits); castling is
the king's move onto its own rook. NO_MOVE = 0.
"""

from typing import Annotated

import numpy as np

from agent.compiled.native import Bits, at_address, copier, element
from agent.compiled.record import Many, record
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


@record
class Position:
    """A position: of the game, or at a ply of the search."""

    kinds: Annotated[Many[Bits], 6]  # squares of each kind of piece, both sides
    sides: Annotated[Many[Bits], 2]  # squares of each side's pieces
    board: Annotated[Many[int], np.int8, 64]  # kind of the piece on each square
    key: Bits  # Polyglot's Zobrist key
    repetition_key: Bits  # the same, with en passant only where the capture is legal
    pawn_key: Bits  # of the pawns alone
    piece_keys: Annotated[Many[Bits], 2]  # of each side's other pieces
    checkers: Bits  # pieces that give check to the side to move
    pinned: Bits  # pieces of the side to move that may only move along a line to the king
    castling: Bits  # squares of the rooks that may still castle
    turn: int  # side to move
    en_passant: int  # square a pawn jumped over with an enemy pawn beside, or NO_SQUARE
    halfmoves: int  # since the last capture or pawn move
    reversible: int  # the same, but null moves count as irreversible
    fullmoves: int
    move: int  # that led here, NO_MOVE after a null move or if unknown


@record
class Frame:
    """What the search notes at a ply."""

    moves: Annotated[
        Many[int], np.int32, MAX_MOVES
    ]  # read as int64: kernels are compiled for one type
    scores: Annotated[Many[int], np.int32, MAX_MOVES]
    count: int  # moves generated
    next: int  # index of the next move to pick
    losing: int  # captures set aside at the front, which lose by static exchange
    stage: int  # of move picking
    table_move: int
    skip_quiets: int  # set when the remaining quiet moves are not worth a look
    evaluation: int  # static, NO_EVALUATION in check
    excluded: int  # the move that a singular search leaves out, else NO_MOVE
    moved: int  # piece and target of the move made here, NOTHING_MOVED if none
    reduced: int  # plies by which the move being searched is reduced
    tried: Annotated[
        Many[int], np.int32, MAX_MOVES
    ]  # moves searched or pruned here, the latest last
    tried_count: int
    killers: Annotated[Many[int], np.int32, 2]
    pv_length: Annotated[int, np.int32]
    pv: Annotated[Many[int], np.int32, MAX_PLY]


@record
class Worker:
    """All that one thread of a search works in."""

    positions: Annotated[Many[Position], MAX_PLY + 2]
    frames: Annotated[Many[Frame], MAX_PLY + 2]
    past: Annotated[
        Many[Bits], MAX_PAST
    ]  # repetition keys of the game before the root, oldest first
    past_count: int
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
    null_from: int  # the ply from which null moves are allowed
    tables: Bits  # address of the directory of endgame tables, 0 without
    table_hits: int  # positions found in endgame tables
    root_count: int
    root_depth: int  # of this iteration
    root_first: int  # root moves before it are excluded (MultiPV)
    root_current: int  # index of the root move being searched
    root_moves: Annotated[Many[int], np.int32, MAX_MOVES]
    root_nodes: Annotated[Many[int], MAX_MOVES]
    best_move: int  # of this root search so far, NO_MOVE before the first
    best_score: int
    history: Annotated[Many[int], np.int16, 2 * 64 * 64]  # quiet moves by side, from and to
    captures: Annotated[
        Many[int], np.int16, 12 * 64 * 7
    ]  # noisy moves by piece, to and captured kind
    pawn_corrections: Annotated[
        Many[int], np.int16, 2 * CORRECTIONS
    ]  # by side to move and pawn_key
    piece_corrections: Annotated[
        Many[int], np.int16, 2 * 2 * CORRECTIONS
    ]  # by side to move and piece_keys
    line_corrections: Annotated[
        Many[int], np.int16, 2 * CORRECTIONS
    ]  # by side to move and the last moves
    evaluations: Annotated[
        Many[Bits], EVALUATIONS
    ]  # a key, its low 16 bits replaced by the evaluation
    structures: Annotated[
        Many[Bits], STRUCTURE_WORDS * STRUCTURES
    ]  # what `pawn_structure` remembers
    continuations: Annotated[Many[int], np.int16, MOVED * MOVED]  # quiet moves by an earlier move


position_at = element(Worker, "positions", Position)
frame_at = element(Worker, "frames", Frame)
copy_position = copier(Position)
worker_at = at_address(Worker)
