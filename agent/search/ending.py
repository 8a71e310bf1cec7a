"""How the end of a game becomes a value of the search."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ending:
    """A game that ends with utility u at ply p is worth u * win, taken p * step nearer to 0.

    The step makes a quick win better than a slow one. The default takes the utilities as they
    are, as the textbook does. longest: the most plies that a search looks ahead.
    """

    win: float = 1
    step: float = 0
    longest: int = 1000

    def value(self, utility: float, ply: int) -> float:
        """Return the value, for the mover, of an end at `ply` with the mover's utility."""
        if utility > 0:
            return utility * self.win - self.step * ply
        if utility < 0:
            return utility * self.win + self.step * ply
        return 0

    def relative(self, value: float, ply: int) -> float:
        """Return a value found at `ply` as it is seen from there, to be kept in a table."""
        return value + self._distance(value, ply)

    def at(self, value: float, ply: int) -> float:
        """Return a value that was kept in a table as it is seen at `ply`: undo `relative`."""
        return value - self._distance(value, ply)

    def is_end(self, value: float) -> bool:
        """Tell whether a value says that the game ends in a win, rather than an evaluation."""
        return abs(value) >= self.win - self.step * self.longest

    def _distance(self, value: float, ply: int) -> float:
        if not self.step or not self.is_end(value):
            return 0
        return self.step * ply if value > 0 else -self.step * ply


AS_PLAYED = Ending()
