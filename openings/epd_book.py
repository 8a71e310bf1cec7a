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

from agent.io.files import iter_lines, open_file
from agent.io.read_errors import convert_read_errors
from openings import epd_line
from openings.book_common import DEFAULT_WEIGHT, BookError
from openings.polyglot import Entry, encode_move

_MOVES = ("bm", "sm", "pm", "pv")


@dataclass(frozen=True, slots=True)
class EpdAnalysis:
    """What one line says. moves: raw moves and their weights; score: centipawns, if given."""

    depth: int
    score: int | None
    moves: dict[int, int]


def read(paths: Iterable[Path], min_score: int | None = None) -> list[Entry]:
    """Return the entries of EPD files, sorted by key; raises BookError where a line is wrong.

    min_score: positions whose `ce` is lower are left out: the side to move should not get there.
    """
    found: dict[int, EpdAnalysis] = {}
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


def _read_file(path: Path) -> Iterator[tuple[int, EpdAnalysis]]:
    with convert_read_errors(path, BookError), open_file(path) as file:
        for number, line in enumerate((line.decode() for line in iter_lines(file)), 1):
            if line.strip() and not line.startswith("#"):
                yield _parse_analysis(line, f"{path}, line {number}")


def _parse_analysis(line: str, location: str) -> tuple[int, EpdAnalysis]:
    try:
        board, operations = epd_line.parse(line)
        moves = {code: epd_line.moves(operations, code) for code in (*_MOVES, "am")}
    except ValueError as error:
        raise BookError(f"{location}: {error}") from None
    given = next((moves[code] for code in _MOVES if moves[code]), [])
    best = given if "bm" in operations else given[:1]
    weights = {encode_move(board, move): DEFAULT_WEIGHT for move in best}
    weights.update((encode_move(board, move), 0) for move in moves["am"])
    score = operations.get("ce")
    depth = _integer(operations.get("acd"))
    return zobrist_hash(board), EpdAnalysis(depth or 0, _integer(score), weights)


def _integer(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) else None
