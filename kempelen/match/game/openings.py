"""Select the openings of a match from files, from the built-in set, or at random."""

import dataclasses
import hashlib
import io
import logging
import random
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import chess
import chess.pgn

from agent.evaluation import evaluation_digest
from agent.game import CHANCE
from agent.games.game_state import GameState
from agent.io.files import read_text
from agent.io.sanitize import sanitize_line
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.game_settings import GameSettings, new_game
from kempelen.match.config.settings import OpeningOrder, OpeningSettings, Settings
from kempelen.match.engines.engine_protocols import protocol_spec
from kempelen.match.game.referee import wrap_errors
from kempelen.match.records.game_record import unescape_tag_value
from openings import start_positions
from openings.book_common import BookError
from openings.polyglot import opened_book
from protocols.uci.position import MAX_GAME_PLIES

# Suppress the log of python-chess: errors in PGN games are reported as SettingsError.
logging.getLogger("chess.pgn").addHandler(logging.NullHandler())
MAX_FILE_SIZE = 1 << 30

Opening = start_positions.StartPosition
# Default number of random plies, which make games differ. Go has none: its players vary their play,
# and random stones make a poor opening.
RANDOM_PLIES = 4
ATTEMPTS = 1000


def opening_selector(settings: Settings) -> Callable[[int, int], Opening]:
    """Return a function that maps a round and a pair number to an opening.

    Raise SettingsError if the openings cannot be used.
    """
    if settings.openings.file is None and _needs_start(settings):
        skipped = settings.openings.start - 1
        return lambda round_, pair: _random_opening(settings, round_, pair + skipped)
    if settings.is_chess:
        openings = load_openings(settings.openings, chess960=settings.chess960)
    else:
        text, name = _read(settings.openings.file)
        lines = _read_lines(settings.game, text, name)
        openings = [_truncate(opening, settings.openings.plies) for opening in lines]
        if not openings:
            raise SettingsError(f"{name}: no openings found")
    other_start = next((o for o in openings if o.fen not in ("", chess.STARTING_FEN)), None)
    if other_start is not None and _needs_start(settings):
        raise SettingsError(
            f"openings {settings.openings.file}: GTP engines and lab agents only support the "
            f"start position (got {other_start.fen})"
        )
    return lambda round_, pair: select_opening(openings, settings, round_, pair)


def _needs_start(settings: Settings) -> bool:
    return not settings.is_chess or any(
        protocol_spec(engine).start_position_only for engine in settings.engines
    )


def _random_opening(settings: Settings, round_: int, pair: int) -> Opening:
    plies = settings.openings.plies
    if plies is None:
        plies = 0 if settings.game.name == "go" else RANDOM_PLIES
    moves = _random_moves(settings.game, plies, f"{settings.seed}/{round_}/{pair}")
    return Opening(chess.STARTING_FEN if settings.is_chess else "", moves)


def _random_moves(settings: GameSettings, plies: int, seed: str) -> tuple[str, ...]:
    """Return `plies` random moves that do not end the game, without avoidable passes.

    Raise SettingsError after 1000 failed attempts.
    """
    generator = random.Random(seed)
    for _ in range(ATTEMPTS):
        state = GameState(new_game(settings))
        with wrap_errors(settings):
            while len(state.moves) < plies and state.game.outcome() is None:
                if state.mover == CHANCE:
                    state.play_chance_event(generator.random())
                else:
                    moves = state.legal_moves()
                    state.play(
                        generator.choice([move for move in moves if move != "pass"] or moves)
                    )
            if state.game.outcome() is None:
                return tuple(state.moves)
    raise SettingsError(f"game {settings}: {plies} random plies end the game (reduce --plies)")


def _read_lines(settings: GameSettings, text: str, name: str) -> Iterator[Opening]:
    """Yield the openings in a text file, one move sequence per line. `#` starts a comment.

    Raise SettingsError, which names the line, if a move is illegal or the game is already over.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        moves = line.partition("#")[0].split()
        if not moves:
            continue
        state = GameState(new_game(settings))
        try:
            for move in moves:
                state.play(move)
        except ValueError as error:
            raise SettingsError(f"{name}, line {number}: {error}") from None
        if state.game.outcome() is not None:
            raise SettingsError(f"{name}, line {number}: the game is already over")
        yield Opening("", tuple(moves))


def load_openings(settings: OpeningSettings, *, chess960: bool = False) -> list[Opening]:
    """Return the openings in a file or in the built-in set, in order and without duplicates.

    Raise SettingsError, which names the line or the game, if an opening is invalid.
    """
    text, name = _read(settings.file)
    suffix = Path(name).suffix.lower()
    unfiltered: Iterable[Opening]
    if suffix in (".yaml", ".yml"):
        unfiltered = _from_yaml(Path(name), chess960)
    elif suffix == ".pgn":
        unfiltered = _from_pgn(text, name, chess960)
    else:
        unfiltered = _from_epd(text, name, chess960)
    openings = list(dict.fromkeys(_truncate(opening, settings.plies) for opening in unfiltered))
    if not openings:
        raise SettingsError(f"{name}: no openings found")
    return openings


def with_file_digests(settings: Settings) -> Settings:
    """Add digests of openings, evaluations and books, so that a resumed run detects changes.

    Engines must have names. Raise SettingsError if a file or the game does not exist.
    """
    if not settings.is_chess:
        new_game(settings.game)
    digests = {engine.name: _evaluation_digest(engine) for engine in settings.engines}
    evaluations = {name: digest for name, digest in digests.items() if digest}
    books = {engine.name: _book_digest(engine.book) for engine in settings.engines if engine.book}
    settings = dataclasses.replace(settings, evaluations=evaluations, books=books)
    if settings.openings.file is None and _needs_start(settings):
        return settings
    text, _ = _read(settings.openings.file)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return dataclasses.replace(
        settings, openings=dataclasses.replace(settings.openings, digest=digest)
    )


def _evaluation_digest(engine: EngineSettings) -> str:
    for name, value in engine.options.items():
        if name.casefold() == "evaluation" and ":" in str(value):  # the value names a file
            return evaluation_digest(str(value), engine.directory or "")
    return ""


def _book_digest(book: str) -> str:
    path = Path(book)
    try:
        with opened_book(path):
            return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except BookError as error:
        raise SettingsError(str(error)) from None
    except OSError as error:
        raise SettingsError(f"book {book}: {error.strerror}") from None


def book_move(engine: EngineSettings, board: chess.Board, seed: str) -> str | None:
    """Return a move of the engine's book, chosen by weight, or None. `seed` makes it repeatable."""
    if engine.book is None:
        return None
    try:
        with opened_book(Path(engine.book)) as reader:
            entries = list(reader.find_all(board))
    except BookError as error:
        raise SettingsError(str(error)) from None
    if not entries:
        return None
    weights = [entry.weight for entry in entries]
    return board.uci(random.Random(seed).choices([entry.move for entry in entries], weights)[0])


def select_opening(openings: list[Opening], settings: Settings, round_: int, pair: int) -> Opening:
    """Return the opening for pair number `pair`, counted from 1. It is the same for all pairings.

    The choice depends only on the arguments, and does not change when games are added.
    """
    count = len(openings)
    pair += settings.openings.start - 1
    if settings.openings.order is OpeningOrder.SEQUENTIAL:
        per_round = settings.games if settings.noswap else (settings.games + 1) // 2
        return openings[((round_ - 1) * per_round + pair - 1) % count]
    cycle, index = divmod(pair - 1, count)
    return openings[_shuffled(count, f"{settings.seed}/{round_}/{cycle}")[index]]


@lru_cache(maxsize=64)
def _shuffled(count: int, seed: str) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def _read(file: str | None) -> tuple[str, str]:
    if file is None:
        return (files("kempelen.match") / "data" / "openings.epd").read_text(
            "utf-8"
        ), "openings.epd"
    try:
        return read_text(file, MAX_FILE_SIZE, errors="replace"), file
    except OSError as error:
        raise SettingsError(f"openings {file}: {error.strerror}") from None


def _from_yaml(path: Path, chess960: bool) -> list[Opening]:
    if chess960:
        raise SettingsError(f"{path}: a repertoire cannot be used with Chess960")
    try:
        return start_positions.read([path])
    except BookError as error:
        raise SettingsError(str(error)) from None


def _from_epd(text: str, name: str, chess960: bool) -> Iterator[Opening]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            if _is_fen(line):
                board, title = chess.Board(line.strip(), chess960=chess960), ""
            else:
                board, operations = chess.Board.from_epd(line, chess960=chess960)
                title = str(operations.get("id", ""))
        except (ValueError, IndexError) as error:
            raise SettingsError(f"{name}, line {number}: {error}") from None
        _check(board, f"{name}, line {number}")
        yield Opening(board.fen(), (), sanitize_line(title))


def _is_fen(line: str) -> bool:
    fields = line.split()
    return len(fields) == 6 and all(field.isdecimal() for field in fields[4:])


def _from_pgn(text: str, name: str, chess960: bool) -> Iterator[Opening]:
    stream = io.StringIO(text)
    number = 0
    while (game := read_game(stream, f"{name}, game {number + 1}")) is not None:
        number += 1
        where = f"{name}, game {number}"
        if game.errors:
            raise SettingsError(f"{where}: {game.errors[0]}")
        if game.headers == chess.pgn.Game().headers and game.is_end():
            raise SettingsError(f"{where}: neither tags nor moves (not a PGN file?)")
        board = game.board()
        if type(board) is not chess.Board:
            raise SettingsError(f"{where}: unsupported variant {game.headers['Variant']}")
        if board.chess960 and not chess960 and not chess.Board(board.fen()).is_valid():
            raise SettingsError(
                f"{where}: Chess960 castling rights are only allowed with the setting chess960"
            )
        board.chess960 = chess960 or board.chess960
        _check(board, where)
        moves = tuple(board.uci(move) for move in game.mainline_moves())
        title = " ".join(game.headers.get(tag, "") for tag in ("ECO", "Opening"))
        yield Opening(board.fen(), moves, unescape_tag_value(title))


class _BoundedGameBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Raises SettingsError as soon as a game has more than `max_plies` plies."""

    def __init__(self, max_plies: int) -> None:
        super().__init__()
        self._max_plies = max_plies
        self._plies = 0

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        self._plies += len(self.variation_stack) == 1  # not in a variation
        if self._plies > self._max_plies:
            raise SettingsError("game too long (at most {} moves)", self._max_plies)
        super().visit_move(board, move)


def read_game(
    stream: io.StringIO, where: str, max_plies: int = MAX_GAME_PLIES
) -> chess.pgn.Game | None:
    """Return the next game in a PGN stream, or None at its end.

    Raise SettingsError, with the prefix `where`, if the game is invalid or has more than
    `max_plies` plies.
    """
    try:
        return chess.pgn.read_game(stream, Visitor=lambda: _BoundedGameBuilder(max_plies))
    except SettingsError as error:
        raise SettingsError("{}: {}", where, error) from None
    except (ValueError, LookupError, AttributeError, AssertionError) as error:
        # python-chess raises various exceptions for malformed games.
        raise SettingsError("{}: invalid PGN ({})", where, error) from None


def _check(board: chess.Board, where: str) -> None:
    if not board.is_valid():
        raise SettingsError(f"{where}: illegal chess position ({board.status()!r})")


def _truncate(opening: Opening, plies: int | None) -> Opening:
    return opening if plies is None else dataclasses.replace(opening, moves=opening.moves[:plies])
