"""Tell the user which games of a file were skipped, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Protocol, TypeVar

from agent.io.message import Message, MessageError

# Maximum number of skipped games that are listed one by one.
MAX_LISTED = 3


class UnusableGameError(MessageError, ValueError):
    """Raised for a game that cannot be used. `kind` says what such games have in common."""

    def __init__(self, template: str, *arguments: object, kind: str) -> None:
        super().__init__(template, *arguments)
        self.kind = Message(kind)


class NumberedGame(Protocol):
    """A game with its position in the file, from 1."""

    @property
    def number(self) -> int: ...


Game = TypeVar("Game", bound=NumberedGame)
Converted = TypeVar("Converted")


class ReadReport:
    """Counts the games that a command has used and skipped."""

    def __init__(self) -> None:
        self.used = 0
        self.skipped = 0
        self._listed: list[Message] = []
        self._kinds: dict[Message, tuple[int, int]] = {}

    def select(
        self, games: Iterable[Game], convert: Callable[[Game], Converted]
    ) -> Iterator[Converted]:
        """Yield the converted games. Skip those for which `convert` raises UnusableGameError."""
        for game in games:
            try:
                converted = convert(game)
            except UnusableGameError as error:
                self.skip(game.number, error)
            else:
                self.used += 1
                yield converted

    def skip(self, number: int, error: Exception) -> None:
        """Count a skipped game. `number` is its position in the file, from 1."""
        self.skipped += 1
        if len(self._listed) < MAX_LISTED:
            self._listed.append(Message("game {}, {}", number, error))
        kind = error.kind if isinstance(error, UnusableGameError) else Message("damaged")
        count, first = self._kinds.get(kind, (0, number))
        self._kinds[kind] = count + 1, first

    def reasons(self) -> Message:
        """Say why games were skipped: one by one, or by reason if there are many."""
        parts = self._listed
        if self.skipped > MAX_LISTED:
            parts = [
                Message("{} {}, first in game {}", count, kind, first)
                for kind, (count, first) in self._kinds.items()
            ]
        return reduce(lambda before, part: Message("{}; {}", before, part), parts)

    def message(self) -> Message:
        """Return the counts and the reasons, or an empty message if no game was skipped."""
        if not self.skipped:
            return Message("")
        if self.used == 1:
            return Message("read 1 game, skipped {}: {}", self.skipped, self.reasons())
        return Message("read {} games, skipped {}: {}", self.used, self.skipped, self.reasons())
