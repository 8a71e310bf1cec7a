"""Positions with the number of leaves at each depth, from files of data."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import chess


@dataclass(frozen=True)
class PerftCase:
    """A position, and its leaves at depth 1, 2, and so on."""

    name: str
    chess960: bool
    fen: str
    leaves: tuple[int, ...]

    def board(self) -> chess.Board:
        return chess.Board(self.fen, chess960=self.chess960)

    def up_to(self, most: int) -> Iterator[tuple[int, int]]:
        """Yield each depth that has at most so many leaves, and their number."""
        return ((depth, n) for depth, n in enumerate(self.leaves, 1) if n <= most)

    def beyond(self, most: int) -> Iterator[tuple[int, int]]:
        """Yield each depth that has more leaves, and their number."""
        return ((depth, n) for depth, n in enumerate(self.leaves, 1) if n > most)


def read(name: str) -> list[PerftCase]:
    """Return the cases of a file."""
    lines = (Path(__file__).parent / "data" / name).read_text("utf-8").splitlines()
    rows = [[field.strip() for field in line.split("|")] for line in lines if line[0] != "#"]
    return [
        PerftCase(name, chess960 == "1", fen, tuple(map(int, leaves.split())))
        for name, chess960, fen, leaves in rows
    ]


KNOWN = read("perft.txt")
SUITE = read("perft-suite.txt")
