"""What a search says of the position that a visitor looks at, while it goes on."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any

import chess

from agent.compiled.source import USUAL_MEANS
from agent.limits import Cp, Info, Mate
from agent.machine import usable_cores
from protocols.analysis.protocol import AnalysisEngine, Settings
from protocols.analysis.visits import Searching
from protocols.client.inside import no_log
from protocols.client.ours import AUTHORS
from protocols.client.uci import parse_info
from protocols.uci.protocol import Uci
from tournament.chess_review import ChessScore
from tournament.go_review import GoScore
from tournament.judgement import expected_score
from web.site import Site

# Lines that are shown, plies of each, and what a position may take: seconds, and visits of Go.
LINES = 3
LINE_LENGTH = 8
SECONDS = 20
VISITS = 3000
# Seconds that searches have to end in after they are given up.
END_LIMIT = 2.0
# Seconds between two reports of Go.
REPORT_EVERY = 0.4

Tell = Callable[[dict[str, Any]], None]


def chess_protocol(site: Site, send: Callable[[str], None]) -> Uci:
    """Return our own agent, which searches by the turns and within the memory of all."""
    return Uci("Kempelen", AUTHORS, send, no_log, allowance=site.allowance)


@contextmanager
def go_search(site: Site, threads: int = 1) -> Iterator[Searching]:
    """Lend what so many searches of Go at once search with: of the memory of all, as it is free."""
    megabytes = site.budget.take(USUAL_MEANS.megabytes, threads)
    try:
        yield Searching(means=replace(USUAL_MEANS, megabytes=megabytes, at_once=False))
    finally:
        site.budget.give(megabytes)


class ChessLook:
    """One visitor's search of chess, of one position after the other."""

    def __init__(self, site: Site, tell: Tell) -> None:
        """tell: takes the lines, in any thread, each time all that are known."""
        self._tell = tell
        self._asked = 0
        self._answered = 0
        self._boards: dict[int, tuple[int, chess.Board]] = {}
        self._lines: dict[int, dict[str, Any]] = {}
        self._uci = chess_protocol(site, self._said)
        self._do("uci")
        self._do(f"setoption name MultiPV value {LINES}")

    def look(self, number: int, score: ChessScore, ply: int) -> None:
        """Search the position after so many moves; number: what the visitor calls this look."""
        board = score.game.board()
        for text in score.moves[:ply]:
            board.push_uci(text)
        if board.outcome() is not None:
            self.stop()
            self._tell({"kind": "lines", "look": number, "lines": [], "done": True})
            return
        start = f"fen {score.start}" if score.start else "startpos"
        moves = " ".join(("moves", *score.moves[:ply])) if ply else ""
        self._do(f"setoption name UCI_Chess960 value {str(score.chess960).lower()}")
        self._do(f"position {start} {moves}")
        self._asked += 1
        self._boards[self._asked] = number, board
        self._do(f"go movetime {SECONDS * 1000}")

    def stop(self) -> None:
        """Search no longer."""
        self._do("stop")

    def close(self) -> None:
        """End its threads."""
        self._uci.close(END_LIMIT)

    def _do(self, line: str) -> None:
        for _ in self._uci.handle_line(line):
            pass

    def _said(self, line: str) -> None:
        number, board = self._boards.get(self._answered + 1, (0, None))
        if board is None:
            return
        if line.startswith("bestmove"):
            self._answered += 1
            del self._boards[self._answered]
            lines, self._lines = self._lines, {}
            shown = [lines[rank] for rank in sorted(lines)]
            self._tell({"kind": "lines", "look": number, "lines": shown, "done": True})
        elif line.startswith("info ") and (info := parse_info(line)) and not info.bound:
            self._lines[info.multipv] = _shown(info, board)
            shown = [self._lines[rank] for rank in sorted(self._lines)]
            self._tell({"kind": "lines", "look": number, "lines": shown, "done": False})


def _shown(info: Info[str], board: chess.Board) -> dict[str, Any]:
    """Return a line as White sees it."""
    sign = 1 if board.turn else -1
    expected = expected_score(info.score)
    moves, replay = [], board.copy(stack=False)
    for text in info.pv[:LINE_LENGTH]:
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


class GoLooks:
    """The searches of Go of all visitors, by one engine that takes position after position."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._engine: AnalysisEngine | None = None
        self._making = threading.Lock()
        self._memory = ExitStack()
        self._numbers = itertools.count(1)
        self._listeners: dict[str, Callable[[dict[str, Any]], None]] = {}

    def look(self, number: int, score: GoScore, ply: int, tell: Tell) -> str:
        """Search the position after so many moves; return by what it is stopped.

        tell: takes the lines as `ChessLook` tells them, in any thread, from Black's side.
        """
        name = str(next(self._numbers))

        def heard(answer: dict[str, Any]) -> None:
            if "error" in answer:
                tell({"kind": "refused", "text": str(answer["error"])[:300]})
            elif "rootInfo" in answer:
                tell({**_lines_of(answer), "look": number})

        self._listeners[name] = heard
        query = {
            **score.query,
            "id": name,
            "analyzeTurns": [ply],
            "maxVisits": VISITS,
            "includeOwnership": True,
            "reportDuringSearchEvery": REPORT_EVERY,
            "overrideSettings": {"reportAnalysisWinratesAs": "BLACK", "maxTime": SECONDS},
        }
        self._handle(query)
        return name

    def stop(self, name: str) -> None:
        """Give one search up, if it goes on."""
        if self._listeners.pop(name, None) is not None:
            self._handle({"id": f"stop {name}", "action": "terminate", "terminateId": name})

    def close(self) -> None:
        """End all threads."""
        if self._engine is not None:
            self._engine.close(END_LIMIT)
        self._memory.close()

    def _handle(self, query: dict[str, Any]) -> None:
        with self._making:
            if self._engine is None:
                cores = usable_cores()
                searching = self._memory.enter_context(go_search(self._site, cores))
                settings = Settings(searching=searching, analysts=cores, turns=self._site.turns)
                self._engine = AnalysisEngine("", self._said, _nothing, settings)
        for line in self._engine.handle_line(json.dumps(query)):
            self._said(line)

    def _said(self, line: str) -> None:
        answer = json.loads(line)
        heard = self._listeners.get(str(answer.get("id")))
        if heard is None or "warning" in answer:
            return
        if not answer.get("isDuringSearch", False):
            self._listeners.pop(str(answer["id"]), None)
        with suppress(RuntimeError):
            heard(answer)


def _lines_of(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what an answer says, from Black's side."""
    lines = [
        {
            "expected": info["winrate"],
            "lead": info.get("scoreLead"),
            "nodes": info["visits"],
            "moves": info["pv"][:LINE_LENGTH],
            "arrow": [info["move"]],
        }
        for info in answer["moveInfos"][:LINES]
    ]
    return {
        "kind": "lines",
        "lines": lines,
        "owners": [round(owner, 2) for owner in answer.get("ownership", ())],
        "done": not answer["isDuringSearch"],
    }


def _nothing(text: str) -> None:
    """Take what nobody is told."""
