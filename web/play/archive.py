"""Games as they are kept: a row each, from the first move on; and as files that others read."""

from __future__ import annotations

import dataclasses
import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from protocols.gtp.go_board import GoBoard
from tournament.game_settings import GameSettings
from tournament.record_formats import to_text
from tournament.records import GameRecord, MoveRecord, to_pgn
from tournament.verdicts import Termination, Verdict
from web.play.boards import GoTable, PlayBoard
from web.play.setup import CHESS, Setup
from web.store import Store

EVENT = "Kempelen's page"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS played (
    id TEXT PRIMARY KEY, owner TEXT, setup TEXT, moves TEXT, clocks TEXT, result TEXT,
    termination TEXT, detail TEXT, began REAL, changed REAL
) STRICT
"""
_COLUMNS = "id, owner, setup, moves, clocks, result, termination, detail, began, changed"
MOST_LISTED = 500


@dataclass(slots=True)
class KeptGame:
    """One game as it is kept. clocks: seconds left of player 0 and 1, if clocks run."""

    id: str
    owner: str
    setup: Setup
    moves: list[str] = field(default_factory=list)
    clocks: list[float] | None = None
    verdict: Verdict | None = None
    began: float = field(default_factory=time.time)
    changed: float = field(default_factory=time.time)


class Archive:
    """The games of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.change(_SCHEMA)
        store.change("CREATE INDEX IF NOT EXISTS played_by ON played (owner, changed)")

    def keep(self, game: KeptGame) -> None:
        """Write a game as it stands."""
        game.changed = time.time()
        verdict = game.verdict
        self._store.change(
            f"INSERT OR REPLACE INTO played ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            game.id,
            game.owner,
            json.dumps(dataclasses.asdict(game.setup)),
            json.dumps(game.moves),
            json.dumps(game.clocks),
            verdict.result if verdict else "",
            verdict.termination.value if verdict else "",
            verdict.detail if verdict else "",
            game.began,
            game.changed,
        )

    def find(self, game: str) -> KeptGame | None:
        """Return a game, None if there is none of that name."""
        rows = self._store.rows(f"SELECT {_COLUMNS} FROM played WHERE id = ?", game)
        return _read(rows[0]) if rows else None

    def count(self, owner: str) -> int:
        """Return how many games of a visitor are kept."""
        return int(self._store.rows("SELECT count(*) FROM played WHERE owner = ?", owner)[0][0])

    def of(self, owner: str) -> list[KeptGame]:
        """Return a visitor's games, the latest first."""
        rows = self._store.rows(
            f"SELECT {_COLUMNS} FROM played WHERE owner = ? ORDER BY changed DESC LIMIT ?",
            owner,
            MOST_LISTED,
        )
        return [_read(row) for row in rows]


def _read(row: tuple[object, ...]) -> KeptGame:
    name, owner, setup, moves, clocks, result, termination, detail, began, changed = row
    verdict = None
    if result:
        verdict = Verdict(str(result), Termination(str(termination)), str(detail))
    return KeptGame(
        str(name),
        str(owner),
        Setup(**json.loads(str(setup))),
        json.loads(str(moves)),
        json.loads(str(clocks)),
        verdict,
        float(str(began)),
        float(str(changed)),
    )


def names_of(game: KeptGame, board: PlayBoard) -> tuple[str, str]:
    """Return what White and Black are called."""
    visitor = "Visitor" if game.owner == "-" else game.owner
    white = game.setup.side == board.white
    opponent = game.setup.opponent_name
    return (visitor, opponent) if white else (opponent, visitor)


def as_file(game: KeptGame, board: PlayBoard) -> tuple[str, str, str]:
    """Return a game as a file: how its name ends, its kind, and its text."""
    verdict = game.verdict or Verdict("*", Termination.RULES, "the game goes on")
    white, black = names_of(game, board)
    base = game.setup.base
    time_control = "-" if base is None else f"{base:g}+{game.setup.increment:g}"
    record = GameRecord(
        pair="1",
        game=1,
        white=white,
        black=black,
        fen=game.setup.fen or _START,
        opening=(),
        moves=tuple(MoveRecord(move) for move in game.moves),
        result=verdict.result,
        termination=verdict.termination,
        detail=verdict.detail,
        started=datetime.fromtimestamp(game.began, UTC).isoformat(timespec="seconds"),
        chess960=game.setup.chess960,
        white_time=time_control,
        black_time=time_control,
    )
    if game.setup.game == CHESS:
        return "pgn", "application/vnd.chess-pgn", to_pgn(record, EVENT)
    if isinstance(board, GoTable):
        return "sgf", "application/x-go-sgf", _to_sgf(board.board, record)
    settings = GameSettings(game.setup.game, dict(game.setup.options))
    return "txt", "text/plain", to_text(record, settings, EVENT)


def _to_sgf(board: GoBoard, record: GameRecord) -> str:
    """Return a game of Go as SGF, with who played, when, and the result."""
    result = {"1-0": "W+", "0-1": "B+", "1/2-1/2": "0"}.get(record.result, "?")
    if result.endswith("+"):
        reason = {Termination.RESIGNATION: "R", Termination.TIME: "T"}.get(record.termination)
        result += reason or record.detail.partition("+")[2]
    fields = {"PB": record.black, "PW": record.white, "DT": record.started[:10], "RE": result}
    return board.sgf(fields) + "\n"


_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
