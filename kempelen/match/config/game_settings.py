from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.game import NotatedGame
from agent.games import catalogue
from kempelen.console.settings_codec import SettingsError

CHESS = "chess"
GO = "go"


@dataclass(frozen=True, slots=True)
class GameSettings:
    """Chess or a game in agent.games.catalogue, and its constructor options."""

    name: str = CHESS
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> "GameSettings":
        return cls(text)

    def __str__(self) -> str:
        return " ".join((self.name, *(f"{name}={value}" for name, value in self.options.items())))


def new_game(settings: GameSettings) -> NotatedGame[Any]:
    """Return a new game. Raise SettingsError if the game or an option is unknown."""
    try:
        return catalogue.new_game(settings.name, **settings.options)
    except catalogue.GameError as error:
        raise SettingsError(str(error)) from None
