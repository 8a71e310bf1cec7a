"""What a search thinks, as the lines of lz-analyze and kata-analyze."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import copysign, sqrt
from typing import Any

from agent.thinker import Thought
from protocols.gtp.values import Arguments, GtpError

# In seconds, where the front end gives no interval.
INTERVAL = 1.0
LEAST_INTERVAL = 0.01
MOST_MOVES = 30
# A mean of playouts lies above its lower confidence bound but for one time in 40.
DEVIATIONS = 1.96
# Beyond half a win, evaluations come ever less nearer to a whole one.
HALF_A_WIN = 0.5


@dataclass(frozen=True, slots=True)
class Request:
    """An analysis that is asked for: seconds between lines, and the most moves in each."""

    player: int | None
    interval: float
    most_moves: int


def read_request(arguments: Arguments) -> Request:
    """Read `[colour] [interval] [keyword value ...]`; intervals in hundredths of a second.

    Keywords other than interval and maxmoves are accepted with their values, and change nothing.
    """
    player = arguments.player_if_any()
    interval, most = INTERVAL, MOST_MOVES
    while arguments:
        word = arguments.word().lower()
        if word == "interval":
            interval = arguments.seconds() / 100
        elif word == "maxmoves":
            most = max(arguments.number(), 1)
        elif word[0].isdigit():
            interval = Arguments((word,)).seconds() / 100
        elif word in ("avoid", "allow"):
            arguments.player()
            arguments.word()
            arguments.number()
        elif word.isalpha():
            arguments.word()
        else:
            raise GtpError("syntax error")
    return Request(player, max(interval, LEAST_INTERVAL), most)


def lz_line(thoughts: Sequence[Thought[Any]], text: Callable[[Any], str], moves: int) -> str:
    """Return a line of lz-analyze; rates are whole numbers of 10,000, for the mover.

    moves: among how many the search chose; with no prior knowledge all are alike.
    """
    prior = round(10_000 / max(moves, 1))
    return " ".join(
        f"info move {text(thought.move)} visits {thought.visits}"
        f" winrate {round(10_000 * winrate(thought))} prior {prior}"
        f" lcb {round(10_000 * lower_bound(thought))} order {order}"
        f" pv {' '.join(map(text, thought.line))}"
        for order, thought in enumerate(thoughts)
    )


def kata_line(thoughts: Sequence[Thought[Any]], text: Callable[[Any], str], moves: int) -> str:
    """Return a line of kata-analyze; rates are numbers from 0 to 1, for the mover."""
    prior = 1 / max(moves, 1)
    return " ".join(
        f"info move {text(thought.move)} visits {thought.visits}"
        f" utility {bounded(thought):.6f} winrate {winrate(thought):.6f} prior {prior:.6f}"
        f" lcb {lower_bound(thought):.6f} order {order}"
        f" pv {' '.join(map(text, thought.line))}"
        for order, thought in enumerate(thoughts)
    )


def bounded(thought: Thought[Any]) -> float:
    """Return the value from -1 to 1; that of an evaluation, whatever its scale, lies between."""
    value = thought.value
    if thought.estimated and abs(value) > HALF_A_WIN:
        return copysign(1 - HALF_A_WIN**2 / abs(value), value)
    return max(-1.0, min(1.0, value))


def winrate(thought: Thought[Any]) -> float:
    """Return the mover's share of the wins."""
    return (bounded(thought) + 1) / 2


def lower_bound(thought: Thought[Any]) -> float:
    """Return what the share of the wins very probably is at least."""
    rate = winrate(thought)
    return max(0.0, rate - DEVIATIONS * sqrt(rate * (1 - rate) / max(thought.visits, 1)))
