"""The record of a game, and its conversion to PGN."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import chess
import chess.pgn

from agent.io.sanitize import sanitize_line
from kempelen.match.game.game_result import Termination
from kempelen.match.pairing.pairs import PairKey

# PGN strings are limited to 255 characters. The difference is reserved for escapes.
TAG_LENGTH = 200


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """A move with the engine's search result.

    `move` is in UCI notation for chess. The score is `cp` or `mate`, from the point of view of the
    player who moved. `time` is measured by the runner, and `clock` is the time left after the move,
    both in seconds.
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

    @property
    def key(self) -> PairKey:
        return PairKey.from_text(self.pair)

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


def to_pgn(record: GameRecord, event: str) -> str:
    """Return a game in PGN, with the score, depth, time and nodes of each move in comments."""
    board = chess.Board(record.fen, chess960=record.chess960)
    game = chess.pgn.Game()
    game.setup(board)
    _set_headers(game.headers, record, event)
    node: chess.pgn.GameNode = game
    # Use one board: node.board() would replay the game for every move.
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
    started = record.started
    headers["Event"] = escape_tag_value(event)
    headers["Site"] = "?"
    headers["Date"] = started[:10].replace("-", ".") or "????.??.??"
    headers["Round"] = f"{record.pair}.{record.game}"
    headers["White"] = escape_tag_value(record.white)
    headers["Black"] = escape_tag_value(record.black)
    headers["Result"] = record.result
    if started:
        headers["UTCDate"] = started[:10].replace("-", ".")
        headers["UTCTime"] = started[11:19]
    if record.white_time == record.black_time:
        headers["TimeControl"] = record.white_time
    else:
        headers["WhiteTimeControl"] = record.white_time
        headers["BlackTimeControl"] = record.black_time
    headers["PlyCount"] = str(len(record.opening) + len(record.moves))
    headers["Termination"] = record.termination.tag
    headers["TerminationDetails"] = escape_tag_value(record.detail) or str(record.termination)


def escape_tag_value(text: str) -> str:
    return sanitize_line(text, TAG_LENGTH).replace("\\", r"\\").replace('"', r"\"")


def unescape_tag_value(value: str) -> str:
    """Reverse `escape_tag_value` for a tag value that python-chess has read."""
    return sanitize_line(re.sub(r"\\([\\\"])", r"\1", value))


def _comment(move: MoveRecord) -> str:
    parts = []
    if move.mate is not None:
        parts.append(f"{'-' if move.mate <= 0 else '+'}M{abs(move.mate)}/{move.depth or 0}")
    elif move.cp is not None:
        parts.append(f"{move.cp / 100:+.2f}/{move.depth or 0}")
    parts.append(f"{move.time:.3f}s")
    if move.nodes is not None:
        parts.append(f"n={move.nodes}")
    return " ".join(parts)


def player_names(records: Sequence[GameRecord]) -> list[str]:
    """Return the player names, in order of first appearance."""
    return list(dict.fromkeys(name for r in records for name in (r.white, r.black)))
