"""Live analysis, which sends search results to the page during the search."""

from __future__ import annotations

import itertools
import json
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import chess

from agent.game import NotatedGame, format_line
from agent.kernel.backend import DEFAULT_SEARCH_CONFIG
from agent.limits import Cp, Info, Limits, Mate, Progress, Result
from agent.machine import usable_cores
from kempelen.match.review.board_review import BoardSearch, ParsedBoardGame
from kempelen.match.review.chess_review import ParsedChessGame
from kempelen.match.review.go_review import PLAYERS, ParsedGoGame
from kempelen.match.review.move_annotation import expected_from_info, expected_score
from kempelen.web.diagrams import move_squares
from kempelen.web.play.boards import move_cells
from kempelen.web.site_context import SiteContext
from protocols.katago_analysis.protocol import AnalysisEngine, Settings
from protocols.katago_analysis.visit_limited_backend import SearchSettings
from protocols.uci.chess_session import ChessSession
from protocols.uci.position import push_all, read_board

# Default and maximum number of displayed lines, their maximum length in plies, and search limits
# per position in seconds and (for Go) visits.
DEFAULT_LINES = 3
MAX_LINES = 5
MAX_LINE_PLIES = 8
MAX_SECONDS = 20
MAX_VISITS = 3000
# Hash memory of the compiled search of a board game.
BOARD_MEGABYTES = 16
# Each step of effort multiplies the limits by this factor.
EFFORT_FACTOR = 4
MAX_EFFORT = 2
# Timeout in seconds for searches to stop.
CLOSE_TIMEOUT_S = 2.0
# Seconds between two reports in Go.
REPORT_INTERVAL_S = 0.4

Position = TypeVar("Position")
Send = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Look:
    """A request to search the position after `ply` moves.

    The results contain the request's `number`. The `effort` raises the limits of the search. With
    `threat`, the other side is to move.
    """

    number: int
    ply: int
    lines: int = DEFAULT_LINES
    effort: int = 0
    threat: bool = False


@contextmanager
def search_resources(
    site: SiteContext, threads: int = 1, megabytes: int = DEFAULT_SEARCH_CONFIG.megabytes
) -> Iterator[SearchSettings]:
    """Reserve hash memory for searches during the block, and yield their settings.

    They get fewer than `megabytes` if others use most of the memory.
    """
    megabytes = site.budget.reserve(megabytes, threads)
    try:
        yield SearchSettings(
            search_config=replace(DEFAULT_SEARCH_CONFIG, megabytes=megabytes, at_once=False)
        )
    finally:
        site.budget.release(megabytes)


class LineSender(ABC, Generic[Position]):
    """Sends the lines of searches for one visitor, one search at a time.

    The events of the searches arrive in the threads of an agent. The function `send` must be
    thread-safe.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._searches: deque[tuple[int, Position]] = deque()  # each with its request's number
        self._lines: dict[int, dict[str, Any]] = {}

    @abstractmethod
    def _line_to_json(self, info: Info[Any], position: Position) -> dict[str, Any]:
        """Return a line as JSON, with scores from the first player's point of view."""

    def send_nothing(self, look: Look) -> None:
        """Send that a position has no lines."""
        self._send({"kind": "lines", "look": look.number, "lines": [], "done": True})

    def info(self, info: Info[Any]) -> None:
        if not info.bound:
            self._lines[info.multipv] = self._line_to_json(info, self._searches[0][1])
            self._send_lines(done=False)

    def progress(self, progress: Progress[Any], seconds: float) -> None:
        """Ignore the progress."""

    def error(self, message: str) -> None:
        """Ignore an error, after which the search still returns a move."""

    def report(self, message: str) -> None:
        """Ignore a message."""

    def result(self, result: Result[Any]) -> None:
        self._send_lines(done=True)
        self._searches.popleft()
        self._lines = {}

    def _send_lines(self, *, done: bool) -> None:
        lines = [self._lines[rank] for rank in sorted(self._lines)]
        self._send({"kind": "lines", "look": self._searches[0][0], "lines": lines, "done": done})


class ChessAnalysis(LineSender[chess.Board]):
    """Analyses chess positions for one visitor, one at a time."""

    def __init__(self, site: SiteContext, send: Send) -> None:
        """Create the engine. The function `send` must be thread-safe."""
        super().__init__(send)
        self._session = ChessSession(self, (), session_context=site.session_context)
        self._session.engine.start()

    def analyse(self, look: Look, score: ParsedChessGame) -> None:
        """Search a position of a game. If it is over, or has no threat, no lines are sent."""
        board = read_board(score.start, score.rules)
        push_all(board, score.moves[: look.ply])
        searchable = board.outcome() is None
        if look.threat:
            searchable = searchable and not board.is_check()
            board = _with_other_side_to_move(board)
            searchable = searchable and any(board.legal_moves)
        if not searchable:
            self.stop()
            self.send_nothing(look)
            return
        self._searches.append((look.number, board))
        self.stop()
        self._session.change_variant(score.rules.variant)
        limits: Limits[chess.Move] = Limits(movetime=MAX_SECONDS * EFFORT_FACTOR**look.effort)
        self._session.agent.go(board, limits, look.lines)

    def stop(self) -> None:
        self._session.agent.stop()

    def close(self) -> None:
        self._session.close(CLOSE_TIMEOUT_S)

    def _line_to_json(self, info: Info[Any], position: chess.Board) -> dict[str, Any]:
        return _chess_line_to_json(info, position)


class BoardAnalysis(LineSender[NotatedGame[Any]]):
    """Analyses the positions of a board game for one visitor, one at a time."""

    def __init__(self, site: SiteContext, send: Send, game: ParsedBoardGame) -> None:
        """Create the engine. The function `send` must be thread-safe."""
        super().__init__(send)
        self._memory = ExitStack()
        searching = self._memory.enter_context(search_resources(site, megabytes=BOARD_MEGABYTES))
        self._search = BoardSearch(game, self, searching.search_config, site.scheduler)
        self._start = game.game, game.options

    def suits(self, game: ParsedBoardGame) -> bool:
        """Return whether the engine can analyse a game: it is for one game with its options."""
        return self._start == (game.game, game.options)

    def analyse(self, look: Look, game: ParsedBoardGame) -> None:
        """Search a position of a game. If it is over, no lines are sent."""
        position = game.position(look.ply)
        self.stop()
        if position.outcome() is not None:
            self.send_nothing(look)
            return
        self._searches.append((look.number, position))
        self._search.go(
            position, Limits(movetime=MAX_SECONDS * EFFORT_FACTOR**look.effort), look.lines
        )

    def stop(self) -> None:
        self._search.stop()

    def close(self) -> None:
        self._search.close(CLOSE_TIMEOUT_S)
        self._memory.close()

    def _line_to_json(self, info: Info[Any], position: NotatedGame[Any]) -> dict[str, Any]:
        expected = expected_from_info(info)
        sign = 1 if position.turn == 0 else -1
        moves = format_line(position, info.pv[:MAX_LINE_PLIES])
        return {
            "mate": sign * info.score.moves if isinstance(info.score, Mate) else None,
            "expected": expected if position.turn == 0 else 1 - expected,
            "depth": info.depth,
            "nodes": info.nodes,
            "moves": moves,
            "arrow": move_cells(position).get(moves[0], []) if moves else [],
        }


def _with_other_side_to_move(board: chess.Board) -> chess.Board:
    board = board.copy(stack=False)
    board.push(chess.Move.null())
    return board.copy(stack=False)  # a search knows no null moves


def _chess_line_to_json(info: Info[chess.Move], board: chess.Board) -> dict[str, Any]:
    """Return a line of search results as JSON, with scores from White's point of view."""
    sign = 1 if board.turn else -1
    expected = expected_score(info.score)
    replay = board.copy(stack=False)
    moves = [replay.san_and_push(move) for move in info.pv[:MAX_LINE_PLIES]]
    first = info.pv[0].uci() if info.pv else ""
    return {
        "cp": sign * info.score.value if isinstance(info.score, Cp) else None,
        "mate": sign * info.score.moves if isinstance(info.score, Mate) else None,
        "expected": expected if board.turn else 1 - expected,
        "depth": info.depth,
        "nodes": info.nodes,
        "moves": moves,
        "arrow": move_squares(first) if first else [],
    }


class GoAnalyses:
    """Analyses Go positions for all visitors with one shared analysis engine."""

    def __init__(self, site: SiteContext) -> None:
        self._site = site
        self._engine: AnalysisEngine | None = None
        self._lock = threading.Lock()
        self._memory = ExitStack()
        self._numbers = itertools.count(1)
        self._listeners: dict[str, Callable[[dict[str, Any]], None]] = {}

    def analyse(self, look: Look, score: ParsedGoGame, send: Send) -> str:
        """Search a position of a game, and return the search's name for `stop`.

        The results are passed to `send`. Scores are from Black's point of view.
        """
        name, ply, factor = str(next(self._numbers)), look.ply, EFFORT_FACTOR**look.effort
        moves = score.query["moves"][:ply]
        if look.threat:  # after a pass
            moves = [*moves, [PLAYERS[score.mover(ply)], "pass"]]

        def on_answer(answer: dict[str, Any]) -> None:
            if "error" in answer:
                send({"kind": "refused", "text": str(answer["error"])[:300]})
            elif "rootInfo" in answer:
                send({**_answer_to_json(answer, look.lines), "look": look.number})

        self._listeners[name] = on_answer
        query = {
            **score.query,
            "moves": moves,
            "id": name,
            "analyzeTurns": [len(moves)],
            "maxVisits": MAX_VISITS * factor,
            "includeOwnership": True,
            "reportDuringSearchEvery": REPORT_INTERVAL_S,
            "overrideSettings": {
                "reportAnalysisWinratesAs": "BLACK",
                "maxTime": MAX_SECONDS * factor,
            },
        }
        self._send_query(query)
        return name

    def stop(self, name: str) -> None:
        """Stop a search, unless it has finished."""
        if self._listeners.pop(name, None) is not None:
            self._send_query({"id": f"stop {name}", "action": "terminate", "terminateId": name})

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close(CLOSE_TIMEOUT_S)
        self._memory.close()

    def _send_query(self, query: dict[str, Any]) -> None:
        with self._lock:
            if self._engine is None:
                cores = usable_cores()
                searching = self._memory.enter_context(search_resources(self._site, cores))
                settings = Settings(
                    search_settings=searching, max_workers=cores, scheduler=self._site.scheduler
                )
                self._engine = AnalysisEngine("", self._on_line, _ignore, settings)
        for line in self._engine.handle_line(json.dumps(query)):
            self._on_line(line)

    def _on_line(self, line: str) -> None:
        answer = json.loads(line)
        on_answer = self._listeners.get(str(answer.get("id")))
        if on_answer is None or "warning" in answer:
            return
        if not answer.get("isDuringSearch", False):
            self._listeners.pop(str(answer["id"]), None)
        with suppress(RuntimeError):
            on_answer(answer)


def _answer_to_json(answer: dict[str, Any], line_count: int) -> dict[str, Any]:
    """Convert a reply of the analysis engine to JSON for the page."""
    lines = [
        {
            "expected": info["winrate"],
            "lead": info.get("scoreLead"),
            "nodes": info["visits"],
            "moves": info["pv"][:MAX_LINE_PLIES],
            "arrow": [info["move"]],
        }
        for info in answer["moveInfos"][:line_count]
    ]
    return {
        "kind": "lines",
        "lines": lines,
        "owners": [round(owner, 2) for owner in answer.get("ownership", ())],
        "done": not answer["isDuringSearch"],
    }


def _ignore(text: str) -> None: ...
