"""Live analysis, which sends search results to the page during the search."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any

import chess

from agent.kernel.backend import DEFAULT_SEARCH_CONFIG
from agent.limits import Cp, Info, Mate
from agent.machine import usable_cores
from kempelen.match.review.chess_review import ParsedChessGame
from kempelen.match.review.go_review import ParsedGoGame
from kempelen.match.review.move_annotation import expected_score
from kempelen.web.site_context import SiteContext
from protocols.client.in_process import ignore_log_file
from protocols.client.own_engine import AUTHORS
from protocols.client.uci import parse_info
from protocols.katago_analysis.protocol import AnalysisEngine, Settings
from protocols.katago_analysis.visit_limited_backend import SearchSettings
from protocols.uci.protocol import UciProtocol

# Number of displayed lines, their maximum length in plies, and search limits per position in
# seconds and (for Go) visits.
MULTIPV = 3
MAX_LINE_PLIES = 8
MAX_SECONDS = 20
MAX_VISITS = 3000
# Timeout in seconds for searches to stop.
CLOSE_TIMEOUT_S = 2.0
# Seconds between two reports in Go.
REPORT_INTERVAL_S = 0.4

Send = Callable[[dict[str, Any]], None]


def make_uci_engine(site: SiteContext, send: Callable[[str], None]) -> UciProtocol:
    """Return Kempelen's UCI engine, which shares the site's scheduler and memory budget."""
    return UciProtocol(
        "Kempelen", AUTHORS, send, ignore_log_file, session_context=site.session_context
    )


@contextmanager
def go_search_resources(site: SiteContext, threads: int = 1) -> Iterator[SearchSettings]:
    """Reserve hash memory for Go searches during the block, and yield the settings."""
    megabytes = site.budget.reserve(DEFAULT_SEARCH_CONFIG.megabytes, threads)
    try:
        yield SearchSettings(
            search_config=replace(DEFAULT_SEARCH_CONFIG, megabytes=megabytes, at_once=False)
        )
    finally:
        site.budget.release(megabytes)


class ChessAnalysis:
    """Analyses chess positions for one visitor, one at a time."""

    def __init__(self, site: SiteContext, send: Send) -> None:
        """Create the engine. The function `send` must be thread-safe."""
        self._send = send
        self._started = 0
        self._finished = 0
        self._boards: dict[int, tuple[int, chess.Board]] = {}
        self._lines: dict[int, dict[str, Any]] = {}
        self._uci = make_uci_engine(site, self._on_line)
        self._send_line("uci")
        self._send_line(f"setoption name MultiPV value {MULTIPV}")

    def analyse(self, number: int, score: ParsedChessGame, ply: int) -> None:
        """Search the position after `ply` moves. The results contain the request's `number`."""
        board = score.pgn.board()
        for text in score.moves[:ply]:
            board.push_uci(text)
        if board.outcome() is not None:
            self.stop()
            self._send({"kind": "lines", "look": number, "lines": [], "done": True})
            return
        start = f"fen {score.start}" if score.start else "startpos"
        moves = " ".join(("moves", *score.moves[:ply])) if ply else ""
        self._send_line(f"setoption name UCI_Chess960 value {str(score.chess960).lower()}")
        self._send_line(f"position {start} {moves}")
        self._started += 1
        self._boards[self._started] = number, board
        self._send_line(f"go movetime {MAX_SECONDS * 1000}")

    def stop(self) -> None:
        self._send_line("stop")

    def close(self) -> None:
        self._uci.close(CLOSE_TIMEOUT_S)

    def _send_line(self, line: str) -> None:
        for _ in self._uci.handle_line(line):
            pass

    def _on_line(self, line: str) -> None:
        number, board = self._boards.get(self._finished + 1, (0, None))
        if board is None:
            return
        if line.startswith("bestmove"):
            self._finished += 1
            del self._boards[self._finished]
            lines, self._lines = self._lines, {}
            shown = [lines[rank] for rank in sorted(lines)]
            self._send({"kind": "lines", "look": number, "lines": shown, "done": True})
        elif line.startswith("info ") and (info := parse_info(line)) and not info.bound:
            self._lines[info.multipv] = _line_to_json(info, board)
            shown = [self._lines[rank] for rank in sorted(self._lines)]
            self._send({"kind": "lines", "look": number, "lines": shown, "done": False})


def _line_to_json(info: Info[str], board: chess.Board) -> dict[str, Any]:
    """Return a line of search results as JSON, with scores from White's point of view."""
    sign = 1 if board.turn else -1
    expected = expected_score(info.score)
    moves, replay = [], board.copy(stack=False)
    for text in info.pv[:MAX_LINE_PLIES]:
        try:
            move = replay.parse_uci(text)
        except ValueError:
            break
        moves.append(replay.san(move))
        replay.push(move)
    first = info.pv[0] if info.pv else ""
    return {
        "cp": sign * info.score.value if isinstance(info.score, Cp) else None,
        "mate": sign * info.score.moves if isinstance(info.score, Mate) else None,
        "expected": expected if board.turn else 1 - expected,
        "depth": info.depth,
        "nodes": info.nodes,
        "moves": moves,
        "arrow": [first[:2], first[2:4]] if len(first) >= 4 else [],
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

    def analyse(self, number: int, score: ParsedGoGame, ply: int, send: Send) -> str:
        """Search the position after `ply` moves, and return the search's name for `stop`.

        The results passed to `send` contain `number`. Scores are from Black's point of view.
        """
        name = str(next(self._numbers))

        def on_answer(answer: dict[str, Any]) -> None:
            if "error" in answer:
                send({"kind": "refused", "text": str(answer["error"])[:300]})
            elif "rootInfo" in answer:
                send({**_answer_to_json(answer), "look": number})

        self._listeners[name] = on_answer
        query = {
            **score.query,
            "id": name,
            "analyzeTurns": [ply],
            "maxVisits": MAX_VISITS,
            "includeOwnership": True,
            "reportDuringSearchEvery": REPORT_INTERVAL_S,
            "overrideSettings": {"reportAnalysisWinratesAs": "BLACK", "maxTime": MAX_SECONDS},
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
                searching = self._memory.enter_context(go_search_resources(self._site, cores))
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


def _answer_to_json(answer: dict[str, Any]) -> dict[str, Any]:
    """Convert a reply of the analysis engine to JSON for the page."""
    lines = [
        {
            "expected": info["winrate"],
            "lead": info.get("scoreLead"),
            "nodes": info["visits"],
            "moves": info["pv"][:MAX_LINE_PLIES],
            "arrow": [info["move"]],
        }
        for info in answer["moveInfos"][:MULTIPV]
    ]
    return {
        "kind": "lines",
        "lines": lines,
        "owners": [round(owner, 2) for owner in answer.get("ownership", ())],
        "done": not answer["isDuringSearch"],
    }


def _ignore(text: str) -> None: ...
