"""Check of a book for illegal entries, and for moves that a search considers losing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import chess
from chess.polyglot import MemoryMappedReader, zobrist_hash

from agent.limits import Cp, Mate, Score
from openings.polyglot import encode_move

# Score of a mate in centipawns.
_MATE = 100_000


# Book moves from the start position. The last move is the move to check.
BookLine = tuple[chess.Move, ...]


@dataclass(frozen=True, slots=True)
class BookWalkResult:
    """The playable lines of a book, and the numbers of illegal and unreachable entries."""

    lines: list[BookLine]
    illegal: int
    unreachable: int


def walk_book(reader: MemoryMappedReader) -> BookWalkResult:
    """Visit every position that is reachable by book moves, including moves of weight 0."""
    lines, illegal, reached = [], 0, 0
    seen: set[int] = set()
    waiting: list[BookLine] = [()]
    while waiting:
        moves = waiting.pop()
        board = _board(moves)
        key = zobrist_hash(board)
        if key in seen:
            continue
        seen.add(key)
        raw = {entry.raw_move for entry in reader.find_all(key, minimum_weight=0)}
        legal = 0
        for entry in reader.find_all(board, minimum_weight=0):
            if encode_move(board, entry.move) not in raw:
                continue
            legal += 1
            line = (*moves, entry.move)
            waiting.append(line)
            if entry.weight:
                lines.append(line)
        entries = sum(1 for _ in reader.find_all(key, minimum_weight=0))
        reached += entries
        illegal += entries - legal
    return BookWalkResult(lines, illegal, len(reader) - reached)


def score_lines(
    lines: Iterable[BookLine], search: Callable[[chess.Board], Score]
) -> Iterator[tuple[BookLine, int]]:
    """Yield each line with the score of its last move, in centipawns for the side that plays it.

    `search` returns the score for the side to move. It is called only if there is a legal move.
    """
    for line in lines:
        board = _board(line)
        if any(board.legal_moves):
            yield line, -centipawns(search(board))
        else:
            yield line, centipawns(Mate(1)) if board.is_check() else 0


def _board(line: BookLine) -> chess.Board:
    board = chess.Board()
    for move in line:
        board.push(move)
    return board


def centipawns(score: Score) -> int:
    """Convert a score to centipawns. A mate in n moves becomes 100,000 - n."""
    if isinstance(score, Cp):
        return score.value
    return _MATE - score.moves if score.moves > 0 else -_MATE - score.moves
