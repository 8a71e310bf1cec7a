"""Bitboard shifts and fills, and distances between squares."""

from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits

ALL_SQUARES = U64(0xFFFFFFFFFFFFFFFF)
FILE_A = U64(0x0101010101010101)
FILE_H = U64(0x8080808080808080)
CENTRE_FILES = U64(0x3C3C3C3C3C3C3C3C)
QUEENSIDE = U64(0x0F0F0F0F0F0F0F0F)
DARK_SQUARES = U64(0xAA55AA55AA55AA55)
RANKS = tuple(U64(0xFF << 8 * rank) for rank in range(8))


@kernel
def shift_forward(bits: Bits, side: int) -> Bits:
    return bits << U64(8) if side == 0 else bits >> U64(8)


@kernel
def fill_forward(bits: Bits, side: int) -> Bits:
    """Return `bits` and all squares in front of them from `side`'s point of view."""
    if side == 0:
        bits |= bits << U64(8)
        bits |= bits << U64(16)
        return bits | bits << U64(32)
    bits |= bits >> U64(8)
    bits |= bits >> U64(16)
    return bits | bits >> U64(32)


@kernel
def adjacent_on_rank(bits: Bits) -> Bits:
    """Return the squares directly left or right of the squares in `bits`."""
    return (bits & ~FILE_A) >> U64(1) | (bits & ~FILE_H) << U64(1)


@kernel
def king_distance(a: int, b: int) -> int:
    return max(abs((a >> 3) - (b >> 3)), abs((a & 7) - (b & 7)))


@kernel
def king_flank(square: int) -> Bits:
    """Return the four files around a king on `square`: files a-d, c-f or e-h."""
    file = square & 7
    return QUEENSIDE if file < 3 else CENTRE_FILES if file < 5 else ~QUEENSIDE
