"""Attacked squares of each piece, and tests whether a square is attacked."""

from agent.chess.board.lookup_tables import (
    between_table,
    king_attacks,
    knight_attacks,
    line_table,
    magic_word,
    pawn_attack_table,
    slider_attack_table,
)
from agent.chess.board.records import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, Position
from agent.chess.board.rules import HAS_BOTH_KINGS
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, count, first_square


@kernel
def bit(square: int) -> Bits:
    return U64(1) << U64(square)


@kernel
def has(bits: Bits, square: int) -> bool:
    return bits >> U64(square) & U64(1) != 0


@kernel
def rook_attacks(square: int, occupied: Bits) -> Bits:
    entry = 4 * square
    index = (occupied & magic_word(entry)) * magic_word(entry + 1) >> magic_word(entry + 2)
    return slider_attack_table(index + magic_word(entry + 3))


@kernel
def bishop_attacks(square: int, occupied: Bits) -> Bits:
    entry = 256 + 4 * square
    index = (occupied & magic_word(entry)) * magic_word(entry + 1) >> magic_word(entry + 2)
    return slider_attack_table(index + magic_word(entry + 3))


@kernel
def pawn_attacks(side: int, square: int) -> Bits:
    return pawn_attack_table(64 * side + square)


@kernel
def piece_attacks(kind: int, square: int, occupied: Bits) -> Bits:
    """Return the squares attacked by a piece of type `kind`, which must not be PAWN."""
    if kind == KNIGHT:
        return knight_attacks(square)
    if kind == BISHOP:
        return bishop_attacks(square, occupied)
    if kind == ROOK:
        return rook_attacks(square, occupied)
    if kind == QUEEN:
        return bishop_attacks(square, occupied) | rook_attacks(square, occupied)
    return king_attacks(square)


@kernel
def between(a: int, b: int) -> Bits:
    """Return the squares strictly between `a` and `b`, or 0 if they are not aligned."""
    return between_table(64 * a + b)


@kernel
def line(a: int, b: int) -> Bits:
    """Return the whole rank, file or diagonal through `a` and `b`, or 0 if they are not aligned."""
    return line_table(64 * a + b)


@kernel
def attackers(position: Position, square: int, occupied: Bits) -> Bits:
    """Return the pieces of both sides that attack `square`. `occupied` contains all blockers."""
    kinds = position.kinds
    pawns = kinds[PAWN]
    queens = kinds[QUEEN]
    return (
        (pawn_attacks(0, square) & pawns & position.sides[1])
        | (pawn_attacks(1, square) & pawns & position.sides[0])
        | (knight_attacks(square) & kinds[KNIGHT])
        | (king_attacks(square) & kinds[KING])
        | (bishop_attacks(square, occupied) & (kinds[BISHOP] | queens))
        | (rook_attacks(square, occupied) & (kinds[ROOK] | queens))
    )


@kernel
def is_attacked(position: Position, square: int, by: int, occupied: Bits) -> bool:
    """Return whether side `by` attacks `square`. `occupied` contains all blockers."""
    kinds = position.kinds
    enemy = position.sides[by]
    queens = kinds[QUEEN]
    if (
        (pawn_attacks(1 - by, square) & kinds[PAWN])
        | (knight_attacks(square) & kinds[KNIGHT])
        | (king_attacks(square) & kinds[KING])
    ) & enemy:
        return True
    if bishop_attacks(square, occupied) & (kinds[BISHOP] | queens) & enemy:
        return True
    return (rook_attacks(square, occupied) & (kinds[ROOK] | queens) & enemy) != 0


@kernel
def king_square(position: Position, side: int) -> int:
    if not HAS_BOTH_KINGS:
        # Any square if there is no king: callers need not test that where it does not matter.
        kings = position.kinds[KING] & position.sides[side]
        return first_square(kings) if kings else 0
    return first_square(position.kinds[KING] & position.sides[side])


@kernel
def has_single_bit(bits: Bits) -> bool:
    return count(bits) == 1
