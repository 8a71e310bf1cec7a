"""Books and solved values of any game: advisors over the Game interface, as for chess.

A book of openings is a file of YAML, a list of lines. A line has `moves` in the game's notation,
and may have `name`, `weight` (1 to 1000, how often its moves are chosen; 10, or that of the line
above), `comment`, and `lines` that go on from its end. A move with `?` behind it is answered but
never played. The books shipped are in openings/games, one file a game.
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
from agent.io.sanitize import sanitize_name
from agent.limits import Cp, Info, Limits
from openings.book_common import DEFAULT_WEIGHT, MAX_WEIGHT, BookError
from openings.book_provider import WEIGHTED, choose_entry, is_timed_move

Move = TypeVar("Move")

FOLDER = Path(__file__).with_name("games")
_LINE_KEYS = ("moves", "name", "weight", "comment", "lines")


class Entry(NamedTuple, Generic[Move]):
    """A move of a book."""

    move: Move
    weight: int


class GameBook:
    """Moves by position; positions that a symmetry maps to each other are one.

    What is kept of a move is the position that it leads to, so that it is known in all of its
    mirror images.
    """

    def __init__(self) -> None:
        self._weights: dict[Hashable, dict[Hashable, int]] = {}
        self._names: dict[Hashable, str] = {}

    def moves(self, game: Game[Move]) -> list[Entry[Move]]:
        """Return the moves to choose from in a position, in the game's order; perhaps none."""
        weights = self._weights.get(_position_key(game), {})
        entries = []
        for move in list(game.moves()) if weights else ():
            game.play(move)
            weight = weights.get(_position_key(game), 0)
            game.undo()
            if weight:
                entries.append(Entry(move, weight))
        return entries

    def name(self, game: Game[Any]) -> str:
        """Return what the position is called, or ""."""
        return self._names.get(_position_key(game), "")

    def add(self, before: Hashable, after: Hashable, weight: int) -> None:
        """Add a move; where lines meet the greater weight counts."""
        weights = self._weights.setdefault(before, {})
        weights[after] = max(weight, weights.get(after, 0))

    def set_name(self, game: Game[Any], name: str) -> None:
        """Give a position a name."""
        self._names[_position_key(game)] = name


def read(path: Path, game: NotatedGame[Any]) -> GameBook:
    """Read a book of openings; `game` stands at its start. Raises BookError, naming the line."""
    from agent.io import safe_yaml  # which a session without such a book does not need

    try:
        with convert_read_errors(path, BookError):
            lines = safe_yaml.read(path)
    except safe_yaml.YamlError as error:
        raise BookError(f"{path} is not YAML: {error}") from None
    book = GameBook()
    try:
        _add_lines(book, game, lines, DEFAULT_WEIGHT)
    except ValueError as error:
        raise BookError(f"{path}: {error}") from None
    return book


def _add_lines(book: GameBook, game: NotatedGame[Any], lines: Any, weight: int) -> None:
    if not isinstance(lines, list):
        raise ValueError(f"expected a list of lines, not {lines!r}")
    for line in lines:
        _add_line(book, game, line, weight)


def _add_line(book: GameBook, game: NotatedGame[Any], line: Any, weight: int) -> None:
    if not isinstance(line, Mapping) or not line.get("moves"):
        raise ValueError(f"expected a line with moves, not {line!r}")
    if unknown := [word for word in line if word not in _LINE_KEYS]:
        raise ValueError(f"unknown word {unknown[0]!r}; a line has {', '.join(_LINE_KEYS)}")
    weight = line.get("weight", weight)
    if not isinstance(weight, int) or not 1 <= weight <= MAX_WEIGHT:
        raise ValueError(f"the weight of {line['moves']!r} is not from 1 to {MAX_WEIGHT}")
    texts = str(line["moves"]).split()
    played = 0
    try:
        for text in texts:
            before = _position_key(game)
            game.play(parse_move(game, text.removesuffix("?")))
            played += 1
            book.add(before, _position_key(game), 0 if text.endswith("?") else weight)
        if "name" in line:
            book.set_name(game, sanitize_name(str(line["name"])))
        if "lines" in line:
            _add_lines(book, game, line["lines"], weight)
    finally:
        for _ in range(played):
            game.undo()


class GameBookProvider(Generic[Move]):
    """Knows the openings of a game; it is asked in games, and silent in analysis, as in chess.

    variety: one of openings.book_provider's VARIETIES. report: told the name of the opening.
    """

    def __init__(
        self,
        book: GameBook,
        variety: str = WEIGHTED,
        report: Callable[[str], None] | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.variety = variety
        self._book = book
        self._report = report
        self._rng = rng or random.Random()

    def probe(self, position: Game[Move], limits: Limits[Move], lines: int, /) -> Info[Move] | None:
        """Return a move of the book, or None."""
        if not is_timed_move(limits, lines):
            return None
        entries = self._book.moves(position)
        if not entries:
            return None
        move = choose_entry(entries, self.variety, self._rng).move
        if self._report is not None:
            position.play(move)
            self._report(f"book: {self._book.name(position) or 'no name'}")
            position.undo()
        return Info(depth=1, score=Cp(0), pv=(move,), seldepth=1)


class SolvedProvider(Generic[Move]):
    """Knows the exact value of every position of a game, and so a best move.

    solved: the value of a position for its mover. It answers whatever is asked for, but not
    where only some moves or several lines are.
    """

    def __init__(self, solved: Callable[[Any], float]) -> None:
        self._exact_value = solved

    def probe(self, position: Game[Move], limits: Limits[Move], lines: int, /) -> Info[Move] | None:
        """Return the first move of those that keep the position's value."""
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
    """Whoever may know a move of the game that is played; silent in analysis.

    find: finds them, at the first question of a game.
    """

    def __init__(self, find: Callable[[], Sequence[MoveProvider[Game[Move], Move]]]) -> None:
        self._find_advisors = find
        self._advisors: Sequence[MoveProvider[Game[Move], Move]] | None = None

    def new_game(self) -> None:
        """Find them anew: the game may be another one."""
        self._advisors = None

    def probe(self, position: Game[Move], limits: Limits[Move], lines: int, /) -> Info[Move] | None:
        """Return what the first of them knows, or None."""
        if limits.infinite:
            return None
        if self._advisors is None:
            self._advisors = self._find_advisors()
        known = (advisor.probe(position, limits, lines) for advisor in self._advisors)
        return next((info for info in known if info is not None), None)


def move_providers(
    kind: GameType, game: NotatedGame[Any], rng: random.Random | None = None
) -> list[MoveProvider[Game[Any], Any]]:
    """Return who may be asked for a move before a search: solved values, a book of openings.

    game: at its start, set up as it is played; the books are for the usual size of the board.
    chance: chooses among the moves of a book.
    """
    found: list[MoveProvider[Game[Any], Any]] = []
    if kind.exact_value is not None:
        found.append(SolvedProvider(kind.exact_value))
    file = FOLDER / f"{kind.name}.yaml"
    if file.exists() and game.key() == kind.new().key() and str(game) == str(kind.new()):
        found.append(GameBookProvider(read(file, game), rng=rng))
    return found


def _position_key(game: Game[Any]) -> Hashable:
    return game.symmetric_key() if isinstance(game, HasSymmetry) else game.key()
