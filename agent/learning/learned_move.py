"""A lesson: a move in a position, what it was thought to be worth, and what playing on showed."""

from dataclasses import dataclass, replace

# A later outcome moves what is known at least by this part of the difference: what is found is
# found by ever better play, so that old outcomes count less and less.
MIN_LEARNING_RATE = 0.5


@dataclass(frozen=True, slots=True)
class LearnedMove:
    """What came of a move.

    game, position, move: written so that they are the same in every program. after: the position
    that the move leads to. reply: what was answered, the refutation if found is the less; "" if
    the game was over. predicted: the move's value for its mover when it was first played. found:
    what playing on showed it to be. depth: how deep a search from the position would have to look
    to see as much. times: how often it was played; used: how often it steered a search since.
    """

    game: str
    position: str
    move: str
    after: str
    reply: str
    predicted: float
    found: float
    depth: int
    times: int = 1
    used: int = 0

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells lessons apart."""
        return self.game, self.position, self.move

    @property
    def is_refutation(self) -> bool:
        """Whether the move was worse than it seemed, and not better."""
        return self.found < self.predicted

    def updated_with(self, later: "LearnedMove") -> "LearnedMove":
        """Return what is known when the same move was played again, once or more often."""
        times = self.times + later.times
        step = max(later.times / times, MIN_LEARNING_RATE)
        return replace(
            later,
            predicted=self.predicted,
            found=self.found + step * (later.found - self.found),
            times=times,
            used=self.used + later.used,
        )

    def merged_with(self, other: "LearnedMove") -> "LearnedMove":
        """Return what is known of two accounts of the same move that know nothing of each other."""
        times = self.times + other.times
        of_more = self if self.times >= other.times else other
        share = other.times / times
        return replace(
            of_more,
            predicted=self.predicted + share * (other.predicted - self.predicted),
            found=self.found + share * (other.found - self.found),
            times=times,
            used=self.used + other.used,
        )
