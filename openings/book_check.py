"""Checking a book: every line legal, and no move that a search finds to lose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import chess
from chess.polyglot import MemoryMappedReader, zobrist_hash

from agent.limits import Cp, Mate, Score
from openings.polyglot import encode_move

# What a mate counts, in centipawns.
_MATE = 100_000


@dataclass(frozen=True, slots=True)
class BookLine:
    """A move that a book plays, as the last of the moves that lead there from the start."""

    moves: tuple[chess.Move, ...]

    def board(self) -> chess.Board:
        """Return the position after the move."""
        board = chess.Board()
        for move in self.moves:
            board.push(move)
        return board

    def san(self) -> str:
        """Return the moves as people write them."""
        return chess.Board().variation_san(self.moves)


@dataclass(frozen=True, slots=True)
class WalkResult:
    """What is found on the way through a book.

    visits: the moves played. illegal: entries that are not. unreachable: entries whose positions
    are not reached from the start.
    """

    lines: list[BookLine]
    illegal: int
    unreachable: int


def walk_book(reader: MemoryMappedReader) -> WalkResult:
    """Go through all positions that a book's moves lead to, those of weight 0 too."""
    visits, illegal, reached = [], 0, 0
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
                visits.append(BookLine(line))
        entries = sum(1 for _ in reader.find_all(key, minimum_weight=0))
        reached += entries
        illegal += entries - legal
    return WalkResult(visits, illegal, len(reader) - reached)


def score_lines(
    visits: Iterable[BookLine], search: Callable[[chess.Board], Score]
) -> Iterator[tuple[BookLine, Score]]:
    """Yield each move with its score for the side that plays it.

    search: gives the score of a position with a legal move, for the side to move.
    """
    for visit in visits:
        board = visit.board()
        if board.is_checkmate():
            yield visit, Mate(1)
        elif not any(board.legal_moves):
            yield visit, Cp(0)
        else:
            score = search(board)
            yield visit, type(score)(-_score_number(score))


def _score_number(score: Score) -> int:
    return score.value if isinstance(score, Cp) else score.moves


def centipawns(score: Score) -> int:
    """Return a score as one number: mates count more than any material."""
    if isinstance(score, Cp):
        return score.value
    return _MATE - score.moves if score.moves > 0 else -_MATE - score.moves
