"""Positions with analysis, in EPD, as entries of a book.

The opcodes that say something of moves: `bm` names the best; where it is missing, `sm` (supplied
move), `pm` (predicted move) and the first move of `pv` stand for it, in this order; moves of `am`
are known but not to be played. `acd` is the depth of the analysis and `ce` its score in
centipawns: where a position comes twice, the deeper analysis counts, then the later one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chess.polyglot import zobrist_hash

from agent.border.files import lines, open_file
from agent.border.unreadable import blamed_on
from openings import epd_line
from openings.polyglot import Entry, pack
from openings.weights import DEFAULT_WEIGHT, BookError

_MOVES = ("bm", "sm", "pm", "pv")


@dataclass(frozen=True, slots=True)
class EpdLine:
    """What one line says. moves: raw moves and their weights; score: centipawns, if given."""

    depth: int
    score: int | None
    moves: dict[int, int]


def read(paths: Iterable[Path], min_score: int | None = None) -> list[Entry]:
    """Return the entries of EPD files, sorted by key; raises BookError where a line is wrong.

    min_score: positions whose `ce` is lower are left out: the side to move should not get there.
    """
    found: dict[int, EpdLine] = {}
    for path in paths:
        for key, analysis in _read_file(path):
            if min_score is not None and (analysis.score or 0) < min_score:
                continue
            if key not in found or analysis.depth >= found[key].depth:
                found[key] = analysis
    return [
        Entry(key, raw_move, weight)
        for key, analysis in sorted(found.items())
        for raw_move, weight in analysis.moves.items()
    ]


def _read_file(path: Path) -> Iterator[tuple[int, EpdLine]]:
    with blamed_on(path, BookError), open_file(path) as file:
        for number, line in enumerate((line.decode() for line in lines(file)), 1):
            if line.strip() and not line.startswith("#"):
                yield _analysis(line, f"{path}, line {number}")


def _analysis(line: str, where: str) -> tuple[int, EpdLine]:
    try:
        board, operations = epd_line.parse(line)
        moves = {code: epd_line.moves(operations, code) for code in (*_MOVES, "am")}
    except ValueError as error:
        raise BookError(f"{where}: {error}") from None
    given = next((moves[code] for code in _MOVES if moves[code]), [])
    best = given if "bm" in operations else given[:1]
    weights = {pack(board, move): DEFAULT_WEIGHT for move in best}
    weights.update((pack(board, move), 0) for move in moves["am"])
    score = operations.get("ce")
    depth = _number(operations.get("acd"))
    return zobrist_hash(board), EpdLine(depth or 0, _number(score), weights)


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) else None
