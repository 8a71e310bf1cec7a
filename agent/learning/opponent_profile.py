"""What the games against an opponent say of him, and what follows for the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log

from agent.learning.opponent_game_record import GameRecord

# The last games count, and no more than so many.
MAX_GAMES = 500

# What is expected of a line is what it has brought, as if PRIOR games more had gone as always.
PRIOR_GAMES = 1.0
# A line is gone into again that promises so much of what is missing to a certain win; a move is
# lowered that has brought, in MIN_BAD_GAMES games or more, so little of what is usual.
PROMISING_SHARE, BAD_SHARE, MIN_BAD_GAMES = 0.25, 0.5, 2
MAX_PENALTY = 60  # centipawns
# How much more often, or more seldom, a book's move may be chosen.
MAX_WEIGHT_FACTOR = 8.0

# A draw is worth what keeps the odds even: so many centipawns make the odds e to 1. It is judged
# after MIN_DECIDED_GAMES games, as if as many had been drawn.
CENTIPAWNS_PER_LOGIT, MAX_DRAW_VALUE, MIN_DECIDED_GAMES = 180.0, 200, 4
# Before anything is known of it, one repetition of four that could be is accepted.
PRIOR_ACCEPTED, PRIOR_OFFERED = 1.0, 4.0

# The share of the usual time for a move where he always falls, and against someone whose own
# time has run low, below LOW, in half of the games.
WINNING_LINE_TIME_FACTOR, MIN_WINNING_LINE_GAMES, TIME_TROUBLE_FACTOR, LOW_CLOCK_SHARE = (
    0.5,
    3,
    0.85,
    0.1,
)

# Between our moves the score rises by so much where he errs, and by so much where he blunders.
ERROR, BLUNDER = 50, 200
OPENING_PLIES = 20  # plies
PHASES = "opening", "middlegame", "endgame"


@dataclass(slots=True)
class LineStats:
    """Where a line of play stands: how many games came here, our points in them, and what next.

    usual: our points in a game of this side against him. judged, earned: the games that the moves
    decided, and our points in these.
    """

    average: float
    games: int = 0
    points: float = 0.0
    decided_games: int = 0
    decided_points: float = 0.0
    children: dict[str, LineStats] = field(default_factory=dict)

    @property
    def expected(self) -> float:
        """The points that a game from here promises."""
        return (self.decided_points + PRIOR_GAMES * self.average) / (
            self.decided_games + PRIOR_GAMES
        )

    @property
    def proven_move(self) -> str | None:
        """The move of ours that has ended so well against him that it is played again."""
        if not self.children:
            return None
        move = max(self.children, key=lambda each: self.children[each].expected)
        return move if self.children[move].expected >= self.promising_threshold else None

    @property
    def promising_threshold(self) -> float:
        """The points that a line must promise to be gone into again."""
        return self.average + PROMISING_SHARE * (1 - self.average)

    @property
    def penalties(self) -> dict[str, int]:
        """By how many centipawns to lower moves of ours that have ended badly."""
        return {
            move: min(
                round(CENTIPAWNS_PER_LOGIT * (_log_odds(self.average) - _log_odds(after.expected))),
                MAX_PENALTY,
            )
            for move, after in self.children.items()
            if after.decided_games >= MIN_BAD_GAMES and after.expected <= BAD_SHARE * self.average
        }

    def weight_factor(self, move: str) -> float:
        """Return how much more often than usual a book's move is to be chosen."""
        after = self.children.get(move)
        if after is None:
            return 1.0
        ratio = (after.expected / self.average) ** 2
        return min(max(ratio, 1 / MAX_WEIGHT_FACTOR), MAX_WEIGHT_FACTOR)


@dataclass(slots=True)
class PhaseStats:
    """His errors in one phase of the game: of so many moves, how many and how much they lost."""

    move_count: int = 0
    errors: int = 0
    blunders: int = 0
    centipawn_loss: int = 0


class OpponentProfile:
    """The habits of one opponent, by the games against him, the latest last.

    usual: our points in a game that we play on in, by our side: 0 if we move first. acceptance:
    how often he repeats a position where he can.
    """

    def __init__(self, games: Sequence[GameRecord]) -> None:
        self.games = tuple(games[-MAX_GAMES:])
        fought = [
            [game.points for game in self.games if game.side == side and not game.repeated]
            for side in (0, 1)
        ]
        self._decided_games = [len(points) for points in fought]
        self.average_points = [
            (sum(points) + MIN_DECIDED_GAMES / 2) / (len(points) + MIN_DECIDED_GAMES)
            for points in fought
        ]
        self._lines: dict[tuple[str, int], LineStats] = {}
        for game in self.games:
            self._add(game)
        accepted = sum(game.accepted for game in self.games)
        declined = sum(game.declined for game in self.games)
        self.repetitions_accepted, self.repetitions_declined = accepted, declined
        self.repetition_acceptance = (accepted + PRIOR_ACCEPTED) / (
            accepted + declined + PRIOR_OFFERED
        )

    def _add(self, game: GameRecord) -> None:
        usual = self.average_points[game.side]
        line = self._lines.setdefault((game.start, game.side), LineStats(usual))
        for move in ("", *game.moves):
            line = line.children.setdefault(move, LineStats(usual)) if move else line
            line.games += 1
            line.points += game.points
            if not game.forfeit:
                line.decided_games += 1
                line.decided_points += game.points

    def find_line(self, start: str, side: int, moves: Sequence[str]) -> LineStats | None:
        """Return what is known of the position after these moves; None if nothing is."""
        line = self._lines.get((start, side))
        for move in moves:
            line = line and line.children.get(move)
        return line

    def draw_value(self, side: int) -> int:
        """Return what a draw is worth to us, in centipawns: more than nothing if he is stronger."""
        if self._decided_games[side] < MIN_DECIDED_GAMES:
            return 0
        worth = round(-CENTIPAWNS_PER_LOGIT * _log_odds(self.average_points[side]))
        return min(max(worth, -MAX_DRAW_VALUE), MAX_DRAW_VALUE)

    @property
    def in_time_trouble(self) -> bool:
        """Whether his time runs low in half of the games, or more."""
        lowest = [game.lowest for game in self.games if game.lowest is not None]
        low = sum(each < LOW_CLOCK_SHARE for each in lowest)
        return len(lowest) >= MIN_DECIDED_GAMES and 2 * low >= len(lowest)

    def time_factor(self, line: LineStats | None) -> float:
        """Return the share of the usual time that a move is to take here."""
        if (
            line
            and line.decided_games >= MIN_WINNING_LINE_GAMES
            and line.decided_points >= 0.9 * line.decided_games
        ):
            return WINNING_LINE_TIME_FACTOR
        return TIME_TROUBLE_FACTOR if self.in_time_trouble else 1.0

    def openings(self, plies: int = 8) -> list[tuple[GameRecord, LineStats]]:
        """Return his usual openings: a game each, and the line so far; the commonest first."""
        found: dict[tuple[str, int, tuple[str, ...]], GameRecord] = {}
        for game in self.games:
            found[game.start, game.side, game.moves[:plies]] = game
        lines = [(game, line) for key, game in found.items() if (line := self.find_line(*key))]
        return sorted(lines, key=lambda pair: -pair[1].games)

    def phase_stats(self) -> dict[str, PhaseStats]:
        """Return his errors by phase of the game."""
        phases = {name: PhaseStats() for name in PHASES}
        for game in self.games:
            for ply, gain in _score_gains(game):
                ended = game.endgame is not None and ply >= game.endgame
                phase = phases[PHASES[2 if ended else int(ply >= OPENING_PLIES)]]
                phase.move_count += 1
                phase.centipawn_loss += max(gain, 0)
                phase.errors += gain >= ERROR
                phase.blunders += gain >= BLUNDER
        return phases

    def mean_seconds(self) -> float | None:
        """Return what a move takes him on average."""
        times = [seconds for game in self.games for seconds in game.seconds]
        return sum(times) / len(times) if times else None


def _score_gains(game: GameRecord) -> Iterator[tuple[int, int]]:
    """Yield by how much our score rose over each move of his, with the ply of that move."""
    for number, (before, after) in enumerate(zip(game.scores, game.scores[1:], strict=False)):
        if before is not None and after is not None:
            yield 2 * number + game.side + 1, after - before


def _log_odds(share: float) -> float:
    share = min(max(share, 0.01), 0.99)
    return log(share / (1 - share))
