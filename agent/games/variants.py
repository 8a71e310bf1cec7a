"""The variants of chess, by the names of lichess and of UCI's option UCI_Variant.

A board knows its variant, see `variant_of`. `ChessRules` are the rules before there is a board.
This module does not import `chess` at run time before a board is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.io.message import Message
from agent.io.strict_json import quote_value

if TYPE_CHECKING:
    import chess

STANDARD = "chess"
# Other names of variants: those of python-chess, Fairy-Stockfish, xboard and lichess's pages.
_ALIASES = {
    "chess": ("standard", "normal", "classical", "fromposition"),
    "crazyhouse": ("zh", "house"),
    "atomic": ("atom", "atomicchess"),
    "antichess": ("anti", "giveaway", "giveawaychess"),
    "horde": ("hordechess",),
    "kingofthehill": ("koth",),
    "racingkings": ("racing", "race"),
    "3check": ("threecheck", "threecheckchess"),
}
VARIANTS = tuple(_ALIASES)
_NAMES = {alias: name for name, aliases in _ALIASES.items() for alias in (name, *aliases)}


@dataclass(frozen=True, slots=True)
class ChessRules:
    """A variant of VARIANTS, and whether castling follows the rules of Chess960."""

    variant: str = STANDARD
    chess960: bool = False

    def __str__(self) -> str:
        return "Chess960" if self.chess960 else self.variant


STANDARD_RULES = ChessRules()


def find_variant(text: str) -> str | None:
    """Return the variant's name for a name or an alias, in which case and spaces do not matter."""
    return _NAMES.get("".join(char for char in text.lower() if char not in " -_"))


def parse_variant(text: str) -> str:
    """Return the variant's name for a name or an alias. Raise ValueError if it is unknown."""
    variant = find_variant(text)
    if variant is None:
        expected, given = ", ".join(VARIANTS), quote_value(text)
        raise ValueError(Message("variant: unknown {} (expected one of: {})", given, expected))
    return variant


def board_class(variant: str) -> type[chess.Board]:
    """Return python-chess's class for the boards of one of VARIANTS."""
    import chess

    if variant == STANDARD:
        return chess.Board
    from chess import variant as variants  # lazy import: slow to load

    return variants.find_variant(variant)


def variant_of(board: chess.Board) -> str:
    """Return the name of a board's variant, which is not always in VARIANTS."""
    name = type(board).uci_variant or ""
    return _NAMES.get(name, name)


def is_standard(board: chess.Board) -> bool:
    """Return whether a board is of chess or Chess960, and not of another variant."""
    return variant_of(board) == STANDARD


def variant_outcome(board: chess.Board) -> int | None:
    """Return the result by the rules that a variant adds to chess, or None.

    It is 1, 0 or -1 from the view of the side to move. Checkmate and stalemate are not included,
    except in antichess.
    """
    if board.is_variant_loss():
        return -1
    if board.is_variant_win():
        return 1
    return 0 if board.is_variant_draw() else None


def is_lost(board: chess.Board) -> bool:
    """Return whether the side to move is checkmated, or has lost by the rules of the variant."""
    outcome = variant_outcome(board)
    return board.is_checkmate() if outcome is None else outcome < 0
