"""Classify moves by the expected score that they lose.

The expected score is the fraction of wins plus half the fraction of draws. Losing a pawn therefore
matters in an equal game, but hardly in a decided game.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import exp, sqrt
from statistics import fmean
from typing import Any

from agent.io.sanitize import sanitize_line
from agent.limits import Cp, Info, Mate, Score
from kempelen.match.config.time_control import TimeControl

FIRST, SECOND = 0, 1


class MoveQuality(StrEnum):
    """The classification of a move. The value for a good move is the empty string."""

    GOOD = ""
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


# Fitted by Lichess to games between humans (lichess.org/page/accuracy). The curve for engine games
# (UCI_ShowWDL) is steeper: it would turn slips in the opening into blunders.
LOG_ODDS_PER_CENTIPAWN = 0.00368208
MAX_CENTIPAWNS = 10_000  # keeps exp() from overflowing
# Lichess counts a lost centipawn only up to this evaluation, which is also that of a mate.
MAX_COUNTED_CENTIPAWNS = 1000
# The accuracy of a move that loses a number of percent of expected score, from the same page.
ACCURACY_SCALE, ACCURACY_DECAY, ACCURACY_OFFSET = 103.1668, 0.04354, -3.1669
# The weight of a move is the standard deviation, in percent, of the expected scores around it.
MIN_VOLATILITY, MAX_VOLATILITY = 0.5, 12.0

# Minimum loss of expected score for each classification.
LOSS_THRESHOLDS = (
    (0.15, MoveQuality.BLUNDER),
    (0.10, MoveQuality.MISTAKE),
    (0.05, MoveQuality.INACCURACY),
)
# What `annotator_name` returns.
_ENGINE_ANNOTATOR = re.compile(r".+, (\d+ (nodes|visits)( and )?)?(\S+ s)? a move")
BAD_QUALITIES = (MoveQuality.INACCURACY, MoveQuality.MISTAKE, MoveQuality.BLUNDER)
QUALITY_SYMBOLS = {
    MoveQuality.GOOD: "",
    MoveQuality.INACCURACY: "?!",
    MoveQuality.MISTAKE: "?",
    MoveQuality.BLUNDER: "??",
}


@dataclass(frozen=True, slots=True)
class PositionEval:
    """The evaluation of a position, from the point of view of the side to move.

    `expected` is the expected score, from 0 to 1. The score is `cp` or `mate` for chess, and `lead`
    in points for Go. `owners` contains the ownership of each point, from -1 (White) to 1 (Black),
    row by row from the top. `line` is the principal variation in the engine's notation.
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
    """A move with the evaluation after it and its classification.

    The evaluation is from the point of view of player 0. `best` and `line` are the best move and
    line in the notation for users. `loss` is the lost expected score, and `centipawn_loss` the lost
    centipawns in chess. Each is None if it is unknown.
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
    centipawn_loss: int | None = None
    grade: MoveQuality = MoveQuality.GOOD


@dataclass(frozen=True, slots=True)
class MoveStats:
    """The number of moves of a player, in total and by classification.

    `loss` is the mean lost expected score, `centipawn_loss` the mean of lost centipawns in chess,
    and `accuracy` a number from 0 to 100, computed as on Lichess. Each is None without moves.
    """

    moves: int
    inaccuracies: int
    mistakes: int
    blunders: int
    loss: float | None
    centipawn_loss: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class GameReview:
    """The review of one game.

    `first` names the first player, who is White in chess and Black in Go. `start` is the expected
    score of the first player before the first move.
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
        """The names of the players and the result."""
        return f"{self.first} - {self.second}  {self.result}".rstrip()


def expected_score(score: Score) -> float:
    """Convert an engine's score to the expected score, from 0 to 1, in games between humans."""
    if isinstance(score, Mate):
        return float(score.moves > 0)
    centipawns = max(-MAX_CENTIPAWNS, min(MAX_CENTIPAWNS, score.value))
    return 1 / (1 + exp(-LOG_ODDS_PER_CENTIPAWN * centipawns))


def expected_from_info(info: Info[Any]) -> float:
    """Return the expected score, from 0 to 1, of a line of any search."""
    outcome = info.expected_outcome
    return expected_score(info.score) if outcome is None else (1 + outcome) / 2


def eval_from_score(score: Score, line: Sequence[str], depth: int, nodes: int) -> PositionEval:
    cp = score.value if isinstance(score, Cp) else None
    mate = score.moves if isinstance(score, Mate) else None
    return PositionEval(expected_score(score), cp, mate, None, tuple(line), depth, nodes)


def move_loss(before: PositionEval, after: PositionEval, move: str, same_mover: bool) -> float:
    """Return the expected score lost by a move. It is at least 0, and 0 for the engine's best move.

    If `same_mover` is true, the same player also makes the next move.
    """
    if before.line and before.line[0] == move:
        return 0.0
    remaining = after.expected if same_mover else 1 - after.expected
    return max(0.0, round(before.expected - remaining, 4))


def centipawn_loss(
    before: PositionEval, after: PositionEval, move: str, same_mover: bool
) -> int | None:
    """Return the centipawns lost by a move, under the conditions of `move_loss`."""
    own, remaining = _counted_centipawns(before), _counted_centipawns(after)
    if own is None or remaining is None:
        return None
    if before.line and before.line[0] == move:
        return 0
    return max(0, own - (remaining if same_mover else -remaining))


def _counted_centipawns(position_eval: PositionEval) -> int | None:
    limit = MAX_COUNTED_CENTIPAWNS
    if position_eval.mate is not None:
        return limit if position_eval.mate > 0 else -limit
    return None if position_eval.cp is None else max(-limit, min(limit, position_eval.cp))


def with_hindsight(
    evals: Sequence[PositionEval | None], moves: Sequence[str], movers: Sequence[int]
) -> list[PositionEval | None]:
    """Return the evaluations, corrected by those of later positions.

    Later searches may rate the played move clearly better than the search before it, for example
    after a missed mate. The earlier position then gets the later value, and the loss belongs to the
    preceding move. Differences smaller than an inaccuracy are ignored. `movers` contains the player
    to move in each position.
    """
    corrected = list(evals)
    for ply in range(len(moves) - 1, -1, -1):
        before, after = corrected[ply], corrected[ply + 1]
        if before is None or after is None:
            continue
        same_mover = movers[ply] == movers[ply + 1]
        remaining = after.expected if same_mover else 1 - after.expected
        if remaining - before.expected < LOSS_THRESHOLDS[-1][0]:
            continue
        sign = 1 if same_mover else -1
        mate = None if after.mate is None else sign * after.mate
        if after.mate is not None and after.mate <= 0 and not same_mover:
            mate = 1 - after.mate
        corrected[ply] = replace(
            before,
            expected=remaining,
            cp=None if after.cp is None else sign * after.cp,
            mate=mate,
            lead=None if after.lead is None else sign * after.lead,
            line=(moves[ply], *after.line),
        )
    return corrected


def quality_of_loss(loss: float | None) -> MoveQuality:
    """Classify a loss of expected score. None gives GOOD."""
    if loss is None:
        return MoveQuality.GOOD
    return next((grade for minimum, grade in LOSS_THRESHOLDS if loss >= minimum), MoveQuality.GOOD)


def move_accuracy(loss: float) -> float:
    """Return the accuracy, from 0 to 100, of a move that loses `loss` of expected score."""
    accuracy = ACCURACY_SCALE * exp(-ACCURACY_DECAY * 100 * loss) + ACCURACY_OFFSET
    return max(0.0, min(100.0, accuracy))


def move_stats(
    moves: Sequence[ReviewedMove], start: float | None = None
) -> tuple[MoveStats, MoveStats]:
    """Return the statistics of both players. `start` is the `GameReview.start` of the game."""
    weights = _volatilities([start, *(move.expected for move in moves)])
    first, second = (_player_stats(moves, weights, player) for player in (FIRST, SECOND))
    return first, second


def _volatilities(expected: Sequence[float | None]) -> list[float]:
    """Return the weight of each move in the accuracy, from the expected score of each position."""
    size = max(2, min(8, (len(expected) - 1) // 10))
    weights = []
    for ply in range(len(expected) - 1):
        start = max(0, ply + 2 - size)
        known = [100 * value for value in expected[start : start + size] if value is not None]
        mean = fmean(known) if known else 0.0
        deviation = sqrt(fmean((value - mean) ** 2 for value in known)) if known else 0.0
        weights.append(max(MIN_VOLATILITY, min(MAX_VOLATILITY, deviation)))
    return weights


def _game_accuracy(losses: Sequence[float], weights: Sequence[float]) -> float:
    """Return the mean of the weighted mean and the harmonic mean of the accuracies of moves."""
    accuracies = list(map(move_accuracy, losses))
    harmonic = len(accuracies) / sum(1 / max(1.0, accuracy) for accuracy in accuracies)
    return (fmean(accuracies, weights) + harmonic) / 2


def _player_stats(
    moves: Sequence[ReviewedMove], weights: Sequence[float], player: int
) -> MoveStats:
    own = [
        (move, weight)
        for move, weight in zip(moves, weights, strict=True)
        if move.player == player and move.loss is not None
    ]
    reviewed = [move for move, _ in own]
    inaccuracies, mistakes, blunders = (
        sum(move.grade is grade for move in reviewed) for grade in BAD_QUALITIES
    )
    losses = [move.loss or 0.0 for move in reviewed]
    centipawns = [loss for move in reviewed if (loss := move.centipawn_loss) is not None]
    return MoveStats(
        len(reviewed),
        inaccuracies,
        mistakes,
        blunders,
        fmean(losses) if losses else None,
        fmean(centipawns) if centipawns else None,
        _game_accuracy(losses, [weight for _, weight in own]) if losses else None,
    )


def first_player_view(
    position_eval: PositionEval | None, mover: int
) -> dict[str, float | int | None]:
    """Return the ReviewedMove fields of an evaluation, from the point of view of the first player.

    `position_eval` is from the point of view of `mover`, the player to move. If it is None, no
    fields are returned.
    """
    if position_eval is None:
        return {}
    sign = 1 if mover == FIRST else -1
    expected = position_eval.expected if mover == FIRST else 1 - position_eval.expected
    return {
        "expected": round(expected, 4),
        "cp": None if position_eval.cp is None else sign * position_eval.cp,
        "mate": None if position_eval.mate is None else sign * position_eval.mate,
        "lead": None if position_eval.lead is None else sign * position_eval.lead,
    }


def annotator_name(name: str, limits: TimeControl, unit: str) -> str:
    """Return an engine's name and limits for the tag Annotator. `unit` is "nodes" or "visits"."""
    parts = [f"{limits.nodes} {unit}" if limits.nodes else ""]
    parts += [f"{limits.movetime:g} s" if limits.movetime else ""]
    return sanitize_line(f"{name}, {' and '.join(filter(None, parts))} a move")


def human_annotator(annotators: str, has_marks: bool) -> str:
    """Return the names in a tag Annotator, without those that `annotator_name` has made.

    `has_marks` says whether moves have marks such as ! and ?. Without any name, their author is
    "?".
    """
    names = [name for name in map(str.strip, annotators.split(";")) if name]
    if not names and has_marks:
        return "?"
    return "; ".join(name for name in names if not _ENGINE_ANNOTATOR.fullmatch(name))


def format_eval(move: ReviewedMove) -> str:
    """Return the evaluation after a move as text, such as #3 or +0.25."""
    if move.mate is not None:
        return f"#{move.mate}"
    if move.lead is not None:
        return f"{move.lead:+z.1f}"
    return "" if move.cp is None else f"{move.cp / 100:+z.2f}"


def describe_move(move: ReviewedMove) -> str:
    """Return the evaluation and the classification of a move in a game that Black begins."""
    parts = [f"Black {100 * (move.expected or 0):.1f} %"]
    if score := format_eval(move):
        parts.append(score)
    if move.grade is not MoveQuality.GOOD:
        parts.append(f"{move.grade}: loses {100 * (move.loss or 0):.1f} %; best {move.best}")
    return ", ".join(parts)
