"""The page for watching tournaments, with boards, standings, charts and finished games."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from agent.games import catalogue
from agent.games.fen import board_from_fen
from agent.games.variants import STANDARD, ChessRules, board_class, parse_variant
from agent.io.message import Message, library_message
from agent.io.sanitize import sanitize_line
from kempelen.console.settings_codec import SettingsError, decode, encode
from kempelen.match.config.game_settings import CHESS, GO, GameSettings
from kempelen.match.live.tournament_views import TournamentView
from kempelen.match.records.game_record import GameRecord, to_pgn
from kempelen.match.records.record_formats import to_sgf, to_text
from kempelen.web.channel import Channel, ChannelGroup, ignore_message
from kempelen.web.diagrams import (
    SIDES,
    changed_cells,
    chess_diagrams,
    diagram,
    game_diagrams,
    move_squares,
)
from kempelen.web.game_files import PGN_FORM, UNFINISHED, file_response
from kempelen.web.pages import Page
from kempelen.web.responses import AsciiJsonResponse
from kempelen.web.site_context import SiteContext
from kempelen.web.watch.live_game import LiveGame

Answer = TypeVar("Answer")

# Polling interval in seconds.
POLL_INTERVAL_S = 0.1
# Maximum number of finished games per request.
MAX_LISTED = 100
# Maximum value of a game option, such as a size, that is accepted from a broker.
MAX_OPTION = 30
# Maximum number of moves from a broker that are replayed per poll, as other pages wait meanwhile.
MAX_REPLAYED = 500
# Errors of invalid moves, and of games of users.
REPLAY_ERRORS = (ValueError, LookupError, TypeError)


@dataclass(slots=True)
class _LastGridPosition:
    """The last position on a grid board. `game` is a pair number and a game number."""

    game: tuple[Any, Any]
    moves: int
    rows: Sequence[str]
    last: list[list[int]] = field(default_factory=list)


class WatchedTournament:
    """A tournament and the channels of its viewers."""

    def __init__(self, spectator: TournamentView) -> None:
        self.spectator = spectator
        self.subscribers = ChannelGroup()
        self.failure = ""  # the error of the last poll, or ""
        self._sent: dict[str, Any] = {}
        self._grids: dict[str, _LastGridPosition] = {}  # by board name
        self._live_games: dict[str, tuple[list[Any], LiveGame]] = {}  # by board name
        self._to_replay = 0  # the moves that may still be replayed in this poll

    @property
    def name(self) -> str:
        return str(self.spectator.state.status.get("name", ""))

    @property
    def game(self) -> GameSettings:
        try:
            return decode(GameSettings, self.spectator.state.status.get("game") or {})
        except SettingsError:
            return GameSettings()

    def state(self) -> dict[str, Any]:
        """Send pending changes to all viewers. Return the state without the finished games."""
        self.send_changes()
        return {"kind": "all", "state": self._sent}

    def send_changes(self) -> None:
        if changes := self.changes():
            self.subscribers.broadcast({"kind": "change", "state": changes})

    def changes(self) -> dict[str, Any]:
        """Return the parts of the state that have changed since the last call."""
        parts = self._current_state()
        new = {key: part for key, part in parts.items() if self._sent.get(key) != part}
        curve = new.get("curve")
        old = self._sent.get("curve", {}).get("points", [])
        if curve and old and curve["points"][: len(old)] == old:
            new["curve"] = {"more": curve["points"][len(old) :]}
        self._sent = parts
        return new

    def has(self, key: str) -> bool:
        """Return whether `key` is that of a finished game, or the name of a board's snapshot."""
        is_board = key.startswith("boards/") and key in self.spectator.state.snapshots
        return is_board or key in self.spectator.games

    def games(self, before: int) -> list[dict[str, Any]]:
        """Return at most MAX_LISTED finished games with numbers below `before`, newest first."""
        records = list(self.spectator.games.items())[:before]
        return [
            {"number": number, "key": key, **_summary(record)}
            for number, (key, record) in reversed([*enumerate(records)][-MAX_LISTED:])
        ]

    def replay(self, key: str) -> dict[str, Any]:
        """Return a finished game with all its positions.

        Raise ValueError if a move is illegal or replaying the game is not allowed.
        """
        record = self.spectator.games[key]
        played = [str(move["move"]) for move in record["moves"]]
        moves = [*record["opening"], *played]
        if self.game.name == CHESS:
            rules = ChessRules(_variant(record), bool(record.get("chess960")))
            board = board_from_fen(record["fen"], rules)
            positions = chess_diagrams(board, moves)
        else:
            self._check_game()
            positions = game_diagrams(self.game, moves)
        return {
            "key": key,
            "game": self.game.name,
            **_summary(record),
            "book": len(record["opening"]),
            "positions": positions,
            "said": [
                _from_white(move, str(position["side"]))
                | {name: move.get(name) for name in ("depth", "time", "clock")}
                for move, position in zip(
                    record["moves"], positions[len(record["opening"]) + 1 :], strict=True
                )
            ],
        }

    def export(self, key: str) -> tuple[str, str]:
        """Return the suffix and the text of the file of a finished game. Raise ValueError as above.

        Raise SettingsError if the record is damaged.
        """
        return self._write(decode(GameRecord, self.spectator.games[key]))

    def export_board(self, board: str) -> tuple[str, str]:
        """Return the file of the game on a board, with the moves so far. Raise errors as above."""
        part = self.spectator.state.snapshots[board]
        names = ("pair", "game", "white", "black", "variant", "chess960")
        known = {name: part[name] for name in names if name in part}
        known["fen"] = part.get("fen") or board_class(_variant(part)).starting_fen
        result = part if part.get("result") else encode(UNFINISHED)
        known |= {name: result.get(name, "") for name in ("result", "termination", "detail")}
        return self._write(decode(GameRecord, known | {"opening": part.get("moves"), "moves": ()}))

    def _write(self, record: GameRecord) -> tuple[str, str]:
        self._check_game()
        if self.game.name == CHESS:
            return "pgn", to_pgn(record, self.name, PGN_FORM)
        if self.game.name == GO:
            return "sgf", to_sgf(record, self.game, self.name)
        return "txt", to_text(record, self.game, self.name)

    def _check_game(self) -> None:
        """Raise ValueError if an untrusted source names a game file or a huge board."""
        game = self.game
        if self.spectator.trusted:
            return
        if game.name not in catalogue.names():
            raise ValueError("only built-in games can be replayed from a broker")
        for name, value in game.options.items():
            if (game.name, name) == (GO, "size") and isinstance(value, str):
                continue  # Go limits its sizes itself
            if not isinstance(value, int | float) or abs(value) > MAX_OPTION:
                raise ValueError(Message("option {} out of range", name))

    def _current_state(self) -> dict[str, Any]:
        spectator, game = self.spectator, self.game.name
        self._to_replay = MAX_REPLAYED
        parts: dict[str, Any] = {
            "runner": spectator.runner,
            "problem": spectator.problem,
            "finished": len(spectator.games),
        }
        for name, snapshot in list(spectator.state.snapshots.items()):
            part = {key: value for key, value in snapshot.items() if key not in ("run", "sequence")}
            if name.startswith("boards/"):
                live = self._live_game(name, part)
                parts[name.replace("boards", "history")] = {
                    "plies_before": live.plies_before,
                    "written": list(live.written),
                    "rolls": list(live.rolls),
                    "scores": list(part.pop("scores", ())),
                }
                part["moves"] = len(part.get("moves", ()))
                for side in SIDES:
                    if said := part.get(f"{side}_said"):
                        part[f"{side}_said"] = _from_white(said, side) | {
                            "depth": said.get("depth"),
                            "ply": said.get("ply"),
                            "line": live.line(said),
                        }
                drawn = diagram(game, str(part.pop("position", ""))) | live.diagram()
                if drawn["type"] == "grid":
                    drawn["last"] = self._last_cells(name, part, drawn["rows"])
                else:
                    drawn["last"] = _marked_squares(game, list(snapshot.get("moves", ()))[-1:])
                part["drawing"] = drawn
            parts[name] = part
        return parts

    def _live_game(self, board: str, part: Mapping[str, Any]) -> LiveGame:
        """Return the game on a board, after its moves so far."""
        game = [part.get(name) for name in ("pair", "game", "fen", "variant")]
        moves = list(map(str, part.get("moves", ())))
        old, live = self._live_games.get(board, (None, None))
        try:
            if live is None or old != game or live.received != moves[: len(live.received)]:
                self._check_game()
                live = LiveGame(self.game, str(part.get("fen", "")), _variant(part))
            known = len(live.received)
            live.extend(moves if self.spectator.trusted else moves[: known + self._to_replay])
            self._to_replay -= len(live.received) - known
        except REPLAY_ERRORS:
            self._to_replay -= min(self._to_replay, len(moves))
            live = LiveGame(None)
            live.extend(moves)
        self._live_games[board] = (game, live)
        return live

    def _last_cells(
        self, board: str, part: Mapping[str, Any], rows: Sequence[str]
    ) -> list[list[int]]:
        """Return the cells of the last move, or [] if the previous position is unknown."""
        game = (part.get("pair"), part.get("game"))
        old = self._grids.get(board)
        grid = _LastGridPosition(game, part["moves"], rows)
        if old is not None and old.game == game:
            if old.moves == grid.moves:
                return old.last
            if old.moves + 1 == grid.moves:
                grid.last = changed_cells(old.rows, rows)
        self._grids[board] = grid
        return grid.last


class WatchPage(Page):
    """The routes of the watch page, and the watched tournaments."""

    name = "watch"
    paths = ("/watch", "/watch/{number:number}", "/watch/{number:number}/board/{board:number}")

    def __init__(self, site: SiteContext) -> None:
        super().__init__(site)
        self._watched: list[WatchedTournament] = []
        self._task: asyncio.Task[None] | None = None

    def routes(self) -> Sequence[BaseRoute]:
        return (
            self.route("/watch/tournaments", self._list),
            self.route("/watch/{number:number}/games", self._games),
            self.route("/watch/{number:number}/games/{key:str}", self._replay),
            self.route("/watch/{number:number}/games/{key:str}/record", self._record),
            self.route("/watch/{number:number}/board/{board:number}/record", self._board_record),
            self.channel_route("/watch/{number:number}/channel", self._serve),
        )

    async def start(self) -> None:
        await self._poll()
        self._task = asyncio.create_task(self._poll_forever())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _poll_forever(self) -> None:
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            await self._poll()

    async def _poll(self) -> None:
        for spectator in self.site.resources.spectators()[len(self._watched) :]:
            self._watched.append(WatchedTournament(spectator))
        for watched in self._watched:
            try:
                await asyncio.to_thread(watched.spectator.poll)
                if watched.subscribers.channels:
                    watched.send_changes()
                watched.failure = ""
            except Exception as error:  # noqa: BLE001 - other tournaments must go on
                failure, watched.failure = watched.failure, repr(error)[:200]
                if watched.failure != failure:
                    self.site.log.write_limited("failed", page=self.name, reason=watched.failure)

    async def _list(self, request: Request) -> Response:
        tournaments = [
            {"number": number, "name": watched.name, "status": watched.spectator.state.status}
            for number, watched in enumerate(self._watched, 1)
        ]
        return AsciiJsonResponse({"tournaments": tournaments})

    async def _games(self, request: Request) -> Response:
        watched = self._find(request.path_params["number"])
        if watched is None:
            raise HTTPException(404, "tournament or game not found")
        before = request.query_params.get("before", "")
        limit = int(before) if before.isdecimal() and len(before) < 10 else None
        games = watched.games(len(watched.spectator.games) if limit is None else limit)
        return AsciiJsonResponse({"games": games})

    async def _replay(self, request: Request) -> Response:
        key = request.path_params["key"]
        return AsciiJsonResponse(await self._of_game(request, WatchedTournament.replay, key))

    async def _record(self, request: Request) -> Response:
        key = request.path_params["key"]
        suffix, text = await self._of_game(request, WatchedTournament.export, key)
        return file_response(f"kempelen-{key}", suffix, text)

    async def _board_record(self, request: Request) -> Response:
        board = request.path_params["board"]
        key = f"boards/{board}"
        suffix, text = await self._of_game(request, WatchedTournament.export_board, key)
        return file_response(f"kempelen-board-{board}", suffix, text)

    async def _of_game(
        self, request: Request, make: Callable[[WatchedTournament, str], Answer], key: str
    ) -> Answer:
        """Make something of a game or a board in a thread. Raise HTTPException if that fails."""
        watched = self._find(request.path_params["number"])
        if watched is None or not watched.has(key):
            raise HTTPException(404, "tournament or game not found")
        try:
            return await self.run_in_thread(request, make, watched, key)
        except REPLAY_ERRORS as error:
            text = Message("could not replay game {}: {}", key, library_message(error))
            raise HTTPException(
                422, sanitize_line(self.site.session_context.permissions.redact(text), 300)
            ) from None

    async def _serve(self, channel: Channel) -> None:
        watched = self._find(channel.path_params["number"])
        if watched is None:
            channel.send({"kind": "absent"})
            await channel.run(ignore_message)
        else:
            await watched.subscribers.serve(channel, watched.state, ignore_message)

    def _find(self, number: int) -> WatchedTournament | None:
        return self._watched[number - 1] if 1 <= number <= len(self._watched) else None


def _summary(record: Mapping[str, Any]) -> dict[str, Any]:
    names = ("white", "black", "result", "termination", "detail", "started", "variant")
    return {name: record.get(name, "") for name in names}


def _from_white(found: Mapping[str, Any], side: str) -> dict[str, Any]:
    """Return a score of the player `side` from White's point of view."""
    sign = 1 if side == "white" else -1
    scores = {name: found.get(name) for name in ("cp", "mate")}
    return {name: score and sign * score for name, score in scores.items()}


def _variant(record: Mapping[str, Any]) -> str:
    """Return the variant of a game of chess. Raise ValueError if it is unknown."""
    return parse_variant(str(record.get("variant", STANDARD)))


def _marked_squares(game: str, last: Sequence[str]) -> list[str]:
    if game == CHESS:
        return [square for move in last for square in move_squares(move)]
    return list(last)
