"""Select the openings of a match from files, from the built-in set, or at random."""

from __future__ import annotations

import codecs
import dataclasses
import hashlib
import io
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import chess
import chess.polyglot
import numpy as np

from agent.evaluation import evaluation_digest
from agent.game import CHANCE, NotatedGame
from agent.games.fen import board_from_fen, is_playable, position_faults
from agent.games.game_state import GameState
from agent.games.variants import STANDARD, STANDARD_RULES, ChessRules
from agent.io.files import iter_lines, open_file
from agent.io.sanitize import sanitize_line
from agent.io.text_files import require_size
from agent.io.text_index import FindRecords, Offsets, TextIndex, find_lines
from kempelen.console import interruption
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import print_error, progress_bar, with_progress
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.game_settings import GameSettings, new_game
from kempelen.match.config.settings import OpeningOrder, OpeningSettings, Settings
from kempelen.match.engines.engine_protocols import protocol_spec
from kempelen.match.game.referee import RefereedChess, chess_result, wrap_errors
from kempelen.match.records.game_record import unescape_tag_value
from openings import epd_line, repertoire, start_positions
from openings.book_common import BookError
from openings.pgn import read_games, text_lines
from openings.polyglot import open_book
from protocols.uci.position import MAX_GAME_PLIES

_BUILT_IN = Path(__file__).parents[1] / "data" / "openings.epd"
MAX_FILE_SIZE = 8 << 30
# The number of invalid openings in succession after which a file is rejected.
MAX_INVALID = 100
# More openings are not shuffled in memory. The order of fewer must not change: a match that an
# earlier version has begun can be resumed.
MAX_SHUFFLED = 10_000
DIGEST_BLOCK = 1 << 20

Opening = start_positions.StartPosition
# Default number of random plies, which make games differ. Go has none: its players vary their play,
# and random stones make a poor opening.
RANDOM_PLIES = 4
ATTEMPTS = 1000


class InvalidOpeningError(ValueError):
    """An opening in a file is invalid. The message contains the reason, but not the place."""


def opening_selector(
    settings: Settings, report: Callable[[str], None] = print_error
) -> Callable[[int, int], Opening]:
    """Return a function that maps a round and a pair number to an opening.

    The result depends only on the arguments, and does not change when games are added. It is the
    same for all pairings. Invalid openings are skipped: `report` is called with the reason, and the
    next opening in the file is used. Raise SettingsError if the openings cannot be used.
    """
    if _are_random(settings):
        skipped = settings.openings.start - 1
        _random_opening(settings, 1, 1 + skipped)  # reports an error early
        return lambda round_, pair: _random_opening(settings, round_, pair + skipped)
    if settings.is_chess:
        openings = open_openings(
            settings.openings, settings.rules, start_only=_needs_start(settings)
        )
    else:
        parse = partial(_parse_moves, settings.game, settings.openings.plies)
        openings = _index(settings.openings, find_lines, parse, "line")
    _find_valid(openings, opening_number(len(openings), settings, 1, 1))
    reported: set[int] = set()

    def opening_of(round_: int, pair: int) -> Opening:
        first = opening_number(len(openings), settings, round_, pair)
        opening, problems = _find_valid(openings, first)
        for number in problems.keys() - reported:
            report(f"{openings.place(number)}: {problems[number]}; skipped")
        reported.update(problems)
        return opening

    return opening_of


def _find_valid(
    openings: OpeningFile, first: int
) -> tuple[Opening, dict[int, InvalidOpeningError]]:
    """Return the first valid opening from number `first` on, and the problems of those before it.

    Raise SettingsError if the file is unreadable, or after MAX_INVALID invalid openings.
    """
    problems: dict[int, InvalidOpeningError] = {}
    for place in range(first, first + min(len(openings), MAX_INVALID)):
        number = place % len(openings)
        try:
            return openings[number], problems
        except InvalidOpeningError as error:
            problems[number] = error
    raise SettingsError(f"{openings.place(first)}: {problems[first]}")


def _are_random(settings: Settings) -> bool:
    is_variant = settings.variant != STANDARD
    return settings.openings.file is None and (is_variant or _needs_start(settings))


def _needs_start(settings: Settings) -> bool:
    return not settings.is_chess or any(
        protocol_spec(engine).start_position_only for engine in settings.engines
    )


def _random_opening(settings: Settings, round_: int, pair: int) -> Opening:
    plies = settings.openings.plies
    if plies is None:
        plies = 0 if settings.game.name == "go" else RANDOM_PLIES
    seed = f"{settings.seed}/{round_}/{pair}"
    if not settings.is_chess:
        return Opening("", _random_moves(settings.game, plies, seed))
    start = board_from_fen(None, settings.rules)
    moves = _random_moves(settings.game, plies, seed, lambda: RefereedChess(start))
    return Opening(start.fen(), moves)


def _random_moves(
    settings: GameSettings,
    plies: int,
    seed: str,
    make_game: Callable[[], NotatedGame[Any]] | None = None,
) -> tuple[str, ...]:
    """Return `plies` random moves that do not end the game, without avoidable passes.

    Raise SettingsError after 1000 failed attempts.
    """
    generator = random.Random(seed)
    for _ in range(ATTEMPTS):
        state = GameState(make_game() if make_game else new_game(settings))
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


class OpeningFile(Sequence[Opening]):
    """The openings in a file. An opening is parsed when it is used.

    Indexing raises InvalidOpeningError, or SettingsError if the file is unreadable.
    """

    def __init__(
        self,
        name: str,
        records: TextIndex | list[Opening],
        parse: Callable[[Any], Opening],
        unit: str,
    ) -> None:
        """`parse` raises ValueError for an invalid record. `unit` is the name of a record."""
        if not len(records):
            raise SettingsError(f"{name}: no openings found")
        self._name, self._records, self._parse, self._unit = name, records, parse, unit

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, number: int) -> Opening:  # type: ignore[override]
        with _wrap_read_errors(self._name):
            record = self._records[number]
        try:
            return self._parse(record)
        except ValueError as error:
            raise InvalidOpeningError(str(error)) from None

    def place(self, number: int) -> str:
        """Return the file, and the line or the number of a game, for messages."""
        count = number + 1
        if isinstance(self._records, TextIndex) and self._unit == "line":
            with _wrap_read_errors(self._name):
                count = self._records.line_number(number)
        return f"{self._name}, {self._unit} {count}"


def open_openings(
    settings: OpeningSettings,
    rules: ChessRules = STANDARD_RULES,
    *,
    start_only: bool = False,
) -> OpeningFile:
    """Open a file of chess openings, or the built-in set. Raise SettingsError on failure.

    If `start_only` is true, openings from other positions than the start position are invalid.
    """
    suffix = Path(settings.file or "").suffix.lower()
    check = partial(_checked, settings.plies, start_only)
    if suffix in repertoire.SUFFIXES:
        if rules != STANDARD_RULES:
            raise SettingsError(f"{settings.file}: repertoires are not supported in {rules}")
        return _from_yaml(settings, check)
    if suffix == ".pgn":
        parse = partial(_parse_pgn, rules, check)
        return _index(settings, _find_games, parse, "game")
    return _index(settings, find_lines, partial(_parse_epd, rules, check), "line")


def load_openings(
    settings: OpeningSettings, report: Callable[[str], None] = print_error
) -> list[Opening]:
    """Return all chess openings in a file or in the built-in set, in order, without duplicates.

    Invalid openings are skipped, and `report` is called with their number. Raise SettingsError if
    no opening is valid.
    """
    file = open_openings(settings)
    openings: dict[Opening, None] = {}
    problem, invalid = "", 0
    for number in with_progress(range(len(file)), len(file), "reading openings"):
        try:
            openings[file[number]] = None
        except InvalidOpeningError as error:
            problem = problem or f"{file.place(number)}: {error}"
            invalid += 1
    if not openings:
        raise SettingsError(problem)
    if invalid:
        report(f"{problem}; skipped {invalid} of {len(file)} openings")
    return list(openings)


def _index(
    settings: OpeningSettings, find: FindRecords, parse: Callable[[str], Opening], unit: str
) -> OpeningFile:
    path = Path(settings.file) if settings.file else _BUILT_IN
    name = settings.file or path.name
    with (
        _wrap_read_errors(name),
        interruption.interruptible(),
        progress_bar(f"reading {path.name}", path.stat().st_size) as show,
    ):
        return OpeningFile(name, TextIndex(path, find, show), parse, unit)


@contextmanager
def _wrap_read_errors(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SettingsError(f"openings {name}: {error.strerror}") from None


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
    if _are_random(settings):
        return settings
    openings = dataclasses.replace(settings.openings, digest=_digest(settings.openings.file))
    return dataclasses.replace(settings, openings=openings)


def _digest(file: str | None) -> str:
    """Return a digest of a file that does not depend on its line endings.

    Invalid UTF-8 is replaced: the digest must not change, see MAX_SHUFFLED.
    """
    digest = hashlib.sha256()
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder("utf-8")("replace"), translate=True
    )
    initial = decoder.getstate()
    with _wrap_read_errors(file or _BUILT_IN.name), open_file(file or _BUILT_IN) as content:
        require_size(content, MAX_FILE_SIZE)
        while block := content.read(DIGEST_BLOCK):
            if block.isascii() and b"\r" not in block and decoder.getstate() == initial:
                digest.update(block)  # what follows would not change it, but is slower
            else:
                digest.update(decoder.decode(block).encode())
        digest.update(decoder.decode(b"", final=True).encode())
    return digest.hexdigest()[:16]


def _evaluation_digest(engine: EngineSettings) -> str:
    for name, value in engine.options.items():
        if name.casefold() == "evaluation" and ":" in str(value):  # the value names a file
            return evaluation_digest(str(value), engine.directory or "")
    return ""


def _book_digest(book: str) -> str:
    _book_reader(book)
    try:
        return hashlib.sha256(Path(book).read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise SettingsError(f"book {book}: {error.strerror}") from None


def book_move(engine: EngineSettings, board: chess.Board, seed: str) -> str | None:
    """Return a move of the engine's book, chosen by weight, or None. `seed` makes it repeatable."""
    if engine.book is None:
        return None
    entries = list(_book_reader(engine.book).find_all(board))
    if not entries:
        return None
    weights = [entry.weight for entry in entries]
    return board.uci(random.Random(seed).choices([entry.move for entry in entries], weights)[0])


def _book_reader(book: str) -> chess.polyglot.MemoryMappedReader:
    path = Path(book)
    try:
        status = path.stat()
        return _open_book(path, status.st_size, status.st_mtime_ns)
    except BookError as error:
        raise SettingsError(str(error)) from None
    except OSError as error:
        raise SettingsError(f"could not open book {book}: {error.strerror}") from None


@lru_cache(maxsize=16)
def _open_book(path: Path, size: int, modified: int) -> chess.polyglot.MemoryMappedReader:
    """Open a book once per version: if it is not sorted, this takes a second."""
    return open_book(path)


def opening_number(count: int, settings: Settings, round_: int, pair: int) -> int:
    """Return which of `count` openings a pair gets. Pairs are counted from 1, openings from 0."""
    pair += settings.openings.start - 1
    if settings.openings.order is OpeningOrder.SEQUENTIAL:
        per_round = settings.games if settings.noswap else (settings.games + 1) // 2
        return ((round_ - 1) * per_round + pair - 1) % count
    cycle, index = divmod(pair - 1, count)
    seed = f"{settings.seed}/{round_}/{cycle}"
    return _shuffled(count, seed)[index] if count <= MAX_SHUFFLED else _permuted(index, count, seed)


@lru_cache(maxsize=64)
def _shuffled(count: int, seed: str) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def _permuted(index: int, count: int, seed: str) -> int:
    """Return an element of a random permutation of `range(count)`, in constant time and memory.

    A Feistel network permutes the numbers of 2 * `half` bits. Numbers from `count` on are replaced
    by what they are mapped to.
    """
    half = (count.bit_length() + 1) // 2
    while True:
        left, right = divmod(index, 1 << half)
        for round_ in range(4):
            digest = hashlib.blake2b(f"{seed}/{round_}/{right}".encode(), digest_size=8).digest()
            left, right = right, left ^ int.from_bytes(digest, "big") % (1 << half)
        index = (left << half) + right
        if index < count:
            return index


def _parse_moves(settings: GameSettings, plies: int | None, line: str) -> Opening:
    """Parse a sequence of moves. `#` starts a comment."""
    moves = line.partition("\n")[0].partition("#")[0].split()
    state = GameState(new_game(settings))
    with wrap_errors(settings):
        for move in moves[:plies]:
            state.play(move)
        if state.game.outcome() is not None:
            raise ValueError("the game is already over")
    return Opening("", tuple(moves[:plies]))


def _from_yaml(settings: OpeningSettings, check: Callable[..., Opening]) -> OpeningFile:
    file = settings.file or ""
    try:
        with interruption.interruptible(), progress_bar(f"reading {Path(file).name}", None):
            lines = start_positions.read([Path(file)])
    except BookError as error:
        raise SettingsError(str(error)) from None
    openings = [dataclasses.replace(line, moves=line.moves[: settings.plies]) for line in lines]

    def parse(opening: Opening) -> Opening:
        board = chess.Board(opening.fen)
        return check(board, map(chess.Move.from_uci, opening.moves), opening.name)

    return OpeningFile(file, list(dict.fromkeys(openings)), parse, "opening")


def _find_games(file: BinaryIO, progress: Callable[[int], None]) -> Offsets:
    start, offsets = file.tell(), []
    # Latin-1 has one character per byte, and all encodings have the same tags and brackets.
    for game in read_games(line.decode("latin-1") for line in iter_lines(file)):
        offsets.append(start + game.offset)
        progress(offsets[-1])
    return np.array(offsets, np.int64)


def _parse_pgn(rules: ChessRules, check: Callable[..., Opening], text: str) -> Opening:
    game = next(read_games(text_lines(text)), None)
    if game is None:
        raise ValueError("invalid game")
    parsed = game.parse(MAX_GAME_PLIES, (rules.variant,))
    board = parsed.board()
    if board.chess960 and not rules.chess960 and not type(board)(board.fen()).is_valid():
        raise ValueError("Chess960 castling rights are only allowed with the setting chess960")
    board.chess960 = rules.chess960 or board.chess960
    if parsed.is_end() and board.fen() == type(board).starting_fen:
        raise ValueError("no moves")
    title = " ".join(game.tags.get(tag, "") for tag in ("ECO", "Opening"))
    return check(board, parsed.mainline_moves(), unescape_tag_value(title))


def _parse_epd(rules: ChessRules, check: Callable[..., Opening], record: str) -> Opening:
    line = record.partition("\n")[0]
    board, operations = epd_line.parse(line, rules)
    return check(board, (), sanitize_line(operations.get("id", "")))


def _checked(
    plies: int | None, start_only: bool, board: chess.Board, moves: Iterable[chess.Move], name: str
) -> Opening:
    """Return the opening if it can be played. Raise ValueError otherwise."""
    if not is_playable(board):
        raise ValueError(f"illegal chess position ({position_faults(board)})")
    fen = board.fen()
    if start_only and fen != chess.STARTING_FEN:
        raise ValueError(f"GTP engines and lab agents only support the start position (got {fen})")
    played = []
    for move in islice(moves, plies):
        played.append(board.uci(move))
        board.push(move)
    if chess_result(board) is not None:
        raise ValueError("the game is already over")
    return Opening(fen, tuple(played), name)
