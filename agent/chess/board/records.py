"""The records (C-like structs) of the compiled chess engine.

A move has 16 bits, from the lowest: 6 for the source square, 6 for the destination square, 2 for
the promotion piece type minus 1, and 2 for a flag. Castling is the king's move onto its own rook.
Moves of variants use the flag of en passant, and the promotion piece type to tell them apart.

Positions form a stack with one element per ply. Making a move copies the position to the next ply
and changes the copy ("copy-make"), so no move is ever undone.
"""

from typing import Annotated

import numpy as np

from agent.chess.board.rules import COUNTS_CHECKS, POCKETS
from agent.kernel.intrinsics import Bits, at_address, copier, element
from agent.kernel.record import FixedArray, record
from agent.kernel.scores import MAX_PLY

WHITE, BLACK = 0, 1
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, EMPTY = range(7)
NO_SQUARE = 64

NO_MOVE = 0
# Powers of two: tables are indexed by the low bits of a key.
CORRECTION_ENTRIES = 1 << 14
EVALUATION_CACHE_ENTRIES = 1 << 14
PAWN_TABLE_ENTRIES = 1 << 12
PAWN_TABLE_ENTRY_WORDS = 4
PIECE_TARGETS = 12 * 64 + 1  # pieces of both sides by target square, and NO_PIECE_TARGET
NO_PIECE_TARGET = PIECE_TARGETS - 1
FLAG_MASK = 3 << 14
PROMOTION, EN_PASSANT, CASTLING = 1 << 14, 2 << 14, 3 << 14
# The kinds of moves of variants: a drop has the piece type instead of the source square.
KIND_MASK = FLAG_MASK | 3 << 12
DROP, KING_PROMOTION = EN_PASSANT | 1 << 12, EN_PASSANT | 2 << 12

FIFTY_MOVES = 100  # plies without a capture or pawn move: a draw
POCKET_KINDS = 8  # in memory: pawn to queen are used
MAX_MOVES = 512  # a legal position has at most 218; one with 15 queens and drops has 450
MAX_GAME_KEYS = 256  # number of earlier game positions kept to detect repetitions


@record
class Position:
    kinds: Annotated[FixedArray[Bits], 6]  # squares of each piece type, for both sides
    sides: Annotated[FixedArray[Bits], 2]  # squares of each side's pieces
    board: Annotated[FixedArray[int], np.int8, 64]  # piece type on each square
    key: Bits  # Zobrist key, as defined by Polyglot
    repetition_key: Bits  # as `key`, with en passant only if the capture is legal
    pawn_key: Bits  # Zobrist key of the pawns
    piece_keys: Annotated[FixedArray[Bits], 2]  # Zobrist key of each side's other pieces
    checkers: Bits  # pieces that give check to the side to move
    pinned: Bits  # pinned pieces of the side to move
    castling: Bits  # squares of the rooks that may still castle
    turn: int  # side to move
    en_passant: int  # en passant square if an enemy pawn attacks it, else NO_SQUARE
    halfmoves: int  # plies since the last capture or pawn move
    reversible_plies: int  # as `halfmoves`, but null moves count as irreversible
    fullmoves: int
    move: int  # the move that led to this position, NO_MOVE if unknown or a null move
    if COUNTS_CHECKS:
        remaining_checks: Annotated[FixedArray[int], 2]  # that each side must still give
    if POCKETS:
        # Number of pieces by side and type.
        pockets: Annotated[FixedArray[int], np.int8, 2 * POCKET_KINDS]
        promoted: Bits  # promoted pieces, which are captured as pawns


@record
class Frame:
    """The state of the search at one ply (an entry of the "search stack")."""

    # Kernels read the elements as int64.
    moves: Annotated[FixedArray[int], np.int32, MAX_MOVES]
    scores: Annotated[FixedArray[int], np.int32, MAX_MOVES]
    count: int  # number of generated moves
    next_index: int  # index of the next move to pick
    bad_noisy_count: int  # number of losing captures, which are moved to the front of `moves`
    stage: int  # stage of move picking
    table_move: int
    skip_quiets: int  # set when the remaining quiet moves are pruned
    evaluation: int  # static evaluation, NO_EVALUATION in check
    excluded: int  # the move excluded by a singular extension search, else NO_MOVE
    piece_target: int  # index of piece and target of the move made, NO_PIECE_TARGET if none
    reduced_plies: int  # reduction of the move being searched
    # Moves searched or pruned at this node, in order.
    tried_moves: Annotated[FixedArray[int], np.int32, MAX_MOVES]
    tried_count: int
    killers: Annotated[FixedArray[int], np.int32, 2]
    pv_length: Annotated[int, np.int32]
    pv: Annotated[FixedArray[int], np.int32, MAX_PLY]


@record
class Worker:
    """The complete state of one search thread."""

    positions: Annotated[FixedArray[Position], MAX_PLY + 2]
    frames: Annotated[FixedArray[Frame], MAX_PLY + 2]
    # Repetition keys of the game before the root, oldest first.
    game_keys: Annotated[FixedArray[Bits], MAX_GAME_KEYS]
    game_key_count: int
    nodes: int
    node_limit: int
    stop: int  # set by other threads, or at the node limit
    seldepth: int
    selective: int  # 0 disables pruning, reductions, extensions and the transposition table
    evaluate: Bits  # address of int32 evaluate(worker*, int64 ply)
    network: Bits  # address of the network's weights, or 0
    network_buckets: int  # number of output buckets of the network
    accumulators: Bits  # address of the network's accumulators
    failure: Bits  # exception raised by a compiled evaluation, or 0
    table: Bits  # address of the transposition table
    table_clusters: Bits
    generation: int  # generation of new entries of the table
    null_move_min_ply: int  # null moves are disabled at lower plies
    tablebase: Bits  # address of the index of endgame tables, or 0
    tablebase_hits: int  # positions found in endgame tables
    root_count: int
    root_depth: int  # depth of the current iteration
    multipv_start: int  # earlier root moves are excluded (MultiPV)
    root_index: int  # index of the root move being searched
    root_moves: Annotated[FixedArray[int], np.int32, MAX_MOVES]
    root_nodes: Annotated[FixedArray[int], MAX_MOVES]
    best_move: int  # best root move so far, NO_MOVE before the first is searched
    best_score: int
    # Quiet moves, by side, source and target square.
    quiet_history: Annotated[FixedArray[int], np.int16, 2 * 64 * 64]
    # Captures and promotions, by piece, target square and captured piece type.
    capture_history: Annotated[FixedArray[int], np.int16, 12 * 64 * 7]
    # Correction histories by side to move and by pawn key, piece keys, or last two moves.
    pawn_corrections: Annotated[FixedArray[int], np.int16, 2 * CORRECTION_ENTRIES]
    piece_corrections: Annotated[FixedArray[int], np.int16, 2 * 2 * CORRECTION_ENTRIES]
    line_corrections: Annotated[FixedArray[int], np.int16, 2 * CORRECTION_ENTRIES]
    # Position keys with the evaluation in the low 16 bits.
    evaluation_cache: Annotated[FixedArray[Bits], EVALUATION_CACHE_ENTRIES]
    # The pawn hash table; see `pawn_structure`.
    pawn_table: Annotated[FixedArray[Bits], PAWN_TABLE_ENTRY_WORDS * PAWN_TABLE_ENTRIES]
    # Quiet moves, by piece and target of an earlier move and of the move itself.
    continuation_history: Annotated[FixedArray[int], np.int16, PIECE_TARGETS * PIECE_TARGETS]


position_at = element(Worker, "positions", Position)
frame_at = element(Worker, "frames", Frame)
copy_position = copier(Position)
worker_at = at_address(Worker)
