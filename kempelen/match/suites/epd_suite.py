"""Test an engine with EPD test suites, which contain positions with known solutions.

`bm` lists the best moves, `am` lists the moves to avoid, and `dm` is the number of moves to mate. A
position is solved if the engine's move is in `bm` and not in `am`, and its last score is a mate in
exactly `dm` moves. Missing fields are not checked. The comments `c0` to `c9` may give points for
moves, as in the Strategic Test Suite: `c0 "f5=10, Be5+=2"`.
"""

from __future__ import annotations

import asyncio
import re
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import chess

from agent.games.variants import STANDARD_RULES, ChessRules
from agent.io.read_errors import convert_read_errors
from agent.limits import Mate, Score
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import print_error, read_lines
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.engines.engine_protocols import make_uci_player
from kempelen.match.engines.players import UciEngine
from openings import epd_line
from protocols.client.engine import EngineOptionError
from protocols.client.process import EngineError
from protocols.client.uci import PlayResult, SearchRequest
from protocols.session_context import STANDALONE, SessionContext
from protocols.tasks import cancel_all, retry

MAX_FILE_SIZE = 256 << 20
MAX_MATE = 1000  # moves
# Points for a move in a comment, such as "f5=10,"; the piece of a promotion follows another "=".
_POINTS = re.compile(r"\s*([^\s,]+?)\s*=\s*(\d{1,6})\s*(?:,|$)")


@dataclass(frozen=True, slots=True)
class EpdPosition:
    """A position and its solution, in UCI notation.

    `mate` is the number of moves to mate. `points` has the points for each move that gets any.
    """

    file: str
    name: str
    fen: str
    best: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    mate: int | None = None
    points: tuple[tuple[str, int], ...] = ()

    @property
    def max_points(self) -> int:
        return max((points for _, points in self.points), default=0)

    def points_for(self, move: str) -> int:
        return dict(self.points).get(move, 0)

    def is_solved_by(self, move: str, score: Score | None) -> bool:
        if self.best and move not in self.best:
            return False
        if self.mate is not None and score != Mate(self.mate):
            return False
        return move not in self.avoid


@dataclass(frozen=True, slots=True)
class EpdResult:
    """An engine's answer for a position. `error` is the reason for a missing or invalid move."""

    problem: EpdPosition
    solved: bool
    move: str = ""
    score: Score | None = None
    depth: int = 0
    nodes: int = 0
    seconds: float = 0.0
    error: str = ""

    @property
    def points(self) -> int:
        return 0 if self.error else self.problem.points_for(self.move)


def read_epd_file(
    path: Path, name: str = "", on_invalid: Callable[[str], None] = lambda message: None
) -> list[EpdPosition]:
    """Return the positions in an EPD file. `name` replaces the file name in messages and ids.

    Invalid lines are skipped, and `on_invalid` receives a message that names the line. Raise
    SettingsError if no line is valid.
    """
    problems, first_error = [], ""
    with convert_read_errors(path, SettingsError):
        for number, line in enumerate(read_lines(path, MAX_FILE_SIZE), 1):
            if line.strip() and not line.startswith("#"):
                try:
                    problems.append(_problem(line, name or path.name, number))
                except ValueError as error:
                    message = f"{name or path.name}, line {number}: {error}"
                    on_invalid(message)
                    first_error = first_error or message
    if not problems:
        reason = f" ({first_error})" if first_error else ""
        raise SettingsError(f"{path}: no positions found{reason}")
    return problems


def _problem(line: str, file: str, number: int) -> EpdPosition:
    board, operations = epd_line.parse(line)
    best, avoid = (
        tuple(move.uci() for move in epd_line.moves(board, operations, code))
        for code in ("bm", "am")
    )
    mate = epd_line.number(operations, "dm")
    if "dm" in operations and (mate is None or mate % 1 or not 1 <= mate <= MAX_MATE):
        shown = reprlib.repr(operations["dm"])
        raise ValueError(f"dm must be a number of moves from 1 to {MAX_MATE} (got {shown})")
    points = _points(board, operations)
    if not best and not avoid and mate is None and not points:
        raise ValueError("bm, am or dm is missing")
    if not best and not avoid and mate is None:
        best = tuple(move for move, value in points if value == max(value for _, value in points))
    name = operations.get("id") or f"{file}:{number}"
    return EpdPosition(
        file, name, board.fen(), best, avoid, None if mate is None else int(mate), points
    )


def _points(board: chess.Board, operations: dict[str, str]) -> tuple[tuple[str, int], ...]:
    """Return the points for moves in the comments. Comments without any move are ignored.

    Raise ValueError if one of the moves is invalid.
    """
    for code in (f"c{number}" for number in range(10)):
        if re.fullmatch(f"(?:{_POINTS.pattern})+", comment := operations.get(code, "")):
            found = _POINTS.findall(comment)
            if any(_is_move(board, word) for word, _ in found):
                return tuple(
                    (epd_line.parse_move(board, word, code).uci(), int(points))
                    for word, points in found
                )
    return ()


def _is_move(board: chess.Board, word: str) -> bool:
    try:
        return bool(epd_line.parse_move(board, word, ""))
    except ValueError:
        return False


async def run_suite(
    problems: list[EpdPosition],
    engine: EngineSettings,
    limits: TimeControl,
    concurrency: int,
    report: Callable[[int], None] = lambda done: None,
) -> list[EpdResult]:
    """Search all positions with `concurrency` engines, and return the results in order.

    `report` is called with the number of finished positions. An engine that fails is restarted for
    the next position. If it cannot be restarted, the remaining positions have an error. Raise
    SettingsError if the engine does not start at first or lacks an option.
    """
    results: dict[int, EpdResult] = {}
    waiting = iter(enumerate(problems))

    async def work() -> None:
        runner = EngineRunner(engine, limits)
        try:
            for i, problem in waiting:
                results[i] = await runner.solve(problem)
                report(len(results))
        finally:
            await runner.close()

    workers = [asyncio.create_task(work()) for _ in range(max(min(concurrency, len(problems)), 1))]
    try:
        await asyncio.gather(*workers)
    finally:
        await cancel_all(workers)
    return [results[i] for i in range(len(problems))]


class EngineRunner:
    """Searches positions with an engine that is started when it is first needed."""

    def __init__(
        self,
        engine: EngineSettings,
        limits: TimeControl,
        *,
        rules: ChessRules = STANDARD_RULES,
        session_context: SessionContext = STANDALONE,
    ) -> None:
        self._engine = engine
        self._limits = limits
        self._make_player = partial(make_uci_player, engine, rules, session_context)
        self._player: UciEngine | None = None
        self._has_started = False
        self._restart_error: EngineError | None = None

    async def solve(self, problem: EpdPosition) -> EpdResult:
        """Search a position with an empty hash table, and check the result."""
        limits = self._limits
        request = SearchRequest(
            problem.fen, movetime=limits.movetime, nodes=limits.nodes, depth=limits.depth
        )
        try:
            answer = await self.search(request)
        except EngineError as error:
            return EpdResult(problem, solved=False, error=str(error))
        return _judge(problem, answer)

    async def search(self, request: SearchRequest) -> PlayResult:
        """Search a position with an empty hash table.

        Raise EngineError if the engine fails, and restart it for the next search. Raise
        SettingsError if the engine does not start at first or lacks an option.
        """
        limits = self._limits
        try:
            player = await self._started_player()
            await player.new_game()
            return await player.search(request, (limits.movetime or 0) + limits.patience)
        except EngineOptionError as error:
            raise SettingsError(f"engine {self._engine.name}: {error}") from None
        except EngineError:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop the engine. The next search restarts it."""
        player, self._player = self._player, None
        if player is not None:
            await asyncio.shield(player.close())

    async def _started_player(self) -> UciEngine:
        if self._restart_error is not None:
            raise self._restart_error
        if self._player is not None:
            return self._player
        try:
            if self._has_started:
                return await retry(self._start, EngineError, print_error)
            return await self._start()
        except EngineOptionError:
            raise
        except EngineError as error:
            text = f"engine {self._engine.name}: could not start: {error}"
            if not self._has_started:
                raise SettingsError(text) from None
            self._restart_error = EngineError(text)
            raise self._restart_error from None

    async def _start(self) -> UciEngine:
        await self.close()
        self._player = self._make_player()
        await self._player.start()
        self._has_started = True
        return self._player


def _judge(problem: EpdPosition, answer: PlayResult) -> EpdResult:
    info = answer.info
    move = answer.move.lower()
    score = info.score if info else None
    if not _is_legal(problem.fen, move):
        return EpdResult(problem, solved=False, move=move, error=f"illegal move {move[:20]!r}")
    return EpdResult(
        problem,
        problem.is_solved_by(move, score),
        move,
        score,
        info.depth if info else 0,
        info.nodes if info else 0,
        answer.elapsed,
    )


def _is_legal(fen: str, move: str) -> bool:
    try:
        return bool(chess.Board(fen).parse_uci(move))
    except ValueError:
        return False
