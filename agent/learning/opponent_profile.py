"""Statistics about an opponent, computed from stored games against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log

from agent.learning.opponent_game_record import GameRecord

# Number of most recent games to use.
MAX_GAMES = 500

# A line's expected points are smoothed by adding PRIOR_GAMES games with the average result.
PRIOR_GAMES = 1.0
# A line is repeated if its expected points cover at least PROMISING_SHARE of the distance from the
# average to a win. A move is penalised if it was played in at least MIN_BAD_GAMES games and scored
# at most BAD_SHARE of the average.
PROMISING_SHARE, BAD_SHARE, MIN_BAD_GAMES = 0.25, 0.5, 2
MAX_PENALTY = 60  # centipawns
# Maximum factor by which a book weight is increased or decreased.
MAX_WEIGHT_FACTOR = 8.0

# A draw is worth the score that balances the odds against this opponent. CENTIPAWNS_PER_LOGIT
# centipawns change the odds by a factor of e. At least MIN_DECIDED_GAMES games are needed. The
# result is smoothed by adding the same number of draws.
CENTIPAWNS_PER_LOGIT, MAX_DRAW_VALUE, MIN_DECIDED_GAMES = 180.0, 200, 4
# Prior for the fraction of accepted repetitions: one in four.
PRIOR_ACCEPTED, PRIOR_OFFERED = 1.0, 4.0

# Factors on the thinking time: in a line that the opponent always loses, and against an opponent
# whose clock falls below LOW_CLOCK_SHARE in at least half of the games.
WINNING_LINE_TIME_FACTOR, MIN_WINNING_LINE_GAMES, TIME_TROUBLE_FACTOR, LOW_CLOCK_SHARE = (
    0.5,
    3,
    0.85,
    0.1,
)

# In centipawns: an opponent's move that raises the agent's score by this much is an error or a
# blunder.
ERROR, BLUNDER = 50, 200
OPENING_PLIES = 20
PHASES = "opening", "middlegame", "endgame"


@dataclass(slots=True)
class LineStats:
    """Statistics of a line of play and its continuations. Points are those of the agent.

    `average` is the agent's average result in all games with the same colour, from 0 to 1.
    `decided_games` and `decided_points` exclude forfeited games. `children` maps each next move to
    its statistics.
    """

    average: float
    games: int = 0
    points: float = 0.0
    decided_games: int = 0
    decided_points: float = 0.0
    children: dict[str, LineStats] = field(default_factory=dict)

    @property
    def expected(self) -> float:
        """The expected points of the agent in a game that follows this line, from 0 to 1."""
        return (self.decided_points + PRIOR_GAMES * self.average) / (
            self.decided_games + PRIOR_GAMES
        )

    @property
    def proven_move(self) -> str | None:
        """The agent's best-scoring next move, or None if no move scored well enough."""
        if not self.children:
            return None
        move = max(self.children, key=lambda child: self.children[child].expected)
        return move if self.children[move].expected >= self.promising_threshold else None

    @property
    def promising_threshold(self) -> float:
        """The minimum value of `expected` at which the agent repeats a continuation."""
        return self.average + PROMISING_SHARE * (1 - self.average)

    @property
    def penalties(self) -> dict[str, int]:
        """Penalties in centipawns for the agent's next moves that have scored badly."""
        return {
            move: min(
                round(CENTIPAWNS_PER_LOGIT * (_log_odds(self.average) - _log_odds(after.expected))),
                MAX_PENALTY,
            )
            for move, after in self.children.items()
            if after.decided_games >= MIN_BAD_GAMES and after.expected <= BAD_SHARE * self.average
        }

    def weight_factor(self, move: str) -> float:
        after = self.children.get(move)
        if after is None:
            return 1.0
        ratio = (after.expected / self.average) ** 2
        return min(max(ratio, 1 / MAX_WEIGHT_FACTOR), MAX_WEIGHT_FACTOR)


@dataclass(slots=True)
class PhaseStats:
    """The opponent's play in one phase of the game: moves, errors and lost centipawns."""

    move_count: int = 0
    errors: int = 0
    blunders: int = 0
    centipawn_loss: int = 0


class OpponentProfile:
    """The profile of one opponent.

    - `games`: the agent's games against this opponent, oldest first.
    - `average_points`: the agent's smoothed average points by side, without draws by repetition.
    - `repetition_acceptance`: how often the opponent repeats a position when it can, from 0 to 1.
    """

    def __init__(self, games: Sequence[GameRecord]) -> None:
        self.games = tuple(games[-MAX_GAMES:])
        points_by_side = [
            [game.points for game in self.games if game.side == side and not game.repeated]
            for side in (0, 1)
        ]
        self._decided_games = [len(points) for points in points_by_side]
        self.average_points = [
            (sum(points) + MIN_DECIDED_GAMES / 2) / (len(points) + MIN_DECIDED_GAMES)
            for points in points_by_side
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
        average = self.average_points[game.side]
        line = self._lines.setdefault((game.start, game.side), LineStats(average))
        for move in ("", *game.moves):
            line = line.children.setdefault(move, LineStats(average)) if move else line
            line.games += 1
            line.points += game.points
            if not game.forfeit:
                line.decided_games += 1
                line.decided_points += game.points

    def find_line(self, start: str, side: int, moves: Sequence[str]) -> LineStats | None:
        """Return the statistics of the line with these moves, or None if it was never played."""
        line = self._lines.get((start, side))
        for move in moves:
            line = line and line.children.get(move)
        return line

    def draw_value(self, side: int) -> int:
        """Return the value of a draw in centipawns, positive against a stronger opponent."""
        if self._decided_games[side] < MIN_DECIDED_GAMES:
            return 0
        value = round(-CENTIPAWNS_PER_LOGIT * _log_odds(self.average_points[side]))
        return min(max(value, -MAX_DRAW_VALUE), MAX_DRAW_VALUE)

    @property
    def in_time_trouble(self) -> bool:
        """Whether the opponent's clock runs low in at least half of the games."""
        lowest = [game.lowest for game in self.games if game.lowest is not None]
        low = sum(share < LOW_CLOCK_SHARE for share in lowest)
        return len(lowest) >= MIN_DECIDED_GAMES and 2 * low >= len(lowest)

    def time_factor(self, line: LineStats | None) -> float:
        if (
            line
            and line.decided_games >= MIN_WINNING_LINE_GAMES
            and line.decided_points >= 0.9 * line.decided_games
        ):
            return WINNING_LINE_TIME_FACTOR
        return TIME_TROUBLE_FACTOR if self.in_time_trouble else 1.0

    def openings(self, plies: int = 8) -> list[tuple[GameRecord, LineStats]]:
        """Return pairs of a sample game and its opening line, the most frequent opening first."""
        samples: dict[tuple[str, int, tuple[str, ...]], GameRecord] = {}
        for game in self.games:
            samples[game.start, game.side, game.moves[:plies]] = game
        lines = [(game, line) for key, game in samples.items() if (line := self.find_line(*key))]
        return sorted(lines, key=lambda pair: -pair[1].games)

    def phase_stats(self) -> dict[str, PhaseStats]:
        """Return the opponent's errors in each phase of the game, indexed by phase name."""
        phases = {name: PhaseStats() for name in PHASES}
        for game in self.games:
            for ply, gain in _score_gains(game):
                is_endgame = game.endgame is not None and ply >= game.endgame
                phase = phases[PHASES[2 if is_endgame else int(ply >= OPENING_PLIES)]]
                phase.move_count += 1
                phase.centipawn_loss += max(gain, 0)
                phase.errors += gain >= ERROR
                phase.blunders += gain >= BLUNDER
        return phases

    def mean_seconds(self) -> float | None:
        """Return the opponent's average time per move in seconds, or None if it is unknown."""
        times = [seconds for game in self.games for seconds in game.seconds]
        return sum(times) / len(times) if times else None


def _score_gains(game: GameRecord) -> Iterator[tuple[int, int]]:
    """Yield the ply of each move of the opponent, and the agent's score gain in centipawns."""
    for index, (before, after) in enumerate(zip(game.scores, game.scores[1:], strict=False)):
        if before is not None and after is not None:
            yield 2 * index + game.side + 1, after - before


def _log_odds(share: float) -> float:
    share = min(max(share, 0.01), 0.99)
    return log(share / (1 - share))
