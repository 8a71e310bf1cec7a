"""Chance at the board: which event of a position of chance comes about."""

from typing import TypeVar

from agent.game import ChanceGame

Move = TypeVar("Move")


def draw_event(game: ChanceGame[Move], number: float) -> Move:
    """Return the event of a position of chance that a number from 0 to 1 stands for."""
    events = list(game.chance_outcomes())
    for event, probability in events:
        number -= probability
        if number < 0:
            return event
    return events[-1][0]
