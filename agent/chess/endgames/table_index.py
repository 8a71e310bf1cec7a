"""Where a position of up to four pieces stands in its endgame table.

An ending is named by its pieces, the stronger side's first: KQKR, KBNK, KPKP. Its table holds both
sides to move, and one byte a position. Positions that the board's symmetry makes equal share one
entry: the stronger side's king is moved into the triangle a1-d1-d4 (462 pairs of kings), or, if
there are pawns, to the files a to d (1,806 pairs). What stands on the diagonal with both kings is
moved below it. A position of the other colours is turned upside down.

Within the table of one side to move an index is (kings * radix1 + piece1) * radix2 + piece2, with
64 squares for a piece and 48 for a pawn.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from agent.chess.board.lookup_tables import KING_ATTACKS as KING_TABLE
from agent.chess.board.records import BISHOP, BLACK, KNIGHT, PAWN, QUEEN, WHITE
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import external_table, int64

MAX_PIECES = 4
CODE_COUNT = 11  # 0 for no piece, else 1 + kind + 5 * side
SIGNATURE_COUNT = CODE_COUNT * CODE_COUNT  # CODES * code1 + code2, in any order

_LETTERS = "PNBRQ"
_NO_PAIR = 0xFFFF
_PAWN_PAIRS = 4096  # the table of pairs without pawns comes first, then that with pawns

# Bits of the layout of an ending: what turns a position into the one that the table holds.
FLIP_COLOURS, SWAP_PIECES, WITH_PAWNS = 1, 2, 4
_RADIX1, _RADIX2, _SIZE = 8, 16, 24

PieceKinds = tuple[int, ...]
Squares = npt.NDArray[np.int64]


class EndgameType:
    """What pieces there are besides the kings: kinds of the stronger and of the weaker side.

    Both are in descending order. size: number of entries for each side to move.
    """

    def __init__(self, strong: PieceKinds, weak: PieceKinds) -> None:
        self.strong = strong
        self.weak = weak
        self.name = _format_pieces(strong) + _format_pieces(weak)
        self.codes = tuple(1 + kind for kind in strong) + tuple(6 + kind for kind in weak)
        self.with_pawns = PAWN in strong + weak
        first, second = (*self.codes, 0, 0)[:2]
        self.radices = _radix(first), _radix(second)
        kings = len(PAWN_KING_PAIRS if self.with_pawns else KING_PAIRS)
        self.size = kings * self.radices[0] * self.radices[1]

    def __repr__(self) -> str:
        return f"Ending({self.name})"

    @property
    def signature(self) -> int:
        """The number by which the kernel finds the table."""
        first, second = (*self.codes, 0, 0)[:2]
        return CODE_COUNT * first + second

    @property
    def is_drawn(self) -> bool:
        """Whether no position is won, so that there is no table."""
        return not self.weak and self.strong in INSUFFICIENT_MATERIAL

    @property
    def has_en_passant(self) -> bool:
        """Whether a pawn may capture en passant."""
        return PAWN in self.strong and PAWN in self.weak

    def successors(self) -> Iterator["EndgameType"]:
        """List the endings that a capture or a promotion leads to, drawn ones too."""
        sides = (self.strong, self.weak)
        found: dict[str, EndgameType] = {}
        for side in (0, 1):
            own, other = sides[side], sides[1 - side]
            promoted = [(*_without(own, PAWN), kind) for kind in range(1, QUEEN + 1) if PAWN in own]
            for mine in [own, *promoted]:
                for captured in [None, *other]:
                    theirs = other if captured is None else _without(other, captured)
                    endgame = endgame_of_pieces(mine, theirs)
                    if endgame.name != self.name:
                        found[endgame.name] = endgame
        yield from found.values()


def _without(kinds: PieceKinds, kind: int) -> PieceKinds:
    at = kinds.index(kind)
    return kinds[:at] + kinds[at + 1 :]


def _format_pieces(kinds: PieceKinds) -> str:
    return "K" + "".join(_LETTERS[kind] for kind in kinds)


def _radix(code: int) -> int:
    if code == 0:
        return 1
    return 48 if (code - 1) % 5 == PAWN else 64


def endgame_of_pieces(one: PieceKinds, other: PieceKinds) -> EndgameType:
    """Return the ending with these pieces besides the kings, whichever side has them."""
    pair = sorted(
        (tuple(sorted(kinds, reverse=True)) for kinds in (one, other)),
        key=lambda kinds: (len(kinds), kinds),
    )
    return EndgameType(pair[1], pair[0])


def endgame_from_name(name: str) -> EndgameType:
    """Return the ending of a name such as KRKP; raise ValueError if there is no such table."""
    white, _, black = name.upper().removeprefix("K").partition("K")
    if name[:1].upper() == "K" and "K" in name[1:].upper() and set(white + black) <= set(_LETTERS):
        kinds = [tuple(_LETTERS.index(letter) for letter in side) for side in (white, black)]
        endgame = endgame_of_pieces(*kinds)
        if 1 <= len(endgame.codes) <= MAX_PIECES - 2 and not endgame.is_drawn:
            return endgame
    raise ValueError(f"{name} is not an ending of three or four pieces that can be won, like KRKP")


def all_endgames() -> list[EndgameType]:
    """Return the endings that have tables, each after those that it leads to."""
    kinds = range(PAWN, QUEEN + 1)
    found = [endgame_of_pieces((kind,), ()) for kind in kinds]
    found += [endgame_of_pieces(pair, ()) for pair in combinations_with_replacement(kinds, 2)]
    found += [endgame_of_pieces((a,), (b,)) for a, b in combinations_with_replacement(kinds, 2)]
    found = [endgame for endgame in found if not endgame.is_drawn]
    return sorted(found, key=lambda e: (len(e.codes), (e.strong + e.weak).count(PAWN), e.name))


INSUFFICIENT_MATERIAL: tuple[PieceKinds, ...] = ((), (KNIGHT,), (BISHOP,))  # against a bare king


def _apply_symmetry(squares: Squares, transforms: Squares) -> Squares:
    """Apply symmetries: 1 mirrors the files, 2 the ranks, 4 the diagonal a1-h8."""
    squares = squares ^ 7 * (transforms & 1) ^ 28 * (transforms & 2)
    return np.where(transforms & 4, (squares & 7) << 3 | squares >> 3, squares)


def _diagonal_sides(squares: Squares) -> Squares:
    """Return above 0 above the diagonal a1-h8, 0 on it, below 0 below it."""
    return (squares >> 3) - (squares & 7)


def _canonical_kings(
    white: Squares, black: Squares, with_pawns: bool
) -> tuple[Squares, Squares, Squares]:
    """Return the pairs of kings that stand for these, and the transforms that lead there."""
    transforms = (white & 7) // 4
    if not with_pawns:
        transforms |= white >> 5 << 1
        sides = [_diagonal_sides(_apply_symmetry(kings, transforms)) for kings in (white, black)]
        transforms |= 4 * ((sides[0] > 0) | (sides[0] == 0) & (sides[1] > 0))
    return _apply_symmetry(white, transforms), _apply_symmetry(black, transforms), transforms


def _king_pair_tables(with_pawns: bool) -> tuple[Squares, Squares]:
    """Return the pairs of kings, white + 256 black, and what each of all 64 * 64 becomes.

    A word of the latter is index | transform << 16 | both on the diagonal << 19.
    """
    white, black = np.divmod(np.arange(64 * 64), 64)
    apart = (white != black) & (KING_TABLE[white] >> black.astype(np.uint64) & np.uint64(1) == 0)
    first, second, transforms = _canonical_kings(white[apart], black[apart], with_pawns)
    # Pairs are numbered in the order in which they are met.
    pairs, met, which = np.unique(first | second << 8, return_index=True, return_inverse=True)
    order = np.argsort(met)
    numbers = np.argsort(order)[which]
    on_diagonal = (_diagonal_sides(first) == 0) & (_diagonal_sides(second) == 0) & (not with_pawns)
    words = np.full(64 * 64, _NO_PAIR)
    words[apart] = numbers | transforms << 16 | on_diagonal.astype(np.int64) << 19
    return pairs[order], words


KING_PAIRS, _KING_WORDS = _king_pair_tables(with_pawns=False)
PAWN_KING_PAIRS, _PAWN_KING_WORDS = _king_pair_tables(with_pawns=True)


def _layouts() -> npt.NDArray[np.uint64]:
    """Return how each signature is turned into its table's: FLIP, SWAP, WITH_PAWNS, radices."""
    words = np.zeros(SIGNATURE_COUNT, dtype=np.uint64)
    for first in range(CODE_COUNT):
        for second in range(CODE_COUNT):
            codes = [code for code in (first, second) if code]
            white, black = (
                tuple(sorted(((c - 1) % 5 for c in codes if (c > 5) == side), reverse=True))
                for side in (WHITE, BLACK)
            )
            endgame = endgame_of_pieces(white, black)
            flip = (white, black) != (endgame.strong, endgame.weak)
            turned = [(code + 4) % 10 + 1 if flip and code else code for code in (first, second)]
            swap = turned != list((*endgame.codes, 0, 0)[:2])
            words[CODE_COUNT * first + second] = (
                (FLIP_COLOURS if flip else 0)
                | (SWAP_PIECES if swap else 0)
                | (WITH_PAWNS if endgame.with_pawns else 0)
                | endgame.radices[0] << _RADIX1
                | endgame.radices[1] << _RADIX2
                | endgame.size << _SIZE
            )
    return words


LAYOUTS = _layouts()

_PAIR_WORDS = np.concatenate([_KING_WORDS, _PAWN_KING_WORDS]).astype(np.uint64)
_PAIR_SQUARES = np.concatenate([KING_PAIRS, PAWN_KING_PAIRS]).astype(np.uint64)

_king_pairs = external_table("kempelen_king_pairs", _PAIR_WORDS)
_layout_words = external_table("kempelen_ending_layouts", LAYOUTS)
_pair_squares = external_table("kempelen_pair_squares", _PAIR_SQUARES)
_FIRST_PAWN_PAIR = len(KING_PAIRS)


@kernel
def table_layout(signature: int) -> int:
    """Return how positions of a signature stand in their table."""
    return int64(_layout_words(signature))


@kernel
def layout_size(layout: int) -> int:
    """Return the number of entries for each side to move."""
    return layout >> _SIZE


@kernel
def _mirror(square: int) -> int:
    """Mirror at the diagonal a1-h8."""
    return (square & 7) << 3 | square >> 3


@kernel
def _transformed(square: int, transform: int) -> int:
    if transform & 1:
        square ^= 7
    if transform & 2:
        square ^= 56
    return _mirror(square) if transform & 4 else square


@kernel
def table_index(layout: int, white_king: int, black_king: int, square1: int, square2: int) -> int:
    """Return the index of a position that has been flipped and swapped as its layout says.

    The kings must not stand side by side; square2 is ignored where there is no second piece.
    """
    pair = int64(
        _king_pairs((_PAWN_PAIRS if layout & WITH_PAWNS else 0) + 64 * white_king + black_king)
    )
    transform = pair >> 16 & 7
    square1 = _transformed(square1, transform)
    square2 = _transformed(square2, transform)
    if pair >> 19:
        above = (square1 >> 3) - (square1 & 7)
        if above > 0 or (above == 0 and square2 >> 3 > square2 & 7):
            square1 = _mirror(square1)
            square2 = _mirror(square2)
    radix1, radix2 = layout >> _RADIX1 & 0xFF, layout >> _RADIX2 & 0xFF
    if radix1 == 48:
        square1 -= 8
    if radix2 == 48:
        square2 -= 8
    elif radix2 == 1:
        square2 = 0
    return ((pair & 0xFFFF) * radix1 + square1) * radix2 + square2


@kernel
def squares_of_index(layout: int, index: int) -> tuple[int, int, int, int]:
    """Return the squares of an index: both kings, both pieces; the inverse of `table_index`.

    Not every index is a position: two pieces may stand on one square.
    """
    radix1, radix2 = layout >> _RADIX1 & 0xFF, layout >> _RADIX2 & 0xFF
    square2 = index % radix2
    index //= radix2
    square1 = index % radix1
    index //= radix1
    if radix1 == 48:
        square1 += 8
    if radix2 == 48:
        square2 += 8
    pair = int64(_pair_squares(index + (_FIRST_PAWN_PAIR if layout & WITH_PAWNS else 0)))
    return pair & 63, pair >> 8, square1, square2
