"""Saved games in the database, and their export as files."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from agent.games.stones import iter_bits
from agent.games.variants import board_class
from agent.io.strict_json import loads
from kempelen.console.settings_codec import decode
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.game.game_result import GameResult, Termination
from kempelen.match.records.game_record import GameRecord, MoveRecord, to_pgn
from kempelen.match.records.ledger import DECODE_ERRORS
from kempelen.match.records.record_formats import to_text
from kempelen.match.review.board_review import line_tree, make_board_game
from kempelen.web.database import Database
from kempelen.web.game_files import PGN_FORM, UNFINISHED
from kempelen.web.play.boards import BoardGame, GoGame, PlayedGame
from kempelen.web.play.setup import CHESS, GO, GameSetup, find_setup_game
from kempelen.web.site_context import SiteResources
from protocols.gtp.sgf import main_moves, parse_trees, sgf_point
from protocols.gtp.sgf_tree import serialise

EVENT = "Kempelen's page"
NO_WORDS: Mapping[str, str] = {}
_COLUMNS = "id, owner, setup, moves, clocks, result, termination, detail, began, changed"
_SELECT = f"SELECT {_COLUMNS}, stones FROM played LEFT JOIN dead_stones ON game = id"
MAX_LISTED = 500
UNKNOWN_TIME = -1.0
OUTCOMES = ("won", "lost", "drawn", "unfinished")
DRAW = "1/2-1/2"


@dataclass(slots=True)
class SavedGame:
    """A saved game.

    `clocks` contains the remaining seconds of players 0 and 1, and `times` those of the mover after
    each move, or UNKNOWN_TIME. `dead` contains the stones of Go that the player has declared dead,
    or is None if they are estimated.
    """

    id: str
    owner: str
    setup: GameSetup
    moves: list[str] = field(default_factory=list)
    clocks: list[float] | None = None
    times: list[float] = field(default_factory=list)
    game_result: GameResult | None = None
    dead: list[str] | None = None
    began: float = field(default_factory=time.time)
    changed: float = field(default_factory=time.time)


@dataclass(frozen=True, slots=True)
class GameSearch:
    """What a visitor searches in the saved games. Empty texts match every game.

    `opponent` is a part of the opponent's name. `words` are the texts of the page, with the names
    of levels. `result` is one of OUTCOMES. `since` and `until` limit the time of the last move, in
    seconds since the epoch.
    """

    game: str = ""
    opponent: str = ""
    result: str = ""
    since: float = -math.inf
    until: float = math.inf
    words: Mapping[str, str] = field(default_factory=dict)

    def matches(self, setup: GameSetup, result: str) -> bool:
        opponent = _opponent_name(setup, self.words)
        return (
            self.game in ("", setup.game)
            and self.opponent.casefold() in opponent.casefold()
            and self.result in ("", outcome(setup, result))
        )


def outcome(setup: GameSetup, result: str) -> str:
    """Return how a game has ended for the visitor, as one of OUTCOMES. `result` may be ""."""
    if not result:
        return "unfinished"
    if result == DRAW:
        return "drawn"
    white = 0 if setup.game == CHESS else 1  # the player number of White
    return "won" if (result == "1-0") == (setup.side == white) else "lost"


class Archive:
    def __init__(self, store: Database) -> None:
        self._store = store

    def save(self, game: SavedGame) -> None:
        game.changed = time.time()
        game_result = game.game_result
        self._store.execute(
            f"INSERT OR REPLACE INTO played ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            game.id,
            game.owner,
            json.dumps(dataclasses.asdict(game.setup)),
            json.dumps(game.moves),
            json.dumps(game.clocks and [*game.clocks, *game.times]),
            game_result.result if game_result else "",
            game_result.termination.value if game_result else "",
            game_result.detail if game_result else "",
            game.began,
            game.changed,
        )
        if game.setup.game == GO:
            self._store.execute(
                "INSERT OR REPLACE INTO dead_stones VALUES (?, ?)", game.id, json.dumps(game.dead)
            )

    def find(self, game: str) -> SavedGame | None:
        """Return a saved game, or None if it is unknown. Raise ValueError if it is damaged."""
        rows = self._store.fetch_all(f"{_SELECT} WHERE id = ?", game)
        return _read(rows[0]) if rows else None

    def count(self, owner: str) -> int:
        return int(
            self._store.fetch_all("SELECT count(*) FROM played WHERE owner = ?", owner)[0][0]
        )

    def list_games(self, owner: str, search: GameSearch = GameSearch()) -> list[SavedGame]:
        """Return at most MAX_LISTED games of a visitor, most recently changed first.

        Damaged games are left out.
        """
        games: list[SavedGame] = []
        for row in self._rows(owner, search):
            with suppress(ValueError, TypeError, AttributeError):  # of damaged setups
                # Most games of a search do not match. It is slow to check setups and moves.
                if search.matches(GameSetup(**loads(row[2])), row[5] or ""):
                    games.append(_read(row))
            if len(games) == MAX_LISTED:
                break
        return games

    def _rows(self, owner: str, search: GameSearch) -> Iterator[tuple[Any, ...]]:
        for offset in itertools.count(step=MAX_LISTED):
            rows = self._store.fetch_all(
                f"{_SELECT} WHERE owner = ? AND changed >= ? AND changed < ?"
                " ORDER BY changed DESC LIMIT ? OFFSET ?",
                owner,
                search.since,
                search.until,
                MAX_LISTED,
                offset,
            )
            yield from rows
            if len(rows) < MAX_LISTED:
                return

    def delete(self, game: str) -> None:
        self._store.execute("DELETE FROM played WHERE id = ?", game)
        self._store.execute("DELETE FROM dead_stones WHERE game = ?", game)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns in JSON, to validate their types. The times of the moves follow the clocks."""

    setup: GameSetup
    moves: tuple[str, ...]
    clocks: tuple[float, ...] | None
    dead: tuple[str, ...] | None


def _read(row: tuple[Any, ...]) -> SavedGame:
    """Return the game in a row. Raise ValueError if the row is damaged."""
    name, owner, setup, moves, clocks, result, termination, detail, began, changed, dead = row
    try:
        texts = {"setup": setup, "moves": moves, "clocks": clocks, "dead": dead or "null"}
        columns = decode(_Columns, {key: loads(text) for key, text in texts.items()})
        if columns.clocks is not None and len(columns.clocks) < 2:
            raise ValueError("clocks: must be at least two numbers")
        game = SavedGame(
            name,
            owner,
            columns.setup,
            list(columns.moves),
            None if columns.clocks is None else list(columns.clocks[:2]),
            list((columns.clocks or ())[2:]),
            GameResult(result, Termination(termination), detail) if result else None,
            None if columns.dead is None else list(columns.dead),
            float(began),
            float(changed),
        )
        datetime.fromtimestamp(game.began, UTC)  # raises an error if there is no such date
        return game
    except (*DECODE_ERRORS, OSError) as error:
        raise ValueError(f"damaged: {error}") from None


def player_names(
    game: SavedGame, board: PlayedGame, words: Mapping[str, str] = NO_WORDS
) -> tuple[str, str]:
    """Return the names of White and Black, translated by the texts of the page."""
    visitor = words.get("Visitor", "Visitor") if game.owner == "-" else game.owner
    white = game.setup.side == board.white
    opponent = _opponent_name(game.setup, words)
    return (visitor, opponent) if white else (opponent, visitor)


def _opponent_name(setup: GameSetup, words: Mapping[str, str]) -> str:
    level = setup.level_name
    return setup.opponent_name.replace(level, words.get(f"level {level}", level))


def export_game(game: SavedGame, board: PlayedGame, words: Mapping[str, str]) -> tuple[str, str]:
    """Export a game as PGN, SGF or text. Return the suffix and the text of the file.

    `words` are the texts of the page in the visitor's language, for the players' names.
    """
    game_result = game.game_result or UNFINISHED
    white, black = player_names(game, board, words)
    base = game.setup.base
    time_control = "-" if base is None else f"{base:.10g}+{game.setup.increment:.10g}"
    unknown = [UNKNOWN_TIME] * len(game.moves)
    record = GameRecord(
        pair="1",
        game=1,
        white=white,
        black=black,
        fen=game.setup.fen or board_class(game.setup.variant).starting_fen,
        opening=(),
        moves=tuple(
            MoveRecord(move, clock=None if seconds == UNKNOWN_TIME else seconds)
            for move, seconds in zip(game.moves, [*game.times, *unknown], strict=False)
        ),
        result=game_result.result,
        termination=game_result.termination,
        detail=game_result.detail,
        started=datetime.fromtimestamp(game.began, UTC).isoformat(timespec="seconds"),
        chess960=game.setup.chess960,
        variant=game.setup.variant,
        white_time=time_control,
        black_time=time_control,
    )
    if game.setup.game == CHESS:
        return "pgn", to_pgn(record, EVENT, PGN_FORM)
    if isinstance(board, GoGame):
        return "sgf", _to_sgf(board, record)
    settings = GameSettings(game.setup.game, dict(game.setup.options))
    return "txt", to_text(record, settings, EVENT)


def board_game_text(game: SavedGame, offers: SiteResources) -> str | None:
    """Return a board game other than chess and Go in JSON, or None if it is another game."""
    setup, find = game.setup, partial(find_setup_game, offers=offers)
    if find(setup.game) is None:
        return None
    root = line_tree(game.moves)
    parsed = make_board_game(find, setup.game, setup.options, root, len(game.moves))
    white, black = player_names(game, BoardGame(setup))
    result = game.game_result.result if game.game_result else ""
    return replace(parsed, players=(black, white), result=result).text()


def _to_sgf(board: GoGame, record: GameRecord) -> str:
    result = {"1-0": "W+", "0-1": "B+", "1/2-1/2": "0"}.get(record.result, "?")
    if result.endswith("+"):
        reason = {Termination.RESIGNATION: "R", Termination.TIME: "T"}.get(record.termination)
        result += reason or record.detail.partition("+")[2]
    fields = {"PB": record.black, "PW": record.white, "DT": record.started[:10], "RE": result}
    text = board.sgf(fields)
    if board.game.outcome() is not None:
        text = f"{text.removesuffix(')')}{_territory(board)})"
    clocks = [move.clock for move in record.moves]
    if all(clock is None for clock in clocks):
        return text + "\n"
    (tree,) = parse_trees(text)
    for node, mover, clock in zip(main_moves(tree), board.movers, clocks, strict=True):
        if clock is not None:
            node.set(("BL", "WL")[mover], round(clock, 1))
    return serialise(tree)


def _territory(board: GoGame) -> str:
    """Return the territory at the end as properties of the last node."""
    shape, text = board.game.stones.shape, ""
    for name, area in zip(("TB", "TW"), board.territory(), strict=True):
        points = [sgf_point(shape.coordinates(at), shape.height) for at in iter_bits(area)]
        text += name * bool(points) + "".join(f"[{point}]" for point in points)
    return text
