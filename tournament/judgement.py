"""How good the moves of a game were: what each of them gave away, and what that is called.

A move is judged by the expected score: wins, and half the draws, of such games. What it gave away
is what its player could expect before it, less what is left after it; so a pawn counts where the
game is open, and nothing where it is decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import exp

from agent.border.plain_text import plain
from agent.limits import Cp, Mate, Score
from tournament.time_control import TimeControl

FIRST, SECOND = 0, 1


class Grade(StrEnum):
    """What a move is called. A good one has no name."""

    GOOD = ""
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


# How a centipawn changes the logarithm of the odds when people play. Lichess fitted it to its
# games (lichess.org/page/accuracy). Engines win with far less than people do: by the curve of
# their games, which UCI_ShowWDL tells, a slip in the opening would be a blunder.
ODDS_PER_CENTIPAWN = 0.00368208
FARTHEST = 10_000  # centipawns: as good as a mate, and no power overflows

# What a move gives away at least, of a game's one point, to be called so.
THRESHOLDS = ((0.15, Grade.BLUNDER), (0.10, Grade.MISTAKE), (0.05, Grade.INACCURACY))
FAULTS = (Grade.INACCURACY, Grade.MISTAKE, Grade.BLUNDER)
SIGNS = {Grade.GOOD: "", Grade.INACCURACY: "?!", Grade.MISTAKE: "?", Grade.BLUNDER: "??"}


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a search says of a position, from the side of whoever is to move.

    expected: the score, from 0 to 1. cp or mate: of chess; lead: of Go, in points. line: the best
    moves, as the engine writes them. owners: of Go, of each point, rows from above, from -1 to 1.
    """

    expected: float
    cp: int | None = None
    mate: int | None = None
    lead: float | None = None
    line: tuple[str, ...] = ()
    depth: int = 0
    nodes: int = 0
    owners: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewedMove:
    """One move. cp, mate, lead and expected: after it, from the first player's side.

    player: 0 for the first. best, line: what was better, or the same move, as people write them.
    loss: what it gave away, None as long as that is not known.
    """

    ply: int
    number: int
    player: int
    move: str
    best: str = ""
    line: tuple[str, ...] = ()
    expected: float | None = None
    cp: int | None = None
    mate: int | None = None
    lead: float | None = None
    loss: float | None = None
    grade: Grade = Grade.GOOD


@dataclass(frozen=True, slots=True)
class MoveTally:
    """One player's moves in numbers. loss: the mean of what they gave away, None of none."""

    moves: int
    inaccuracies: int
    mistakes: int
    blunders: int
    loss: float | None


@dataclass(frozen=True, slots=True)
class GameReview:
    """One game of a file, judged. first: White's name in chess, Black's in Go.

    start: what the first player could expect before the first move.
    """

    game: str
    number: int
    event: str
    first: str
    second: str
    result: str
    start: float | None
    moves: tuple[ReviewedMove, ...]
    tallies: tuple[MoveTally, ...]

    @property
    def title(self) -> str:
        """The players and the result, for people."""
        return f"{self.first} - {self.second}  {self.result}".rstrip()

    @property
    def whole(self) -> bool:
        """Whether every move has been judged."""
        return all(move.loss is not None for move in self.moves)


def expected_score(score: Score) -> float:
    """Return wins and half the draws, of one game between people, that a score promises."""
    if isinstance(score, Mate):
        return float(score.moves > 0)
    centipawns = max(-FARTHEST, min(FARTHEST, score.value))
    return 1 / (1 + exp(-ODDS_PER_CENTIPAWN * centipawns))


def assessment_of(score: Score, line: Sequence[str], depth: int, nodes: int) -> Assessment:
    """Return what an engine of chess has said."""
    cp = score.value if isinstance(score, Cp) else None
    mate = score.moves if isinstance(score, Mate) else None
    return Assessment(expected_score(score), cp, mate, None, tuple(line), depth, nodes)


def loss_of(before: Assessment, after: Assessment, move: str, same_mover: bool) -> float:
    """Return what a move gave away, from 0; nothing if it is the one that the engine would play.

    same_mover: whoever made it is to move again.
    """
    if before.line and before.line[0] == move:
        return 0.0
    left = after.expected if same_mover else 1 - after.expected
    return max(0.0, round(before.expected - left, 4))


def with_hindsight(
    said: Sequence[Assessment | None], moves: Sequence[str], movers: Sequence[int]
) -> list[Assessment | None]:
    """Return what is said of positions, with what the game's own moves have shown.

    Where the move that was played turns out clearly better than all that the search saw, as a
    mate does that a short search overlooks, the position was worth that; so the blame falls on
    the move before. movers: who is to move in each position. Less than an inaccuracy is noise.
    """
    wiser = list(said)
    for ply in range(len(moves) - 1, -1, -1):
        before, after = wiser[ply], wiser[ply + 1]
        if before is None or after is None:
            continue
        same = movers[ply] == movers[ply + 1]
        left = after.expected if same else 1 - after.expected
        if left - before.expected < THRESHOLDS[-1][0]:
            continue
        sign = 1 if same else -1
        mate = None if after.mate is None else sign * after.mate
        if after.mate is not None and after.mate <= 0 and not same:
            mate = 1 - after.mate
        wiser[ply] = replace(
            before,
            expected=left,
            cp=None if after.cp is None else sign * after.cp,
            mate=mate,
            lead=None if after.lead is None else sign * after.lead,
            line=(moves[ply], *after.line),
        )
    return wiser


def grade_of(loss: float | None) -> Grade:
    """Return what a move is called that gave so much away."""
    if loss is None:
        return Grade.GOOD
    return next((grade for least, grade in THRESHOLDS if loss >= least), Grade.GOOD)


def tallies_of(moves: Sequence[ReviewedMove]) -> tuple[MoveTally, MoveTally]:
    """Return the first player's and the second's moves in numbers."""
    return _tally(moves, FIRST), _tally(moves, SECOND)


def _tally(moves: Sequence[ReviewedMove], player: int) -> MoveTally:
    own = [move for move in moves if move.player == player and move.loss is not None]
    slight, serious, grave = (sum(move.grade is grade for move in own) for grade in FAULTS)
    losses = [move.loss or 0.0 for move in own]
    mean = sum(losses) / len(losses) if losses else None
    return MoveTally(len(own), slight, serious, grave, mean)


def view_of(assessment: Assessment | None, mover: int) -> dict[str, float | int | None]:
    """Return an assessment as the first player sees it, where `mover` is to move."""
    if assessment is None:
        return {}
    sign = 1 if mover == FIRST else -1
    shares = assessment.expected if mover == FIRST else 1 - assessment.expected
    return {
        "expected": round(shares, 4),
        "cp": None if assessment.cp is None else sign * assessment.cp,
        "mate": None if assessment.mate is None else sign * assessment.mate,
        "lead": None if assessment.lead is None else sign * assessment.lead,
    }


def annotator_of(name: str, limits: TimeControl, unit: str) -> str:
    """Return who has judged a game, by which limits; unit: of nodes, as people call them."""
    words = [f"{limits.nodes} {unit}" if limits.nodes else ""]
    words += [f"{limits.movetime:g} s" if limits.movetime else ""]
    return plain(f"{name}, {' and '.join(filter(None, words))} a move")


def score_words(move: ReviewedMove) -> str:
    """Return a move's evaluation, from the first player's side, for people."""
    if move.mate is not None:
        return f"#{move.mate}"
    if move.lead is not None:
        return f"{move.lead:+.1f}"
    return "" if move.cp is None else f"{move.cp / 100:+.2f}"
