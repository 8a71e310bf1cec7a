"""Move providers for any game: opening books and solved games.

A book is a YAML file with a list of lines. A line has `moves` in the game's notation. The optional
keys are `weight` (1 to 1000), `lines` (a list of continuations), and `name` and `comment` (for the
reader). A weight is the relative frequency of the line's moves. The default is the weight of the
parent line, or 10. A move followed by `?` is never played, but may have replies.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from agent.agent import MoveProvider
from agent.game import Game, HasSymmetry, NotatedGame, parse_move
from agent.games.catalogue import GameType
from agent.io.read_errors import convert_read_errors
from agent.io.strict_json import quote_value
from agent.limits import Cp, Info, Limits
from openings.book_common import DEFAULT_WEIGHT, MAX_WEIGHT, BookError
from openings.book_provider import WEIGHTED, choose_entry, is_timed_move

Move = TypeVar("Move")

FOLDER = Path(__file__).with_name("games")
_LINE_KEYS = ("moves", "name", "weight", "comment", "lines")


class Entry(NamedTuple, Generic[Move]):
    move: Move
    weight: int


class GameBook:
    """Book moves by position. Symmetric positions are merged."""

    def __init__(self) -> None:
        self._weights: dict[Hashable, dict[Hashable, int]] = {}

    def moves(self, game: Game[Move]) -> list[Entry[Move]]:
        """Return the book entries for a position, in the game's move order."""
        weights = self._weights.get(_position_key(game), {})
        entries = []
        for move in list(game.moves()) if weights else ():
            game.play(move)
            weight = weights.get(_position_key(game), 0)
            game.undo()
            if weight:
                entries.append(Entry(move, weight))
        return entries

    def add(self, before: Hashable, after: Hashable, weight: int) -> None:
        """Add the move between the positions with these keys. A greater old weight is kept."""
        weights = self._weights.setdefault(before, {})
        weights[after] = max(weight, weights.get(after, 0))


def read(path: Path, game: NotatedGame[Any]) -> GameBook:
    """Read a book for `game`, which must be a new game. Raise BookError if the file is invalid."""
    from agent.io import safe_yaml  # lazy import: not needed without a book

    try:
        with convert_read_errors(path, BookError):
            lines = safe_yaml.read(path)
    except safe_yaml.YamlError as error:
        raise BookError(f"{path}: invalid YAML: {error}") from None
    book = GameBook()
    try:
        _add_lines(book, game, lines, DEFAULT_WEIGHT)
    except ValueError as error:
        raise BookError(f"{path}: {error}") from None
    return book


def _add_lines(book: GameBook, game: NotatedGame[Any], lines: Any, weight: int) -> None:
    if not isinstance(lines, list):
        raise ValueError(f"expected a list of lines (got {quote_value(lines)})")
    for line in lines:
        _add_line(book, game, line, weight)


def _add_line(book: GameBook, game: NotatedGame[Any], line: Any, weight: int) -> None:
    if not isinstance(line, Mapping) or not line.get("moves"):
        raise ValueError(f"expected a line with moves (got {quote_value(line)})")
    if unknown := [key for key in line if key not in _LINE_KEYS]:
        raise ValueError(f"unknown key {unknown[0]!r} (expected one of: {', '.join(_LINE_KEYS)})")
    weight = line.get("weight", weight)
    if not isinstance(weight, int) or not 1 <= weight <= MAX_WEIGHT:
        raise ValueError(f"weight of {quote_value(line['moves'])} must be from 1 to {MAX_WEIGHT}")
    texts = str(line["moves"]).split()
    played = 0
    try:
        for text in texts:
            before = _position_key(game)
            game.play(parse_move(game, text.removesuffix("?")))
            played += 1
            book.add(before, _position_key(game), 0 if text.endswith("?") else weight)
        if "lines" in line:
            _add_lines(book, game, line["lines"], weight)
    finally:
        for _ in range(played):
            game.undo()


class GameBookProvider(Generic[Move]):
    """Provides book moves in timed games, in proportion to their weights."""

    def __init__(self, book: GameBook, rng: random.Random | None = None) -> None:
        self._book = book
        self._rng = rng or random.Random()

    def probe(self, position: Game[Move], limits: Limits[Move], lines: int, /) -> Info[Move] | None:
        if not is_timed_move(limits, lines):
            return None
        entries = self._book.moves(position)
        if not entries:
            return None
        move = choose_entry(entries, WEIGHTED, self._rng).move
        return Info(depth=1, score=Cp(0), pv=(move,), seldepth=1)


class SolvedProvider(Generic[Move]):
    """Provides perfect moves in a solved game, except with several lines or `search_moves`.

    `solved` returns the exact value of a position for the side to move.
    """

    def __init__(self, solved: Callable[[Any], float]) -> None:
        self._exact_value = solved

    def probe(self, position: Game[Move], limits: Limits[Move], lines: int, /) -> Info[Move] | None:
        """Return the first move that preserves the value of the position, or None."""
        if limits.search_moves or lines != 1:
            return None
        best = self._exact_value(position)
        for move in list(position.moves()):
            position.play(move)
            outcome = position.outcome()
            if outcome is None:
                value = -self._exact_value(position)
            else:
                value = outcome if position.turn else -outcome
            position.undo()
            if value == best:
                return Info(depth=1, score=Cp(round(100 * best)), pv=(move,), seldepth=1)
        return None


class ProviderChain(Generic[Move]):
    """Queries several move providers in turn.

    `find` returns the providers. It is called at the first query in each game.
    """

    def __init__(self, find: Callable[[], Sequence[MoveProvider[Game[Move], Move]]]) -> None:
        self._find_providers = find
        self._providers: Sequence[MoveProvider[Game[Move], Move]] | None = None

    def new_game(self) -> None:
        """Discard the providers, because the next game may need others."""
        self._providers = None

    def probe(self, position: Game[Move], limits: Limits[Move], lines: int, /) -> Info[Move] | None:
        if limits.infinite:
            return None
        if self._providers is None:
            self._providers = self._find_providers()
        answers = (provider.probe(position, limits, lines) for provider in self._providers)
        return next((info for info in answers if info is not None), None)


def move_providers(
    kind: GameType, game: NotatedGame[Any], rng: random.Random | None = None
) -> list[MoveProvider[Game[Any], Any]]:
    """Return the move providers for a game: the solution and the opening book, if available.

    Books are used only with the default options of the game. `game` must be a new game.
    """
    providers: list[MoveProvider[Game[Any], Any]] = []
    if kind.exact_value is not None:
        providers.append(SolvedProvider(kind.exact_value))
    file = FOLDER / f"{kind.name}.yaml"
    if file.exists() and game.key() == kind.new().key() and str(game) == str(kind.new()):
        providers.append(GameBookProvider(read(file, game), rng=rng))
    return providers


def _position_key(game: Game[Any]) -> Hashable:
    return game.symmetric_key() if isinstance(game, HasSymmetry) else game.key()
