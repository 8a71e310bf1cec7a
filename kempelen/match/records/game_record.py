"""The record of a game, and its conversion to PGN."""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

import chess
import chess.pgn

from agent.games.fen import board_from_fen
from agent.games.variants import STANDARD, STANDARD_RULES, ChessRules
from agent.io.sanitize import sanitize_line
from kempelen.console.settings_codec import encode
from kempelen.match.game.game_result import Termination
from kempelen.match.pairing.pairs import PairKey
from openings import names
from openings.book_provider import SHIPPED_BOOK
from openings.names import OpeningName, OpeningNames

# PGN strings are limited to 255 characters. The difference is reserved for escapes.
TAG_LENGTH = 200
# Later positions are not looked up in the table of openings, because this costs time.
MAX_NAMED_PLIES = 30


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """A move with the engine's search result.

    `move` is in UCI notation for chess. The score is `cp` or `mate`, from the point of view of the
    player who moved. `time` is measured by the runner, and `clock` is the time left after the move,
    both in seconds. `reported_time` is the time of the search by the engine's own clock. `pv` is
    stored only on request, because it doubles the size of a record. `book` marks a move of the
    player's book, and `pondered` one whose search began before the opponent's move.
    """

    move: str
    cp: int | None = None
    mate: int | None = None
    depth: int | None = None
    nodes: int | None = None
    time: float = 0.0
    clock: float | None = None
    seldepth: int | None = None
    hashfull: int | None = None
    tbhits: int | None = None
    reported_time: float | None = None
    pv: tuple[str, ...] = ()
    book: bool = False
    pondered: bool = False

    @property
    def nps(self) -> int | None:
        """The nodes per second by the engine's clock, or by ours if it reports no time."""
        if self.nodes is None:
            return None
        return round(self.nodes / max(self.reported_time or self.time, 0.001))

    @property
    def latency(self) -> float | None:
        """The time of the move that the engine does not report, for example of the transport.

        It is unknown after pondering, of which the reported time includes a part.
        """
        if self.reported_time is None or self.pondered:
            return None
        return self.time - self.reported_time


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A finished game that began at the position `fen` with the moves `opening`.

    `started` is the start time in UTC and ISO format. `duration` is in seconds.
    """

    pair: str
    game: int
    white: str
    black: str
    fen: str
    opening: tuple[str, ...]
    moves: tuple[MoveRecord, ...]
    result: str
    termination: Termination
    detail: str = ""
    started: str = ""
    duration: float = 0.0
    chess960: bool = False
    white_time: str = ""
    black_time: str = ""
    variant: str = STANDARD

    @property
    def key(self) -> PairKey:
        return PairKey.from_text(self.pair)

    @property
    def rules(self) -> ChessRules:
        return ChessRules(self.variant, self.chess960)

    @property
    def white_score(self) -> float | None:
        """The score of White: 1, 0.5 or 0, or None if the game has no result."""
        return {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}.get(self.result)

    @property
    def first_score(self) -> float | None:
        """The score of the pair's first player (White in game 1), or None without a result."""
        score = self.white_score
        return score if score is None or self.game == 1 else 1 - score

    @property
    def digest(self) -> str:
        """A hash of the start position and the moves."""
        moves = (*self.opening, *(record.move for record in self.moves))
        text = " ".join((self.fen, *moves))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def encode_record(record: GameRecord) -> dict[str, Any]:
    """Return a record as plain data, without default values of moves, which saves a third."""
    defaults = {field.name: field.default for field in dataclasses.fields(MoveRecord)}
    moves = [
        {
            name: encode(value)
            for name, default in defaults.items()
            if (value := getattr(move, name)) != default
        }
        for move in record.moves
    ]
    return {**encode(dataclasses.replace(record, moves=())), "moves": moves}


class Notation(StrEnum):
    """The notation of moves, with the names of fastchess."""

    SAN = "san"
    LAN = "lan"
    UCI = "uci"

    def write(self, board: chess.Board, move: chess.Move) -> str:
        if self is Notation.UCI:
            return board.uci(move)
        return board.san(move) if self is Notation.SAN else board.lan(move)


def _number_formatter(name: str) -> Callable[[MoveRecord, str], str | None]:
    def text(move: MoveRecord, pv: str) -> str | None:
        value = getattr(move, name)
        return None if value is None else str(value)

    return text


def _seconds_formatter(name: str) -> Callable[[MoveRecord, str], str | None]:
    def text(move: MoveRecord, pv: str) -> str | None:
        value = getattr(move, name)
        return None if value is None else f"{value:z.3f}s"

    return text


# Fields of comments in PGN, with the names and keys of fastchess.
PGN_FIELDS: dict[str, tuple[str, Callable[[MoveRecord, str], str | None]]] = {
    "nodes": ("n", _number_formatter("nodes")),
    "seldepth": ("sd", _number_formatter("seldepth")),
    "nps": ("nps", _number_formatter("nps")),
    "hashfull": ("hashfull", _number_formatter("hashfull")),
    "tbhits": ("tbhits", _number_formatter("tbhits")),
    "timeleft": ("tl", _seconds_formatter("clock")),
    "latency": ("latency", _seconds_formatter("latency")),
    "pv": ("pv", lambda move, pv: f'"{pv}"' if pv else None),
}


@dataclass(frozen=True, slots=True)
class PgnFormat:
    """The form of games in PGN. `fields` are names of PGN_FIELDS.

    With `clocks`, the comment of a move is the time left, as [%clk], and no search result.
    """

    fields: tuple[str, ...] = ("nodes",)
    notation: Notation = Notation.SAN
    site: str = "?"
    clocks: bool = False


PLAIN_PGN = PgnFormat()


class _Exporter(chess.pgn.StringExporter):
    def __init__(self, notation: Notation) -> None:
        super().__init__(columns=100)
        self._notation = notation

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        if board.turn or self.force_movenumber:
            self.write_token(f"{board.fullmove_number}{'.' if board.turn else '...'} ")
        self.write_token(f"{self._notation.write(board, move)} ")
        self.force_movenumber = False


def to_pgn(record: GameRecord, event: str, form: PgnFormat = PLAIN_PGN) -> str:
    """Return a game in PGN, with the score, depth, time and `form.fields` of each move."""
    board = board_from_fen(record.fen, record.rules)
    game = chess.pgn.Game()
    game.setup(board)
    _set_headers(game.headers, record, event, form.site)
    node: chess.pgn.GameNode = game
    # Use one board: node.board() would replay the game for every move.
    for text in record.opening:
        node = node.add_variation(board.push_uci(text))
    for move in record.moves:
        pv = _pv_text(board, move.pv, form.notation) if "pv" in form.fields else ""
        child = node.add_variation(board.push_uci(move.move))
        if not form.clocks:
            child.comment = _comment(move, form.fields, pv)
        elif move.clock is not None:
            child.set_clock(round(move.clock, 1))
        node = child
    reason = sanitize_line(record.detail) or str(record.termination)
    separator = " " if form.clocks else "; "
    node.comment = f"{node.comment}{separator}{reason}" if node.comment else reason
    return game.accept(_Exporter(form.notation)) + "\n\n"


def to_epd(record: GameRecord) -> str:
    """Return the final position of a game as a line of EPD, with both move counters."""
    board = board_from_fen(record.fen, record.rules)
    for text in (*record.opening, *(move.move for move in record.moves)):
        board.push_uci(text)
    return board.epd(hmvc=board.halfmove_clock, fmvn=board.fullmove_number) + "\n"


def _pv_text(board: chess.Board, pv: Sequence[str], notation: Notation) -> str:
    """Return the legal beginning of a principal variation."""
    board, words = board.copy(stack=False), []
    for text in pv:
        try:
            move = board.parse_uci(text)
        except ValueError:
            break
        words.append(notation.write(board, move))
        board.push(move)
    return " ".join(words)


def _set_headers(headers: chess.pgn.Headers, record: GameRecord, event: str, site: str) -> None:
    started = record.started
    headers["Event"] = escape_tag_value(event)
    headers["Site"] = escape_tag_value(site)
    headers["Date"] = started[:10].replace("-", ".") or "????.??.??"
    headers["Round"] = f"{record.pair}.{record.game}"
    headers["White"] = escape_tag_value(record.white)
    headers["Black"] = escape_tag_value(record.black)
    headers["Result"] = record.result
    if started:
        headers["UTCDate"] = started[:10].replace("-", ".")
        headers["UTCTime"] = started[11:19]
    _set_time_controls(headers, record)
    if (name := _opening_name(record)) is not None:
        headers["ECO"] = name.eco or "?"
        headers["Opening"] = escape_tag_value(name.title)
    headers["PlyCount"] = str(len(record.opening) + len(record.moves))
    headers["Termination"] = record.termination.tag
    headers["TerminationDetails"] = escape_tag_value(record.detail) or str(record.termination)


@lru_cache(maxsize=1)
def opening_names() -> OpeningNames:
    """Return the names of openings that ship with Kempelen."""
    return names.read(SHIPPED_BOOK.with_suffix(names.SUFFIX))


def _opening_name(record: GameRecord) -> OpeningName | None:
    """Return the name of the last named position of a game that began normally."""
    if record.rules != STANDARD_RULES:
        return None
    board = chess.Board(record.fen)
    for text in (*record.opening, *(move.move for move in record.moves))[:MAX_NAMED_PLIES]:
        board.push_uci(text)
    return names.find_name(opening_names(), board)


def _set_time_controls(headers: chess.pgn.Headers, record: GameRecord) -> None:
    """Set the tags of the time controls. SearchLimits has what TimeControl cannot express."""
    limits = record.white_time, record.black_time
    clocks = _pgn_clock(limits[0]), _pgn_clock(limits[1])
    tags = {"TimeControl": clocks}
    if {*limits} - {"", "inf"} and limits != clocks:
        tags["SearchLimits"] = limits
    for tag, (white, black) in tags.items():
        if white == black:
            headers[tag] = white
        else:
            headers[f"White{tag}"], headers[f"Black{tag}"] = white, black


def _pgn_clock(time_control: str) -> str:
    """Return the part of a time control that PGN has a notation for, "-" or "?" if unknown."""
    for part in time_control.split(", "):
        if part.endswith("/move"):
            return f"1/{part.removesuffix('/move')}"
        if re.fullmatch(r"\*?(\d+/)?[\d.]+(\+[\d.]+)?", part):
            return part
    return "-" if time_control else "?"


def escape_tag_value(text: str) -> str:
    return sanitize_line(text, TAG_LENGTH).replace("\\", r"\\").replace('"', r"\"")


def unescape_tag_value(value: str) -> str:
    """Reverse `escape_tag_value` for a tag value that python-chess has read."""
    return sanitize_line(re.sub(r"\\([\\\"])", r"\1", value))


def _comment(move: MoveRecord, fields: Sequence[str], pv: str) -> str:
    if move.book:
        return "book"
    parts = []
    if move.mate is not None:
        parts.append(f"{'-' if move.mate <= 0 else '+'}M{abs(move.mate)}/{move.depth or 0}")
    elif move.cp is not None:
        parts.append(f"{move.cp / 100:+.2f}/{move.depth or 0}")
    parts.append(f"{move.time:.3f}s")
    for field in fields:
        key, text = PGN_FIELDS[field]
        if (value := text(move, pv)) is not None:
            parts.append(f"{key}={value}")
    return " ".join(parts)


def player_names(records: Sequence[GameRecord]) -> list[str]:
    """Return the player names, in order of first appearance."""
    return list(dict.fromkeys(name for r in records for name in (r.white, r.black)))
