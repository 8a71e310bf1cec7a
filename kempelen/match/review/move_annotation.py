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

from agent.io.sanitize import sanitize_line
from agent.limits import Cp, Mate, Score
from kempelen.match.config.time_control import TimeControl

FIRST, SECOND = 0, 1


class MoveQuality(StrEnum):
    """What a move is called. A good one has no name."""

    GOOD = ""
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


# How a centipawn changes the logarithm of the odds when people play. Lichess fitted it to its
# games (lichess.org/page/accuracy). Engines win with far less than people do: by the curve of
# their games, which UCI_ShowWDL tells, a slip in the opening would be a blunder.
LOG_ODDS_PER_CENTIPAWN = 0.00368208
MAX_CENTIPAWNS = 10_000  # centipawns: as good as a mate, and no power overflows

# What a move gives away at least, of a game's one point, to be called so.
LOSS_THRESHOLDS = (
    (0.15, MoveQuality.BLUNDER),
    (0.10, MoveQuality.MISTAKE),
    (0.05, MoveQuality.INACCURACY),
)
BAD_QUALITIES = (MoveQuality.INACCURACY, MoveQuality.MISTAKE, MoveQuality.BLUNDER)
QUALITY_SYMBOLS = {
    MoveQuality.GOOD: "",
    MoveQuality.INACCURACY: "?!",
    MoveQuality.MISTAKE: "?",
    MoveQuality.BLUNDER: "??",
}


@dataclass(frozen=True, slots=True)
class PositionEval:
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
    grade: MoveQuality = MoveQuality.GOOD


@dataclass(frozen=True, slots=True)
class MoveStats:
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
    tallies: tuple[MoveStats, ...]

    @property
    def title(self) -> str:
        """The players and the result, for people."""
        return f"{self.first} - {self.second}  {self.result}".rstrip()

    @property
    def is_complete(self) -> bool:
        """Whether every move has been judged."""
        return all(move.loss is not None for move in self.moves)


def expected_score(score: Score) -> float:
    """Return wins and half the draws, of one game between people, that a score promises."""
    if isinstance(score, Mate):
        return float(score.moves > 0)
    centipawns = max(-MAX_CENTIPAWNS, min(MAX_CENTIPAWNS, score.value))
    return 1 / (1 + exp(-LOG_ODDS_PER_CENTIPAWN * centipawns))


def eval_from_score(score: Score, line: Sequence[str], depth: int, nodes: int) -> PositionEval:
    """Return what an engine of chess has said."""
    cp = score.value if isinstance(score, Cp) else None
    mate = score.moves if isinstance(score, Mate) else None
    return PositionEval(expected_score(score), cp, mate, None, tuple(line), depth, nodes)


def move_loss(before: PositionEval, after: PositionEval, move: str, same_mover: bool) -> float:
    """Return what a move gave away, from 0; nothing if it is the one that the engine would play.

    same_mover: whoever made it is to move again.
    """
    if before.line and before.line[0] == move:
        return 0.0
    left = after.expected if same_mover else 1 - after.expected
    return max(0.0, round(before.expected - left, 4))


def with_hindsight(
    said: Sequence[PositionEval | None], moves: Sequence[str], movers: Sequence[int]
) -> list[PositionEval | None]:
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
        if left - before.expected < LOSS_THRESHOLDS[-1][0]:
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


def quality_of_loss(loss: float | None) -> MoveQuality:
    """Return what a move is called that gave so much away."""
    if loss is None:
        return MoveQuality.GOOD
    return next((grade for least, grade in LOSS_THRESHOLDS if loss >= least), MoveQuality.GOOD)


def move_stats(moves: Sequence[ReviewedMove]) -> tuple[MoveStats, MoveStats]:
    """Return the first player's and the second's moves in numbers."""
    return _player_stats(moves, FIRST), _player_stats(moves, SECOND)


def _player_stats(moves: Sequence[ReviewedMove], player: int) -> MoveStats:
    own = [move for move in moves if move.player == player and move.loss is not None]
    slight, serious, grave = (sum(move.grade is grade for move in own) for grade in BAD_QUALITIES)
    losses = [move.loss or 0.0 for move in own]
    mean = sum(losses) / len(losses) if losses else None
    return MoveStats(len(own), slight, serious, grave, mean)


def first_player_view(
    position_eval: PositionEval | None, mover: int
) -> dict[str, float | int | None]:
    """Return an assessment as the first player sees it, where `mover` is to move."""
    if position_eval is None:
        return {}
    sign = 1 if mover == FIRST else -1
    shares = position_eval.expected if mover == FIRST else 1 - position_eval.expected
    return {
        "expected": round(shares, 4),
        "cp": None if position_eval.cp is None else sign * position_eval.cp,
        "mate": None if position_eval.mate is None else sign * position_eval.mate,
        "lead": None if position_eval.lead is None else sign * position_eval.lead,
    }


def annotator_name(name: str, limits: TimeControl, unit: str) -> str:
    """Return who has judged a game, by which limits; unit: of nodes, as people call them."""
    words = [f"{limits.nodes} {unit}" if limits.nodes else ""]
    words += [f"{limits.movetime:g} s" if limits.movetime else ""]
    return sanitize_line(f"{name}, {' and '.join(filter(None, words))} a move")


def format_eval(move: ReviewedMove) -> str:
    """Return a move's evaluation, from the first player's side, for people."""
    if move.mate is not None:
        return f"#{move.mate}"
    if move.lead is not None:
        return f"{move.lead:+.1f}"
    return "" if move.cp is None else f"{move.cp / 100:+.2f}"
