"""What a running tournament tells: frozen events, one stream, any number of listeners.

A listener is called in the runner's thread for every event, in order, and must return at once.
`to_json` gives an event as plain data with its type's name under "event".
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
    """How a run stands or ended. LOST is for watchers: the runner went without a word."""

    RUNNING = "running"
    COMPLETE = "complete"
    DECIDED = "decided"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class TournamentStarted:
    """A run began, perhaps with games of earlier runs behind it. game: what is played."""

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
    """A game began on a board; fen and moves: where the players take over; turn: a side's name."""

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
    """A move was made; its score is from the mover's side, clocks are in seconds.

    side, turn: who made it and who is to move after it, "white" or "black", who may be the same.
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
    """What an engine says while it thinks."""

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
    """A game ended and is in the ledger."""

    board: int
    record: GameRecord


@dataclass(frozen=True, slots=True)
class StandingsChanged:
    """The standings after some more games."""

    summary: Summary


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a person should know and that stops nothing."""

    text: str


@dataclass(frozen=True, slots=True)
class TournamentFinished:
    """The run ended."""

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
    """Return an event's name in JSON: GameStarted is game_started."""
    kind = event if isinstance(event, type) else type(event)
    return re.sub(r"(?<!^)([A-Z])", r"_\1", kind.__name__).lower()


def to_json(event: Event) -> dict[str, Any]:
    """Return an event as plain data."""
    return {"event": event_name(event), **encode(event)}
