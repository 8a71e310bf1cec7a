"""Measure the latency of players: the time of their moves that the engines do not report."""

from collections import defaultdict
from dataclasses import dataclass
from math import inf

from kempelen.match.live.events import Event, GameFinished


@dataclass(slots=True)
class Latency:
    """Latencies of the moves of one player, in seconds."""

    moves: int = 0
    total: float = 0.0
    max: float = -inf

    def add(self, seconds: float) -> None:
        self.moves += 1
        self.total += seconds
        self.max = max(self.max, seconds)

    @property
    def mean(self) -> float:
        return self.total / self.moves


class LatencyMeter:
    """A listener that adds up the latencies of each player in games of chess."""

    def __init__(self) -> None:
        self.players: dict[str, Latency] = defaultdict(Latency)

    def __call__(self, event: Event) -> None:
        if not isinstance(event, GameFinished):
            return
        record = event.record
        first_is_white = (record.fen.split()[1] == "w") ^ len(record.opening) % 2
        for number, move in enumerate(record.moves):
            if move.latency is not None:
                player = record.white if (number % 2 == 0) == first_is_white else record.black
                self.players[player].add(move.latency)

    def lines(self) -> list[str]:
        return [
            f"latency of {name}: {1000 * each.mean:z.1f} ms, at most {1000 * each.max:z.1f} ms"
            for name, each in sorted(self.players.items())
        ]
