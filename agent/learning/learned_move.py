from dataclasses import dataclass, replace

# Minimum weight of a new outcome. Newer outcomes come from better play, so older outcomes must lose
# weight.
MIN_LEARNING_RATE = 0.5


@dataclass(frozen=True, slots=True)
class LearnedMove:
    """A move whose value in later play is compared with the value that a search predicted.

    Values are for the player who made the move.

    - `after`: the position after the move, in the same notation as `position`.
    - `reply`: the opponent's reply, or "" if the game was over.
    - `predicted`: the value when the move was first played.
    - `found`: the value in later play.
    - `depth`: the depth in plies at which a search from `position` would find the same value.
    - `times`, `used`: how often the move was played, and how often it has influenced a search.
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
        return self.game, self.position, self.move

    @property
    def is_refutation(self) -> bool:
        """Whether the value found in later play is lower than the predicted value."""
        return self.found < self.predicted

    def updated_with(self, later: "LearnedMove") -> "LearnedMove":
        """Return this record, updated with later outcomes of the same move."""
        times = self.times + later.times
        rate = max(later.times / times, MIN_LEARNING_RATE)
        return replace(
            later,
            predicted=self.predicted,
            found=self.found + rate * (later.found - self.found),
            times=times,
            used=self.used + later.used,
        )

    def merged_with(self, other: "LearnedMove") -> "LearnedMove":
        """Return this record, merged with an independent record of the same move."""
        times = self.times + other.times
        more_frequent = self if self.times >= other.times else other
        share = other.times / times
        return replace(
            more_frequent,
            predicted=self.predicted + share * (other.predicted - self.predicted),
            found=self.found + share * (other.found - self.found),
            times=times,
            used=self.used + other.used,
        )
