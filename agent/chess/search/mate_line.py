"""Principal variations of mates, which searches end early at a table entry or at a proof."""

from collections.abc import Callable
from dataclasses import replace

import chess

from agent.chess.endgames.root_probe import Line
from agent.games.variants import is_lost, is_standard, variant_outcome
from agent.kernel.scores import MAX_EVALUATION
from agent.limits import Cp, Info, Mate

# Limit of `find_mate_line`, which takes about 20 microseconds per position.
_MAX_POSITIONS = 1000


def plies_to_mate(score: Mate) -> int:
    return 2 * abs(score.moves) - (score.moves > 0)


def with_mate_line(
    board: chess.Board,
    info: Info[chess.Move],
    probe: Callable[[chess.Board, int], Line | None],
) -> Info[chess.Move] | None:
    """Return `info`, whose variation from `board` goes on to the mate if its score is a mate.

    `probe(board, plies)` returns the line from there to a mate in `plies` plies, or None. Then the
    result is None in chess, and `info` in a variant.
    """
    if not isinstance(info.score, Mate):
        return info
    missing = plies_to_mate(info.score) - len(info.pv)
    if missing <= 0:
        return info
    end = board.copy(stack=False)
    for move in info.pv:
        end.push(move)
    if not is_standard(board):
        # A line may be shorter, as the side to move can win by the rules of antichess.
        line = None if variant_outcome(end) is not None else probe(end, missing)
        return info if line is None else replace(info, pv=(*info.pv, *line))
    line = probe(end, missing)
    return None if line is None else replace(info, pv=(*info.pv, *line))


def without_mate(info: Info[chess.Move]) -> Info[chess.Move]:
    """Return `info` with the best or worst evaluation as the score, instead of a mate."""
    wins = isinstance(info.score, Mate) and info.score.moves > 0
    return replace(info, score=Cp(MAX_EVALUATION if wins else -MAX_EVALUATION))


def find_mate_line(board: chess.Board, plies: int) -> Line | None:
    """Return a line of `plies` plies to a forced mate, in which the mated side defends longest.

    Return None if there is no such line, or if the search needs more than _MAX_POSITIONS positions.
    """
    solver = _Solver(board)
    try:
        line = solver.attack(plies) if plies & 1 else solver.defend(plies)
    except _TooManyPositionsError:
        return None
    return line if line is not None and len(line) == plies else None


class _TooManyPositionsError(Exception): ...


class _Solver:
    def __init__(self, board: chess.Board) -> None:
        self._board = board.copy(stack=False)
        self._is_standard = is_standard(board)
        self._positions = 0

    def attack(self, plies: int) -> Line | None:
        """Return a line in which the side to move mates in exactly `plies` plies."""
        board = self._board
        checks_first = sorted(board.legal_moves, key=lambda move: not board.gives_check(move))
        for move in checks_first:
            if plies == 1 and self._is_standard and not board.gives_check(move):
                return None
            self._push(move)
            line = self.defend(plies - 1)
            board.pop()
            if line is not None and len(line) == plies - 1:
                return (move, *line)
        return None

    def defend(self, plies: int) -> Line | None:
        """Return the longest defence if all moves are mated within `plies` plies."""
        board, longest = self._board, None
        if not self._is_standard and variant_outcome(board) is not None:
            return () if is_lost(board) else None
        for move in board.legal_moves:
            self._push(move)
            lines = (self.attack(length) for length in range(1, plies, 2))
            line = next((line for line in lines if line is not None), None)
            board.pop()
            if line is None:
                return None
            if longest is None or len(line) >= len(longest):
                longest = (move, *line)
        return () if longest is None and board.is_check() else longest

    def _push(self, move: chess.Move) -> None:
        self._positions += 1
        if self._positions > _MAX_POSITIONS:
            raise _TooManyPositionsError
        self._board.push(move)
