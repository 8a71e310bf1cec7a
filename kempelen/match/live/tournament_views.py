"""Read-only views of the live state and the finished games of tournaments.

If a ledger has no active run, the state is computed from its games.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path
from typing import Any, Protocol

from agent.io import strict_json
from agent.io.message import Message
from kempelen.console.settings_codec import decode, encode
from kempelen.match.live.events import (
    StandingsChanged,
    Status,
    TournamentFinished,
    TournamentStarted,
)
from kempelen.match.live.live_file import live_file_path, read_live_file
from kempelen.match.live.live_state import LiveState
from kempelen.match.live.progress_curve import build_curve
from kempelen.match.rating.standings import (
    Decision,
    Outcome,
    outcome_from_record,
    pentanomial,
    sprt_state,
    summarise,
)
from kempelen.match.records.game_record import GameRecord
from kempelen.match.records.ledger import DECODE_ERRORS, LedgerError, saved_settings

# Seconds after which an unchanged live file is read again, to detect a lost run.
STALE_AFTER = 10.0


class TournamentView(Protocol):
    """The data of one tournament for display.

    `games` contains the finished games as plain data, by `game_key`. `runner` is "lost" if the run
    stopped unexpectedly. `problem` is the reason why the view is incomplete, or "". If `trusted` is
    false, the data come from the network, and game code that they name must not be loaded.
    """

    state: LiveState
    games: dict[str, dict[str, Any]]
    runner: str
    problem: str
    trusted: bool

    def poll(self) -> None:
        """Read new data, possibly from files."""

    def close(self) -> None:
        """Release all resources."""


class LedgerView:
    """A view of a tournament in a ledger (SQLite), and of its live state while it is running."""

    def __init__(self, path: str, name: str | None = None) -> None:
        """Open the tournament `name`. If it is None, the ledger must contain only one.

        Raise LedgerError if the ledger is unreadable.
        """
        self._path = path
        self._settings = saved_settings(path, name)
        self.state = LiveState()
        self.games: dict[str, dict[str, Any]] = {}
        self.runner = ""
        self.problem = ""
        self.trusted = True
        self._damage = ""
        self._outcomes: list[Outcome] = []
        self._row = 0
        self._stamp: object = None
        self._new = True
        self._seen_live = False

    def poll(self) -> None:
        before = len(self._outcomes)
        try:
            records = self._read()
            self.problem = self._damage
        except sqlite3.Error as error:
            self.problem = Message("ledger {}: {}", self._path, error)
            return
        for record in records:
            self.games[game_key(record.pair, record.game)] = encode(record)
            self._outcomes.append(outcome_from_record(record))
        if self._new:
            self._begin()
        running = self._read_live_file()
        has_new_games = len(self._outcomes) > before
        if not running and (has_new_games or self._new or self._seen_live):
            self._seen_live = False
            self._on_run_ended()
        self._new = False

    def close(self) -> None: ...

    def _read(self) -> list[GameRecord]:
        records = []
        uri = f"{Path(self._path).absolute().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=0.5)) as database:
            rows = database.execute(
                "SELECT rowid, pair, game, record FROM game WHERE tournament = ? AND rowid > ? "
                "ORDER BY rowid",
                (self._settings.name, self._row),
            )
            for row, pair, game, text in rows:
                self._row = row
                try:
                    record = decode(GameRecord, strict_json.loads(text))
                    if str(record.key) != pair:
                        raise ValueError(f"wrong pair {record.pair}")
                    records.append(record)
                except DECODE_ERRORS as error:
                    self._damage = f"the record of game {pair}.{game} is damaged: {error}"
        return records

    def _begin(self) -> None:
        settings = self._settings
        summary = summarise(settings, self._outcomes)
        self.state = LiveState(build_curve(settings, self._outcomes))
        self.state.apply(
            TournamentStarted(
                name=settings.name,
                format=str(settings.format),
                players=summary.players,
                time=settings.time_description,
                boards=0,
                asked=summary.asked,
                played=summary.played,
                game=settings.game,
            )
        )
        self.state.apply(StandingsChanged(summary))

    def _read_live_file(self) -> bool:
        """Read the live state if it has changed. Return whether a run is active."""
        path = live_file_path(self._path)
        try:
            status = path.stat()
        except OSError:
            self.runner = ""
            return False
        stamp = status.st_mtime_ns, status.st_ino
        if stamp == self._stamp and time.time() - status.st_mtime < STALE_AFTER:
            return not self.runner
        self._stamp = stamp
        snapshots = read_live_file(path)
        if snapshots is None or snapshots.get("status", {}).get("name") != self._settings.name:
            self.runner = "lost" if self._seen_live or snapshots is None else ""
            return False
        self.runner = ""
        self._seen_live = True
        self.state.snapshots.update(snapshots)
        return True

    def _on_run_ended(self) -> None:
        """Compute the final state from the games and the current settings in the ledger."""
        with contextlib.suppress(LedgerError):
            self._settings = saved_settings(self._path, self._settings.name)
        summary = summarise(self._settings, self._outcomes)
        status = Status.INTERRUPTED
        if summary.played >= summary.asked:
            status = Status.COMPLETE
        elif self._settings.sprt is not None:
            test = sprt_state(self._settings.sprt, pentanomial(self._outcomes))
            if test.decision is not Decision.OPEN:
                status = Status.DECIDED
        self.state.apply(TournamentFinished(status, summary))


def game_key(pair: str, game: int) -> str:
    """Return the key of a finished game for `TournamentView.games`."""
    return f"{pair}.{game}"
