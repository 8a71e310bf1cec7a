"""Events of a running tournament, which are sent in order to all listeners.

Listeners are called in the runner's thread, so they must return quickly.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agent.games.variants import STANDARD
from kempelen.console.settings_codec import encode
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.rating.standings import Summary
from kempelen.match.records.game_record import GameRecord

# Longer principal variations are cut when they are shown.
MAX_PV_PLIES = 12


class Status(StrEnum):
    """The state of a run. Viewers report LOST for a runner that stopped without a final event."""

    RUNNING = "running"
    COMPLETE = "complete"
    DECIDED = "decided"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class TournamentStarted:
    """A run has started. `played` is the number of games played in earlier runs."""

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
    """A game has started after the opening given by `fen` and `moves`. Clocks are in seconds."""

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
    variant: str = STANDARD
    chess960: bool = False


@dataclass(frozen=True, slots=True)
class MovePlayed:
    """A move has been played by `side` ("white" or "black"), and `turn` is the side to move next.

    Some games let a side move twice. The score is from the point of view of `side`. Clocks are in
    seconds. `pv` contains the first MAX_PV_PLIES moves of the principal variation.
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
    pv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchInfo:
    """A report from a search in progress."""

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
    summary: Summary


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the user that does not stop the run."""

    text: str


@dataclass(frozen=True, slots=True)
class TournamentFinished:
    """The run has ended, even if the tournament is incomplete."""

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
    """Return the name of an event type in JSON, such as game_started for GameStarted."""
    event_type = event if isinstance(event, type) else type(event)
    return re.sub(r"(?<!^)([A-Z])", r"_\1", event_type.__name__).lower()


def to_json(event: Event) -> dict[str, Any]:
    return {"event": event_name(event), **encode(event)}
