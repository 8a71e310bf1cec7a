"""What a search thinks, as the lines of lz-analyze and kata-analyze."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from agent.limits import Info, Progress, Result
from protocols.gtp.values import Arguments, GtpError

# In seconds, where the front end gives no interval.
INTERVAL = 1.0
LEAST_INTERVAL = 0.01
MOST_MOVES = 30
# A mean of playouts lies above its lower confidence bound but for one time in 40.
DEVIATIONS = 1.96


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


class Aloud:
    """The listener of one search: it sends the best lines as they stand, if that is asked for.

    send: takes them, best first; report: takes what a person should know. most_lines: how many
    lines are of use.
    """

    def __init__(
        self,
        report: Callable[[str], None],
        send: Callable[[Sequence[Info[Any]]], None] | None = None,
        most_lines: int = 1,
    ) -> None:
        self.most_lines = most_lines
        self.error = report
        self._send = send
        self._lines: list[Info[Any]] = []

    def info(self, info: Info[Any]) -> None:
        """Take one line of play."""
        if info.multipv > 1:
            self._lines.append(info)
        elif self._lines and (info.depth, info.pv) == (self._lines[0].depth, self._lines[0].pv):
            self._lines[0] = info  # the line that is played is told once more, at the end
        else:
            self._lines = [info]

    def progress(self, progress: Progress[Any], seconds: float) -> None:
        """Send what is known now."""
        self._tell(progress.lines or self._lines)

    def result(self, result: Result[Any]) -> None:
        """Send what is known at the end."""
        self._tell(self._lines)

    def _tell(self, lines: Sequence[Info[Any]]) -> None:
        known = [line for line in lines if line.visits]
        if self._send is not None and known:
            self._send(known)


def lz_line(lines: Sequence[Info[Any]], text: Callable[[Any], str], moves: int) -> str:
    """Return a line of lz-analyze; rates are whole numbers of 10,000, for the mover.

    moves: among how many the search chose; with no prior knowledge all are alike.
    """
    prior = round(10_000 / max(moves, 1))
    return " ".join(
        f"info move {text(line.pv[0])} visits {line.visits}"
        f" winrate {round(10_000 * winrate(line))} prior {prior}"
        f" lcb {round(10_000 * lower_bound(line))} order {order}"
        f" pv {' '.join(map(text, line.pv))}"
        for order, line in enumerate(lines)
    )


def kata_line(lines: Sequence[Info[Any]], text: Callable[[Any], str], moves: int) -> str:
    """Return a line of kata-analyze; rates are numbers from 0 to 1, for the mover."""
    prior = 1 / max(moves, 1)
    return " ".join(
        f"info move {text(line.pv[0])} visits {line.visits}"
        f" utility {line.expected or 0.0:.6f} winrate {winrate(line):.6f} prior {prior:.6f}"
        f" lcb {lower_bound(line):.6f} order {order}"
        f" pv {' '.join(map(text, line.pv))}"
        for order, line in enumerate(lines)
    )


def winrate(line: Info[Any]) -> float:
    """Return the mover's share of the wins."""
    return ((line.expected or 0.0) + 1) / 2


def lower_bound(line: Info[Any]) -> float:
    """Return what the share of the wins very probably is at least."""
    rate = winrate(line)
    return max(0.0, rate - DEVIATIONS * sqrt(rate * (1 - rate) / max(line.visits, 1)))
