"""What the games against an opponent say of him, and what follows for the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log

from opponents.past_game import PastGame

# The last games count, and no more than so many.
MOST_GAMES = 500

# What is expected of a line is what it has brought, as if PRIOR games more had gone as always.
PRIOR = 1.0
# A line is gone into again that promises so much of what is missing to a certain win; a move is
# lowered that has brought, in LEAST_BURNT games or more, so little of what is usual.
PROMISING, BURNT, LEAST_BURNT = 0.25, 0.5, 2
MOST_PENALTY = 60  # centipawns
# How much more often, or more seldom, a book's move may be chosen.
MOST_PREFERENCE = 8.0

# A draw is worth what keeps the odds even: so many centipawns make the odds e to 1. It is judged
# after LEAST_JUDGED games, as if as many had been drawn.
CENTIPAWNS, MOST_WORTH, LEAST_JUDGED = 180.0, 200, 4
# Before anything is known of it, one repetition of four that could be is accepted.
ACCEPTED, OFFERED = 1.0, 4.0

# The share of the usual time for a move where he always falls, and against someone whose own
# time has run low, below LOW, in half of the games.
FALLING, LEAST_FALLS, TROUBLED, LOW = 0.5, 3, 0.85, 0.1

# Between our moves the score rises by so much where he errs, and by so much where he blunders.
ERROR, BLUNDER = 50, 200
OPENING = 20  # plies
PHASES = "opening", "middlegame", "endgame"


@dataclass(slots=True)
class KnownLine:
    """Where a line of play stands: how many games came here, our points in them, and what next.

    usual: our points in a game of this side against him. judged, earned: the games that the moves
    decided, and our points in these.
    """

    usual: float
    games: int = 0
    points: float = 0.0
    judged: int = 0
    earned: float = 0.0
    next: dict[str, KnownLine] = field(default_factory=dict)

    @property
    def expected(self) -> float:
        """The points that a game from here promises."""
        return (self.earned + PRIOR * self.usual) / (self.judged + PRIOR)

    @property
    def proven(self) -> str | None:
        """The move of ours that has ended so well against him that it is played again."""
        if not self.next:
            return None
        move = max(self.next, key=lambda each: self.next[each].expected)
        return move if self.next[move].expected >= self.promising else None

    @property
    def promising(self) -> float:
        """The points that a line must promise to be gone into again."""
        return self.usual + PROMISING * (1 - self.usual)

    @property
    def penalties(self) -> dict[str, int]:
        """By how many centipawns to lower moves of ours that have ended badly."""
        return {
            move: min(round(CENTIPAWNS * (_odds(self.usual) - _odds(after.expected))), MOST_PENALTY)
            for move, after in self.next.items()
            if after.judged >= LEAST_BURNT and after.expected <= BURNT * self.usual
        }

    def preference(self, move: str) -> float:
        """Return how much more often than usual a book's move is to be chosen."""
        after = self.next.get(move)
        if after is None:
            return 1.0
        ratio = (after.expected / self.usual) ** 2
        return min(max(ratio, 1 / MOST_PREFERENCE), MOST_PREFERENCE)


@dataclass(slots=True)
class Phase:
    """His errors in one phase of the game: of so many moves, how many and how much they lost."""

    moves: int = 0
    errors: int = 0
    blunders: int = 0
    lost: int = 0


class Habits:
    """The habits of one opponent, by the games against him, the latest last.

    usual: our points in a game that we play on in, by our side: 0 if we move first. acceptance:
    how often he repeats a position where he can.
    """

    def __init__(self, games: Sequence[PastGame]) -> None:
        self.games = tuple(games[-MOST_GAMES:])
        fought = [
            [game.points for game in self.games if game.side == side and not game.repeated]
            for side in (0, 1)
        ]
        self._fought = [len(points) for points in fought]
        self.usual = [
            (sum(points) + LEAST_JUDGED / 2) / (len(points) + LEAST_JUDGED) for points in fought
        ]
        self._lines: dict[tuple[str, int], KnownLine] = {}
        for game in self.games:
            self._add(game)
        accepted = sum(game.accepted for game in self.games)
        declined = sum(game.declined for game in self.games)
        self.accepted, self.declined = accepted, declined
        self.acceptance = (accepted + ACCEPTED) / (accepted + declined + OFFERED)

    def _add(self, game: PastGame) -> None:
        usual = self.usual[game.side]
        line = self._lines.setdefault((game.start, game.side), KnownLine(usual))
        for move in ("", *game.moves):
            line = line.next.setdefault(move, KnownLine(usual)) if move else line
            line.games += 1
            line.points += game.points
            if not game.forfeit:
                line.judged += 1
                line.earned += game.points

    def line(self, start: str, side: int, moves: Sequence[str]) -> KnownLine | None:
        """Return what is known of the position after these moves; None if nothing is."""
        line = self._lines.get((start, side))
        for move in moves:
            line = line and line.next.get(move)
        return line

    def draw_worth(self, side: int) -> int:
        """Return what a draw is worth to us, in centipawns: more than nothing if he is stronger."""
        if self._fought[side] < LEAST_JUDGED:
            return 0
        worth = round(-CENTIPAWNS * _odds(self.usual[side]))
        return min(max(worth, -MOST_WORTH), MOST_WORTH)

    @property
    def troubled(self) -> bool:
        """Whether his time runs low in half of the games, or more."""
        lowest = [game.lowest for game in self.games if game.lowest is not None]
        low = sum(each < LOW for each in lowest)
        return len(lowest) >= LEAST_JUDGED and 2 * low >= len(lowest)

    def thrift(self, line: KnownLine | None) -> float:
        """Return the share of the usual time that a move is to take here."""
        if line and line.judged >= LEAST_FALLS and line.earned >= 0.9 * line.judged:
            return FALLING
        return TROUBLED if self.troubled else 1.0

    def openings(self, plies: int = 8) -> list[tuple[PastGame, KnownLine]]:
        """Return his usual openings: a game each, and the line so far; the commonest first."""
        found: dict[tuple[str, int, tuple[str, ...]], PastGame] = {}
        for game in self.games:
            found[game.start, game.side, game.moves[:plies]] = game
        lines = [(game, line) for key, game in found.items() if (line := self.line(*key))]
        return sorted(lines, key=lambda pair: -pair[1].games)

    def phases(self) -> dict[str, Phase]:
        """Return his errors by phase of the game."""
        phases = {name: Phase() for name in PHASES}
        for game in self.games:
            for ply, gain in _gains(game):
                ended = game.endgame is not None and ply >= game.endgame
                phase = phases[PHASES[2 if ended else int(ply >= OPENING)]]
                phase.moves += 1
                phase.lost += max(gain, 0)
                phase.errors += gain >= ERROR
                phase.blunders += gain >= BLUNDER
        return phases

    def seconds(self) -> float | None:
        """Return what a move takes him on average."""
        times = [seconds for game in self.games for seconds in game.seconds]
        return sum(times) / len(times) if times else None


def _gains(game: PastGame) -> Iterator[tuple[int, int]]:
    """Yield by how much our score rose over each move of his, with the ply of that move."""
    for number, (before, after) in enumerate(zip(game.scores, game.scores[1:], strict=False)):
        if before is not None and after is not None:
            yield 2 * number + game.side + 1, after - before


def _odds(share: float) -> float:
    share = min(max(share, 0.01), 0.99)
    return log(share / (1 - share))
