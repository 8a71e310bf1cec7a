"""Conversion of analysed EPD positions to book entries.

All moves in the operation `bm` (best moves) are used. Without `bm`, the first move in `sm`
(supplied move), `pm` (predicted move) or `pv` is used. Moves in `am` (avoid moves) get weight 0.
The operation `acd` is the analysis depth, and `ce` is the score in centipawns. If a position occurs
several times, the deepest analysis is used. If depths are equal, the last one is used.
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
_MAX_NUMBER = 10**9  # larger scores and depths count as missing


@dataclass(frozen=True, slots=True)
class EpdAnalysis:
    """The analysis on one EPD line. `moves` maps encoded moves to weights."""

    depth: int
    score: int | None
    moves: dict[int, int]


def read(paths: Iterable[Path], min_score: int | None = None) -> list[Entry]:
    """Return the entries in EPD files, sorted by key. Raise BookError if a line is invalid.

    Positions whose `ce` is below `min_score` are skipped. A missing `ce` counts as 0.
    """
    analyses: dict[int, EpdAnalysis] = {}
    for path in paths:
        for key, analysis in _read_file(path):
            if min_score is not None and (analysis.score or 0) < min_score:
                continue
            if key not in analyses or analysis.depth >= analyses[key].depth:
                analyses[key] = analysis
    return [
        Entry(key, raw_move, weight)
        for key, analysis in sorted(analyses.items())
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
    candidates = next((moves[code] for code in _MOVES if moves[code]), [])
    best = candidates if "bm" in operations else candidates[:1]
    weights = {encode_move(board, move): DEFAULT_WEIGHT for move in best}
    weights.update((encode_move(board, move), 0) for move in moves["am"])
    score = operations.get("ce")
    depth = _integer(operations.get("acd"))
    return zobrist_hash(board), EpdAnalysis(depth or 0, _integer(score), weights)


def _integer(value: Any) -> int | None:
    valid = isinstance(value, int | float) and abs(value) <= _MAX_NUMBER
    return int(value) if valid else None
