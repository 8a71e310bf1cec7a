"""Start positions for matches, read from repertoires."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import chess

from openings import repertoire


@dataclass(frozen=True, slots=True)
class StartPosition:
    """A FEN, the opening moves (in UCI notation) played from it, and a name."""

    fen: str = chess.STARTING_FEN
    moves: tuple[str, ...] = ()
    name: str = ""


def read(paths: Iterable[Path]) -> list[StartPosition]:
    """Return a start position for each line that no other line continues, in file order.

    Lines with moves to be avoided are skipped. Raise BookError if a file is invalid.
    """
    return [
        StartPosition(chess.STARTING_FEN, tuple(move.uci() for move in line.moves), str(line.name))
        for line in repertoire.read(paths)
        if line.is_leaf and not line.avoided_plies
    ]
