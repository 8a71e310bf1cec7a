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


@dataclass(frozen=True, slots=True)
class BookLine:
    """A line of book moves from the start position. The last move is the move to check."""

    moves: tuple[chess.Move, ...]

    def board(self) -> chess.Board:
        board = chess.Board()
        for move in self.moves:
            board.push(move)
        return board

    def san(self) -> str:
        return chess.Board().variation_san(self.moves)


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
    waiting: list[tuple[chess.Move, ...]] = [()]
    while waiting:
        moves = waiting.pop()
        board = BookLine(moves).board()
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
                lines.append(BookLine(line))
        entries = sum(1 for _ in reader.find_all(key, minimum_weight=0))
        reached += entries
        illegal += entries - legal
    return BookWalkResult(lines, illegal, len(reader) - reached)


def score_lines(
    lines: Iterable[BookLine], search: Callable[[chess.Board], Score]
) -> Iterator[tuple[BookLine, Score]]:
    """Yield each line with the score of its last move, for the side that plays the move.

    `search` returns the score for the side to move. It is called only if there is a legal move.
    """
    for line in lines:
        board = line.board()
        if board.is_checkmate():
            yield line, Mate(1)
        elif not any(board.legal_moves):
            yield line, Cp(0)
        else:
            score = search(board)
            yield line, type(score)(-_score_number(score))


def _score_number(score: Score) -> int:
    return score.value if isinstance(score, Cp) else score.moves


def centipawns(score: Score) -> int:
    """Convert a score to centipawns. A mate in n moves becomes 100,000 - n."""
    if isinstance(score, Cp):
        return score.value
    return _MATE - score.moves if score.moves > 0 else -_MATE - score.moves
