"""Define the events of a running tournament, which are sent in order to all listeners.

Events are immutable. A listener is called in the runner's thread for every event and must return
quickly. `to_json` converts an event to plain data and stores its name under the key "event".
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kempelen.console.settings_codec import encode
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.rating.standings import Summary
from kempelen.match.records.game_record import GameRecord


class Status(StrEnum):
    """The state of a run.

    LOST means that the runner stopped without a final event. It is reported only by viewers.
    """

    RUNNING = "running"
    COMPLETE = "complete"
    DECIDED = "decided"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class TournamentStarted:
    """A run has started. `played` is the number of games that were played in earlier runs."""

    name: str
    format: str
    players: tuple[str, ...]
    time: str
    boards: int
    asked: int
    played: int
    game: GameSettings = field(default_factory=GameSettings)


@dataclass(frozen=True, slots=True)
class GameStarted:
    """A game has started.

    `fen` and `moves` describe the opening. `turn` is the side to move, "white" or "black". Clocks
    are in seconds.
    """

    board: int
    pair: str
    game: int
    white: str
    black: str
    fen: str
    moves: tuple[str, ...]
    position: str
    turn: str
    white_clock: float | None
    black_clock: float | None


@dataclass(frozen=True, slots=True)
class MovePlayed:
    """A move has been played.

    `side` made the move, and `turn` is the side to move next. Each is "white" or "black", and they
    may be equal. The score is from the point of view of `side`. Clocks are in seconds.
    """

    board: int
    pair: str
    game: int
    ply: int
    side: str
    move: str
    san: str
    position: str
    turn: str
    cp: int | None
    mate: int | None
    depth: int | None
    nodes: int | None
    time: float
    white_clock: float | None
    black_clock: float | None


@dataclass(frozen=True, slots=True)
class SearchInfo:
    """A search in progress has sent a report."""

    board: int
    pair: str
    game: int
    ply: int
    side: str
    depth: int
    cp: int | None
    mate: int | None
    nodes: int
    time: float
    pv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GameFinished:
    """A game has ended and has been written to the ledger."""

    board: int
    record: GameRecord


@dataclass(frozen=True, slots=True)
class StandingsChanged:
    """The standings have changed after one or more games."""

    summary: Summary


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the user that does not stop the run."""

    text: str


@dataclass(frozen=True, slots=True)
class TournamentFinished:
    """The run has ended."""

    status: Status
    summary: Summary
    reason: str = ""


Event = (
    TournamentStarted
    | GameStarted
    | MovePlayed
    | SearchInfo
    | GameFinished
    | StandingsChanged
    | Notice
    | TournamentFinished
)
Listener = Callable[[Event], None]


def event_name(event: Event | type) -> str:
    """Return the name of an event for JSON, for example game_started for GameStarted."""
    event_type = event if isinstance(event, type) else type(event)
    return re.sub(r"(?<!^)([A-Z])", r"_\1", event_type.__name__).lower()


def to_json(event: Event) -> dict[str, Any]:
    return {"event": event_name(event), **encode(event)}
