"""Review board games other than chess and Go, which are written as JSON.

    {"game": "othello", "options": {"size": 6}, "players": ["Ann", "Bob"], "result": "1-0",
     "moves": ["d2", {"move": "c2", "nags": [2]}, {"move": "e2", "parent": 1, "comment": "Better"}]}

A move follows the move before it in the list, or the one with the number `parent`, where 0 is the
start. The first move in a position continues the game, and the others begin variations.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.agent import Agent
from agent.backends import create_backend
from agent.game import NotatedGame, format_line, parse_move
from agent.games.catalogue import GameError, GameType
from agent.games.position_adapter import GamePositionAdapter
from agent.io.sanitize import sanitize_line, sanitize_name
from agent.io.strict_json import loads_object
from agent.kernel.backend import SearchConfig
from agent.limits import Info, Limits, Mate, Progress, Result
from agent.threads.scheduler import SearchScheduler
from kempelen.console.settings_codec import SettingsError, decode
from kempelen.match.config.time_control import TimeControl
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.chess_review import NAGS
from kempelen.match.review.move_annotation import (
    MoveQuality,
    PositionEval,
    ReviewedMove,
    describe_move,
    expected_from_info,
)
from kempelen.match.review.parsed_game import (
    CLOSE_TIMEOUT,
    MAX_VARIATION_LENGTH,
    ParsedGame,
    verification_limits,
)

# Maximum number of moves in a game with its variations.
MAX_TREE_MOVES = 2000

FindGame = Callable[[str], GameType | None]


@dataclass(slots=True, eq=False)
class BoardNode:
    """A position in the tree of a game, after `move`. The first child continues the line."""

    move: str = ""
    comment: str = ""
    nags: list[int] = field(default_factory=list)
    children: list[BoardNode] = field(default_factory=list)

    def main_line(self) -> Iterator[BoardNode]:
        """Generate the nodes from this one to the end of its line."""
        node = self
        yield node
        while node.children:
            node = node.children[0]
            yield node


@dataclass(frozen=True, slots=True)
class _WrittenMove:
    move: str
    parent: int | None = None
    comment: str = ""
    nags: tuple[int, ...] = ()

    @classmethod
    def from_text(cls, text: str) -> _WrittenMove:
        return cls(text)


@dataclass(frozen=True, slots=True)
class _WrittenGame:
    game: str
    options: dict[str, Any] = field(default_factory=dict)
    players: tuple[str, ...] = ("?", "?")
    result: str = ""
    event: str = ""
    comment: str = ""
    moves: tuple[_WrittenMove, ...] = ()

    def tree(self) -> BoardNode:
        nodes = [BoardNode(comment=self.comment)]
        for number, written in enumerate(self.moves):
            parent = number if written.parent is None else written.parent
            if not 0 <= parent <= number:
                raise SettingsError("moves[{}].parent: must be from 0 to {}", number + 1, number)
            nodes.append(BoardNode(written.move, written.comment, list(written.nags)))
            nodes[parent].children.append(nodes[-1])
        return nodes[0]


@dataclass(frozen=True)
class ParsedBoardGame(ParsedGame):
    """A parsed board game. Its main line must be legal.

    `movers` contains the player to move in each position of the main line.
    """

    game_type: GameType
    options: Mapping[str, Any]
    root: BoardNode
    moves: tuple[str, ...]
    movers: tuple[int, ...]
    players: tuple[str, str] = ("?", "?")
    result: str = ""
    event: str = ""

    number = 1
    suffix = ".json"
    unit = "nodes"

    @property
    def game(self) -> str:  # type: ignore[override]
        return self.game_type.name

    def new_game(self) -> NotatedGame[Any]:
        return self.game_type.new(**self.options)

    def position(self, ply: int) -> NotatedGame[Any]:
        """Return the game after `ply` moves."""
        game = self.new_game()
        for text in self.moves[:ply]:
            game.play(parse_move(game, text))
        return game

    def keys(self, known: AnalysisFile) -> list[str]:
        start = {"game": self.game, "options": dict(self.options)}
        return known.keys(json.dumps(start, sort_keys=True), self.moves)

    def mover(self, ply: int) -> int:
        return self.movers[ply]

    def titles(self) -> dict[str, str]:
        first, second = (sanitize_name(name) or "?" for name in self.players)
        result = sanitize_name(self.result) or "?"
        event = sanitize_line(self.event)
        return {"event": event, "first": first, "second": second, "result": result}

    def annotated(self, known: AnalysisFile, annotator: str) -> str:
        """Return the game in JSON.

        NAGs 6, 2 and 4 mark inaccuracies, mistakes and blunders without another mark.
        """
        nodes = list(self.root.main_line())
        for before, node, move in zip(nodes, nodes[1:], self.review(known).moves, strict=False):
            if move.expected is None:
                continue
            node.comment = "\n".join(filter(None, (node.comment, describe_move(move))))
            if move.grade is not MoveQuality.GOOD:
                node.nags = node.nags or [NAGS[move.grade]]
                _add_line(before, move)
        event = "; ".join(filter(None, (self.event, annotator)))
        return dataclasses.replace(self, event=event).text()

    def text(self) -> str:
        """Return the game in JSON."""
        moves: list[Any] = []
        waiting = [(child, 0) for child in reversed(self.root.children)]
        while waiting:
            node, parent = waiting.pop()
            more: dict[str, Any] = {} if parent == len(moves) else {"parent": parent}
            if node.comment:
                more["comment"] = node.comment
            if node.nags:
                more["nags"] = node.nags
            moves.append({"move": node.move, **more} if more else node.move)
            waiting += [(child, len(moves)) for child in reversed(node.children)]
        known = self.players != ("?", "?")
        header = {
            "players": list(self.players) if known else None,
            "result": self.result,
            "event": self.event,
            "comment": self.root.comment,
        }
        data = {
            "game": self.game,
            "options": dict(self.options),
            **{name: value for name, value in header.items() if value},
            "moves": moves,
        }
        return json.dumps(data, ensure_ascii=False) + "\n"


def parse_board_game(text: str, find: FindGame, max_moves: int) -> ParsedBoardGame:
    """Parse a game in JSON, of at most `max_moves` moves. `find` returns a game by name, or None.

    Raise SettingsError if the text is invalid, or a move of the main line is illegal.
    """
    data = loads_object(text)
    if data is None:
        raise SettingsError("JSON: must be an object")
    written = decode(_WrittenGame, data)
    if len(written.players) != 2:
        raise SettingsError("players: must be two names")
    if len(written.moves) > MAX_TREE_MOVES:
        raise SettingsError("game too long (at most {} moves)", MAX_TREE_MOVES)
    first, second = (sanitize_line(name) or "?" for name in written.players)
    game = make_board_game(find, written.game, written.options, written.tree(), max_moves)
    return dataclasses.replace(
        game,
        players=(first, second),
        result=sanitize_line(written.result),
        event=sanitize_line(written.event),
    )


def make_board_game(
    find: FindGame, name: str, options: Mapping[str, Any], root: BoardNode, max_moves: int
) -> ParsedBoardGame:
    """Return the game with a tree. Its moves get the notation of the game.

    Raise SettingsError if the game or an option is invalid, or a move of the main line is illegal.
    """
    if (game_type := find(name)) is None:
        raise SettingsError("game: unknown or unsupported")
    try:
        game = game_type.new(**options)
    except GameError as error:
        raise SettingsError(str(error)) from None
    moves: list[str] = []
    movers = [game.turn]
    for node in list(root.main_line())[1:]:
        if len(moves) == max_moves:
            raise SettingsError("game too long (at most {} moves)", max_moves)
        try:
            move = parse_move(game, node.move)
        except ValueError as error:
            raise SettingsError("move {}: {}", len(moves) + 1, error) from None
        node.move = game.text(move)
        game.play(move)
        moves.append(node.move)
        movers.append(game.turn)
    return ParsedBoardGame(game_type, dict(options), root, tuple(moves), tuple(movers))


def line_tree(moves: Sequence[str]) -> BoardNode:
    """Return the tree of a game without variations."""
    root = node = BoardNode()
    for move in moves:
        node.children.append(BoardNode(move))
        node = node.children[0]
    return root


def _add_line(node: BoardNode, move: ReviewedMove) -> None:
    for text in move.line[:MAX_VARIATION_LENGTH]:
        known = [child for child in node.children if child.move == text]
        if not known:
            known = [BoardNode(text)]
            node.children += known
        node = known[0]


class BoardSearch:
    """A search for one board game, which passes its events to `listener`."""

    def __init__(
        self,
        game: ParsedBoardGame,
        listener: Any,
        search_config: SearchConfig,
        scheduler: SearchScheduler | None = None,
    ) -> None:
        self._backend = create_backend(
            game.game_type, game.new_game, listener.error, search_config=search_config
        )
        self._backend.start()
        self._agent: Agent[Any, Any] = Agent(
            self._backend, listener, GamePositionAdapter(), scheduler=scheduler
        )

    def go(self, position: NotatedGame[Any], limits: Limits[Any], lines: int = 1) -> None:
        self._agent.go(position, limits, min(lines, self._backend.max_lines or lines))

    def stop(self) -> None:
        self._agent.stop()

    def close(self, timeout: float) -> None:
        self._agent.close(timeout)
        self._backend.close(timeout)


class _ResultListener:
    """Sets a future to the last line of a search, which is None after an error."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.future: asyncio.Future[Info[Any] | None] = loop.create_future()

    def info(self, info: Info[Any]) -> None:
        """Ignore a line before the result."""

    def progress(self, progress: Progress[Any], seconds: float) -> None:
        """Ignore the progress."""

    def error(self, message: str) -> None:
        """Ignore an error, after which the search still returns a move."""

    def result(self, result: Result[Any]) -> None:
        self._loop.call_soon_threadsafe(self._set, result.info)

    def _set(self, info: Info[Any] | None) -> None:
        if not self.future.done():
            self.future.set_result(info)


async def analyse_board_game(
    game: ParsedBoardGame,
    search_config: SearchConfig,
    limits: TimeControl,
    known: AnalysisFile,
    *,
    since: int = 0,
    report: Callable[[int], None] = lambda done: None,
    scheduler: SearchScheduler | None = None,
) -> None:
    """Search all positions that are not in `known`, and add the evaluations to `known`.

    Positions before the ply `since` are left out. Mistakes and blunders are then verified. `report`
    is called with the number of finished positions.
    """
    listener = _ResultListener(asyncio.get_running_loop())
    search = await asyncio.to_thread(BoardSearch, game, listener, search_config, scheduler)

    async def evaluate(ply: int, limits: TimeControl) -> PositionEval:
        position = await asyncio.to_thread(game.position, ply)
        if (outcome := position.outcome()) is not None:
            own = -outcome if position.turn else outcome
            return PositionEval(0.5 if own == 0 else float(own > 0))
        listener.future = asyncio.get_running_loop().create_future()
        search.go(position, Limits(nodes=limits.nodes, movetime=limits.movetime))
        info = await listener.future
        return PositionEval(0.5) if info is None else _evaluate(info, position)

    try:
        missing = game.missing(known, since)
        done = len(game.plies) - len(missing)
        report(done)
        for ply, key in missing.items():
            known.add(key, await evaluate(ply, limits))
            done += 1
            report(done)
        verified: set[str] = set()
        while doubtful := await asyncio.to_thread(game.doubtful, known, limits, verified):
            for ply, key in doubtful.items():
                known.add(key, await evaluate(ply, verification_limits(limits)))
            verified.update(doubtful.values())
    finally:
        await asyncio.shield(asyncio.to_thread(search.close, CLOSE_TIMEOUT))


def _evaluate(info: Info[Any], position: NotatedGame[Any]) -> PositionEval:
    return PositionEval(
        expected_from_info(info),
        mate=info.score.moves if isinstance(info.score, Mate) else None,
        line=tuple(format_line(position, info.pv[: MAX_VARIATION_LENGTH + 1])),
        depth=info.depth,
        nodes=info.nodes,
    )
