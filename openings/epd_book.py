"""Conversion of analysed EPD positions to book entries.

All moves in the operation `bm` (best moves) are used. Without `bm`, the first move in `sm`
(supplied move), `pm` (predicted move) or `pv` is used. Moves in `am` (avoid moves) get weight 0.
The operation `acd` is the analysis depth, and `ce` is the score in centipawns. If a position occurs
several times, the deepest analysis is used. If depths are equal, the last one is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chess.polyglot import zobrist_hash

from agent.io import text_files
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


def read(
    paths: Iterable[Path],
    min_score: int | None = None,
    on_invalid: Callable[[str], None] = lambda message: None,
    read_lines: Callable[[Path], Iterable[str]] = text_files.read_lines,
) -> list[Entry]:
    """Return the entries in EPD files, sorted by key.

    Positions whose `ce` is below `min_score` are skipped. A missing `ce` counts as 0. Invalid lines
    are skipped too, and `on_invalid` receives a message that names the line. `read_lines` yields
    the lines of a file.
    """
    analyses: dict[int, EpdAnalysis] = {}
    for path in paths:
        for key, analysis in _read_file(path, on_invalid, read_lines):
            if min_score is not None and (analysis.score or 0) < min_score:
                continue
            if key not in analyses or analysis.depth >= analyses[key].depth:
                analyses[key] = analysis
    return [
        Entry(key, raw_move, weight)
        for key, analysis in sorted(analyses.items())
        for raw_move, weight in analysis.moves.items()
    ]


def _read_file(
    path: Path, on_invalid: Callable[[str], None], read_lines: Callable[[Path], Iterable[str]]
) -> Iterator[tuple[int, EpdAnalysis]]:
    with convert_read_errors(path, BookError):
        for number, line in enumerate(read_lines(path), 1):
            if line.strip() and not line.startswith("#"):
                try:
                    analysis = _parse_analysis(line)
                except ValueError as error:
                    on_invalid(f"{path}, line {number}: {error}")
                else:
                    yield analysis


def _parse_analysis(line: str) -> tuple[int, EpdAnalysis]:
    board, operations = epd_line.parse(line)
    moves = {code: epd_line.moves(board, operations, code) for code in (*_MOVES, "am")}
    candidates = next((moves[code] for code in _MOVES if moves[code]), [])
    best = candidates if "bm" in operations else candidates[:1]
    weights = {encode_move(board, move): DEFAULT_WEIGHT for move in best}
    weights.update((encode_move(board, move), 0) for move in moves["am"])
    depth = _integer(epd_line.number(operations, "acd"))
    score = _integer(epd_line.number(operations, "ce"))
    return zobrist_hash(board), EpdAnalysis(depth or 0, score, weights)


def _integer(value: float | None) -> int | None:
    return None if value is None or abs(value) > _MAX_NUMBER else int(value)
