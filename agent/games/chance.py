"""Random selection of an event at a chance node."""

from typing import TypeVar

from agent.game import ChanceGame

Move = TypeVar("Move")


def draw_event(game: ChanceGame[Move], sample: float) -> Move:
    """Return the chance event selected by `sample`, a uniform random number in [0, 1)."""
    events = list(game.chance_outcomes())
    for event, probability in events:
        sample -= probability
        if sample < 0:
            return event
    return events[-1][0]
