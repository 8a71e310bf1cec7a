from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from kempelen.console.settings_codec import encode
from kempelen.match.live.events import (
    MAX_PV_PLIES,
    Event,
    GameFinished,
    GameStarted,
    MovePlayed,
    Notice,
    SearchInfo,
    StandingsChanged,
    Status,
    TournamentFinished,
    TournamentStarted,
)
from kempelen.match.live.progress_curve import append_point, curve_point
from kempelen.match.rating.standings import Summary

MAX_NOTICES = 5
SEARCH_FIELDS = ("ply", "depth", "cp", "mate", "nodes")


class LiveState:
    """The state of a running tournament as JSON-like snapshots, which events update.

    The snapshots are named "status", "standings", "curve", "boards/1", "boards/2" and so on.
    """

    def __init__(self, curve: Sequence[dict[str, Any]] = ()) -> None:
        """Start with the Elo curve of earlier runs and no other snapshot."""
        self.snapshots: dict[str, dict[str, Any]] = {}
        if curve:
            self.snapshots["curve"] = {"points": list(curve)}

    @property
    def status(self) -> dict[str, Any]:
        """The tournament's name, players and progress, or {} before the first event."""
        return self.snapshots.get("status", {})

    @property
    def standings(self) -> dict[str, Any]:
        """The most recent standings, or {} before the first result."""
        return self.snapshots.get("standings", {})

    @property
    def boards(self) -> list[dict[str, Any]]:
        boards = {
            int(name.removeprefix("boards/")): snapshot
            for name, snapshot in list(self.snapshots.items())
            if name.startswith("boards/")
        }
        return [boards[number] for number in sorted(boards)]

    def apply(self, event: Event) -> tuple[str, ...]:
        """Apply an event and return the names of the snapshots that changed."""
        match event:
            case TournamentStarted():
                now = datetime.now(UTC).isoformat(timespec="seconds")
                extra = {"state": str(Status.RUNNING), "reason": "", "since": now, "notices": []}
                self.snapshots["status"] = {**encode(event), **extra}
                return ("status",)
            case GameStarted(board=board):
                self.snapshots[f"boards/{board}"] = {
                    **encode(event),
                    "last": "",
                    "result": "",
                    "termination": "",
                    "white_said": None,
                    "black_said": None,
                    "scores": [None] * len(event.moves),
                }
                return (f"boards/{board}",)
            case MovePlayed():
                return self._move(event)
            case SearchInfo(board=board, side=side):
                self._board(board)[f"{side}_said"] = _search_info(event)
                return ()
            case GameFinished(board=board, record=record):
                end = {"result": record.result, "termination": str(record.termination)}
                self._board(board).update(end, detail=record.detail)
                self.status["played"] = self.status.get("played", 0) + 1
                return (f"boards/{board}", "status")
            case StandingsChanged(summary):
                return self._rank(summary)
            case TournamentFinished(status, summary, reason):
                ranked = self._rank(summary)
                played = {"played": summary.played, "asked": summary.asked}
                self.status.update(played, state=str(status), reason=reason)
                return (*ranked, "status")
            case Notice(text):
                self.status["notices"] = [*self.status.get("notices", []), text][-MAX_NOTICES:]
                return ("status",)

    def _board(self, board: int) -> dict[str, Any]:
        return self.snapshots.setdefault(f"boards/{board}", {})

    def _rank(self, summary: Summary) -> tuple[str, ...]:
        standings = self.snapshots["standings"] = encode(summary)
        if not summary.played:
            return ("standings",)
        points = self.snapshots.get("curve", {}).get("points", [])
        self.snapshots["curve"] = {"points": append_point(points, curve_point(standings))}
        return ("standings", "curve")

    def _move(self, event: MovePlayed) -> tuple[str, ...]:
        snapshot = self._board(event.board)
        snapshot["moves"] = [*snapshot.get("moves", ()), event.move]
        snapshot["position"] = event.position
        snapshot["turn"] = event.turn
        snapshot["last"] = event.san
        snapshot["white_clock"] = event.white_clock
        snapshot["black_clock"] = event.black_clock
        found = [event.cp, event.mate]
        if event.side == "black":
            found = [None if value is None else -value for value in found]
        known = found != [None, None]
        snapshot["scores"] = [*snapshot.get("scores", ()), found if known else None]
        snapshot[f"{event.side}_said"] = _search_info(event)
        return (f"boards/{event.board}",)


def _search_info(event: MovePlayed | SearchInfo) -> dict[str, Any]:
    info = {name: getattr(event, name) for name in SEARCH_FIELDS}
    return {**info, "pv": list(event.pv[:MAX_PV_PLIES])}
