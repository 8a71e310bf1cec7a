"""The index of a position with at most four pieces in the table of its endgame.

The name of an endgame lists its pieces, stronger side first: KQKR, KBNK, KPKP. A table has one
entry per position for each side to move. Symmetric positions share one entry:

- The stronger side's king is mapped to the triangle a1-d1-d4 (462 pairs of kings), or to the files
  a to d if there are pawns (1,806 pairs).
- If both kings are on the diagonal a1-h8, the first piece off the diagonal is mapped below it.
- If Black is the stronger side, the colours are swapped and the ranks are flipped.

The index is `(kings * radix1 + piece1) * radix2 + piece2`, where `kings` is the number of the pair
of kings. A radix is 48 for a pawn, 64 for another piece, and 1 for a missing piece.
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
CODE_COUNT = 11  # a code is 0 for no piece, else 1 + kind + 5 * side
SIGNATURE_COUNT = CODE_COUNT * CODE_COUNT  # a signature is CODE_COUNT * code1 + code2

_LETTERS = "PNBRQ"
_NO_PAIR = 0xFFFF
_PAWN_PAIRS = 4096  # start of the table of king pairs with pawns, after that without pawns

# Bits of a layout: the transformation of a position to the one in the table.
FLIP_COLOURS, SWAP_PIECES, WITH_PAWNS = 1, 2, 4
_RADIX1, _RADIX2, _SIZE = 8, 16, 24

PieceKinds = tuple[int, ...]
Squares = npt.NDArray[np.int64]


class EndgameType:
    """An endgame, defined by the piece types of both sides without their kings.

    `strong` and `weak` are in descending order. `size` is the number of entries per side to move.
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
        return f"EndgameType({self.name})"

    @property
    def signature(self) -> int:
        """The index of the endgame in the kernel's array of table addresses."""
        first, second = (*self.codes, 0, 0)[:2]
        return CODE_COUNT * first + second

    @property
    def is_drawn(self) -> bool:
        """Whether every position is drawn. Such an endgame has no table."""
        return not self.weak and self.strong in INSUFFICIENT_MATERIAL

    @property
    def has_en_passant(self) -> bool:
        return PAWN in self.strong and PAWN in self.weak

    def successors(self) -> Iterator["EndgameType"]:
        """Yield the endgames that a capture or promotion can lead to, including drawn endgames."""
        sides = (self.strong, self.weak)
        endgames: dict[str, EndgameType] = {}
        for side in (0, 1):
            own, other = sides[side], sides[1 - side]
            promoted = [(*_without(own, PAWN), kind) for kind in range(1, QUEEN + 1) if PAWN in own]
            for own_pieces in [own, *promoted]:
                for captured in [None, *other]:
                    other_pieces = other if captured is None else _without(other, captured)
                    endgame = endgame_of_pieces(own_pieces, other_pieces)
                    if endgame.name != self.name:
                        endgames[endgame.name] = endgame
        yield from endgames.values()


def _without(kinds: PieceKinds, kind: int) -> PieceKinds:
    index = kinds.index(kind)
    return kinds[:index] + kinds[index + 1 :]


def _format_pieces(kinds: PieceKinds) -> str:
    return "K" + "".join(_LETTERS[kind] for kind in kinds)


def _radix(code: int) -> int:
    if code == 0:
        return 1
    return 48 if (code - 1) % 5 == PAWN else 64


def endgame_of_pieces(one: PieceKinds, other: PieceKinds) -> EndgameType:
    """Return the endgame with the given pieces of both sides (without kings), in any order."""
    pair = sorted(
        (tuple(sorted(kinds, reverse=True)) for kinds in (one, other)),
        key=lambda kinds: (len(kinds), kinds),
    )
    return EndgameType(pair[1], pair[0])


def endgame_from_name(name: str) -> EndgameType:
    """Return the endgame with a name such as KRKP. Raise `ValueError` if it has no table."""
    white, _, black = name.upper().removeprefix("K").partition("K")
    if name[:1].upper() == "K" and "K" in name[1:].upper() and set(white + black) <= set(_LETTERS):
        kinds = [tuple(_LETTERS.index(letter) for letter in side) for side in (white, black)]
        endgame = endgame_of_pieces(*kinds)
        if 1 <= len(endgame.codes) <= MAX_PIECES - 2 and not endgame.is_drawn:
            return endgame
    raise ValueError(
        f"invalid endgame {name!r} (expected three or four pieces that can win, such as KRKP)"
    )


def all_endgames() -> list[EndgameType]:
    """Return all endgames that have tables. Each one comes after all that it can lead to."""
    kinds = range(PAWN, QUEEN + 1)
    endgames = [endgame_of_pieces((kind,), ()) for kind in kinds]
    endgames += [endgame_of_pieces(pair, ()) for pair in combinations_with_replacement(kinds, 2)]
    endgames += [endgame_of_pieces((a,), (b,)) for a, b in combinations_with_replacement(kinds, 2)]
    endgames = [endgame for endgame in endgames if not endgame.is_drawn]
    return sorted(endgames, key=lambda e: (len(e.codes), (e.strong + e.weak).count(PAWN), e.name))


INSUFFICIENT_MATERIAL: tuple[PieceKinds, ...] = ((), (KNIGHT,), (BISHOP,))  # against a bare king


def _apply_symmetry(squares: Squares, transforms: Squares) -> Squares:
    """Apply symmetries of the board to squares.

    Bit 0 of `transforms` mirrors the files, bit 1 the ranks, and bit 2 the diagonal a1-h8.
    """
    squares = squares ^ 7 * (transforms & 1) ^ 28 * (transforms & 2)
    return np.where(transforms & 4, (squares & 7) << 3 | squares >> 3, squares)


def _diagonal_sides(squares: Squares) -> Squares:
    """Return the rank minus the file of each square, which is 0 on the diagonal a1-h8."""
    return (squares >> 3) - (squares & 7)


def _canonical_kings(
    white: Squares, black: Squares, with_pawns: bool
) -> tuple[Squares, Squares, Squares]:
    transforms = (white & 7) // 4
    if not with_pawns:
        transforms |= white >> 5 << 1
        sides = [_diagonal_sides(_apply_symmetry(kings, transforms)) for kings in (white, black)]
        transforms |= 4 * ((sides[0] > 0) | (sides[0] == 0) & (sides[1] > 0))
    return _apply_symmetry(white, transforms), _apply_symmetry(black, transforms), transforms


def _king_pair_tables(with_pawns: bool) -> tuple[Squares, Squares]:
    """Return the canonical pairs of kings, and one word for each of the 64 * 64 pairs of squares.

    A pair is `white + 256 * black`. A word is `index | transform << 16 | on_diagonal << 19`, where
    `on_diagonal` is 1 if both kings are on the diagonal a1-h8.
    """
    white, black = np.divmod(np.arange(64 * 64), 64)
    legal = (white != black) & (KING_TABLE[white] >> black.astype(np.uint64) & np.uint64(1) == 0)
    first, second, transforms = _canonical_kings(white[legal], black[legal], with_pawns)
    # Pairs are numbered in the order of their first occurrence.
    pairs, first_index, inverse = np.unique(
        first | second << 8, return_index=True, return_inverse=True
    )
    order = np.argsort(first_index)
    numbers = np.argsort(order)[inverse]
    on_diagonal = (_diagonal_sides(first) == 0) & (_diagonal_sides(second) == 0) & (not with_pawns)
    words = np.full(64 * 64, _NO_PAIR)
    words[legal] = numbers | transforms << 16 | on_diagonal.astype(np.int64) << 19
    return pairs[order], words


KING_PAIRS, _KING_WORDS = _king_pair_tables(with_pawns=False)
PAWN_KING_PAIRS, _PAWN_KING_WORDS = _king_pair_tables(with_pawns=True)


def _layouts() -> npt.NDArray[np.uint64]:
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
            flipped_codes = [
                (code + 4) % 10 + 1 if flip and code else code for code in (first, second)
            ]
            swap = flipped_codes != list((*endgame.codes, 0, 0)[:2])
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
    return int64(_layout_words(signature))


@kernel
def layout_size(layout: int) -> int:
    """Return the number of table entries for each side to move."""
    return layout >> _SIZE


@kernel
def _mirror(square: int) -> int:
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
    """Return the index of a position in its table. The stronger side must already be White."""
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
    """Return the squares of both kings and both pieces. The position may be illegal."""
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
