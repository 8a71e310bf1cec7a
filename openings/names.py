"""The names of openings by position: a small text file beside a book, sorted by key.

Each line holds a Polyglot key (16 hexadecimal digits), the ECO code (or nothing) and the name,
separated by tabs. A position has the name of the last named position on the way to it, so a game
that transposes is named by where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import chess
from chess.polyglot import zobrist_hash

from agent.io.files import read_text
from openings.book_common import BookError
from openings.polyglot import atomic_replace

SUFFIX = ".names"
# No named position lies deeper, in plies: where the search for a name begins in a long game.
MAX_PLIES = 60
MAX_FILE_BYTES = 64 << 20


class OpeningName(NamedTuple):
    """An ECO code, which may be empty, and what people call the opening."""

    eco: str
    title: str

    def __str__(self) -> str:
        return f"{self.eco} {self.title}".strip()


OpeningNames = Mapping[int, OpeningName]


def read(path: Path) -> dict[int, OpeningName]:
    """Read names; raises BookError."""
    names = {}
    try:
        for line in read_text(path, MAX_FILE_BYTES).splitlines():
            key, eco, title = line.split("\t")
            names[int(key, 16)] = OpeningName(eco, title)
    except OSError as error:
        raise BookError(f"cannot read the names {path}: {error.strerror}") from None
    except ValueError:
        raise BookError(f"cannot read the names {path}: it is no file of names") from None
    return names


def write(path: Path, names: OpeningNames) -> None:
    """Write names, whole or not at all; raises BookError."""
    lines = [f"{key:016x}\t{eco}\t{title}\n" for key, (eco, title) in sorted(names.items())]
    try:
        with atomic_replace(path) as temporary:
            temporary.write_text("".join(lines), "utf-8", newline="\n")
    except OSError as error:
        raise BookError(f"cannot write the names {path}: {error.strerror}") from None


def find_name(names: OpeningNames, board: chess.Board) -> OpeningName | None:
    """Return the name of the opening that a board with its moves is in, or came from."""
    past = board.copy()
    while len(past.move_stack) > MAX_PLIES:
        past.pop()
    while True:
        if name := names.get(zobrist_hash(past)):
            return name
        if not past.move_stack:
            return None
        past.pop()
