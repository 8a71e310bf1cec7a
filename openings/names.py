"""Opening names by position, stored in a text file beside a book.

Each line contains a Polyglot key (16 hexadecimal digits), the ECO code (which may be empty) and the
name, separated by tabs. Lines are sorted by key.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import chess
from chess.polyglot import zobrist_hash

from agent.io.files import replace_atomically
from agent.io.text_files import read_text
from openings.book_common import BookError

SUFFIX = ".names"
# Only this many plies of a long game are searched for a name; no named position is deeper.
MAX_PLIES = 60
MAX_FILE_BYTES = 64 << 20


class OpeningName(NamedTuple):
    """The ECO code of an opening, which may be empty, and its name."""

    eco: str
    title: str

    def __str__(self) -> str:
        return f"{self.eco} {self.title}".strip()


OpeningNames = Mapping[int, OpeningName]


def read(path: Path) -> dict[int, OpeningName]:
    """Read a file of opening names. Raise BookError if it is invalid."""
    names = {}
    try:
        for line in read_text(path, MAX_FILE_BYTES).splitlines():
            key, eco, title = line.split("\t")
            names[int(key, 16)] = OpeningName(eco, title)
    except OSError as error:
        raise BookError(f"could not read opening names from {path}: {error.strerror}") from None
    except ValueError:
        raise BookError(f"could not read opening names from {path}: invalid file") from None
    return names


def write(path: Path, names: OpeningNames) -> None:
    """Write a file of opening names atomically. Raise BookError if writing fails."""
    lines = [f"{key:016x}\t{eco}\t{title}\n" for key, (eco, title) in sorted(names.items())]
    try:
        replace_atomically(path, "".join(lines).encode())
    except OSError as error:
        raise BookError(f"could not write opening names to {path}: {error.strerror}") from None


def find_name(names: OpeningNames, board: chess.Board) -> OpeningName | None:
    """Return the name of the last named position in the board's move history, or None."""
    past = board.copy()
    while len(past.move_stack) > MAX_PLIES:
        past.pop()
    while True:
        if name := names.get(zobrist_hash(past)):
            return name
        if not past.move_stack:
            return None
        past.pop()
