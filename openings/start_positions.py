"""Repertoires as openings for matches: where each game begins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import chess

from openings import repertoire


@dataclass(frozen=True, slots=True)
class StartPosition:
    """A position, the moves played from it before the players take over (UCI), and a name."""

    fen: str = chess.STARTING_FEN
    moves: tuple[str, ...] = ()
    name: str = ""


def read(paths: Iterable[Path]) -> list[StartPosition]:
    """Return the lines of YAML files or folders that no other line goes on from, in their order.

    Lines with a move that is not to be played are left out. Raises BookError.
    """
    return [
        StartPosition(chess.STARTING_FEN, tuple(move.uci() for move in line.moves), str(line.name))
        for line in repertoire.read(paths)
        if line.is_leaf and not line.avoided_plies
    ]
