"""Lookup tables for attacks, lines between squares and Zobrist keys.

Squares are numbered from a1 = 0 to h8 = 63. The attacks of bishops and rooks use magic bitboards
(Kannan, 'Magic move-bitboard generation', 2007).
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from chess.polyglot import POLYGLOT_RANDOM_ARRAY

from agent.kernel.intrinsics import external_table

BitboardArray = npt.NDArray[np.uint64]

ROOK_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1))
BISHOP_DIRECTIONS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
KNIGHT_LEAPS = ((2, 1), (2, -1), (-2, 1), (-2, -1), (1, 2), (1, -2), (-1, 2), (-1, -2))

ROOK_MAGICS = (
    0x9080001184204004,
    0x0040001000200040,
    0x4080300020008018,
    0x0500082010000500,
    0x4100061008008500,
    0x020011280C100200,
    0x408011802A001500,
    0x4900008021420100,
    0x4020800280400020,
    0x0C01401001C52000,
    0x40260020C0801A00,
    0x0240800800500080,
    0x0293000608001100,
    0x0002001008220004,
    0x0188804200010080,
    0x0B04800945000880,
    0x0400808001204002,
    0x2CA1404010002006,
    0x4000888020001000,
    0x0008008008801000,
    0x1012808048008400,
    0x4444008004804200,
    0xC141040010280209,
    0x0200060010488504,
    0x0640008080002840,
    0x0324810100234000,
    0x2000200080300080,
    0x0000090100201001,
    0x8085000500080031,
    0x0002000A00643098,
    0x0282005200248108,
    0x0002800080086100,
    0x0440006044800980,
    0x850180A000804008,
    0x0000600480801008,
    0x0110010008080080,
    0x0200080005001100,
    0x80A2000400810080,
    0x00C0884204004510,
    0x02C0800248800500,
    0x021030C001888002,
    0x0010402010004000,
    0x0002448012020021,
    0x0010000801818011,
    0x8000110008010004,
    0x8001409020080104,
    0x5011062348140010,
    0x0300040170820001,
    0x0484400080002080,
    0x2041200040088080,
    0x0202208036C20200,
    0x0002000A40221200,
    0x80050C1100080100,
    0x080A001064880200,
    0x0000810882100400,
    0xA09040C401058200,
    0x0181002480004311,
    0x0500288010400101,
    0x0101001940102003,
    0x0134882110010005,
    0x8001001008000403,
    0x00E1004204000809,
    0x40020033080C0082,
    0x0001090400416082,
)
BISHOP_MAGICS = (
    0x0008010804840080,
    0x0010220210CA0080,
    0x44101941D3000040,
    0x0C043400810A1842,
    0x0024042000301014,
    0x0082020A20000100,
    0x0000840920900016,
    0x1254210802012000,
    0x0000080803240C21,
    0x0000109022084140,
    0x1004620820C08000,
    0x8000040401884401,
    0x0008220210102600,
    0x4020082808080301,
    0x0100488404824000,
    0x0000102101101004,
    0x8420025002B00310,
    0x0118001086468410,
    0x901000080440C14C,
    0x0001000820420200,
    0x9108210308401000,
    0x4882200E00900884,
    0x0802000422010440,
    0x4012085024840440,
    0x20084008C8021800,
    0x44C4044010900884,
    0x00440400A201B400,
    0x034104000800A120,
    0x400100700300C000,
    0x2000810002004A00,
    0x8281004001143000,
    0x0401820448210404,
    0x0010021100381040,
    0x3001012800109004,
    0x240C020200030401,
    0x8010160080080080,
    0x4004200200002080,
    0x0070004090120200,
    0x0001084080820200,
    0x4008092100052080,
    0x0002823840102049,
    0x4404011110004800,
    0x2042802808000500,
    0x0042004203820804,
    0x0200400092004100,
    0x0090501000404020,
    0x2560020282200501,
    0x0008680880240280,
    0x181E080212100010,
    0x0102084402080001,
    0x0884C104884C0400,
    0x0820000220880000,
    0x00002010020A0000,
    0x8C00A01410422404,
    0x0278200802004000,
    0x0282840122020000,
    0x002200A212162041,
    0x0004022208040422,
    0x000408004604D000,
    0x4000519000420200,
    0x10000000440D0C00,
    0x1020101812080200,
    0x0424C01002860041,
    0x0620882208004018,
)


def _on_board(rank: int, file: int) -> bool:
    return 0 <= rank < 8 and 0 <= file < 8


def _ray(square: int, direction: tuple[int, int]) -> list[int]:
    """Return the squares from `square` (exclusive) to the edge of the board, nearest first."""
    rank, file = divmod(square, 8)
    squares = []
    rank, file = rank + direction[0], file + direction[1]
    while _on_board(rank, file):
        squares.append(8 * rank + file)
        rank, file = rank + direction[0], file + direction[1]
    return squares


def _leap_targets(square: int, leaps: Iterable[tuple[int, int]]) -> int:
    rank, file = divmod(square, 8)
    return sum(
        1 << (8 * (rank + up) + file + right)
        for up, right in leaps
        if _on_board(rank + up, file + right)
    )


def _bitboard(squares: Iterable[int]) -> int:
    return sum(1 << square for square in squares)


def _ray_attacks(ray: list[int]) -> tuple[BitboardArray, BitboardArray]:
    """Return two arrays: all sets of blockers on a ray, and the attacked squares for each set."""
    *inner, last = ray
    blockers, attacks = [0], [1 << last]
    for square in reversed(inner):
        bit = 1 << square
        attacks = [bit | beyond for beyond in attacks] + [bit] * len(attacks)
        blockers += [bit | beyond for beyond in blockers]
    return np.array(blockers, dtype=np.uint64), np.array(attacks, dtype=np.uint64)


def _attacks_by_blockers(rays: Iterable[list[int]]) -> tuple[BitboardArray, BitboardArray]:
    blockers = attacks = np.zeros(1, dtype=np.uint64)
    for ray in rays:
        if ray:
            ray_blockers, ray_attacks = _ray_attacks(ray)
            blockers = np.bitwise_or.outer(blockers, ray_blockers).ravel()
            attacks = np.bitwise_or.outer(attacks, ray_attacks).ravel()
    return blockers, attacks


def _magic_tables() -> tuple[BitboardArray, BitboardArray]:
    """Return the arrays `entries` and `attacks` of the magic bitboards.

    `entries` has four words per square: mask, magic number, shift and offset. The bishops follow
    the rooks, from word 256. The index into `attacks` is `((blockers & mask) * magic >> shift) +
    offset`.
    """
    entries: list[int] = []
    attacks: list[BitboardArray] = []
    offset = 0
    for directions, magics in ((ROOK_DIRECTIONS, ROOK_MAGICS), (BISHOP_DIRECTIONS, BISHOP_MAGICS)):
        for square, magic in enumerate(magics):
            # Blockers on the edge hide no square, so the mask omits the ends of the rays.
            rays = [_ray(square, direction) for direction in directions]
            mask = _bitboard(target for ray in rays for target in ray[:-1])
            shift = 64 - mask.bit_count()
            blockers, attacked = _attacks_by_blockers(rays)
            block = np.zeros(len(blockers), dtype=np.uint64)
            block[blockers * np.uint64(magic) >> np.uint64(shift)] = attacked
            entries += [mask, magic, shift, offset]
            attacks.append(block)
            offset += len(block)
    return np.array(entries, dtype=np.uint64), np.concatenate(attacks)


def _line_tables() -> tuple[BitboardArray, BitboardArray]:
    """Return the tables for `between` and `line` in `attacks`, indexed by `64 * a + b`."""
    between, line = np.zeros(4096, dtype=np.uint64), np.zeros(4096, dtype=np.uint64)
    for square in range(64):
        for up, right in ROOK_DIRECTIONS + BISHOP_DIRECTIONS:
            ray = _ray(square, (up, right))
            full_line = _bitboard([square, *ray, *_ray(square, (-up, -right))])
            between_squares = 0
            for target in ray:
                between[64 * square + target] = between_squares
                line[64 * square + target] = full_line
                between_squares |= 1 << target
    return between, line


def _bitboard_array(bits: Iterable[int]) -> BitboardArray:
    return np.array(list(bits), dtype=np.uint64)


KNIGHT_ATTACKS = _bitboard_array(_leap_targets(s, KNIGHT_LEAPS) for s in range(64))
KING_ATTACKS = _bitboard_array(
    _leap_targets(s, ROOK_DIRECTIONS + BISHOP_DIRECTIONS) for s in range(64)
)
PAWN_ATTACKS = _bitboard_array(
    _leap_targets(s, ((up, 1), (up, -1))) for up in (1, -1) for s in range(64)
)  # 64 * side + square
ROOK_RAYS = _bitboard_array(
    _bitboard(t for d in ROOK_DIRECTIONS for t in _ray(s, d)) for s in range(64)
)
BISHOP_RAYS = _bitboard_array(
    _bitboard(t for d in BISHOP_DIRECTIONS for t in _ray(s, d)) for s in range(64)
)
BETWEEN, LINE = _line_tables()
MAGICS, SLIDER_ATTACKS = _magic_tables()
ZOBRIST = np.array(POLYGLOT_RANDOM_ARRAY, dtype=np.uint64)

knight_attacks = external_table("kempelen_knight", KNIGHT_ATTACKS)
king_attacks = external_table("kempelen_king", KING_ATTACKS)
pawn_attack_table = external_table("kempelen_pawn", PAWN_ATTACKS)
rook_rays = external_table("kempelen_rook_rays", ROOK_RAYS)
bishop_rays = external_table("kempelen_bishop_rays", BISHOP_RAYS)
between_table = external_table("kempelen_between", BETWEEN)
line_table = external_table("kempelen_line", LINE)
magic_word = external_table("kempelen_magics", MAGICS)
slider_attack_table = external_table("kempelen_sliders", SLIDER_ATTACKS)
zobrist = external_table("kempelen_zobrist", ZOBRIST)
