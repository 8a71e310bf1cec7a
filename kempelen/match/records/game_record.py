"""What is kept of a game, and its PGN."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import chess
import chess.pgn

from agent.io.sanitize import sanitize_line
from kempelen.match.game.game_result import Termination
from kempelen.match.pairing.pairs import PairKey

# PGN gives a string 255 characters at most; some are for what must be escaped.
TAG_LENGTH = 200


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """One move of a player (UCI text), with what its engine said of it.

    cp or mate: its score from the mover's side. time: seconds by the runner's clock; clock:
    seconds left after the move, where there is one.
    """

    move: str
    cp: int | None = None
    mate: int | None = None
    depth: int | None = None
    nodes: int | None = None
    time: float = 0.0
    clock: float | None = None


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A finished game. opening: moves before the players took over; fen: the position before.

    started: UTC in ISO form; duration: seconds.
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

    @property
    def key(self) -> PairKey:
        """The pair that the game belongs to."""
        return PairKey.from_text(self.pair)

    @property
    def white_score(self) -> float | None:
        """White's score: 1, 0.5 or 0, or None without a result."""
        return {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}.get(self.result)

    @property
    def first_score(self) -> float | None:
        """The score of the pair's first player, who has White in game 1."""
        score = self.white_score
        return score if score is None or self.game == 1 else 1 - score

    @property
    def digest(self) -> str:
        """Equal for games with the same moves from the same position."""
        moves = (*self.opening, *(record.move for record in self.moves))
        text = " ".join((self.fen, *moves))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def to_pgn(record: GameRecord, event: str) -> str:
    """Return a game as PGN, with its moves' evaluation, depth, time and nodes as comments."""
    board = chess.Board(record.fen, chess960=record.chess960)
    game = chess.pgn.Game()
    game.setup(board)
    _set_headers(game.headers, record, event)
    node: chess.pgn.GameNode = game
    # One board for all: a node's own is made from the whole game up to it.
    for text in record.opening:
        node = node.add_variation(board.push_uci(text))
    for move in record.moves:
        node = node.add_variation(board.push_uci(move.move))
        node.comment = _comment(move)
    reason = sanitize_line(record.detail) or str(record.termination)
    node.comment = f"{node.comment}; {reason}" if node.comment else reason
    exporter = chess.pgn.StringExporter(columns=100)
    return game.accept(exporter) + "\n\n"


def _set_headers(headers: chess.pgn.Headers, record: GameRecord, event: str) -> None:
    moment = record.started
    headers["Event"] = escape_tag_value(event)
    headers["Site"] = "?"
    headers["Date"] = moment[:10].replace("-", ".") or "????.??.??"
    headers["Round"] = f"{record.pair}.{record.game}"
    headers["White"] = escape_tag_value(record.white)
    headers["Black"] = escape_tag_value(record.black)
    headers["Result"] = record.result
    if moment:
        headers["UTCDate"] = moment[:10].replace("-", ".")
        headers["UTCTime"] = moment[11:19]
    if record.white_time == record.black_time:
        headers["TimeControl"] = record.white_time
    else:
        headers["WhiteTimeControl"] = record.white_time
        headers["BlackTimeControl"] = record.black_time
    headers["PlyCount"] = str(len(record.opening) + len(record.moves))
    headers["Termination"] = record.termination.tag
    headers["TerminationDetails"] = escape_tag_value(record.detail) or str(record.termination)


def escape_tag_value(text: str) -> str:
    """Return text as a tag's value may hold it."""
    return sanitize_line(text, TAG_LENGTH).replace("\\", r"\\").replace('"', r"\"")


def unescape_tag_value(value: str) -> str:
    """Return the text of a tag's value as the `chess` package reads it from a file."""
    return sanitize_line(re.sub(r"\\([\\\"])", r"\1", value))


def _comment(move: MoveRecord) -> str:
    words = []
    if move.mate is not None:
        words.append(f"{'-' if move.mate <= 0 else '+'}M{abs(move.mate)}/{move.depth or 0}")
    elif move.cp is not None:
        words.append(f"{move.cp / 100:+.2f}/{move.depth or 0}")
    words.append(f"{move.time:.3f}s")
    if move.nodes is not None:
        words.append(f"n={move.nodes}")
    return " ".join(words)


def format_points(points: float) -> str:
    """Return points as people write them: 3, 3.5."""
    return f"{points:g}"


def player_names(records: Sequence[GameRecord]) -> list[str]:
    """Return the players' names in order of appearance."""
    return list(dict.fromkeys(name for r in records for name in (r.white, r.black)))
